"""What the compare page says: everything its template needs, from the reader's parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from rest_framework.exceptions import ValidationError

from analysis.comparison import NEEDS_PROFILE, Comparison
from analysis.group_view import MOST_GROUPS
from exports.palette import cipher_order
from pages.compare.charts.figure import Asked, chart_context
from pages.compare.cipher_choice import FamilyOptions, families, with_ciphers
from pages.compare.comparison_view import counted_hosts
from pages.compare.facet_view import shown_facets
from pages.compare.group_list import group_page
from pages.compare.tool_break_note import tool_breaks
from pages.metrics import GROUP_BY, METHODS, METRICS, TOOLS, Choice, choice
from pages.page_query import (
    TOPS,
    Display,
    PageAddress,
    api_params,
    display,
    first_page,
)
from results.analytics.engine import questions
from results.comparison.comparison_in_view import compare_in_view
from results.comparison.coverage import coverage, hosts_of_groups, hosts_without_size
from results.comparison.default_block_size import resolve_block_size
from results.comparison.facets import FACETS, SOURCE_LABELS, Facet, facets
from results.selection import FILTERS, TAG_PREFIX, ComparisonQuery
from store.reference_profiles import has_levels, offered_profiles

# Parameters without a control of their own: kept when the form changes, shown so that they can go.
QUIET = {
    "operation": "Operation",
    "mac": "MAC",
    "compression": "Compression",
    "target_kind": "Target",
    "acceleration": "Acceleration",
    "threads": "Threads",
    "profile": "Profile",
}
DATES = {"since": "Since", "until": "Until"}
FILTER_TITLES = {**FACETS, "tag": "Tag"}


@dataclass(frozen=True)
class Chip:
    """Something that narrows the view, and the address without it."""

    label: str
    value: str
    address: str


def shown_query(query: ComparisonQuery) -> ComparisonQuery:
    """The query with its ciphers and block size decided, where the address names none."""
    return resolve_block_size(with_ciphers(query))


@questions()  # all of it from one state of the data
def compare_context(params: QueryDict, query: ComparisonQuery) -> dict[str, Any]:
    """The context of a valid query; `UnknownProfile` when it names a profile that is not ours."""
    shown = display(params)
    covered = coverage(query)
    measured = covered.ciphers
    asked_size = query.block_size
    query = resolve_block_size(with_ciphers(query, covered))
    viewed = compare_in_view(query, shown.view)
    known = facets(query)
    # Another choice begins at its first page.
    whole, params = params, first_page(params)
    sizes = covered.block_sizes
    narrowing = chips(params, query, known)
    part = group_page(viewed, shown, whole)
    asked = Asked(
        query,
        viewed.comparison,
        part,
        shown,
        sizes,
        heading(viewed.comparison),
        [f"{chip.label} {chip.value}" for chip in narrowing],
    )
    return {
        **form_context(params, query, shown, known),
        "families": families(measured, query.ciphers),
        "measured_count": len(measured),
        "unmeasured": sorted({*query.ciphers} - {one.cipher for one in measured}),
        "all_ciphers": _all_ciphers(params, families(measured, ())),
        "default_address": PageAddress(params).changed(cipher=None),
        "block_sizes": sorted({*sizes, *([asked_size] if asked_size else [])}),
        "asked_block_size": asked_size,
        "other_block_sizes": hosts_without_size(query),
        "facets": shown_facets(known, query.filters, params),
        "chips": narrowing,
        "part": part,
        **result_context(asked, params),
        "sensitivity_address": sensitivity_address(params),
        "clear_address": clear_address(params, query),
        "throughput_address": PageAddress(params).changed(metric=None),
        "runs_filter": query.group_by if query.group_by in FILTERS else None,
    }


def form_context(
    params: QueryDict, query: ComparisonQuery, shown: Display, known: tuple[Facet, ...] = ()
) -> dict[str, Any]:
    """The pickers with what is chosen in them; the tags among the known filters group as well."""
    return {
        "query": query,
        "display": shown,
        "tools": TOOLS,
        "tops": TOPS,
        "most_groups": MOST_GROUPS,
        "groupings": _groupings(query.group_by, *(facet.tag for facet in known if facet.tag)),
        "metrics": METRICS,
        "metric": choice(METRICS, query.metric),
        "tool": choice(TOOLS, query.tool),
        "methods": METHODS,
        "dates": {name: params.get(name, "") for name in DATES},
        "quiet": [
            (name, value)
            for name in QUIET
            for value in params.getlist(name)
            if value and not (name == "profile" and query.metric == "normalised")
        ],
        "profiles": offered_profiles(query.profile) if query.metric == "normalised" else [],
    }


def _groupings(group_by: str, *tags: str) -> tuple[Choice, ...]:
    """What there is to compare by: the tags that exist too, and the one that was asked for."""
    asked = (group_by.removeprefix(TAG_PREFIX),) if group_by.startswith(TAG_PREFIX) else ()
    every = dict.fromkeys((*tags, *asked))
    return (*GROUP_BY, *(Choice(f"{TAG_PREFIX}{tag}", f"Tag “{tag}”") for tag in every))


def result_context(asked: Asked, params: QueryDict) -> dict[str, Any]:
    """Table, chart and the sentence over them."""
    comparison = asked.comparison
    return {
        "comparison": comparison,
        "heading": asked.heading,
        **chart_context(asked),
        "sort_ciphers": sorted(comparison.ciphers, key=cipher_order),
        "all_address": PageAddress(params).changed(top="all"),
        "host_count": counted_hosts(
            asked.part.total
            if asked.query.group_by == "host"
            else hosts_of_groups(asked.query, [group.key for group in comparison.groups])
        ),
        "sources": _sources(asked.part.comparison),
        "unsearched_address": PageAddress(params).changed(q=None, page=None),
        "tool_breaks": tool_breaks(comparison),
        "no_baseline": comparison.excluded.get("no_baseline", 0),
        # The profile may know no level of this tool at all: then no machine can be normalised.
        "no_levels": comparison.metric in NEEDS_PROFILE and not has_levels(comparison.tool),
    }


def _sources(comparison: Comparison) -> list[str]:
    """Where the figures come from, in words."""
    found = {source for group in comparison.groups for source in group.sources}
    return [label.lower() for key, label in SOURCE_LABELS.items() if key in found]


def heading(comparison: Comparison) -> str:
    """The view in words: "SSH throughput by CPU"."""
    tool = {"ssh": "SSH", "openssl": "OpenSSL"}[comparison.tool]
    metric = choice(METRICS, comparison.metric).label
    metric = metric if metric.startswith("CPU") else metric[0].lower() + metric[1:]
    by = choice(_groupings(comparison.group_by), comparison.group_by).label
    kept = by.startswith(("CPU", "OS ", "Open", "AES", "Tag"))
    return f"{tool} {metric} by {by if kept else by[0].lower() + by[1:]}"


def _all_ciphers(params: QueryDict, picker: tuple[FamilyOptions, ...]) -> str:
    every = tuple(option.cipher for members in picker for option in members.options)
    return PageAddress(params).changed(cipher=every)


def chips(params: QueryDict, query: ComparisonQuery, known: tuple[Facet, ...]) -> list[Chip]:
    """What narrows the view beyond the pickers, each with the way out."""
    address = PageAddress(params)
    labels = {
        (facet.name, option.key): option.label
        for facet in known
        for option in facet.options
        if not facet.tag
    }
    filters = [
        Chip(FILTER_TITLES[name], labels.get((name, value), value), address.without(name, value))
        for name, values in query.filters.items()
        for value in values
    ]
    others: Mapping[str, str] = {**DATES, **QUIET}
    return filters + [
        Chip(label, value, address.without(name, value))
        for name, label in others.items()
        for value in params.getlist(name)
        if value
    ]


def clear_address(params: QueryDict, query: ComparisonQuery) -> str:
    """The page without anything that narrows the view."""
    narrowing: dict[str, None] = dict.fromkeys((*query.filters, *DATES, *QUIET))
    return PageAddress(params).changed(**narrowing)


def sensitivity_address(params: QueryDict) -> str:
    """The page that makes this ranking again without each baseline family."""
    asked = api_params(params)
    asked.pop("metric", None)
    return f"{reverse('sensitivity')}?{asked.urlencode()}"


def query_faults(error: ValidationError) -> list[tuple[str, str]]:
    """What is wrong with the parameters: their names, and why."""
    detail: dict[str, Any] = error.detail if isinstance(error.detail, dict) else {}
    return [
        (name, " ".join(str(message) for message in ([said] if isinstance(said, str) else said)))
        for name, said in detail.items()
    ]
