"""One comparison view for whoever has its link: no filters, no links into the site."""

from dataclasses import replace
from typing import Any

from django.http import QueryDict

from analysis.comparison import Comparison
from pages.cipher_choice import default_ciphers
from pages.compare_page import DATES, QUIET, result_context
from pages.metrics import METRICS, choice
from pages.page_query import Display, api_params, display
from runs.api.parameters import comparison_query
from runs.queries.comparison import compare, resolve_block_size
from runs.queries.facets import FACETS, measured_ciphers
from runs.queries.selection import ComparisonQuery


def shared_query(text: str) -> ComparisonQuery:
    """The comparison that a share's query string asks for, complete."""
    query = comparison_query(api_params(QueryDict(text)))
    if not query.ciphers:
        query = replace(query, ciphers=default_ciphers(query.tool, measured_ciphers(query)))
    return resolve_block_size(query)


def shared_comparison(text: str) -> Comparison:
    """The figures of a share: where its view searched among the groups, those it found."""
    comparison = compare(shared_query(text))
    search = display(QueryDict(text)).search.casefold()
    found = tuple(group for group in comparison.groups if search in group.label.casefold())
    return replace(comparison, groups=found)


def share_context(text: str) -> dict[str, Any]:
    """What the page of a share shows."""
    params = QueryDict(text)
    query = shared_query(text)
    shown = display(params)
    return {
        "query": query,
        "display": shown,
        "metric": choice(METRICS, query.metric),
        "narrowed": _narrowed(params, query, shown),
        **result_context(shared_comparison(text), params, shown),
    }


def _narrowed(params: QueryDict, query: ComparisonQuery, shown: Display) -> list[tuple[str, str]]:
    """What the view is narrowed to, in words: title and value."""
    searched = [("Groups with", shown.search)] if shown.search else []
    filters = [
        (FACETS.get(name, name), value)
        for name, values in query.filters.items()
        for value in values
    ]
    others = {**DATES, **QUIET}
    return [
        *searched,
        *filters,
        *(
            (others[name], value)
            for name in others
            if name not in query.filters and name != "profile"
            for value in params.getlist(name)
            if value
        ),
    ]
