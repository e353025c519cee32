"""One comparison view for whoever has its link: no filters, no links into the site."""

from collections.abc import Iterator
from typing import Any

from django.http import QueryDict

from analysis.comparison import Comparison
from analysis.group_view import in_view
from exports.comparison_columns import comparison_csv
from pages.compare.charts.figure import Asked
from pages.compare.compare_page import (
    DATES,
    FILTER_TITLES,
    QUIET,
    heading,
    result_context,
    shown_query,
)
from pages.compare.group_list import group_page
from pages.downloads import spelled_out
from pages.metrics import METRICS, choice
from pages.page_query import Display, api_params, display
from questions.requested_ciphers import asked_comparison
from reports.export_parameters import export_of
from reports.exporting import COMPARISON, asked
from results.analytics.engine import questions
from results.comparison.comparison import compare
from results.comparison.coverage import coverage
from results.selection import ComparisonQuery


def shared_query(params: QueryDict) -> ComparisonQuery:
    """The comparison that a share's query string asks for, complete.

    `ValidationError` for what could be asked when the share was made, and no longer can.
    """
    return shown_query(asked_comparison(api_params(params)))


def _shared_comparison(params: QueryDict, query: ComparisonQuery) -> Comparison:
    """The figures of a share: where its view searched among the groups, those it found."""
    return display(params).view.found(compare(query))


@questions()
def share_csv(params: QueryDict, site: str) -> Iterator[str]:
    """The figures of a share as CSV, line by line, for the site of this address."""
    query = shared_query(params)
    comparison = _shared_comparison(params, query)
    export = export_of(COMPARISON, spelled_out(params, query), site)
    return comparison_csv(asked(export, comparison), comparison, export.dialect)


@questions()
def share_context(params: QueryDict) -> dict[str, Any]:
    """What the page of a share shows."""
    query, shown = shared_query(params), display(params)
    comparison = _shared_comparison(params, query)
    part = group_page(in_view(comparison, shown.view), shown, params)
    narrowed = _narrowed(params, query, shown)
    question = Asked(
        query,
        comparison,
        part,
        shown,
        coverage(query).block_sizes if query.tool == "openssl" else (),
        heading(comparison),
        [f"{title} {value}" for title, value in narrowed],
    )
    return {
        "query": query,
        "display": shown,
        "metric": choice(METRICS, query.metric),
        "narrowed": narrowed,
        "part": part,
        **result_context(question, params),
    }


def _narrowed(params: QueryDict, query: ComparisonQuery, shown: Display) -> list[tuple[str, str]]:
    """What the view is narrowed to, in words: title and value."""
    searched = [("Groups with", shown.search)] if shown.search else []
    filters = [
        (FILTER_TITLES.get(name, name), value)
        for name, values in query.filters.items()
        for value in values
    ]
    others = {**DATES, **QUIET}
    quiet = [
        (others[name], value)
        for name in others
        if name != "profile"
        for value in params.getlist(name)
        if value
    ]
    return [*searched, *filters, *quiet]
