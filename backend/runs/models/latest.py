"""What each machine measured last: the rows that comparisons read instead of all of history."""

from django.db import models

from runs.models.environment import Environment
from runs.models.host import Host
from runs.models.run import Run
from runs.models.series import Negotiated, Series


class Machine(models.Model):
    """A host in one environment, as runs of one source with the same tags measured it.

    A comparison gives each (host, environment) one vote, whatever its sources and tags; they are
    told apart here because filters by them must not be answered with a run that has others.
    """

    id = models.AutoField(primary_key=True)
    host = models.ForeignKey(Host, models.CASCADE, related_name="machines")
    environment = models.ForeignKey(Environment, models.CASCADE, related_name="machines")
    source = models.CharField(max_length=10)
    tags = models.JSONField(default=dict)
    tags_digest = models.CharField(max_length=32, help_text="MD5 (hex) of the canonical JSON.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["host", "environment", "source", "tags_digest"], name="one_machine"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.host} {self.environment}"


class Latest(models.Model):
    """A machine's latest plausible result of one series, from a run that counts.

    The latest is that of the latest start; of runs of one moment the one stored later; a run of
    unknown date only where there is no other. Figures are copies of the `Measurement`'s.
    """

    pk = models.CompositePrimaryKey("machine_id", "series_id")
    machine = models.ForeignKey(Machine, models.CASCADE, db_index=False, related_name="latest")
    series = models.ForeignKey(
        Series, models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    run = models.ForeignKey(
        Run, models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    started_at = models.DateTimeField(null=True)
    negotiated = models.ForeignKey(
        Negotiated, models.PROTECT, null=True, related_name="+", db_constraint=False, db_index=False
    )
    median = models.FloatField()
    cpu_seconds_per_gb = models.FloatField(null=True)
    cpu_bound_throughput = models.FloatField(null=True)
    doubts = models.SmallIntegerField(
        db_default=0, help_text="Bits: what is doubtful of it (`runs.analytics.quality_flags`)."
    )

    class Meta:
        indexes = [models.Index(fields=["series"], name="latest_of_a_series")]


class DataVersion(models.Model):
    """One row that changes with everything that a comparison may read (`runs.data_version`)."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    version = models.UUIDField()
    changed_at = models.DateTimeField()
