"""What hosts measured with ssh, for recommendations: who, how fast, and with which OpenSSH.

A host speaks for the environment of its latest run with figures of plain ssh: loopback, the
client's own choice of MAC, no compression, hardware AES as it comes.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, get_args
from uuid import UUID

from analysis.ciphers.cipher_catalogue import NOT_OFFERED, cipher_catalogue, offered_ciphers
from analysis.ciphers.host_ciphers import CipherRate, HostCiphers
from compare.question import ComparisonQuery
from documents.types import Method
from results.analytics.engine import questions
from results.analytics.tables import DISTURBED_RUN, DOUBTS, NOISY
from results.figures import SeriesTable, Slot, Statement, filter_condition, results_statement
from store.models import Host, Series
from store.models.run import COUNTED
from store.statements import fetch_rows

PERIOD_FILTERS = ("host", "source")
"""Filters that say which runs count at all; the others must hold for a host's latest run."""

MOST_HOSTS = 1000
"""In one recommendation: beyond that its answer would take longer than anybody waits."""

NAMED_AT_MOST = 5
"""Of the hosts without figures."""

NAMED_CONDITIONS = 3
"""Of what a run says disturbed it."""


@dataclass(frozen=True)
class HostSelection:
    """Which hosts, by which runs: filters as in a comparison, a period, and a method.

    `method` None: by either.
    """

    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    method: Method | None = None

    @property
    def methods(self) -> list[str]:
        """The methods whose figures count."""
        return [self.method] if self.method else list(get_args(Method))


@dataclass(frozen=True)
class EvidenceRun:
    """A run that figures come from; `started_at` is None where its text gives no date.

    `conditions`: the first few of what may make it doubtful, in words.
    """

    run_id: UUID
    started_at: datetime | None
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class HostFigures:
    """A host with its ciphers, and the run behind each rate, by cipher and method.

    `doubtful`, `noisy`: the rates that are noisy or of a disturbed run, and the noisy alone.
    """

    id: int
    key: str
    ciphers: HostCiphers
    runs: Mapping[tuple[str, str], EvidenceRun]
    doubtful: frozenset[tuple[str, str]]
    noisy: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class LeftOut:
    """Hosts without figures: how many, and the names of the first of them."""

    count: int = 0
    names: tuple[str, ...] = ()


class TooManyHosts(ValueError):
    """The selection has more hosts than one recommendation is made for."""


def known_hosts(keys: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Key -> names of those of these hosts that have a run that counts; the present name first."""
    rows = fetch_rows(
        "SELECT h.slug, ARRAY[h.name] || ARRAY(SELECT a.name FROM runs_hostalias a"  # noqa: S608
        " WHERE a.host_id = h.id AND NOT a.published ORDER BY a.id)"
        " FROM runs_host h WHERE h.slug = ANY(%s) AND EXISTS"
        f" (SELECT 1 FROM runs_run r WHERE r.host_id = h.id AND {COUNTED})",
        [list(keys)],
    )
    return {key: tuple(dict.fromkeys(names)) for key, names in rows}


def plain_ssh(methods: Iterable[str]) -> SeriesTable:
    """The series whose figures count: a slot for each cipher and method."""
    rows = list(
        Series.objects.filter(
            tool="ssh",
            acceleration="default",
            target_kind="loopback",
            mac="",
            compression=False,
            method__in=methods,
        )
        .order_by("pinned", "target_name", "pk")
        .values_list("pk", "cipher", "method")
    )
    slots = [(cipher, method) for _, cipher, method in rows]
    places = {slot: place for place, slot in enumerate(dict.fromkeys(slots))}
    return SeriesTable(
        ids=tuple(pk for pk, *_ in rows),
        slot_of=tuple(places[slot] for slot in slots),
        asked=(True,) * len(rows),
        slots=tuple(Slot(cipher, None) for cipher, _ in places),
    )


def _statement(selection: HostSelection) -> Statement:
    """`results`, plain ones of the period, and `fits`, the runs that all filters let through."""
    of_period = {name: selection.filters.get(name, ()) for name in PERIOD_FILTERS}
    query = ComparisonQuery(
        tool="ssh",
        group_by="host",
        filters=of_period,
        since=selection.since,
        until=selection.until,
    )
    statement = results_statement(query, plain_ssh(selection.methods))
    conditions = ["e.tool = $tool"]
    for name, values in selection.filters.items():
        if values and name not in PERIOD_FILTERS:
            condition, parameters = filter_condition(name, values)
            conditions.append(condition)
            statement.parameters |= parameters
    statement.ctes["fits"] = f"""
        SELECT r.id, r.host, r.environment FROM runs r JOIN environment e ON e.id = r.environment
        WHERE {" AND ".join(conditions)}
    """  # noqa: S608 - closed lists
    return statement


_LATEST_RUNS = """
SELECT f.host, f.id, f.environment FROM fits f
JOIN (SELECT arg_max(run, rank) AS run FROM results GROUP BY host) latest ON latest.run = f.id
LIMIT $most
"""
"""Of every host its latest run with figures, where that one passes the filters."""

_RATES = """
SELECT x.host, arg_max(x.run, x.rank), arg_max(x.series, x.rank)
FROM results x JOIN runs r ON r.id = x.run
JOIN (
    SELECT unnest($hosts::INTEGER[]) AS host, unnest($environments::INTEGER[]) AS environment
) speaks ON speaks.host = r.host AND speaks.environment = r.environment
GROUP BY x.host, x.slot
"""
"""Of each of these hosts in its environment the latest rate of every cipher and method."""

_LEFT_OUT = "SELECT DISTINCT f.host FROM fits f ANTI JOIN results x ON x.host = f.host"


def host_figures(selection: HostSelection) -> list[HostFigures]:
    """The hosts of the selection that have figures, by key.

    A few queries, however many hosts there are; `TooManyHosts` for more than `MOST_HOSTS`.
    """
    statement = _statement(selection)
    statement.parameters["most"] = MOST_HOSTS + 1
    with questions() as ask:
        latest = ask(statement.sql(_LATEST_RUNS), statement.parameters)
        if len(latest) > MOST_HOSTS:
            raise TooManyHosts(
                f"This is more than {MOST_HOSTS} hosts, the most that one recommendation is made"
                " for: narrow it by another filter."
            )
        if not latest:
            return []
        hosts, runs, environments = (list(column) for column in zip(*latest, strict=True))
        del statement.parameters["most"]
        statement.parameters |= {"hosts": hosts, "environments": environments}
        keys = ask(statement.sql(_RATES), statement.parameters)
    rates, known = _rates(keys), _hosts(hosts, runs)
    twice = {name for name, count in Counter(one.name for one in known).items() if count > 1}
    # What was hidden since the answer above has no figures any more.
    return [
        _figures(one, one.key if one.name in twice else one.name, rates[one.id])
        for one in known
        if one.id in rates
    ]


def hosts_left_out(selection: HostSelection) -> LeftOut:
    """The hosts that fit the selection, yet never measured ssh so that it could be used."""
    statement = _statement(selection)
    with questions() as ask:
        ids = [host for (host,) in ask(statement.sql(_LEFT_OUT), statement.parameters)]
    names = Host.objects.filter(pk__in=ids).order_by("name").values_list("name", flat=True)
    return LeftOut(len(ids), tuple(names[:NAMED_AT_MOST]))


@dataclass(frozen=True)
class _Figure:
    """A rate, its run, and the bits of what is doubtful of it (`results.analytics.tables`)."""

    rate: CipherRate
    run: EvidenceRun
    flags: int

    @property
    def key(self) -> tuple[str, str]:
        """Cipher and method."""
        return self.rate.cipher, self.rate.method


def _rates(keys: Sequence[tuple[int, int, int]]) -> dict[int, list[_Figure]]:
    """Host -> its rates with their runs, of (host, run, series)."""
    rows = fetch_rows(
        f"""
        SELECT k.host, r.run_id, r.started_at, {DOUBTS},
            jsonb_path_query_array(r.conditions, '$[0 to {NAMED_CONDITIONS - 1}]')::text,
            s.cipher, m.median, m.n, m.spread, s.method, m.cpu_seconds_per_gb
        FROM unnest(%s::int[], %s::int[], %s::int[]) AS k (host, run, series)
        JOIN runs_run r ON r.id = k.run
        JOIN runs_measurement m ON m.run_id = k.run AND m.series_id = k.series
        JOIN runs_series s ON s.id = k.series
        WHERE {COUNTED} ORDER BY k.host, s.cipher, s.method
        """,  # noqa: S608 - constants
        [list(column) for column in zip(*keys, strict=True)],
    )
    found: defaultdict[int, list[_Figure]] = defaultdict(list)
    for host, run_id, started_at, flags, conditions, *rate in rows:
        run = EvidenceRun(run_id, started_at, _in_words(conditions))
        found[host].append(_Figure(CipherRate(*rate), run, flags))
    return found


def _in_words(conditions: str) -> tuple[str, ...]:
    return tuple(one.get("detail") or one["code"] for one in json.loads(conditions))


@dataclass(frozen=True)
class _Host:
    """A host, and what its run says of OpenSSH: in the document's own words."""

    id: int
    key: str
    name: str
    openssh: Mapping[str, Any]
    not_offered: frozenset[str]


def _hosts(hosts: Sequence[int], runs: Sequence[int]) -> list[_Host]:
    """These hosts by key, each with what its run says.

    The database picks that out of documents that may be megabytes long.
    """
    rows = fetch_rows(
        """
        SELECT h.id, h.slug, h.name,
            (
                ltrim(convert_from(d.body, 'UTF8'), U&'\\FEFF')::json
                -> 'environment' -> 'openssh'
            )::text,
            r.skipped::text
        FROM unnest(%s::int[], %s::int[]) AS k (host, run)
        JOIN runs_host h ON h.id = k.host JOIN runs_run r ON r.id = k.run
        JOIN runs_rundocument d ON d.run_id = r.id ORDER BY h.slug
        """,
        [hosts, runs],
    )
    return [
        _Host(pk, key, name, json.loads(said), _not_offered(json.loads(skipped)))
        for pk, key, name, said, skipped in rows
    ]


def _not_offered(skipped: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(
        one["cipher"]
        for one in skipped
        if one["tool"] == "ssh" and one["reason"] == NOT_OFFERED and one["cipher"]
    )


def _figures(one: _Host, name: str, figures: Sequence[_Figure]) -> HostFigures:
    client = one.openssh.get("client")
    measured = frozenset(figure.rate.cipher for figure in figures)
    return HostFigures(
        id=one.id,
        key=one.key,
        ciphers=HostCiphers(
            name=name,
            rates=tuple(figure.rate for figure in figures),
            client=client,
            server=one.openssh.get("server"),
            offered=offered_ciphers(client, measured, one.not_offered, cipher_catalogue()),
            default_cipher=one.openssh.get("default_cipher"),
        ),
        runs={figure.key: figure.run for figure in figures},
        doubtful=frozenset(one.key for one in figures if one.flags & (DISTURBED_RUN | NOISY)),
        noisy=frozenset(one.key for one in figures if one.flags & NOISY),
    )
