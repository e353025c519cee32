"""One comparison view and nothing else: as shares show it, and in a frame of another site."""

from typing import Any

from csp.decorators import csp_replace
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe
from rest_framework.exceptions import ValidationError

from access.reading import reading_allowed
from analysis.group_view import in_view
from pages.compare.chart import ChartRequest
from pages.compare.page import heading, narrowing, result_context, shown_query
from pages.compare.table import group_page
from pages.metrics import METRICS, choice
from pages.page_query import asked_view, display, query_faults
from results.analytics.engine import questions
from results.comparison.comparison import compare
from results.comparison.coverage import coverage
from store.outage import Unanswerable


@questions()
def view_alone(params: QueryDict) -> dict[str, Any]:
    """What a page shows of a view and nothing else: no filters, no links into the site.

    Where the view searched, the groups it found; `ValidationError` and `Unanswerable` for what
    cannot be asked (any more).
    """
    asked, shown = asked_view(params)[0], display(params)
    query = shown_query(asked)
    comparison = shown.found(compare(query))
    part = group_page(in_view(comparison, shown), shown, params)
    narrowed = [("Groups with", shown.search)] if shown.search else []
    narrowed += [
        (title, value) for name, title, value in narrowing(params, query) if name != "profile"
    ]
    chart = ChartRequest(
        query,
        comparison,
        part,
        shown,
        coverage(query).block_sizes if query.tool == "openssl" else (),
        heading(comparison),
        [f"{title} {value}" for title, value in narrowed],
        asked_block_size=asked.block_size,
    )
    return {
        "alone": True,
        "query": query,
        "display": shown,
        "metric": choice(METRICS, query.metric),
        "narrowed": narrowed,
        "part": part,
        **result_context(chart, params),
    }


TEMPLATE = "pages/embed.html"


@require_safe
@xframe_options_exempt
def embed_page(request: HttpRequest) -> HttpResponseBase:
    """The chart of a view; without origins in the settings there is no such page."""
    origins = settings.CIPHERMARK_EMBED_ORIGINS
    if not origins:
        raise Http404("This site allows no other one to embed its charts.")
    return csp_replace({"frame-ancestors": origins})(_chart)(request)


def _chart(request: HttpRequest) -> HttpResponse:
    # A frame cannot lead through the sign-in page, which lets itself be framed by nobody.
    if not reading_allowed(request):
        return render(request, TEMPLATE, {"private": True}, status=403)
    try:
        return render(request, TEMPLATE, view_alone(request.GET))
    except (ValidationError, Unanswerable) as error:
        return render(request, TEMPLATE, {"faults": query_faults(error)}, status=400)
