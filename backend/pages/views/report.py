"""The report of one view: a page that needs nothing else, to print, to send and to keep."""

import base64
import hashlib
from dataclasses import replace
from typing import Any

from csp.decorators import csp_replace
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe
from rest_framework.exceptions import ValidationError

from analysis.group_view import in_view
from exports.method_sheet import HOW_TO_READ, question_lines
from exports.palette import DARK_COLOURS
from pages.access import reader_required
from pages.compare.compare_page import heading, query_faults, shown_query
from pages.compare.comparison_view import counted_hosts, ordered_groups, shown_groups
from pages.compare.report_chart import report_charts
from pages.downloads import spelled_out
from pages.page_query import api_params, display
from questions.requested_ciphers import asked_comparison
from reports.export_parameters import export_of
from reports.exporting import COMPARISON, asked
from results.analytics.engine import questions
from results.comparison.comparison import compare
from results.comparison.coverage import hosts_of_groups
from store.reference_profiles import UnknownProfile

_DARK_BARS = " ".join(f".c-{slot} {{ fill: {one}; }}" for slot, one in DARK_COLOURS.items())
STYLE = f"""{render_to_string("pages/report.css").strip()}
@media screen and (prefers-color-scheme: dark) {{ {_DARK_BARS} }}"""
"""All the style there is: a style attribute would need a policy that allows any."""
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
STYLE_SOURCE = f"'sha256-{_DIGEST}'"
MOST_BARS = 600


@reader_required
@require_safe
@csp_replace({"default-src": ["'none'"], "style-src": [STYLE_SOURCE], "img-src": ["data:"]})
def report_page(request: HttpRequest) -> HttpResponse:
    """The view that the address names; with `download=1` as a file."""
    try:
        context = _context(request)
    except ValidationError as error:
        return _refused(request, query_faults(error))
    except UnknownProfile as error:
        return _refused(request, [("profile", error.sentence)])
    response = render(request, "pages/report.html", {**context, "download": _download(request)})
    if _download(request):
        response["Content-Disposition"] = 'attachment; filename="ciphermark-report.html"'
    return response


def _download(request: HttpRequest) -> bool:
    return request.GET.get("download") == "1"


def _refused(request: HttpRequest, faults: list[tuple[str, str]]) -> HttpResponse:
    context = {"faults": faults, "style": STYLE, "style_source": STYLE_SOURCE}
    return render(request, "pages/report.html", context, status=400)


@questions()
def _context(request: HttpRequest) -> dict[str, Any]:
    params = request.GET.copy()
    params.pop("download", None)
    query, shown = shown_query(asked_comparison(api_params(params))), display(params)
    comparison = compare(query)
    part = replace(comparison, groups=in_view(comparison, shown.view).groups)
    site = request.build_absolute_uri("/").rstrip("/")
    question = asked(export_of(COMPARISON, spelled_out(params, query), site), comparison)
    groups = shown_groups(part, shown)
    drawn = _drawable(ordered_groups(part, shown))
    return {
        "heading": heading(comparison),
        "comparison": comparison,
        "group_total": len(comparison.groups),
        "host_count": counted_hosts(hosts_of_groups(query, [one.key for one in comparison.groups])),
        "groups": groups,
        "doubts": any(row.doubt for group in groups for row in group.rows),
        "charts": report_charts(comparison, drawn, logarithmic=shown.scale == "log"),
        "charted": len(drawn),
        "asked": question,
        "question": list(question_lines(question)),
        "how_to_read": HOW_TO_READ,
        "address": request.build_absolute_uri(f"/?{params.urlencode()}".rstrip("?")),
        "now": question.asked_at,
        "style": STYLE,
        "style_source": STYLE_SOURCE,
    }


def _drawable(groups: tuple[Any, ...]) -> tuple[Any, ...]:
    """As many of the groups as make a chart that prints."""
    bars = 0
    for index, group in enumerate(groups):
        bars += len(group.values)
        if bars > MOST_BARS and index:
            return groups[:index]
    return groups
