"""The names and keys that hosts have or had, and where former ones lead.

And names that look like several machines with one machine id.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q

from analysis.renamed_or_cloned import NamedRuns, alternating, together
from documents.naming import same_name
from results.analytics.ask import Ask
from store.models import Host, HostAlias, HostName
from store.models.run import COUNTED
from store.statements import fetch_rows

_NAMES = """
SELECT n.host_id, n.name, n.same_machine, n.name = h.name
FROM runs_hostname n JOIN runs_host h ON h.id = n.host_id
WHERE n.host_id = ANY(%s) AND (n.name = h.name OR coalesce((
    SELECT bool_or(NOT r.hidden) FROM runs_run r
    WHERE r.host_id = n.host_id AND r.host_name = n.name
), true))
ORDER BY n.host_id, n.id
"""
"""Without those names of which all runs are hidden."""

_RUNS = """
SELECT r.host_id, r.machine_id, r.host_name,
    min(r.started_at), max(greatest(r.started_at, r.finished_at)), count(*)
FROM runs_run r WHERE r.host_id = ANY(%s) AND r.machine_id IS NOT NULL AND {}
GROUP BY r.host_id, r.machine_id, r.host_name
"""

Names = list[NamedRuns]

NAMED_LIKE = """(strpos(lower(h.name), lower(%s)) > 0 OR h.id IN (
    SELECT n.host_id FROM runs_hostname n WHERE strpos(lower(n.name), lower(%s)) > 0
))"""
"""Whether a host `h` has or had a name with this text, which is both parameters."""


def named_hosts(ask: Ask, text: str) -> str:
    """The copy's table of the hosts (host) so named; names are searched once for all questions."""
    key = f"named {text}"
    table = ask.kept.get(key)
    if table is None:
        rows = fetch_rows(f"SELECT h.id FROM runs_host h WHERE {NAMED_LIKE}", [text, text])  # noqa: S608
        table = ask.kept[key] = f"named_{len(ask.kept)}"
        create = f"CREATE TEMP TABLE {table} AS SELECT unnest($named::INTEGER[]) AS host"
        ask(create, {"named": [host for (host,) in rows]})
    return str(table)


def named_like(text: str) -> Q:
    """Hosts that have or had a name with this text."""
    if not text:
        return Q()
    former = HostName.objects.filter(host=OuterRef("pk"), name__icontains=text)
    return Q(name__icontains=text) | Q(Exists(former))


@dataclass
class HostNames:
    """Names of a host beside the one that it is shown by."""

    former: tuple[str, ...] = ()
    alternating: tuple[NamedRuns, ...] = ()
    """Names under which several machines seem to share its machine id, the latest first."""


def host_names(hosts: Iterable[int]) -> dict[int, HostNames]:
    """Host -> its other names; hosts that have none are left out."""
    former: dict[int, list[str]] = defaultdict(list)
    one_machine: dict[int, set[str]] = defaultdict(set)
    for host, name, same_machine, shown in fetch_rows(_NAMES, [list(hosts)]):
        if not shown:
            former[host].append(name)
        if same_machine:
            one_machine[host].add(same_name(name))
    # Nearly every host has one name, and its runs need no look.
    runs = _by_machine_id(former, COUNTED) if former else {}
    return {
        host: HostNames(tuple(names), _unexplained(runs.get(host, {}), one_machine[host]))
        for host, names in former.items()
    }


def _by_machine_id(hosts: Iterable[int], which: str) -> Mapping[int, Mapping[str, Names]]:
    """Host -> machine id -> the names of its runs, the latest first."""
    found: dict[int, dict[str, Names]] = defaultdict(lambda: defaultdict(list))
    for host, machine_id, *runs in fetch_rows(_RUNS.format(which), [list(hosts)]):
        found[host][machine_id].append(NamedRuns(*runs))
    return {
        host: {machine_id: together(runs) for machine_id, runs in of_host.items()}
        for host, of_host in found.items()
    }


def _unexplained(runs: Mapping[str, Names], one_machine: set[str]) -> tuple[NamedRuns, ...]:
    """Names that alternate under one id, if not only those that an editor calls one machine."""
    found = [alternating(names) for names in runs.values()]
    return tuple(
        together(
            one
            for names in found
            for one in names
            if any(same_name(other.name) not in one_machine for other in names)
        )
    )


def names_under_one_id(host: int) -> Names:
    """Names of a host, hidden runs included, beside which another one came under their id."""
    of_host = _by_machine_id([host], "r.status = 'ready'").get(host, {})
    return together(one for names in of_host.values() if len(names) > 1 for one in names)


_PRESENT = """
SELECT a.slug, h.slug FROM runs_hostalias a JOIN runs_host h ON h.id = a.host_id
WHERE a.slug = ANY(%s)
UNION ALL
(
    SELECT DISTINCT ON (n.slug) n.slug, h.slug FROM runs_hostname n
    JOIN runs_host h ON h.id = n.host_id
    WHERE n.slug = ANY(%s)
        AND NOT EXISTS (SELECT FROM runs_host o WHERE o.slug = n.slug)
        AND NOT EXISTS (SELECT FROM runs_hostalias o WHERE o.slug = n.slug)
    ORDER BY n.slug, n.id DESC
)
"""


def what_they_became(keys: Iterable[str]) -> dict[str, str]:
    """Of these keys those that are no host's -> the key of the host that they lead to.

    Keys of merged hosts, names that a host had under another key, made into a key, and numbers.
    """
    asked = [key for key in keys if key]
    return dict(fetch_rows(_PRESENT, [asked, asked])) | _by_number(asked)


def _by_number(keys: Iterable[str]) -> dict[str, str]:
    numbers = {key: int(key) for key in keys if is_number(key)}
    if not numbers:
        return {}
    hosts = Host.objects.filter(Q(slug__in=numbers) | Q(pk__in=numbers.values()))
    merged = HostAlias.objects.filter(former_key__in=numbers.values()).select_related("host")
    slugs = {one.former_key: one.host.slug for one in merged} | {one.pk: one.slug for one in hosts}
    return {
        key: slugs[number]
        for key, number in numbers.items()
        if number in slugs and key not in slugs.values()
    }


def is_number(key: str) -> bool:
    """Return whether a key may be the number of a host."""
    return key.isascii() and key.isdecimal() and len(key) < 19


def present_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """These keys of hosts, a former one replaced by that of the host it leads to; none twice."""
    asked = tuple(keys)
    became = what_they_became(asked)
    return tuple(dict.fromkeys(became.get(key, key) for key in asked))


def present_id(host_id: int) -> int | None:
    """The id of the host that one of this id was merged into; None for an id that never was one."""
    return HostAlias.objects.filter(former_key=host_id).values_list("host_id", flat=True).first()
