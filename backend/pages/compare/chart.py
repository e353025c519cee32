"""The chart of the compare page: bars, or differences from a reference, and what stands beside."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.ciphers.palette import cipher_order, colour_slot, short_names
from analysis.comparison import Comparison, Group
from analysis.group_view import CIPHER_SORT, SCALES, drawable
from analysis.groups import GroupSummary, ratio_summary
from analysis.profiles.baselines import only
from analysis.recommendation import LINKS, link_payload
from compare.question import ComparisonQuery
from pages.compare.choices import cipher_choices, group_choices
from pages.compare.picture import PICTURE_GROUPS, picture_words
from pages.compare.table import GroupPage, ShownGroup, after_a_break, matrix, shown_groups
from pages.formatting import data_size, throughput
from pages.page_query import Display, PageAddress

AXIS_HEIGHT, LINKS_HEIGHT, HEADING_HEIGHT, ROW_HEIGHT, TALLEST = 28, 22, 30, 18, 3000
"""CSS pixels of the bars as frontend/src/charts/rows.ts lays them out: room kept for the chart."""

TYPICAL_WINDOW = 700
"""Above `TALLEST` the rows are scrolled inside the height of the reader's window."""

BARS, RELATIVE = "bars", "relative"


@dataclass(frozen=True)
class ChartKind:
    key: str
    label: str
    described: str


KINDS = (
    ChartKind(RELATIVE, "Relative", "Bar chart of differences"),
    ChartKind(BARS, "Bars", "Bar chart"),
)


@dataclass(frozen=True)
class ChartRequest:
    """What the reader asked for and what the database said to it.

    `part` has the groups of the page in view alone; `comparison` all, unless groups are hosts.
    `address`: of the page, for what its marks offer; None where they offer nothing.
    """

    query: ComparisonQuery
    comparison: Comparison
    part: GroupPage
    display: Display
    heading: str
    narrowed: Sequence[str]
    address: PageAddress | None = None


def chart_context(asked: ChartRequest) -> dict[str, Any]:
    """Chart, table twin, and the controls of both; `groups` empty means there is nothing."""
    has_ratios = any(map(_ratio_values, asked.part.comparison.groups))
    kinds, reference = KINDS if has_ratios else KINDS[1:], asked.comparison.relative_to
    kind = next((one for one in kinds if one.key == asked.display.chart), kinds[0])
    groups = shown_groups(asked.part.comparison, asked.display)
    has_links = kind.key != RELATIVE and asked.comparison.metric == "throughput"
    links = LINKS if has_links and asked.display.links else {}
    named = [f"{name} {throughput(link_payload(bits))}" for name, bits in links.items()]
    rows = [row for group in groups for row in group.rows]
    context = {
        "kinds": kinds,
        "kind": kind,
        "reference_label": reference.label if reference else None,
        "table_columns": 5
        + (asked.comparison.profile is not None)
        + bool(reference and reference.label),
        "groups": groups,
        "links_offered": has_links,
        "links": ", ".join(named),
        "whiskers": any(row.summary.n > 1 for row in rows),
        "points": any(row.summary.n == 1 for row in rows),
        "doubts": any(row.doubt for row in rows),
        "chart": None,
    }
    return {**context, **_drawn(asked, kind, groups, links)} if groups else context


def _drawn(
    asked: ChartRequest, kind: ChartKind, shown: tuple[ShownGroup, ...], links: Mapping[str, float]
) -> dict[str, Any]:
    comparison, groups = asked.part.comparison, shown
    if kind.key == RELATIVE:
        comparison, groups = replace(comparison, unit=RELATIVE), _related(shown)
    view = _bars(comparison, asked.display, groups)
    drawn = view["comparison"]["groups"]
    view |= {
        "kind": kind.key,
        "links": [{"name": name, "rate": link_payload(bits)} for name, bits in links.items()],
        "picture": picture_words(
            kind.key,
            asked.heading,
            asked.part.comparison,
            asked.narrowed,
            _measured_how(asked.query),
        ),
        "choices": _choices(asked),
    }
    found = {
        "chart": view,
        "chart_groups": len(drawn),
        "groups_beyond": len(drawn) < len(groups),
        "chart_height": rows_height(drawn, links=bool(links)),
        "picture_files": math.ceil(len(drawn) / PICTURE_GROUPS),
    }
    if asked.display.compact:
        ciphers = sorted(asked.comparison.ciphers, key=cipher_order)
        found["matrix"] = matrix(asked.part.comparison, ciphers, _sorting(asked))
    return found


def _choices(asked: ChartRequest) -> dict[str, Any]:
    """What the menu of a mark offers for its group and for its cipher."""
    comparison, address, total = asked.comparison, asked.address, asked.part.total
    if address is None:
        return {}
    return {
        "group": group_choices(asked.query, comparison, total, address),
        "cipher": cipher_choices(comparison.ciphers, address, sorts=total > 1),
    }


def _measured_how(query: ComparisonQuery) -> str:
    """The series in words: "method pipeline", "encrypt, 16 KiB blocks, 1 thread"."""
    if query.tool == "ssh":
        return f"method {query.method}"
    size = f", {data_size(query.block_size)} blocks" if query.block_size else ""
    return f"{query.operation}{size}, {query.threads} thread{'' if query.threads == 1 else 's'}"


def _sorting(asked: ChartRequest) -> dict[str, str]:
    """Cipher -> the page with its best groups first."""
    if asked.address is None:
        return {}
    return {
        cipher: asked.address.changed(sort=f"{CIPHER_SORT}{cipher}")
        for cipher in asked.comparison.ciphers
    }


def rows_height(groups: Sequence[Mapping[str, Any]], *, links: bool = False) -> int:
    """CSS pixels of a chart of these groups' bars, with a line for the names of network links."""
    bars = sum(len(group["values"]) for group in groups)
    height = AXIS_HEIGHT + links * LINKS_HEIGHT + HEADING_HEIGHT * len(groups) + ROW_HEIGHT * bars
    return height if height < TALLEST else TYPICAL_WINDOW


def _bars(
    comparison: Comparison, display: Display, shown: tuple[ShownGroup, ...]
) -> dict[str, Any]:
    """What the chart draws (`ChartView` in frontend/src/comparison.ts)."""
    groups = drawable(tuple(one.group for one in shown))
    drawn = shown[: len(groups)]
    later = dict.fromkeys(after_a_break(comparison), ", tool changed")
    return {
        "comparison": {
            "tool": comparison.tool,
            "group_by": comparison.group_by,
            "metric": comparison.metric,
            "unit": comparison.unit,
            "profile": comparison.profile,
            "ciphers": sorted(comparison.ciphers, key=cipher_order),
            "groups": [
                {
                    "key": group.id,
                    **({"own": group.key, "split": group.split_key} if group.split_key else {}),
                    "label": group.name,
                    "hosts": group.hosts,
                    "values": {name: _summary(group, name) for name in group.values},
                }
                for group in groups
            ],
            "excluded": dict(comparison.excluded),
        },
        **colours_and_names(comparison.ciphers),
        "measured_here": [one.group.id for one in drawn if one.here],
        "notes": {
            one.group.id: one.hosts + _only(one.group) + later.get(one.group.key, "")
            for one in drawn
        },
        "scale": SCALES[display.logarithmic],
    }


def _only(group: Group) -> str:
    """Return ", 3DES only" where no figure of the group has an uncertainty."""
    families = sorted({family for known in group.families.values() for family in known})
    return f", {only(families)}" if families and not group.uncertainty else ""


def _related(shown: tuple[ShownGroup, ...]) -> tuple[ShownGroup, ...]:
    """Those with a ratio, their figures replaced by these."""
    return tuple(
        replace(one, group=replace(one.group, values=_ratio_values(one.group)))
        for one in shown
        if _ratio_values(one.group)
    )


def _ratio_values(group: Group) -> dict[str, GroupSummary]:
    return {
        cipher: ratio_summary(one) for cipher, one in group.ratios.items() if not one.tool_changed
    }


def colours_and_names(ciphers: Collection[str]) -> dict[str, dict[str, str]]:
    """How a chart draws its ciphers."""
    return {
        "colours": {cipher: colour_slot(cipher) for cipher in ciphers},
        "names": dict(short_names(ciphers)),
    }


def _summary(group: Group, cipher: str) -> dict[str, Any]:
    """Return a cipher's summary in the shape of the API's answer, with its doubtful votes."""
    summary = group.values[cipher]
    doubtful = {"doubtful": group.doubtful[cipher]} if cipher in group.doubtful else {}
    return {
        **doubtful,
        "median": summary.median,
        "q1": summary.q1,
        "q3": summary.q3,
        "min": summary.minimum,
        "max": summary.maximum,
        "n": summary.n,
    }
