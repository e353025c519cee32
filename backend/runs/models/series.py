from typing import Any, Self

from django.db import models
from django.db.models import F, Prefetch

from cipherspeed.types import Series as Configuration
from runs.models.run import Run

SHOWN_BY = (
    "method",
    "acceleration",
    "operation",
    "threads",
    "block_size",
    "cipher",
    "mac",
    "compression",
    "pinned",
    "target_kind",
    "target_name",
)


class Series(models.Model):
    """Store a configuration of a tool, with the fields of `cipherspeed.types.Series`.

    Rows never change and are never deleted, so that code can cache primary keys.
    """

    id = models.AutoField(primary_key=True)
    key = models.CharField(max_length=1000, unique=True, help_text="All fields as text.")
    tool = models.CharField(max_length=10)
    cipher = models.CharField(max_length=100)
    operation = models.CharField(max_length=10)
    block_size = models.IntegerField(null=True, help_text="Bytes per call; openssl only.")
    threads = models.IntegerField()
    mac = models.CharField(max_length=100, blank=True, help_text="Requested MAC; empty: default.")
    compression = models.BooleanField()
    method = models.CharField(max_length=10, blank=True, help_text="ssh only.")
    pinned = models.BooleanField()
    target_kind = models.CharField(max_length=10, blank=True, help_text="ssh only.")
    target_name = models.CharField(max_length=200, blank=True)
    acceleration = models.CharField(max_length=10)

    class Meta:
        indexes = [
            models.Index(fields=["tool", "cipher", "method", "block_size"], name="series_lookup"),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.cipher}"

    @property
    def is_comparable(self) -> bool:
        """Return whether the series has default settings, as required for percentiles of hosts."""
        if self.acceleration != "default":
            return False
        if self.tool == "openssl":
            return self.operation == "encrypt" and self.threads == 1
        return self.target_kind == "loopback" and not self.compression and not self.mac

    def configuration(self) -> Configuration:
        """Convert the row to a `cipherspeed.types.Series`."""
        stored = {name: getattr(self, name) for name in Configuration._fields}
        known: dict[str, Any] = {n: None if value == "" else value for n, value in stored.items()}
        return Configuration(**known)


class Negotiated(models.Model):
    """Store the MAC and the key exchange that ssh negotiated. An empty string means unknown."""

    id = models.AutoField(primary_key=True)
    mac = models.CharField(max_length=100, blank=True)
    kex = models.CharField(max_length=100, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["mac", "kex"], name="negotiated_once"),
        ]

    def __str__(self) -> str:
        return f"{self.mac} {self.kex}".strip()


class MeasurementQuerySet(models.QuerySet["Measurement"]):
    def shown(self, *, tries: bool = False) -> Self:
        """Fetch all related rows. `tries`: also fetch the run documents, for the samples."""
        # With a prefetch, measurements of a run share one `Run`, which parses the document once.
        runs = Run.objects.select_related("environment__openssl", "environment__ssh_library")
        further = ["speed_indices", *(["document"] if tries else [])]
        order = (f"series__{name}" for name in SHOWN_BY)
        return (
            self.select_related("series", "negotiated")
            .prefetch_related(Prefetch("run", runs.prefetch_related(*further)))
            .order_by("-series__tool", *order)
        )

    def latest_of(self, host_pk: int) -> Self:
        latest = (
            self.filter(run__in=Run.objects.counted().filter(host=host_pk), median__isnull=False)
            .order_by("series_id", F("run__started_at").desc(nulls_last=True), "-run_id")
            .distinct("series_id")
        )
        return self.filter(pk__in=latest.values("run_id", "series_id"))


class Measurement(models.Model):
    """Store statistics of the samples of one series in one run. Rates are in bytes per second.

    The table has millions of rows. It therefore has no text columns, no foreign key constraints,
    and only the primary key index. Django deletes the measurements of a deleted run.
    """

    pk = models.CompositePrimaryKey("run_id", "series_id")
    run = models.ForeignKey(
        Run, models.CASCADE, related_name="measurements", db_constraint=False, db_index=False
    )
    series = models.ForeignKey(
        Series, models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    position = models.SmallIntegerField(help_text="Position in the document, from 0.")
    negotiated = models.ForeignKey(
        Negotiated, models.PROTECT, null=True, related_name="+", db_constraint=False, db_index=False
    )
    n = models.SmallIntegerField()
    noisy = models.BooleanField()
    implausible = models.BooleanField(help_text="True if excluded from all statistics.")
    median = models.FloatField(null=True)
    minimum = models.FloatField(null=True)
    maximum = models.FloatField(null=True)
    spread = models.FloatField(null=True, help_text="1.4826 * MAD / median, a fraction.")
    cpu_seconds_per_gb = models.FloatField(null=True, help_text="Of both ends, per 10^9 bytes.")
    cpu_seconds_per_gb_spread = models.FloatField(null=True, help_text="A fraction, like `spread`.")
    try_seconds = models.FloatField(
        null=True, help_text="Median duration of a pipeline's tries, which affects its rate."
    )

    objects = MeasurementQuerySet.as_manager()

    @property
    def normalised(self) -> float | None:
        """Return the median divided by the run's speed index, or None if either is unknown."""
        indices = {index.tool: index.index for index in self.run.speed_indices.all()}
        index = indices.get(self.series.tool)
        return self.median / index if self.median is not None and index else None

    @property
    def doubtful(self) -> bool:
        return self.noisy or bool(self.run.conditions)

    @property
    def openssl(self) -> str:
        environment = self.run.environment
        return environment.library(self.series.tool).label if environment else ""

    @property
    def samples(self) -> list[dict[str, Any]]:
        measured: list[dict[str, Any]] = self.run.document.parsed["measurements"]
        return measured[self.position]["samples"] if measured else []
