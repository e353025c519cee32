"""What is derived from a document as plain rows, and the one statement that stores them.

Numbers travel as PostgreSQL's array literals, which cost a hundredth of what models cost, and
texts as JSON. Any number of runs at once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, NamedTuple

import orjson
from django.db import connection

from analysis.cpu_cost import cpu_cost
from analysis.profiles.baselines import MeasuredSeries, baseline_levels, speed_of_run
from analysis.summary import highest_plausible, median_of_sorted, summarise
from documents.naming import slug
from documents.types import Measurement, RunDocument
from ingest.outbox import notify_of_rejection
from ingest.processing.hosts import NAME_BY_RUNS, HostKey
from ingest.processing.processing_locks import Begun, lock_and_look_up
from ingest.processing.series import agreed_on, negotiated_ids, series_ids
from store.models import Run
from store.statements import array


class Result(NamedTuple):
    """A row of `runs_measurement` without its run; figures as in `store.models.Measurement`."""

    series_id: int
    position: int
    negotiated_id: int | None
    n: int
    noisy: bool
    implausible: bool
    median: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    spread: float | None = None
    cpu_seconds_per_gb: float | None = None
    cpu_seconds_per_gb_spread: float | None = None
    try_seconds: float | None = None


TYPES = ("int", "smallint", "int", "smallint", "boolean", "boolean", *7 * ("float8",))
"""PostgreSQL's types of the fields of `Result`."""


class Level(NamedTuple):
    """A row of `runs_baselinelevel` without its run; bytes per second."""

    tool: str
    family: str
    level: float


@dataclass(frozen=True)
class Index:
    """A row of `runs_runspeedindex` without its run."""

    tool: str
    index: float
    uncertainty: float | None
    families: tuple[str, ...]


TOOLS = ("ssh", "openssl")

TURNS = 5_901_215
"""Of the database's advisory locks."""


@dataclass
class DerivedRun:
    """A run with all that its document says, and the rows that are made of it."""

    begun: Begun
    host: HostKey
    facts: Mapping[str, Any]
    results: list[Result]
    measured: list[MeasuredSeries]
    levels: list[Level]
    indices: list[Index]

    @property
    def run(self) -> Run:
        """The run as it will be once it is stored."""
        return self.begun.run


def _result(series_id: int, position: int, agreed: int | None, one: Measurement) -> Result:
    series, samples = one.series, one.samples
    rates = [sample.throughput for sample in samples]
    limit = highest_plausible(
        series.threads, cipher=series.cipher, decrypt=series.operation == "decrypt"
    )
    plausible = min(rates) > 0 and max(rates) <= limit
    if not plausible or any(sample.implausible for sample in samples):
        return Result(series_id, position, agreed, len(rates), False, True)
    summary, cost = summarise(rates), cpu_cost(samples, with_start=one.cpu_with_start)
    figures = (summary.median, summary.minimum, summary.maximum, summary.spread)
    row = (series_id, position, agreed, len(rates), summary.noisy, False, *figures)
    made = Result(*row) if cost is None else Result(*row, *cost)
    return made._replace(try_seconds=_try_seconds(one))


def _try_seconds(one: Measurement) -> float | None:
    """The median length of a pipeline's tries; None where only rates were printed."""
    lengths = sorted(sample.seconds for sample in one.samples if sample.seconds)
    return median_of_sorted(lengths) if one.series.method == "pipeline" and lengths else None


def _levels(measured: Sequence[MeasuredSeries]) -> Iterator[Level]:
    for tool in TOOLS:
        for family, level in baseline_levels(tool, measured).items():
            yield Level(tool, family, level)


def _indices(measured: Sequence[MeasuredSeries]) -> Iterator[Index]:
    for tool in TOOLS:
        speed = speed_of_run(tool, measured)
        if speed is not None:
            yield Index(tool, speed.index, speed.uncertainty, speed.families)


def derive_rows(begun: Begun, host: HostKey, document: RunDocument) -> DerivedRun:
    """Return the results, baseline levels and speed indices of a run."""
    measurements = document.measurements
    numbers = series_ids(one.series for one in measurements)
    agreed = negotiated_ids(one.negotiated for one in measurements)
    results = [
        _result(numbers[one.series], position, agreed.get(agreed_on(one.negotiated)), one)
        for position, one in enumerate(measurements)
    ]
    measured = [
        MeasuredSeries(one.series, result.median)
        for result, one in zip(results, measurements, strict=True)
        if result.median is not None
    ]
    levels, indices = list(_levels(measured)), list(_indices(measured))
    return DerivedRun(begun, host, document.environment, results, measured, levels, indices)


_RUN_FIELDS = {
    "machine_id": "text",
    "host_id": "bigint",
    "environment_id": "bigint",
    "status": "text",
    "rejection": "text",
    "derived_version": "smallint",
    "started_at": "timestamptz",
    "finished_at": "timestamptz",
    "agent_name": "text",
    "agent_version": "text",
    "tags": "jsonb",
    "conditions": "jsonb",
    "skipped": "jsonb",
    "acceleration": "text",
    "acceleration_evidence": "text",
    "acceleration_advice": "text",
    "acceleration_factor": "float8",
}

_RESULT_COLUMNS = ", ".join(Result._fields)
_RESULT_ARRAYS = ", ".join(
    f"%({name})s::{kind}[]"
    for name, kind in zip(("run_id", *Result._fields), ("bigint", *TYPES), strict=True)
)

_STORE = f"""
INSERT INTO runs_measurement (run_id, {_RESULT_COLUMNS})
SELECT * FROM unnest({_RESULT_ARRAYS});

INSERT INTO runs_baselinelevel (run_id, tool, family, level)
SELECT * FROM jsonb_to_recordset(%(levels)s::jsonb)
AS n (run_id bigint, tool text, family text, level float8);

INSERT INTO runs_runspeedindex (run_id, tool, index, uncertainty, families)
SELECT * FROM jsonb_to_recordset(%(indices)s::jsonb) AS n
(run_id bigint, tool text, index float8, uncertainty float8, families jsonb);

UPDATE runs_run r SET {", ".join(f"{name} = n.{name}" for name in _RUN_FIELDS)}
FROM jsonb_to_recordset(%(described)s::jsonb)
AS n (id bigint, {", ".join(f"{name} {kind}" for name, kind in _RUN_FIELDS.items())})
WHERE r.id = n.id;
DO 'BEGIN PERFORM pg_advisory_xact_lock({TURNS}); END';
SELECT EXISTS (SELECT FROM runs_run r JOIN runs_host h ON h.id = r.host_id
    WHERE r.id = ANY(%(runs)s)
        AND h.machine_id IS NOT NULL AND h.name <> r.host_name)
"""  # noqa: S608 - constants
"""From `TURNS` to the commit runs take turns: what is looked for after it, such as the names of
hosts or a verdict (`ingest.processing.aes_verdict.judge_together`), sees every run that was stored
before."""


def _json(rows: Iterable[Mapping[str, Any]]) -> str:
    return orjson.dumps(list(rows)).decode()


def store_rows(made: Sequence[DerivedRun]) -> None:
    """Store all that was derived of these runs, which the caller's transaction has locked."""
    owners = chain.from_iterable(len(one.results) * [one.run.pk] for one in made)
    columns = zip(*chain.from_iterable(one.results for one in made), strict=True)
    parameters = dict(zip(Result._fields, map(array, columns), strict=True))
    runs = [one.run.pk for one in made]
    with connection.cursor() as cursor:
        cursor.execute(
            _STORE,
            {
                **parameters,
                "run_id": array(owners),
                "levels": _json(_of(one, row._asdict()) for one in made for row in one.levels),
                "indices": _json(_of(one, asdict(row)) for one in made for row in one.indices),
                "described": _json(_described(one.run) for one in made),
                "runs": runs,
            },
        )
        while cursor.nextset():
            pass
        if cursor.fetchone()[0]:
            names = {one.host.name for one in made}
            named = _json({"name": name, "slug": slug(name)} for name in names)
            cursor.execute(NAME_BY_RUNS, {"runs": runs, "names": named})


def _of(owner: DerivedRun, row: Mapping[str, Any]) -> dict[str, Any]:
    return {"run_id": owner.run.pk, **row}


def _described(run: Run) -> dict[str, Any]:
    return {"id": run.pk, **{name: getattr(run, name) for name in _RUN_FIELDS}}


def reject(begun: Begun, reason: str) -> bool:
    """End a run whose document cannot be true; False when it is no longer the document it was."""
    if not lock_and_look_up([begun], []).unchanged:
        return False
    begun.run.status, begun.run.rejection = Run.Status.REJECTED, reason
    Run.objects.filter(pk=begun.run.pk).update(status=begun.run.status, rejection=reason)
    notify_of_rejection(begun.run, begun.text)
    return True
