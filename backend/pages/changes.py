"""What changed in the fleet: the list, and what editors say of an entry."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from rest_framework.exceptions import ValidationError

from access.audit import actor_of
from analysis.ciphers.cipher_catalogue import cipher_catalogue
from hosts.editing import EditRefused
from ingest.edits.notes import LONGEST_NOTE, decide
from pages.access import editors, reader_page
from pages.hosts.history import series_key
from pages.page_query import PageAddress, query_faults
from pages.paging import page_of_ids
from questions.list_parameters import CHANGES, change_query
from questions.parameters import names_of
from results.hosts.fleet_changes import (
    STATUSES,
    ChangedHost,
    ChangeQuery,
    CpuOfChange,
    Effect,
    FleetChangeSummary,
    change_detail,
    hosts_by_direction,
    runs_and_hosts,
    select_changes,
    summaries_of_changes,
)
from store.models import FleetChange, Series

KIND_LABELS = {"speed": "Speed", "verdict": "AES acceleration", "silent": "Silent host"}
HEADINGS = {
    "slower": "Slower",
    "faster": "Faster",
    "lost": "AES acceleration lost",
    "regained": "AES acceleration regained",
    "changed": "AES verdict changed",
    "silent": "No runs any more",
}
BADGES = {"slower": "bad", "lost": "bad", "faster": "ready", "regained": "ready"}

EFFECTS_SHOWN, CPUS_SHOWN = 6, 4

LATELY = timedelta(days=7)


@dataclass(frozen=True)
class ShownEffect:
    """An effect, and where its evidence is: the history of a series that shows it."""

    effect: Effect
    evidence: str = ""


@dataclass(frozen=True)
class ShownHost:
    """A host of an entry with its effects, the largest first."""

    host: ChangedHost
    effects: tuple[ShownEffect, ...]


@dataclass(frozen=True)
class ShownChange:
    """An entry as the page shows it."""

    entry: FleetChangeSummary
    effects: tuple[Effect, ...]
    members: tuple[ShownHost, ...]

    @property
    def heading(self) -> str:
        """What happened, in a few words."""
        return HEADINGS[self.entry.direction]

    @property
    def badge(self) -> str:
        """The class of its badge."""
        return BADGES.get(self.entry.direction, "warn")

    @property
    def agreement(self) -> tuple[int, int]:
        """Series that agree, of how many."""
        effects = self.entry.effects
        return sum(one.agreeing for one in effects), sum(one.series for one in effects)

    @property
    def also_changed(self) -> tuple[str, ...]:
        """What changed beside the cause on most of the hosts named: that may be it as well."""
        likeliest = self.entry.cause.partition(":")[0]
        found = Counter(
            what
            for member in self.members
            for what in {words.partition(":")[0] for words in member.host.differences}
        )
        often = [what for what, hosts in found.items() if 2 * hosts > len(self.members)]
        return tuple(sorted(what for what in often if what != likeliest))

    @property
    def more_effects(self) -> int:
        """Families that are not shown."""
        return len(self.entry.effects) - len(self.effects)

    @property
    def cpus(self) -> tuple[CpuOfChange, ...]:
        """The most frequent CPUs."""
        return self.entry.cpus[:CPUS_SHOWN]

    @property
    def more_cpus(self) -> bool:
        """Whether some hosts have others than those."""
        return sum(one.hosts for one in self.cpus) < self.entry.hosts

    @property
    def more_hosts(self) -> int:
        """Hosts that are not named."""
        return self.entry.hosts - len(self.members)


def _by_size(effects: Iterable[Effect]) -> list[Effect]:
    return sorted(effects, key=lambda one: -abs(one.ratio - 1))


def shown_changes(
    entries: Iterable[FleetChangeSummary], most_effects: int | None = EFFECTS_SHOWN
) -> list[ShownChange]:
    """The entries with links to their evidence; one query for all of them."""
    found = list(entries)
    examples = {
        effect.example for entry in found for one in entry.members for effect in one.effects
    }
    keys = {
        number: series_key(series)
        for number, series in Series.objects.in_bulk(list(examples - {None})).items()
    }
    return [
        ShownChange(
            entry,
            tuple(_by_size(entry.effects)[:most_effects]),
            tuple(_shown_host(one, keys) for one in entry.members),
        )
        for entry in found
    ]


def _shown_host(host: ChangedHost, keys: dict[int, str]) -> ShownHost:
    return ShownHost(
        host,
        tuple(
            ShownEffect(effect, _history(host.id, keys.get(effect.example or 0, "")))
            for effect in _by_size(host.effects)
        ),
    )


def _history(host_id: int, key: str) -> str:
    query = f"?{urlencode({'series': key})}" if key else ""
    return f"{reverse('host-page', args=[host_id])}{query}#history"


@reader_page
def change_list(request: HttpRequest) -> HttpResponse:
    """Entries page by page, filtered as the address says."""
    faults: list[tuple[str, str]] = []
    try:
        query = change_query(_known(request.GET))
    except ValidationError as error:
        query, faults = ChangeQuery(), query_faults(error)
    ids = list(select_changes(query).values_list("pk", flat=True))
    page = page_of_ids(ids, request.GET, by_age=True)
    found = FleetChange.objects.in_bulk(page.rows)
    entries = shown_changes(summaries_of_changes([found[pk] for pk in page.rows if pk in found]))
    narrowed = any(request.GET.get(name) for name in names_of(CHANGES))
    context = {
        "page": page,
        "entries": entries,
        "narrowed": narrowed,
        "lately": None if narrowed else _lately(),
        "faults": faults,
        "choices": _choices(query),
        "chips": _chips(request.GET),
        "dates": [(name, request.GET.get(name, "")[:10]) for name in ("since", "until")],
        "list_query": request.GET.urlencode(),
        "csv": f"{reverse('api:changes-csv')}?{_known(request.GET).urlencode()}",
        **_deciding(),
    }
    return render(request, "pages/changes.html", context, status=400 if faults else 200)


@reader_page
def change_page(request: HttpRequest, change_id: int) -> HttpResponse:
    """One entry with all of its hosts and effects."""
    found = change_detail(change_id)
    if found is None:
        raise Http404("There is no such change.")
    (entry,) = shown_changes([found], most_effects=None)
    context = {"entry": entry, "one": entry, "list_query": "", "whole": True, **_deciding()}
    return render(request, "pages/change.html", context)


def _deciding() -> dict[str, Any]:
    return {"statuses": FleetChange.Status.choices, "longest_note": LONGEST_NOTE}


def _lately() -> dict[str, Any]:
    """Within `LATELY`: of changes the class of badge, heading, hosts and list; what ran."""
    since = timezone.now() - LATELY
    runs, hosts, known = runs_and_hosts(since)
    changes = [
        (
            BADGES.get(direction, "warn"),
            HEADINGS[direction],
            hosts,
            urlencode({"direction": direction, "since": since.date().isoformat()}),
        )
        for direction, hosts in hosts_by_direction(since).items()
    ]
    return {"changes": changes, "runs": runs, "hosts": hosts, "known": known}


def _known(params: QueryDict) -> QueryDict:
    known = QueryDict(mutable=True)
    for name in sorted(names_of(CHANGES)):
        if values := [one for one in params.getlist(name) if one]:
            known.setlist(name, values)
    return known


def _choices(query: ChangeQuery) -> list[tuple[str, str, list[tuple[str, str, bool]]]]:
    """The selects: name, label, and (value, label, chosen)."""
    families = dict.fromkeys(one.family for one in cipher_catalogue().ciphers)
    offered = (
        ("kind", "What", KIND_LABELS, query.kinds),
        ("direction", "Direction", HEADINGS, query.directions),
        ("family", "Cipher family", {one: one for one in families}, query.families),
        ("status", "Status", {one: one.capitalize() for one in STATUSES}, query.statuses),
    )
    return [
        (name, label, [(value, text, value in chosen) for value, text in values.items()])
        for name, label, values, chosen in offered
    ]


def _chips(params: QueryDict) -> list[tuple[str, str, str]]:
    """Filters that only addresses set: name, value, and the address without it."""
    address = PageAddress(params)
    return [
        (name, value, address.without(name, value))
        for name in ("host", "tag", "tool")
        for value in params.getlist(name)
        if value
    ]


@editors("runs.change_fleetchange", "POST")
def decide_change(request: HttpRequest, change_id: int) -> HttpResponse:
    """Set status and note of an entry; back to where the form stood."""
    status, note = (request.POST.get(name) for name in ("status", "note"))
    change = partial(decide, change_id, actor_of(request), status=status or None, note=note)
    try:
        change()
    except FleetChange.DoesNotExist:
        raise Http404("There is no such change.") from None
    except EditRefused as refused:
        return render(
            request, "pages/change_refused.html", {"sentence": refused.sentence}, status=400
        )
    back = QueryDict(request.POST.get("list", "")[:4000]).urlencode()
    if request.POST.get("whole"):
        return redirect("change-page", change_id)
    return redirect(f"{reverse('change-pages')}?{back}#change-{change_id}")
