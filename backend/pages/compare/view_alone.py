"""One comparison view and nothing else, as shares and embedded charts show it."""

from typing import Any

from django.http import QueryDict

from analysis.comparison import Comparison
from analysis.group_view import in_view
from pages.compare.chart import ChartRequest
from pages.compare.page import heading, narrowing, result_context, shown_query
from pages.compare.table import group_page
from pages.metrics import METRICS, choice
from pages.page_query import asked_view, display
from results.analytics.engine import questions
from results.comparison.comparison import compare
from results.comparison.coverage import coverage
from results.selection import ComparisonQuery


def compared_view(params: QueryDict) -> tuple[ComparisonQuery, Comparison]:
    """The comparison that a view asks for; where it searched, the groups it found.

    `ValidationError` and `Unanswerable` for what cannot be asked (any more).
    """
    query = shown_query(asked_view(params)[0])
    return query, display(params).view.found(compare(query))


@questions()
def view_alone(params: QueryDict) -> dict[str, Any]:
    """What a page shows of a view and nothing else: no filters, no links into the site."""
    query, comparison = compared_view(params)
    shown = display(params)
    part = group_page(in_view(comparison, shown.view), shown, params)
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
