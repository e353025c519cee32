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

from analysis.cipher_catalogue import cipher_catalogue
from analysis.host_ciphers import CipherRate, HostCiphers
from analysis.offered_ciphers import NOT_OFFERED, offered_ciphers
from documents.types import Method
from runs.analytics.quality_flags import DISTURBED, NOISY
from runs.models.run import COUNTED
from runs.queries.machine_results import LATEST_FIRST, Relation, machine_results
from runs.queries.selection import Where, add_filter
from runs.queries.statements import fetch_rows

PERIOD_FILTERS = ("host", "source")
"""Filters that say which runs count at all; the others must hold for a host's latest run."""

MOST_HOSTS = 1000
"""In one recommendation: beyond that its answer would take longer than anybody waits."""

NAMED_AT_MOST = 5
"""Of the hosts without figures."""

NAMED_CONDITIONS = 3
"""Of what a run says disturbed it."""

PLAIN_SSH = (
    "SELECT s.id FROM runs_series s"
    " WHERE s.tool = 'ssh' AND s.acceleration = 'default' AND s.target_kind = 'loopback'"
    " AND s.mac = '' AND NOT s.compression AND s.method = ANY(%s)"
)
"""The series whose figures count, by method; few, and found before any result is read."""


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


@dataclass(frozen=True)
class _Latest:
    """The latest run of a host that has figures, and the environment that it speaks for."""

    host_id: int
    key: str
    name: str
    run: int
    environment: int


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


def host_figures(selection: HostSelection) -> list[HostFigures]:
    """The hosts of the selection that have figures, by key.

    Three queries, however many hosts there are; `TooManyHosts` for more than `MOST_HOSTS`.
    """
    latest = _latest_runs(selection)
    if len(latest) > MOST_HOSTS:
        raise TooManyHosts(
            f"This is more than {MOST_HOSTS} hosts, the most that one recommendation is made for: "
            "narrow it by another filter."
        )
    if not latest:
        return []
    rates = _rates(latest, selection)
    facts = _openssh([one.run for one in latest])
    twice = _names_of_several(latest)
    return [
        _figures(one, one.key if one.name in twice else one.name, rates[one.host_id], facts)
        for one in latest
    ]


def hosts_left_out(selection: HostSelection) -> LeftOut:
    """The hosts that fit the selection, yet never measured ssh so that it could be used."""
    fits = _runs_of_period(selection)
    for name, values in _host_filters(selection).items():
        add_filter(fits, name, values, table="r", tool="ssh")
    figures = _figures_of_period(selection)
    # Two sets, each made once: before the first ANALYZE the database would look for every host
    # through the figures of all.
    statement = f"""
        WITH fits AS MATERIALIZED (
            SELECT DISTINCT r.host_id
            FROM runs_run r JOIN runs_environment e ON e.id = r.environment_id WHERE {fits.text}
        ), measured AS MATERIALIZED (
            SELECT DISTINCT k.host_id {figures.sql}
                AND k.host_id = ANY(ARRAY(SELECT host_id FROM fits))
        )
        SELECT h.name, count(*) OVER () FROM runs_host h
        WHERE h.id IN (SELECT host_id FROM fits) AND h.id NOT IN (SELECT host_id FROM measured)
        ORDER BY h.name LIMIT %s
    """  # noqa: S608 - closed lists
    rows = fetch_rows(statement, [*fits.parameters, *figures.parameters, NAMED_AT_MOST])
    return LeftOut(rows[0][1] if rows else 0, tuple(name for name, _ in rows))


def _runs_of_period(selection: HostSelection) -> Where:
    """Conditions on runs (r): those that count, of the period, hosts and sources asked for."""
    where = Where([COUNTED], [])
    for name in PERIOD_FILTERS:
        if selection.filters.get(name):
            add_filter(where, name, selection.filters[name], table="r")
    if selection.since is not None:
        where.add("r.started_at >= %s", selection.since)
    if selection.until is not None:
        where.add("r.started_at <= %s", selection.until)
    return where


def _figures_of_period(selection: HostSelection) -> Relation:
    """FROM and WHERE of the latest figures (l) of machines (k), by the selection's period."""
    series = Relation(f"ARRAY({PLAIN_SSH})", (selection.methods,))
    results = machine_results(series, selection.until)
    where = Where([f"l.series_id = ANY({series.sql})"], list(series.parameters))
    for name in PERIOD_FILTERS:
        if selection.filters.get(name):
            add_filter(where, name, selection.filters[name])
    if selection.since is not None:
        where.add("l.started_at >= %s", selection.since)
    return Relation(
        f"FROM {results.sql} JOIN runs_machine k ON k.id = l.machine_id WHERE {where.text}",
        (*results.parameters, *where.parameters),
    )


def _host_filters(selection: HostSelection) -> dict[str, tuple[str, ...]]:
    """The filters that a host's latest run must pass."""
    return {
        name: values
        for name, values in selection.filters.items()
        if name not in PERIOD_FILTERS and values
    }


def _latest_runs(selection: HostSelection) -> list[_Latest]:
    """Of every host the latest run with figures, where that one passes the filters.

    Found once, before hosts are named: the database would else find them again for each host
    where it believes that there are few. Only of hosts one of whose machines passes: figures of
    the others need not be read.
    """
    figures = _figures_of_period(selection)
    outer = Where(["true"], [])
    for name, values in _host_filters(selection).items():
        add_filter(outer, name, values, tool="ssh")
    statement = f"""
        WITH latest AS MATERIALIZED (
            SELECT DISTINCT ON (k.host_id) k.host_id, k.id AS machine_id, l.run_id
            {figures.sql} AND k.host_id = ANY(ARRAY(
                SELECT DISTINCT k.host_id FROM runs_machine k
                JOIN runs_environment e ON e.id = k.environment_id WHERE {outer.text}
            ))
            ORDER BY k.host_id, {LATEST_FIRST}
        )
        SELECT h.id, h.slug, h.name, l.run_id, k.environment_id
        FROM latest l
        JOIN runs_host h ON h.id = l.host_id
        JOIN runs_machine k ON k.id = l.machine_id
        JOIN runs_environment e ON e.id = k.environment_id
        WHERE {outer.text} ORDER BY h.slug LIMIT %s
    """  # noqa: S608 - closed lists
    passes = outer.parameters
    rows = fetch_rows(statement, [*figures.parameters, *passes, *passes, MOST_HOSTS + 1])
    return [_Latest(*row) for row in rows]


@dataclass(frozen=True)
class _Figure:
    """A rate, its run, and the bits of what is doubtful of it (`runs.analytics.quality_flags`)."""

    rate: CipherRate
    run: EvidenceRun
    doubts: int

    @property
    def key(self) -> tuple[str, str]:
        """Cipher and method."""
        return self.rate.cipher, self.rate.method


Rates = dict[int, list[_Figure]]


def _rates(latest: Sequence[_Latest], selection: HostSelection) -> Rates:
    """Host -> of its environment the latest rate of every cipher and method, with its run."""
    figures = _figures_of_period(selection)
    statement = f"""
        WITH one AS MATERIALIZED (
            SELECT DISTINCT ON (l.host_id, s.cipher, s.method) l.*, s.cipher, s.method
            FROM (
                SELECT k.host_id, l.* {figures.sql} AND (k.host_id, k.environment_id) IN
                    (SELECT * FROM unnest(%s::bigint[], %s::bigint[]))
            ) l
            JOIN runs_series s ON s.id = l.series_id
            ORDER BY l.host_id, s.cipher, s.method,
                {LATEST_FIRST}, s.pinned, s.target_name, l.series_id
        )
        SELECT one.host_id, r.run_id, r.started_at, one.doubts,
            jsonb_path_query_array(r.conditions, '$[0 to {NAMED_CONDITIONS - 1}]')::text,
            one.cipher, one.median, m.n, m.spread, one.method, one.cpu_seconds_per_gb
        FROM one JOIN runs_run r ON r.id = one.run_id
        JOIN runs_measurement m ON m.run_id = one.run_id AND m.series_id = one.series_id
        ORDER BY one.host_id, one.cipher, one.method
    """  # noqa: S608 - closed lists
    pairs = [[one.host_id for one in latest], [one.environment for one in latest]]
    found: Rates = defaultdict(list)
    rows = fetch_rows(statement, [*figures.parameters, *pairs])
    for host, run_id, started_at, doubts, conditions, *rate in rows:
        run = EvidenceRun(run_id, started_at, _in_words(conditions))
        found[host].append(_Figure(CipherRate(*rate), run, doubts))
    return found


def _in_words(conditions: str) -> tuple[str, ...]:
    return tuple(one.get("detail") or one["code"] for one in json.loads(conditions))


@dataclass(frozen=True)
class _OpenSsh:
    """What a run says of its OpenSSH: the document's own words, and what ssh does not offer."""

    said: Mapping[str, Any]
    not_offered: frozenset[str]


def _openssh(runs: Sequence[int]) -> dict[int, _OpenSsh]:
    """Run -> its OpenSSH. The database picks that out of documents that may be megabytes long."""
    rows = fetch_rows(
        "SELECT r.id, r.skipped::text, (ltrim(convert_from(d.body, 'UTF8'), U&'\\FEFF')::json"
        " #> '{environment,openssh}')::text FROM runs_run r"
        " JOIN runs_rundocument d ON d.run_id = r.id WHERE r.id = ANY(%s)",
        [list(runs)],
    )
    return {
        run: _OpenSsh(json.loads(said), _not_offered(json.loads(skipped)))
        for run, skipped, said in rows
    }


def _not_offered(skipped: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(
        one["cipher"]
        for one in skipped
        if one["tool"] == "ssh" and one["reason"] == NOT_OFFERED and one["cipher"]
    )


def _names_of_several(latest: Iterable[_Latest]) -> set[str]:
    """Names that do not tell their hosts apart: those go by their keys."""
    return {name for name, hosts in Counter(one.name for one in latest).items() if hosts > 1}


def _figures(
    one: _Latest,
    name: str,
    figures: Sequence[_Figure],
    facts: Mapping[int, _OpenSsh],
) -> HostFigures:
    openssh = facts[one.run]
    client = openssh.said.get("client")
    measured = frozenset(figure.rate.cipher for figure in figures)
    return HostFigures(
        id=one.host_id,
        key=one.key,
        ciphers=HostCiphers(
            name=name,
            rates=tuple(figure.rate for figure in figures),
            client=client,
            server=openssh.said.get("server"),
            offered=offered_ciphers(client, measured, openssh.not_offered, cipher_catalogue()),
            default_cipher=openssh.said.get("default_cipher"),
        ),
        runs={figure.key: figure.run for figure in figures},
        doubtful=frozenset(one.key for one in figures if one.doubts & (DISTURBED | NOISY)),
        noisy=frozenset(one.key for one in figures if one.doubts & NOISY),
    )
