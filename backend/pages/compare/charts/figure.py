"""The chart of the compare page, whichever it is, with all that its part of the page says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.both_tools import BothTools
from analysis.comparison import Comparison, Group
from exports.palette import cipher_order, colour_slot, short_names
from pages.compare.charts.kinds import (
    BOX,
    HEATMAP,
    LINES,
    SCATTER,
    ChartKind,
    chosen_kind,
    offered_kinds,
)
from pages.compare.charts.links import RATES, link_rates, link_words
from pages.compare.charts.matrix import heat_table, size_table
from pages.compare.charts.picture import measured_how, picture_words
from pages.compare.comparison_view import (
    ShownGroup,
    chart_view,
    shown_groups,
    summary_json,
)
from pages.compare.group_list import GroupPage
from pages.formatting import data_size, exact, percent, quantity, throughput
from pages.page_query import Display
from results.comparison.block_sizes import compare_block_sizes
from results.comparison.both_tools import compare_tools
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

FIXED_HEIGHTS = {LINES: 480, SCATTER: 520}


@dataclass(frozen=True)
class Asked:
    """What the reader asked for and what the database said to it.

    `part` has the groups of the page in view alone; `comparison` all, unless groups are hosts.
    """

    query: ComparisonQuery
    comparison: Comparison
    part: GroupPage
    display: Display
    block_sizes: Sequence[int]
    heading: str
    narrowed: Sequence[str]


def chart_context(asked: Asked) -> dict[str, Any]:
    """Chart, table twin, and the controls of both; `groups` empty means there is nothing."""
    offered = offered_kinds(asked.query, asked.comparison, asked.block_sizes)
    kind, refused = chosen_kind(asked.display.chart, offered)
    groups = shown_groups(asked.part.comparison, asked.display)
    links = shown_links(asked, kind)
    context = {
        "kinds": offered,
        "kind": kind,
        "kind_refused": refused,
        "table_columns": 5 + (asked.comparison.profile is not None) + (kind.key == BOX),
        "groups": groups,
        "links_offered": _may_have_links(asked, kind),
        "links": link_words() if links else "",
        "whiskers": any(row.summary.n > 1 for group in groups for row in group.rows),
        "points": any(row.summary.n == 1 for group in groups for row in group.rows),
        "doubts": any(row.doubt for group in groups for row in group.rows),
    }
    return {**context, **_drawn(asked, kind, groups)} if groups else {**context, "chart": None}


def _drawn(asked: Asked, kind: ChartKind, groups: tuple[ShownGroup, ...]) -> dict[str, Any]:
    """What is particular to this kind of chart."""
    if kind.key == LINES:
        found = _lines(asked, groups)
    elif kind.key == SCATTER:
        found = _scatter(asked)
    else:
        found = _one_value_each(asked, kind)
    title = found.pop("title", asked.heading)
    how = found.pop("how", measured_how(asked.query))
    found["chart"] |= {
        "kind": kind.key,
        "scale": asked.display.scale,
        "links": shown_links(asked, kind),
        "picture": picture_words(title, asked.part.comparison, how, asked.narrowed),
    }
    return {**found, "chart_title": title}


def _may_have_links(asked: Asked, kind: ChartKind) -> bool:
    return kind.key != HEATMAP and asked.comparison.metric in RATES


def shown_links(asked: Asked, kind: ChartKind) -> list[dict[str, str | float]]:
    """The lines for network links that the chart has."""
    return link_rates() if asked.display.links and _may_have_links(asked, kind) else []


def _one_value_each(asked: Asked, kind: ChartKind) -> dict[str, Any]:
    """Bars, boxes and the heat map: one value for each group and cipher."""
    view = chart_view(asked.part.comparison, asked.display)
    drawn = view["comparison"]["groups"]
    found = {
        "chart": view,
        "chart_groups": len(drawn),
        "chart_height": rows_height(drawn, links=bool(shown_links(asked, kind))),
    }
    if kind.key == HEATMAP:
        groups = asked.part.comparison.groups
        ciphers = view["comparison"]["ciphers"]
        found["chart_height"] = 40 + 26 * len(drawn)
        found["heat_ends"] = _heat_ends(groups, asked)
        found["matrix"] = heat_table(asked.comparison, groups, ciphers)
    return found


def _heat_ends(groups: Sequence[Group], asked: Asked) -> tuple[str, str]:
    """What the palest and the strongest colour stand for."""
    medians = [value.median for group in groups for value in group.values.values()]
    low = min(medians) if asked.display.scale == "log" else 0.0
    unit = asked.comparison.unit
    return quantity(low, unit), quantity(max(medians), unit)


def rows_height(groups: Sequence[Mapping[str, Any]], *, links: bool = False) -> int:
    """CSS pixels of a chart of these groups' bars, with a line for the names of network links."""
    bars = sum(len(group["values"]) for group in groups)
    height = AXIS_HEIGHT + links * LINKS_HEIGHT + HEADING_HEIGHT * len(groups) + ROW_HEIGHT * bars
    return height if height < TALLEST else TYPICAL_WINDOW


def _lines(asked: Asked, groups: tuple[ShownGroup, ...]) -> dict[str, Any]:
    """The shown groups' ciphers at every block size."""
    by_size = compare_block_sizes(asked.query, asked.block_sizes, [group.key for group in groups])
    ciphers = sorted({name for one in by_size.values() for name in one.ciphers}, key=cipher_order)
    drawn = groups[:MOST_PANELS]
    return {
        "title": f"{asked.heading}, over block sizes",
        "how": measured_how(replace(asked.query, block_size=None)),
        "chart": {
            "unit": asked.comparison.unit,
            "sizes": list(by_size),
            "ciphers": ciphers,
            "colours": {cipher: colour_slot(cipher) for cipher in ciphers},
            "names": dict(short_names(ciphers)),
            "groups": [_panel(group, by_size, ciphers) for group in drawn],
        },
        "chart_groups": len(drawn),
        "chart_height": FIXED_HEIGHTS[LINES],
        "matrix": (matrix := size_table(by_size, groups, ciphers)),
        "doubts": matrix.doubts,
    }


def _panel(
    group: ShownGroup, by_size: Mapping[int, Comparison], ciphers: Sequence[str]
) -> dict[str, Any]:
    """One group's lines: for each cipher its summary at each size, None where there is none."""
    found = [
        next((one for one in compared.groups if one.key == group.key), None)
        for compared in by_size.values()
    ]
    lines = {
        cipher: [summary_json(at, cipher) if at and cipher in at.values else None for at in found]
        for cipher in ciphers
        if any(at and cipher in at.values for at in found)
    }
    return {
        "key": group.key,
        "label": group.label,
        "note": group.machines,
        "here": group.here,
        "values": lines,
    }


def _scatter(asked: Asked) -> dict[str, Any]:
    """Each machine's ciphers, alone against over ssh."""
    answer = compare_tools(asked.query)
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
            "colours": {cipher: colour_slot(cipher) for cipher in ciphers},
            "names": dict(short_names(ciphers)),
            "points": [_point(row) for row in rows],
        },
        "chart_groups": len({row.host_key for row in rows}),
        "chart_height": FIXED_HEIGHTS[SCATTER],
        "pairs": [_pair(row) for row in rows],
        "doubts": any(row.doubtful for row in rows),
        "pairs_total": len(answered),
        "pair_block_size": size,
    }


def _point(row: BothTools) -> dict[str, Any]:
    return {
        "host": row.host_label,
        "cipher": row.ssh_cipher,
        "own": row.openssl_cipher,
        "openssl": {"median": row.openssl.median, "n": row.openssl.n},
        "ssh": {"median": row.ssh.median, "n": row.ssh.n},
        **({"doubtful": True} if row.doubtful else {}),
    }


def _pair(row: BothTools) -> dict[str, Any]:
    """A row of the scatter plot's table."""
    return {
        "row": row,
        "slot": colour_slot(row.ssh_cipher),
        "ssh": throughput(row.ssh.median),
        "openssl": throughput(row.openssl.median),
        "exact_ssh": exact(row.ssh.median, "B/s"),
        "exact_openssl": exact(row.openssl.median, "B/s"),
        "share": percent(row.share),
        "doubt": "low confidence" if row.doubtful else "",
        "n": max(row.ssh.n, row.openssl.n),
    }
