import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.utils.text import slugify

from cipherspeed.choices import heading
from cipherspeed.group_view import CIPHER_SORT, SCALES, GroupView, InView, drawable
from cipherspeed.groups import Group, answer
from cipherspeed.palette import cipher_order, colour_slot, short_names
from compare.question import ComparisonQuery
from compare.views.table import Line, after_a_break, table_lines
from core.formatting import data_size
from core.page_query import PageAddress

AXIS_HEIGHT, HEADING_HEIGHT, ROW_HEIGHT, LAST_LINE, TALLEST = 26, 30, 18, 2, 3000
"""Heights in CSS pixels, which must equal the constants in frontend/src/charts/axes.ts, rows.ts and
built.ts. The page reserves space for a chart until JavaScript draws the chart."""

TYPICAL_WINDOW = 700
"""Height in CSS pixels that the page reserves for a chart with a scroll bar. Charts taller than
`TALLEST` have a scroll bar."""

PICTURE_GROUPS = 40

MOST_LETTERS = 400

RELATIVE = "relative"
READING = "Bar: median; whisker: quartiles; ring: a single host; ?: low confidence"
RELATIVE_READING = (
    "Bar: difference from the reference (grey: within the noise or too few hosts); whisker: 95 % "
    "confidence interval (requires at least six hosts per group)"
)


@dataclass(frozen=True)
class ChartRequest:
    """Store a query, the results of the query, and the display options.

    `narrowed`: active filters as text. `address`: page URL, from which the URLs that sort the table
    are derived; None omits these URLs.
    """

    query: ComparisonQuery
    viewed: InView
    display: GroupView
    narrowed: Sequence[str]
    address: PageAddress | None = None

    @property
    def page(self) -> Page[int]:
        groups = range(self.viewed.matches)
        return Paginator(groups, self.display.top).get_page(self.display.page)


def chart_context(request: ChartRequest) -> dict[str, Any]:
    reference = request.viewed.comparison.relative_to
    ciphers = sorted(request.viewed.comparison.ciphers, key=cipher_order)
    pinned = request.display.pinned
    lines = table_lines(request.viewed.part, ciphers, request.viewed.ranks, pinned)
    cells = [cell for line in lines for cell in line.cells if cell]
    context = {
        "heading": heading(request.viewed.comparison),
        "reference_label": reference.label if reference else None,
        "columns": _columns(request, ciphers),
        "groups": lines,
        "has_ranks": bool(request.viewed.ranks),
        "whiskers": any(cell.summary.n > 1 for cell in cells),
        "points": any(cell.summary.n == 1 for cell in cells),
        "doubts": any(cell.doubt for cell in cells),
        "chart": None,
    }
    return {**context, **_drawn(request, lines)} if lines else context


def _columns(request: ChartRequest, ciphers: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return (cipher, short name, URL that sorts the table by this cipher) for each cipher."""
    names, address = short_names(ciphers), request.address
    return [
        (
            cipher,
            names[cipher],
            address.changed(sort=f"{CIPHER_SORT}{cipher}") if address else "",
        )
        for cipher in ciphers
    ]


def _drawn(request: ChartRequest, shown: Sequence[Line]) -> dict[str, Any]:
    comparison = request.viewed.part
    is_relative = any(map(_ratios, comparison.groups))
    figures = _ratios if is_relative else _values
    with_figures = tuple(
        row.group for row in shown if figures(row.group) or comparison.is_reference(row.group)
    )
    groups = drawable(with_figures)
    later = dict.fromkeys(after_a_break(comparison), ", tool changed")
    drawn = replace(
        comparison,
        unit=RELATIVE if is_relative else comparison.unit,
        ciphers=tuple(sorted(comparison.ciphers, key=cipher_order)),
        groups=groups,
    )
    bars = [len(figures(group)) for group in groups]
    return {
        "is_relative": is_relative,
        "chart": {
            "comparison": answer(drawn),
            **colours_and_names(comparison.ciphers),
            "measured_here": [row.group.id for row in shown if row.here],
            "notes": {row.group.id: row.hosts + later.get(row.group.key, "") for row in shown},
            "scale": SCALES[request.display.logarithmic],
            "picture": _picture_texts(request, RELATIVE_READING if is_relative else READING),
        },
        "chart_groups": len(groups),
        "groups_beyond": len(groups) < len(with_figures),
        "chart_height": rows_height(bars),
        "picture_files": math.ceil(len(groups) / PICTURE_GROUPS),
    }


def _values(group: Group) -> Collection[str]:
    return group.values


def _ratios(group: Group) -> Collection[str]:
    return [cipher for cipher, ratio in group.ratios.items() if not ratio.tool_changed]


def _picture_texts(request: ChartRequest, reading: str) -> dict[str, Any]:
    comparison, date = request.viewed.part, datetime.now(UTC).strftime("%Y-%m-%d")
    title = heading(request.viewed.comparison)
    profile = [f"reference profile {comparison.profile}"] if comparison.profile else []
    sources = {source for group in comparison.groups for source in group.sources}
    how = (_measured_how(request.query), *profile, *request.narrowed)
    return {
        "title": title,
        "subtitle": "; ".join(how)[:MOST_LETTERS],
        "source": f"Sources: {', '.join(sorted(sources))}",
        "date": date,
        "file": f"ciphermark-{slugify(title)[:80]}-{date}",
        "groups": PICTURE_GROUPS,
        "reading": reading,
    }


def _measured_how(query: ComparisonQuery) -> str:
    """Describe the configuration, for example "encrypt, 8 KiB blocks, 1 thread"."""
    if query.tool == "ssh":
        return f"{query.method} method"
    size = f", {data_size(query.block_size)} blocks" if query.block_size else ""
    return f"{query.operation}{size}, {query.threads} thread{'' if query.threads == 1 else 's'}"


def rows_height(bars: Sequence[int]) -> int:
    rows = HEADING_HEIGHT * len(bars) + ROW_HEIGHT * sum(bars) + LAST_LINE
    return AXIS_HEIGHT + rows if rows <= TALLEST else TYPICAL_WINDOW


def colours_and_names(ciphers: Collection[str]) -> dict[str, dict[str, str]]:
    return {
        "colours": {cipher: colour_slot(cipher) for cipher in ciphers},
        "names": dict(short_names(ciphers)),
    }
