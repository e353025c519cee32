"""The report of one view: a page that needs nothing else, to print, to send and to keep."""

import base64
import hashlib
import math
from dataclasses import dataclass, replace
from typing import Any

from csp.decorators import csp_replace
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe
from rest_framework.exceptions import ValidationError

from analysis.comparison import Comparison, Group
from analysis.group_view import drawable, in_view, ordered_groups
from analysis.groups import GroupSummary
from exports.excel_chart import page_parts
from exports.method_sheet import HOW_TO_READ, question_lines
from exports.palette import DARK_COLOURS, cipher_order, colour, short_names
from pages.access import reader_required
from pages.compare.page import heading, shown_query
from pages.compare.table import Scale, counted_hosts, scale_of, shown_groups
from pages.downloads import spelled_out
from pages.formatting import quantity
from pages.page_query import asked_view, display, query_faults
from reports.export_parameters import export_of, site_of
from reports.exporting import COMPARISON, asked
from results.analytics.engine import questions
from results.comparison.comparison import compare
from results.comparison.coverage import hosts_of_groups
from store.outage import Unanswerable

_DARK_BARS = " ".join(f".c-{slot} {{ fill: {one}; }}" for slot, one in DARK_COLOURS.items())
STYLE = f"""{render_to_string("pages/report.css").strip()}
@media screen and (prefers-color-scheme: dark) {{ {_DARK_BARS} }}"""
"""All the style there is: a style attribute would need a policy that allows any."""
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
STYLE_SOURCE = f"'sha256-{_DIGEST}'"

WIDTH, LEFT, RIGHT, TOP = 960, 250, 130, 24
"""Of the chart, in pixels: all of it, and what its bars leave free."""
ROW, GAP = 16, 12
TICKS = 6
PAGE = 960
"""Height of the groups of one part: on A4 or Letter, as wide as the page and under the heading."""


@reader_required
@require_safe
@csp_replace({"default-src": ["'none'"], "style-src": [STYLE_SOURCE], "img-src": ["data:"]})
def report_page(request: HttpRequest) -> HttpResponse:
    """The view that the address names; with `download=1` as a file."""
    style = {"style": STYLE, "style_source": STYLE_SOURCE}
    try:
        context = {**_context(request), **style}
    except (ValidationError, Unanswerable) as error:
        refused = {"faults": query_faults(error), **style}
        return render(request, "pages/report.html", refused, status=400)
    response = render(request, "pages/report.html", context)
    if request.GET.get("download") == "1":
        response["Content-Disposition"] = 'attachment; filename="ciphermark-report.html"'
    return response


@questions()
def _context(request: HttpRequest) -> dict[str, Any]:
    params = request.GET.copy()
    params.pop("download", None)
    query, shown = shown_query(asked_view(params)[0]), display(params)
    comparison = compare(query)
    part = replace(comparison, groups=in_view(comparison, shown).groups)
    export = export_of(COMPARISON, spelled_out(params, query), site_of(request))
    question = asked(export, comparison)
    groups = shown_groups(part, shown)
    drawn = drawable(ordered_groups(part, shown.sort))
    return {
        "heading": heading(comparison),
        "comparison": comparison,
        "group_total": len(comparison.groups),
        "host_count": counted_hosts(hosts_of_groups(query, comparison.groups)),
        "groups": groups,
        "reference": question.relative_to,
        "columns": 5 + bool(comparison.profile) + bool(question.relative_to),
        "doubts": any(row.doubt for group in groups for row in group.rows),
        "charts": _charts(comparison, drawn, logarithmic=shown.logarithmic),
        "charted": len(drawn),
        "asked": question,
        "question": list(question_lines(question)),
        "how_to_read": HOW_TO_READ,
        "address": f"{site_of(request)}/?{params.urlencode()}".rstrip("?"),
        "now": question.asked_at,
    }


@dataclass(frozen=True)
class Bar:
    """One cipher of one group; places in pixels. No whisker for a single machine."""

    cipher: str
    name: str
    colour: str
    summary: GroupSummary
    y: float
    width: float
    low: float | None
    high: float | None

    @property
    def end(self) -> float:
        """Where its value stands: behind bar and whisker."""
        return max(LEFT + self.width, self.high or 0.0) + 6


@dataclass(frozen=True)
class Chart:
    """A chart that fits a page: groups as (label, y, bars), ticks of the axis as (x, label)."""

    height: float
    groups: tuple[tuple[str, float, tuple[Bar, ...]], ...]
    ticks: tuple[tuple[float, str], ...]
    width: int = WIDTH
    left: int = LEFT
    top: int = TOP


def _charts(
    comparison: Comparison, groups: tuple[Group, ...], *, logarithmic: bool
) -> tuple[Chart, ...]:
    """The chart of these groups in their order, in parts that fit a page; none without a value."""
    scale = scale_of(groups, logarithmic=logarithmic)
    if scale is None:
        return ()
    parts = page_parts([_height(group) for group in groups], PAGE)
    return tuple(_chart(comparison, groups[first:last], scale) for first, last in parts)


def _height(group: Group) -> int:
    return (len(group.values) + 1) * ROW + GAP


def _chart(comparison: Comparison, groups: tuple[Group, ...], scale: Scale) -> Chart:
    names = short_names(comparison.ciphers)
    drawn, y = [], float(TOP)
    for group in groups:
        ciphers = enumerate(sorted(group.values, key=cipher_order), start=1)
        bars = tuple(
            _bar(group.values[cipher], cipher, names[cipher], y + place * ROW, scale)
            for place, cipher in ciphers
        )
        drawn.append((group.name, y, bars))
        y += _height(group)
    ticks = tuple(
        (LEFT + _pixels(scale, value), quantity(value, comparison.unit)) for value in _ticks(scale)
    )
    return Chart(y, tuple(drawn), ticks)


def _bar(summary: GroupSummary, cipher: str, name: str, y: float, scale: Scale) -> Bar:
    width, low, high = (_pixels(scale, value) for value in (summary.median, summary.q1, summary.q3))
    whisker = (LEFT + low, LEFT + high) if summary.n > 1 else (None, None)
    return Bar(cipher, name, colour(cipher), summary, y, width, *whisker)


def _pixels(scale: Scale, value: float) -> float:
    return round(scale.part(value) * (WIDTH - LEFT - RIGHT), 1)


def _ticks(scale: Scale) -> list[float]:
    """Round values along the axis."""
    if scale.logarithmic:
        first, last = round(math.log10(scale.low)), math.ceil(math.log10(scale.high))
        return [10.0**power for power in range(first, last + 1) if 10.0**power <= scale.high]
    step = 10.0 ** math.floor(math.log10(scale.high / TICKS))
    step = next(step * one for one in (1, 2, 5, 10) if scale.high / (step * one) <= TICKS)
    return [step * number for number in range(int(scale.high / step) + 1)]
