"""What is derived from runs that count: each machine's latest result of every series.

A new run only adds to it; whatever takes a run away, hides it, shows it again or gives it to
another host has it made anew for the hosts concerned, and the verdicts of the runs beside it.
"""

from collections.abc import Collection, Iterable

from django.db import connection, transaction

from runs.analytics.quality_flags import DOUBTS
from runs.data_version import data_changed
from runs.judging import judge_again
from runs.models import Host, Run
from runs.models.run import COUNTED
from runs.queries.statements import LATEST_FIRST
from runs.shown_names import NAME_HOSTS

COLUMNS = """machine_id, series_id, run_id, started_at, negotiated_id, median, cpu_seconds_per_gb,
    cpu_bound_throughput, doubts"""
"""Of `runs_latest`."""

RESULT = f"""m.series_id, r.id, r.started_at, m.negotiated_id, m.median, m.cpu_seconds_per_gb,
    m.cpu_bound_throughput, {DOUBTS}"""
"""What these are, after the machine, of a measurement (m) in a run (r)."""

SERIES_SET = "coalesce(r.series_set, md5(r.id::text)::uuid)"
"""Of a run (r): one that was told none, by an older program, has a set of its own."""

OF_MACHINE = """(k.host_id, k.environment_id, k.source, k.tags_digest)
    = (r.host_id, r.environment_id, r.source, md5(r.tags::text))"""
"""That a run (r) is of a machine (k)."""

Pair = tuple[int, int]
"""Primary keys of a host and of an environment."""


def _machines_of(runs: str) -> str:
    return f"""
INSERT INTO runs_machine (host_id, environment_id, source, tags, tags_digest)
SELECT DISTINCT r.host_id, r.environment_id, r.source, r.tags, md5(r.tags::text) FROM runs_run r
WHERE {runs} ORDER BY 1, 2, 3, 5
"""  # noqa: S608 - constants


def _latest_of(runs: str) -> str:
    return f"""
INSERT INTO runs_latest ({COLUMNS})
SELECT DISTINCT ON (r.machine_id, m.series_id) r.machine_id, {RESULT}
FROM (
    SELECT DISTINCT ON (k.id, {SERIES_SET})
        k.id AS machine_id, r.id, r.started_at, r.conditions
    FROM runs_run r JOIN runs_machine k ON {OF_MACHINE}
    WHERE {runs}
    ORDER BY k.id, {SERIES_SET}, {LATEST_FIRST}
) r JOIN runs_measurement m ON m.run_id = r.id
WHERE m.median IS NOT NULL
ORDER BY r.machine_id, m.series_id, {LATEST_FIRST}
"""  # noqa: S608 - constants


_THESE = "r.id = ANY(%(runs)s) AND NOT r.hidden"

ADD = f"""
{_machines_of(_THESE)}
ON CONFLICT (host_id, environment_id, source, tags_digest) DO UPDATE SET tags = EXCLUDED.tags;

{_latest_of(_THESE)}
ON CONFLICT (machine_id, series_id) DO UPDATE SET run_id = EXCLUDED.run_id,
    started_at = EXCLUDED.started_at, negotiated_id = EXCLUDED.negotiated_id,
    median = EXCLUDED.median, cpu_seconds_per_gb = EXCLUDED.cpu_seconds_per_gb,
    cpu_bound_throughput = EXCLUDED.cpu_bound_throughput, doubts = EXCLUDED.doubts
WHERE (coalesce(EXCLUDED.started_at, '-infinity'), EXCLUDED.run_id)
    >= (coalesce(runs_latest.started_at, '-infinity'), runs_latest.run_id)
"""  # noqa: S608 - constants
"""Runs (`runs`: their keys) that have just become ready take their place among the latest results.

The update of machines changes nothing: it locks them, in one order, so that runs of one machine
take turns and none waits in a circle.
"""

_OF_HOSTS = f"r.host_id = ANY(%s) AND {COUNTED}"


@transaction.atomic
def refresh_hosts(host_pks: Collection[int]) -> None:
    """Make the latest results and names of these hosts anew from all their runs that count."""
    hosts = sorted(set(host_pks))
    # Two refreshes of one host must not interleave.
    list(Host.objects.select_for_update().filter(pk__in=hosts).order_by("pk").values_list("pk"))
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM runs_latest WHERE machine_id IN"
            " (SELECT id FROM runs_machine WHERE host_id = ANY(%s))",
            [hosts],
        )
        cursor.execute("DELETE FROM runs_machine WHERE host_id = ANY(%s)", [hosts])
        cursor.execute(_machines_of(_OF_HOSTS), [hosts])
        cursor.execute(_latest_of(_OF_HOSTS), [hosts])
        cursor.execute(NAME_HOSTS, [hosts])
    data_changed()


def pairs_of(runs: Iterable[Run]) -> set[Pair]:
    """Where these runs count; those that were never derived count nowhere."""
    found = ((run.host_id, run.environment_id) for run in runs)
    return {(host, environment) for host, environment in found if host and environment}


@transaction.atomic
def follow(changed: Iterable[Pair]) -> None:
    """Bring what is derived from the runs of these hosts in these environments up to date."""
    pairs = sorted(set(changed))
    for host_pk, environment_pk in pairs:
        judge_again(host_pk, environment_pk)
    refresh_hosts({host_pk for host_pk, _ in pairs})


@transaction.atomic
def set_hidden(run: Run, hidden: bool) -> None:
    """Hide a run from every list and statistic, or show it again."""
    Run.objects.filter(pk=run.pk).update(hidden=hidden)
    run.hidden = hidden
    follow(pairs_of([run]))


@transaction.atomic
def delete_runs(runs: Iterable[Run]) -> None:
    """Remove runs with everything that was derived from them, and their documents."""
    gone = list(runs)
    changed = pairs_of(gone)
    for run in gone:
        run.delete()
    follow(changed)
