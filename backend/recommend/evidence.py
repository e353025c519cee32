"""What hosts measured with plain ssh: loopback, the client's own MAC, AES as it comes."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from django.db.models import QuerySet
from django.utils.datastructures import MultiValueDict

from analysis.recommendation import MeasuredHost, Rate
from recommend.forms import OF_PERIOD, Question
from runs.filters import NarrowingFilter
from store.models import Run
from store.statements import fetch_rows

MOST_CONDITIONS = 3
"""Named of what disturbed a run."""

NOT_OFFERED = "this OpenSSH does not offer it"
"""The agent's reason for having skipped a cipher that `ssh -Q cipher` does not list."""

_PLAIN = """
SELECT m.*, s.cipher, s.method, s.pinned
FROM runs_measurement m JOIN runs_series s ON s.id = m.series_id
WHERE m.run_id = r.id AND m.median IS NOT NULL AND s.tool = 'ssh' AND s.acceleration = 'default'
    AND s.target_kind = 'loopback' AND s.mac = '' AND NOT s.compression
"""
"""The figures of a run `r`."""

_LATEST_FIRST = f"""
r.started_at DESC NULLS LAST,
CASE WHEN r.started_at IS NULL THEN (SELECT count(DISTINCT cipher) FROM ({_PLAIN}) p) END DESC,
r.id DESC
"""  # noqa: S608 - constants
"""As votes of comparisons: of runs without a date, that with more ciphers comes first."""

_FIGURES = """
WITH counted AS MATERIALIZED ({counted}), fitting AS MATERIALIZED ({fitting}),
latest AS MATERIALIZED (
    SELECT h.slug, h.name, r.*, (
        SELECT ltrim(convert_from(d.body, 'UTF8'), U&'\\FEFF')::json -> 'environment' -> 'openssh'
        FROM runs_rundocument d WHERE d.run_id = r.id
    ) AS openssh
    FROM runs_host h CROSS JOIN LATERAL (
        SELECT r.* FROM runs_run r
        WHERE r.host_id = h.id AND r.id IN (SELECT id FROM counted) AND EXISTS ({plain})
        ORDER BY {latest_first} LIMIT 1
    ) r
    WHERE h.id IN (SELECT host_id FROM fitting) AND r.id IN (SELECT id FROM fitting)
)
SELECT l.host_id, l.slug, l.name, l.acceleration, l.acceleration_advice, l.skipped::text,
    l.openssh::text, f.*
FROM latest l CROSS JOIN LATERAL (
    SELECT DISTINCT ON (p.cipher, p.method) p.cipher, p.method, p.median, p.n, p.spread,
        p.cpu_seconds_per_gb, r.run_id, r.started_at, r.conditions::text
    FROM runs_run r CROSS JOIN LATERAL ({plain}) p
    WHERE r.host_id = l.host_id AND r.environment_id = l.environment_id
        AND r.id IN (SELECT id FROM counted)
    ORDER BY p.cipher, p.method, {latest_first}, p.pinned, p.series_id
) f ORDER BY l.slug, f.cipher, f.method
"""
"""Of every host the figures of one environment, that of its latest run with any.

OpenSSH is in the document's own words, which the database picks out of what may be megabytes.
"""


def measured_hosts(question: Question) -> list[MeasuredHost]:
    """Return the hosts that have figures, by key; of a pair the client first."""
    of_period = {name: each for name, each in question.filters.items() if name in OF_PERIOD}
    parts = [_runs(question.hosts, filters) for filters in (of_period, question.filters)]
    statement = _FIGURES.format(
        counted=parts[0][0], fitting=parts[1][0], plain=_PLAIN, latest_first=_LATEST_FIRST
    )
    rows = fetch_rows(statement, [*parts[0][1], *parts[1][1]])
    by_host = groupby(rows, key=lambda row: row[:7])
    hosts = [_host(facts, [row[7:] for row in rows]) for facts, rows in by_host]
    names = Counter(host.name for host in hosts)
    hosts = [replace(one, name=one.key) if names[one.name] > 1 else one for one in hosts]
    return sorted(hosts, key=lambda host: question.hosts.index(host.key) if question.is_pair else 0)


def _runs(hosts: Sequence[str], filters: Mapping[str, list[str]]) -> tuple[str, Sequence[Any]]:
    """Return the statement for the runs that count and pass the filters, and its parameters."""
    runs: QuerySet[Run] = NarrowingFilter(MultiValueDict(filters), Run.objects.counted()).qs
    runs = runs.filter(host__slug__in=hosts) if hosts else runs
    return runs.order_by().values("id", "host_id").query.sql_with_params()


def _host(facts: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> MeasuredHost:
    pk, key, name, acceleration, advice, skipped, openssh = facts
    known = json.loads(openssh)
    return MeasuredHost(
        id=pk,
        key=key,
        name=name,
        rates=tuple(Rate(*(*row[:-1], _in_words(row[-1]))) for row in rows),
        client=known.get("client"),
        server=known.get("server"),
        default_cipher=known.get("default_cipher"),
        not_offered=frozenset(
            one["cipher"] for one in json.loads(skipped) if one["reason"] == NOT_OFFERED
        ),
        acceleration=acceleration,
        advice=advice,
    )


def _in_words(conditions: str) -> tuple[str, ...]:
    named = json.loads(conditions)[:MOST_CONDITIONS]
    return tuple(one.get("detail") or one["code"] for one in named)
