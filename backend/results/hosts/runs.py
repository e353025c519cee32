"""The series of a run with their statistics."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from documents.types import Series
from store.models import Measurement, Run


@dataclass(frozen=True)
class MeasurementDetail:
    """One series of a run with its statistics; rates in bytes per second.

    `normalised` is None where the run has no baseline of this tool. `mac` was asked for,
    `negotiated_mac` was agreed; empty texts are unknown or do not apply. `disturbed` is told
    where results of several runs stand together; a run's own page says it once for all.
    """

    tool: str
    cipher: str
    operation: str
    block_size: int | None
    threads: int
    mac: str
    negotiated_mac: str
    negotiated_kex: str
    compression: bool
    method: str
    pinned: bool
    target_kind: str
    target_name: str
    acceleration: str
    samples: tuple[Mapping[str, Any], ...]
    """The tries, where they were asked for."""
    n: int
    median: float | None
    minimum: float | None
    maximum: float | None
    spread: float | None
    noisy: bool
    implausible: bool
    normalised: float | None
    cpu_seconds_per_gb: float | None
    cpu_seconds_per_gb_spread: float | None
    try_seconds: float | None
    disturbed: bool = False

    @property
    def doubtful(self) -> bool:
        """Noisy, or of a run that states what disturbed it (`compare.copy_tables`)."""
        return self.noisy or self.disturbed


_OF_THE_ROW = (
    "n",
    "noisy",
    "implausible",
    "median",
    "minimum",
    "maximum",
    "spread",
    "cpu_seconds_per_gb",
    "cpu_seconds_per_gb_spread",
    "try_seconds",
)


def measurement_details(
    rows: Iterable[Measurement],
    indices: Mapping[str, float],
    document: Mapping[str, Any] | None = None,
) -> tuple[MeasurementDetail, ...]:
    """Rows of one run, their series with them, with normalised rates and tries.

    `indices` are the run's active speed indices by tool. `document` is the run's, which alone has
    the tries: without it there are none.
    """
    measured = document["measurements"] if document else None
    return tuple(
        _measurement(
            row,
            indices.get(row.series.tool),
            measured[row.position]["samples"] if measured else (),
        )
        for row in rows
    )


def _measurement(
    row: Measurement, index: float | None, samples: Iterable[Mapping[str, Any]]
) -> MeasurementDetail:
    return MeasurementDetail(
        samples=tuple(samples),
        normalised=row.median / index if row.median is not None and index else None,
        negotiated_mac=row.negotiated.mac if row.negotiated else "",
        negotiated_kex=row.negotiated.kex if row.negotiated else "",
        **{name: getattr(row.series, name) for name in Series._fields},
        **{name: getattr(row, name) for name in _OF_THE_ROW},
    )


def run_measurements(run: Run) -> tuple[MeasurementDetail, ...]:
    """Return the series of a run with their tries, in the order of its page."""
    rows = run.measurements.select_related("series", "negotiated").order_by(
        "-series__tool",
        "series__method",
        "series__acceleration",
        "series__operation",
        "series__threads",
        "series__block_size",
        "series__cipher",
        "series__mac",
    )
    indices = {one.tool: one.index for one in run.speed_indices.all()}
    return measurement_details(rows, indices, run.document.parsed)
