"""What ssh delivers of each cipher's own speed, in one host's latest run that measured both."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast
from uuid import UUID

from django.db.models import Exists, OuterRef

from analysis.openssl_against_ssh import Delivered, delivered
from analysis.profiles.baselines import MeasuredSeries
from store.models import Measurement, Run


@dataclass(frozen=True)
class DeliveredCost:
    """One ssh series beside its cipher, and what it costs: CPU seconds per GB, both ends.

    `doubtful`: either rate is noisy, or the run states what disturbed it.
    """

    delivered: Delivered
    doubtful: bool
    cpu_seconds_per_gb: float | None
    cpu_seconds_per_gb_spread: float | None


@dataclass(frozen=True)
class Delivery:
    """The run, and its ssh series that have their cipher's own speed beside them.

    `openssl` and `ssh_library`: the release that each tool uses.
    """

    run_id: UUID
    started_at: datetime | None
    openssl: str
    ssh_library: str
    rows: tuple[DeliveredCost, ...]

    @property
    def doubts(self) -> bool:
        """Whether any row is doubtful."""
        return any(row.doubtful for row in self.rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the two ciphers are not quite the same, each said once."""
        notes = (row.delivered.note for row in self.rows)
        return tuple(dict.fromkeys(note for note in notes if note))


def _measured(tool: str) -> Exists:
    return Exists(
        Measurement.objects.filter(run_id=OuterRef("pk"), series__tool=tool, implausible=False)
    )


def latest_delivery(host_id: int) -> Delivery | None:
    """Of the host's latest run that measured ssh and openssl; None where none has."""
    run = (
        Run.objects.counted()
        .filter(host_id=host_id)
        .filter(_measured("ssh"), _measured("openssl"))
        .select_related("environment__openssl", "environment__ssh_library")
        .latest_first()
        .first()
    )
    if run is None or run.environment is None:
        return None
    rows = {
        row.series.configuration(): row
        for row in run.measurements.filter(
            median__isnull=False, series__acceleration="default"
        ).select_related("series")
    }
    measured = [MeasuredSeries(series, cast(float, row.median)) for series, row in rows.items()]
    return Delivery(
        run.run_id,
        run.started_at,
        run.environment.openssl.label,
        run.environment.library("ssh").label,
        tuple(
            _cost(one, rows[one.ssh], rows[one.openssl].noisy or bool(run.conditions))
            for one in delivered(measured)
        ),
    )


def _cost(one: Delivered, row: Measurement, doubtful: bool) -> DeliveredCost:
    return DeliveredCost(
        one, row.noisy or doubtful, row.cpu_seconds_per_gb, row.cpu_seconds_per_gb_spread
    )
