from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Count
from django.http import HttpRequest, QueryDict
from django.views.generic import TemplateView

from cipherspeed.choices import METHODS, METRICS, TOOLS, choice, grouping, groupings
from cipherspeed.group_view import CIPHER_SORT, MOST_GROUPS, GroupView
from cipherspeed.groups import Group
from cipherspeed.palette import cipher_order
from cipherspeed.reference_profile import PROFILE
from compare.comparison import compare_in_view
from compare.engine import analytics
from compare.facets import Facet, coverage, facets
from compare.question import BLOCK_SIZE, ComparisonQuery, PageForm
from compare.views.answers import answers
from compare.views.chart import ChartRequest, chart_context
from compare.views.filters import (
    FILTER_TITLES,
    families,
    searches,
    shown_facets,
    with_ciphers,
)
from compare.views.findings import finding
from compare.views.relating import relating_context
from compare.views.table import only_baseline, page_sizes, tool_breaks
from core.access import ReaderMixin
from core.errors import Unanswerable
from core.first_steps import (
    agent_command,
    agents_lack_ssh,
    is_measuring,
    nobody_measured_yet,
    reverse_tunnel_command,
)
from core.formatting import data_size
from core.page_query import TOPS, PageAddress, first_page
from runs.filters import FILTERS
from runs.models import Environment, Host, Run
from runs.views.upload import saved_upload

MOST_ARRIVING = 5

# Parameters without a control. The form preserves them and shows them as removable filters.
QUIET = {
    "operation": "Operation",
    "mac": "MAC",
    "compression": "Compression",
    "target_kind": "Target",
    "acceleration": "Acceleration",
    "threads": "Threads",
}
KEPT = (*QUIET, "saved")
DATES = {"since": "Since", "until": "Until"}
SWITCH = (("throughput", "Raw", None), ("normalised", "Normalised", "normalised"))
"""Metrics of the switch above the chart: (key, label, value of the parameter `metric`)."""

SWITCHED = frozenset(name for name, _, _ in SWITCH)

OPTIONS = (
    *("method", "block_size", "relative_to", "split_by", "sort", "top", "q"),
    *("since", "until", "scale", "matched"),
)


class ComparePage(ReaderMixin, TemplateView):
    template_name = "compare/compare.html"

    @analytics()  # one snapshot for the whole page
    def get_context_data(self, **context: Any) -> dict[str, Any]:
        may_upload = self.request.user.has_perm("runs.add_run")
        params = self.request.GET
        saved = saved_upload(params.getlist("saved") if may_upload else ())
        form = PageForm(params)
        if faults := form.refused:
            return {**_form_context(params, form.query, form.view), "faults": faults}
        steps = _first_steps(self.request)
        asks = not params and not steps
        return {
            **compare_context(params, form, tuple(host.slug for host in saved.get("hosts", ()))),
            **steps,
            "saved": saved,
            "agents_lack_ssh": form.query.tool == "ssh" and agents_lack_ssh(),
            "address": self.request.build_absolute_uri(),
            "cards": answers() if asks else (),
            "asks": asks,
        }


def _first_steps(request: HttpRequest) -> dict[str, Any]:
    if not nobody_measured_yet():
        return {}
    latest = list(Run.objects.listed()[:MOST_ARRIVING])
    return {
        "first_steps": True,
        "agent_command": agent_command(request),
        "reverse_tunnel_command": reverse_tunnel_command(request),
        "measuring": is_measuring(),
        "nothing_stored": not Run.objects.shown().filter(status=Run.Status.READY).exists(),
        "latest_at": latest[0].received_at if latest else None,
        "arriving": [run for run in latest if run.status == Run.Status.ACCEPTED],
    }


def compare_context(
    params: QueryDict, form: PageForm, saved_hosts: tuple[str, ...]
) -> dict[str, Any]:
    """Return the template context for a valid query.

    If `split_by` has too many values, ignore `split_by` and display a message.
    """
    query, passed_over = form.query, form.passed_over
    shown = replace(form.view, pinned=saved_hosts if query.group_by == "host" else ())
    valid_params = form.faultless(first_page(params, "saved"))
    covered = coverage(query)
    measured = covered.ciphers
    query = with_ciphers(query, covered)
    first_cipher = min(query.ciphers, key=cipher_order, default="")
    if "sort" not in form.given and first_cipher:
        shown = replace(shown, sort=f"{CIPHER_SORT}{first_cipher}")
        valid_params["sort"] = shown.sort
    try:
        viewed = compare_in_view(query, shown)
    except Unanswerable as error:
        query, passed_over = replace(query, split_by=None), [*passed_over, error.sentence]
        del valid_params["split_by"]
        viewed = compare_in_view(query, shown)
    known = facets(query, searches(params))
    # A changed view begins at its first page.
    params = first_page(params)
    address = PageAddress(params)
    labels = {
        (facet.name, option.key): option.label
        for facet in known
        for option in facet.options
        if not facet.tag
    }
    chips = [
        (name, title, labels.get((name, value), value), address.without(name, value))
        for name, title, value in narrowing(params, query)
    ]
    narrowed = [f"{title} {value}" for _, title, value, _ in chips]
    other_sizes = [size for size in covered.block_sizes if size != query.block_size]
    if not viewed.comparison.excluded.get("no_block_size"):
        other_sizes = []
    chart = ChartRequest(query, viewed, shown, narrowed, address)
    # The form submits its method even if it is the default.
    chosen = {name for name in OPTIONS if form.given.get(name) not in (None, "pipeline")}
    return {
        **_form_context(params, query, shown, known),
        "first_cipher": first_cipher,
        "options": len(chosen) + (query.metric not in SWITCHED),
        "families": families(measured, query.ciphers),
        "measured_count": len(measured),
        "unmeasured": sorted({*query.ciphers} - {*measured}),
        "all_ciphers": address.changed(cipher=tuple(sorted(measured, key=cipher_order))),
        "block_sizes": sorted({*covered.block_sizes, BLOCK_SIZE, query.block_size or BLOCK_SIZE}),
        "usual_block_size": BLOCK_SIZE,
        "facets": shown_facets(known, query.filters, params),
        "chips": chips,
        "all_hosts": Host.objects.counted().count(),
        "page_sizes": page_sizes(address, viewed.matches, shown.top),
        **result_context(chart),
        **relating_context(query, params, viewed.comparison, address),
        "finding": finding(viewed.comparison),
        "has_os_versions": _with_several_os_versions(query.group_by, viewed.groups),
        "grouping": grouping(query.group_by),
        "splitting": grouping(query.split_by) if query.split_by else "",
        "passed_over": passed_over,
        "valid_params": valid_params,
        "measures_cpu_time": query.metric.startswith("cpu_"),
        "switch": [(name, label, address.changed(metric=value)) for name, label, value in SWITCH],
        "clear_address": address.changed(**dict.fromkeys((*query.filters, *DATES, *QUIET))),
        "ways_back": list(_ways_back(params, query, other_sizes, address)),
        **_runs_filters(query),
    }


def _with_several_os_versions(group_by: str, groups: Sequence[Group]) -> set[str]:
    if group_by not in ("cpu", "os"):
        return set()
    key = f"{group_by}__key"
    of_groups = Environment.objects.filter(**{f"{key}__in": [group.key for group in groups]})
    counts = of_groups.values(key).annotate(versions=Count("os_version", distinct=True))
    return set(counts.filter(versions__gt=1).values_list(key, flat=True))


def _baselines(groups: Sequence[Group]) -> str:
    """Return a note such as "Baseline in 2 of 3 groups: 3DES only"."""
    notes = Counter(filter(None, map(only_baseline, groups)))
    return ". ".join(
        f"Baseline {'here' if count == len(groups) else f'in {count} of {len(groups)} groups'}: "
        f"{note}"
        for note, count in notes.items()
    )


def _ways_back(
    params: QueryDict, query: ComparisonQuery, other_sizes: Iterable[int], address: PageAddress
) -> Iterator[tuple[str, str]]:
    """Yield (label, URL) of links for a page without results.

    Each link changes one parameter: the method, the block size or the ciphers.
    """
    if query.tool == "ssh" and query.method != METHODS[0].key:
        yield f"Show the {METHODS[0].label.lower()} method", address.changed(method=None)
    for size in other_sizes:
        wanted = None if size == BLOCK_SIZE else str(size)
        yield f"Show {data_size(size)} blocks", address.changed(block_size=wanted)
    if params.getlist("cipher"):
        yield "Show the default ciphers", address.changed(cipher=None)


def _form_context(
    params: QueryDict, query: ComparisonQuery, shown: GroupView, known: tuple[Facet, ...] = ()
) -> dict[str, Any]:
    return {
        "query": query,
        "display": shown,
        "tools": TOOLS,
        "tops": TOPS,
        "most_groups": MOST_GROUPS,
        "groupings": groupings(query.group_by, *(facet.tag for facet in known if facet.tag)),
        "metrics": METRICS,
        "metric": choice(METRICS, query.metric),
        "tool": choice(TOOLS, query.tool),
        "methods": METHODS,
        "dates": {name: params.get(name, "") for name in DATES},
        "kept": [(name, value) for name in KEPT for value in params.getlist(name) if value],
    }


def result_context(chart: ChartRequest) -> dict[str, Any]:
    comparison = chart.viewed.comparison
    sources = {source for group in chart.viewed.groups for source in group.sources}
    return {
        "comparison": comparison,
        "part": chart.viewed,
        "baselines": _baselines(chart.viewed.groups),
        "reference_host": PROFILE.hosts[chart.query.tool] if comparison.profile else "",
        "is_overlapping": chart.query.group_by != "host"
        and sum(group.hosts for group in comparison.groups) > comparison.hosts,
        "page_obj": chart.page,
        **chart_context(chart),
        "sort_ciphers": sorted(comparison.ciphers, key=cipher_order),
        "sources": sorted(sources),
        "tool_breaks": tool_breaks(comparison),
        "no_baseline": comparison.excluded["no_baseline"],
        "no_block_size": comparison.excluded.get("no_block_size", 0),
    }


def _runs_filters(query: ComparisonQuery) -> dict[str, str | None]:
    """Return the parameters that select a group and a split in the list of runs.

    All values are None if the list lacks a parameter for `group_by` or `split_by`.
    """
    by = (name for name in (query.group_by, query.split_by) if name)
    names = ["verdict" if name == "acceleration" else name for name in by]
    own, split = (*names, None)[:2] if all(name in FILTERS for name in names) else (None, None)
    return {"runs_filter": own, "split_filter": split}


def narrowing(params: QueryDict, query: ComparisonQuery) -> Iterator[tuple[str, str, str]]:
    """Yield (parameter, title, value) for each value of each active filter."""
    for name, values in query.filters.items():
        yield from ((name, FILTER_TITLES[name], value) for value in values)
    others: Mapping[str, str] = {**DATES, **QUIET}
    for name, title in others.items():
        yield from ((name, title, value) for value in params.getlist(name) if value)
