"""The chart of the compare page, whichever it is, with all that its part of the page says."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.ciphers.link_saturation import LINKS, link_payload
from analysis.comparison import Comparison, Group
from analysis.group_view import CIPHER_SORT, SCALES, drawable
from analysis.groups import GroupSummary, ratio_summary
from analysis.openssl_against_ssh import BothTools
from exports.palette import cipher_order, colour_slot, short_names
from pages.compare.choices import cipher_choices, group_choices, host_choices
from pages.compare.picture import PICTURE_GROUPS, picture_words
from pages.compare.table import (
    GroupPage,
    ShownGroup,
    after_a_break,
    heat_table,
    shown_groups,
    size_table,
)
from pages.formatting import data_size, quantity, throughput
from pages.page_query import Display, PageAddress
from results.comparison.comparison import compare_block_sizes, compare_tools
from results.selection import ComparisonQuery

MOST_PANELS = 48
"""Small line charts on one canvas; the table has all groups."""

MOST_POINTS = 600
"""Points of a scatter plot and rows of its table, unless all are asked for."""

ALL_POINTS = 5000

AXIS_HEIGHT, LINKS_HEIGHT, HEADING_HEIGHT, ROW_HEIGHT, TALLEST = 28, 22, 30, 18, 3000
"""CSS pixels of the bars as frontend/src/charts/rows.ts lays them out: room kept for the chart."""

TYPICAL_WINDOW = 700
"""Above `TALLEST` the rows are scrolled inside the height of the reader's window."""

BARS, BOX, LINES, HEATMAP, SCATTER = "bars", "box", "lines", "heatmap", "scatter"
RELATIVE = "relative"
FIXED_HEIGHTS = {LINES: 480, SCATTER: 520}

RATES = ("throughput", "cpu_bound_throughput")
"""Metrics that are rates of a real machine: a normalised rate fills nobody's network."""


@dataclass(frozen=True)
class ChartKind:
    """A kind of chart; `missing` says what a comparison lacks that cannot be drawn so."""

    key: str
    label: str
    described: str
    missing: str


KINDS = (
    ChartKind(
        RELATIVE,
        "Relative",
        "Bar chart of differences",
        "Nothing here is relative to another group: choose one under “Relative to”.",
    ),
    ChartKind(BARS, "Bars", "Bar chart", ""),
    ChartKind(
        BOX, "Box plot", "Box plot", "A box plot needs a group with two hosts, and there is none."
    ),
    ChartKind(
        HEATMAP,
        "Heat map",
        "Heat map",
        "A heat map needs two groups and two ciphers, and there are fewer.",
    ),
    ChartKind(
        LINES,
        "Block sizes",
        "Line charts",
        "Lines need figures of OpenSSL with two block sizes, and there are none.",
    ),
    ChartKind(
        SCATTER,
        "SSH vs OpenSSL",
        "Scatter plot",
        "OpenSSL stands against SSH only by plain throughput: encryption with one thread, and a "
        "transfer over loopback without compression.",
    ),
)


@dataclass(frozen=True)
class ChartRequest:
    """What the reader asked for and what the database said to it.

    `part` has the groups of the page in view alone; `comparison` all, unless groups are hosts.
    `address`: of the page, for what its marks offer; None where they offer nothing.
    `asked_block_size`: the query has one that was decided by its groups where this is None.
    """

    query: ComparisonQuery
    comparison: Comparison
    part: GroupPage
    display: Display
    block_sizes: Sequence[int]
    heading: str
    narrowed: Sequence[str]
    address: PageAddress | None = None
    asked_block_size: int | None = None


def chart_context(asked: ChartRequest) -> dict[str, Any]:
    """Chart, table twin, and the controls of both; `groups` empty means there is nothing."""
    offered, reference = _offered_kinds(asked), asked.comparison.relative_to
    kind, refused = _chosen_kind(asked.display.chart, offered)
    groups = shown_groups(asked.part.comparison, asked.display)
    has_links = kind.key not in (HEATMAP, RELATIVE) and asked.comparison.metric in RATES
    links = LINKS if has_links and asked.display.links else {}
    named = [f"{name} {throughput(link_payload(bits))}" for name, bits in links.items()]
    rows = [row for group in groups for row in group.rows]
    context = {
        "kinds": offered,
        "kind": kind,
        "kind_refused": refused,
        "reference_label": reference.label if reference else None,
        "table_columns": 5
        + (asked.comparison.profile is not None)
        + (kind.key == BOX)
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


def _offered_kinds(asked: ChartRequest) -> tuple[ChartKind, ...]:
    """The kinds that this comparison can be drawn as, the usual one first; bars it always can."""
    query, comparison = asked.query, asked.comparison
    by_itself = query.split_by is None and not query.matched
    n = max((value.n for group in comparison.groups for value in group.values.values()), default=0)
    by_both_tools = (
        query.metric == "throughput"
        and query.mac is None
        and not query.compression
        and query.target_kind == "loopback"
        and (query.operation, query.threads) == ("encrypt", 1)
    )
    possible = {
        RELATIVE: any(group.ratios for group in asked.part.comparison.groups),
        BARS: True,
        BOX: n > 1,
        HEATMAP: len(comparison.groups) > 1 and len(comparison.ciphers) > 1,
        LINES: query.tool == "openssl" and len(asked.block_sizes) > 1 and by_itself,
        SCATTER: by_both_tools and by_itself,
    }
    return tuple(kind for kind in KINDS if possible[kind.key])


def _chosen_kind(asked: str, offered: Sequence[ChartKind]) -> tuple[ChartKind, str]:
    """The kind to draw, and why it is not the one that was asked for (empty where it is)."""
    for kind in KINDS:
        if kind.key == asked:
            return (kind, "") if kind in offered else (offered[0], kind.missing)
    return offered[0], ""


def _drawn(
    asked: ChartRequest, kind: ChartKind, groups: tuple[ShownGroup, ...], links: Mapping[str, float]
) -> dict[str, Any]:
    """What is particular to this kind of chart."""
    if kind.key == LINES:
        found = _lines(asked, groups)
    elif kind.key == SCATTER:
        found = _scatter(asked)
    else:
        found = _one_value_each(asked, kind, groups, links=bool(links))
    title = found.pop("title", asked.heading)
    how = found.pop("how", _measured_how(asked.query))
    found["chart"] |= {
        "kind": kind.key,
        "scale": SCALES[asked.display.logarithmic],
        "links": [{"name": name, "rate": link_payload(bits)} for name, bits in links.items()],
        "picture": picture_words(
            "heatmap_by_cipher" if found.get("by_cipher") else kind.key,
            *(title, asked.part.comparison, asked.narrowed, how),
        ),
        "choices": _choices(asked, kind),
    }
    grouped = kind.key != SCATTER
    files = math.ceil(found["chart_groups"] / PICTURE_GROUPS) if grouped else 1
    return {**found, "chart_title": title, "picture_files": files}


def _choices(asked: ChartRequest, kind: ChartKind) -> dict[str, Any]:
    """What the menu of a mark offers for its group and for its cipher."""
    query, comparison, address = asked.query, asked.comparison, asked.address
    if address is None:
        return {}
    ciphers = comparison.ciphers
    if kind.key == SCATTER:
        own = cipher_choices(ciphers, address, sorts=False) if query.tool == "ssh" else []
        return {"group": host_choices(address), "cipher": own}
    total = asked.part.total
    return {
        "group": group_choices(query, comparison, total, address),
        "cipher": cipher_choices(ciphers, address, sorts=total > 1),
    }


def _measured_how(query: ComparisonQuery) -> str:
    """The series in words: "method pipeline", "encrypt, 16 KiB blocks, 1 thread"."""
    if query.tool == "ssh":
        return f"method {query.method}"
    size = f", {data_size(query.block_size)} blocks" if query.block_size else ""
    return f"{query.operation}{size}, {query.threads} thread{'' if query.threads == 1 else 's'}"


def _one_value_each(
    asked: ChartRequest, kind: ChartKind, shown: tuple[ShownGroup, ...], *, links: bool
) -> dict[str, Any]:
    """Bars, boxes and the heat map: one value for each group and cipher."""
    comparison = asked.part.comparison
    if kind.key == RELATIVE:
        comparison, shown = replace(comparison, unit=RELATIVE), _related(shown)
    view = _bars(comparison, asked.display, shown)
    drawn = view["comparison"]["groups"]
    found = {
        "chart": view,
        "chart_groups": len(drawn),
        "groups_beyond": len(drawn) < len(shown),
        "chart_height": rows_height(drawn, links=links),
    }
    groups = asked.part.comparison.groups
    if kind.key == HEATMAP:
        found["chart_height"] = 40 + 26 * len(drawn)
        found["heat_ends"] = _heat_ends(groups, asked)
        found["by_cipher"] = view["by_cipher"] = asked.display.by_cipher
    if kind.key == HEATMAP or asked.display.compact:
        ciphers = sorted(asked.comparison.ciphers, key=cipher_order)
        found["matrix"] = heat_table(groups, ciphers, _sorting(asked))
    return found


def _sorting(asked: ChartRequest) -> dict[str, str]:
    """Cipher -> the page with its best groups first."""
    if asked.address is None:
        return {}
    return {
        cipher: asked.address.changed(sort=f"{CIPHER_SORT}{cipher}")
        for cipher in asked.comparison.ciphers
    }


def _heat_ends(groups: Sequence[Group], asked: ChartRequest) -> tuple[str, str]:
    """What the palest and the strongest colour stand for."""
    if asked.display.by_cipher:
        palest = "each cipher's lowest" if asked.display.logarithmic else "0"
        return palest, "each cipher's highest"
    medians = [value.median for group in groups for value in group.values.values()]
    low = min(medians) if asked.display.logarithmic else 0.0
    unit = asked.comparison.unit
    return quantity(low, unit), quantity(max(medians), unit)


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
        "notes": {one.group.id: one.hosts + later.get(one.group.key, "") for one in drawn},
        "scale": SCALES[display.logarithmic],
    }


def _related(shown: tuple[ShownGroup, ...]) -> tuple[ShownGroup, ...]:
    """Those with a ratio, their figures replaced by these."""
    return tuple(
        replace(one, group=replace(one.group, values=_ratio_values(one.group)))
        for one in shown
        if one.group.ratios
    )


def _ratio_values(group: Group) -> dict[str, GroupSummary]:
    return {cipher: ratio_summary(one) for cipher, one in group.ratios.items()}


def colours_and_names(ciphers: Collection[str]) -> dict[str, dict[str, str]]:
    """How a chart draws its ciphers."""
    return {
        "colours": {cipher: colour_slot(cipher) for cipher in ciphers},
        "names": dict(short_names(ciphers)),
    }


def _summary(group: Group, cipher: str) -> dict[str, Any]:
    """A cipher's summary in the shape of the API's answer, with its doubtful votes."""
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


def _lines(asked: ChartRequest, groups: tuple[ShownGroup, ...]) -> dict[str, Any]:
    """The shown groups' ciphers at every block size."""
    keys = [shown.group.key for shown in groups]
    by_size = compare_block_sizes(asked.query, asked.block_sizes, keys)
    ciphers = sorted({name for one in by_size.values() for name in one.ciphers}, key=cipher_order)
    drawn = groups[:MOST_PANELS]
    matrix = size_table(by_size, groups, ciphers)
    return {
        "title": f"{asked.heading}, over block sizes",
        "how": _measured_how(replace(asked.query, block_size=None)),
        "chart": {
            "unit": asked.comparison.unit,
            "sizes": list(by_size),
            "ciphers": ciphers,
            **colours_and_names(ciphers),
            "groups": [_panel(shown, by_size, ciphers) for shown in drawn],
        },
        "chart_groups": len(drawn),
        "groups_beyond": len(drawn) < len(groups),
        "chart_height": FIXED_HEIGHTS[LINES],
        "matrix": matrix,
        "doubts": matrix.doubts,
    }


def _panel(
    shown: ShownGroup, by_size: Mapping[int, Comparison], ciphers: Sequence[str]
) -> dict[str, Any]:
    """One group's lines: for each cipher its summary at each size, None where there is none."""
    key = shown.group.key
    found = [
        next((one for one in compared.groups if one.key == key), None)
        for compared in by_size.values()
    ]
    lines = {
        cipher: [_summary(at, cipher) if at and cipher in at.values else None for at in found]
        for cipher in ciphers
        if any(at and cipher in at.values for at in found)
    }
    return {
        "key": key,
        "label": shown.group.label,
        "note": shown.hosts,
        "here": shown.here,
        "values": lines,
    }


def _scatter(asked: ChartRequest) -> dict[str, Any]:
    """Each machine's ciphers, alone against over ssh."""
    answer = compare_tools(replace(asked.query, block_size=asked.asked_block_size))
    text = asked.display.search.casefold()
    answered = [row for row in answer.rows if text in row.host_label.casefold()]
    most = ALL_POINTS if asked.display.top is None else MOST_POINTS
    hosts = {row.host_key: place for place, row in reversed([*enumerate(answered)])}
    rows = sorted(
        answered[:most], key=lambda row: (hosts[row.host_key], cipher_order(row.ssh_cipher))
    )
    ciphers = sorted({row.ssh_cipher for row in rows}, key=cipher_order)
    size = data_size(answer.block_size) if answer.block_size else ""
    return {
        "title": "SSH vs OpenSSL throughput, machine by machine",
        "how": f"openssl with {size or 'any'} blocks; ssh by method {asked.query.method}",
        "chart": {
            "unit": "B/s",
            "block_size": size,
            "ciphers": ciphers,
            **colours_and_names(ciphers),
            "points": [_point(row) for row in rows],
        },
        "chart_groups": len({row.host_key for row in rows}),
        "chart_height": FIXED_HEIGHTS[SCATTER],
        "pairs": [(row, max(row.ssh.n, row.openssl.n)) for row in rows],
        "doubts": any(row.doubtful for row in rows),
        "pairs_total": len(answered),
        "pair_block_size": size,
    }


def _point(row: BothTools) -> dict[str, Any]:
    return {
        "host": row.host_label,
        "key": row.host_key,
        "cipher": row.ssh_cipher,
        "own": row.openssl_cipher,
        "openssl": {"median": row.openssl.median, "n": row.openssl.n},
        "ssh": {"median": row.ssh.median, "n": row.ssh.n},
        **({"doubtful": True} if row.doubtful else {}),
    }
