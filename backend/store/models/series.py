"""What was measured, stored once, and the results of runs; the tries stay in the documents."""

from typing import Any

from django.db import models

from documents.types import Series as Configuration
from store.models.run import Run


class Series(models.Model):
    """One configuration that a tool was measured in; fields as in `documents.types.Series`.

    Rows are never changed nor deleted: whoever knows one's number may keep it.
    """

    id = models.AutoField(primary_key=True)
    key = models.CharField(max_length=1000, unique=True, help_text="All fields, as one text.")
    tool = models.CharField(max_length=10)
    cipher = models.CharField(max_length=100)
    operation = models.CharField(max_length=10)
    block_size = models.IntegerField(null=True, help_text="Bytes a call; openssl only.")
    threads = models.IntegerField()
    mac = models.CharField(max_length=100, blank=True, help_text="Asked for; empty: the default.")
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

    def configuration(self) -> Configuration:
        """What it stands for, as the analyses know it; None for an empty text."""
        stored = {name: getattr(self, name) for name in Configuration._fields}
        known: dict[str, Any] = {n: None if one == "" else one for n, one in stored.items()}
        return Configuration(**known)


class Negotiated(models.Model):
    """What ssh agreed on besides the cipher; an empty text is unknown."""

    id = models.AutoField(primary_key=True)
    mac = models.CharField(max_length=100, blank=True)
    kex = models.CharField(max_length=100, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["mac", "kex"], name="negotiated_once"),
        ]

    def __str__(self) -> str:
        return f"{self.mac} {self.kex}".strip()


class Measurement(models.Model):
    """One series of one run with the statistics of its tries; rates in bytes per second.

    There are millions of these: no text, no foreign keys that the database checks, and no index
    but the key. Whoever deletes a run deletes them (`runs.recompute`).
    """

    pk = models.CompositePrimaryKey("run_id", "series_id")
    run = models.ForeignKey(
        Run, models.CASCADE, related_name="measurements", db_constraint=False, db_index=False
    )
    series = models.ForeignKey(
        Series, models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    position = models.SmallIntegerField(help_text="Its place in the document, from 0.")
    negotiated = models.ForeignKey(
        Negotiated, models.PROTECT, null=True, related_name="+", db_constraint=False, db_index=False
    )
    n = models.SmallIntegerField()
    noisy = models.BooleanField()
    implausible = models.BooleanField(help_text="Kept, and left out of every statistic.")
    median = models.FloatField(null=True)
    minimum = models.FloatField(null=True)
    maximum = models.FloatField(null=True)
    spread = models.FloatField(null=True, help_text="1.4826 * MAD / median, a fraction.")
    cpu_seconds_per_gb = models.FloatField(null=True, help_text="Both ends, per 10^9 bytes.")
    cpu_seconds_per_gb_spread = models.FloatField(null=True, help_text="A fraction, as `spread`.")
    try_seconds = models.FloatField(
        null=True, help_text="Of a pipeline, whose rate depends on it: the median of its tries."
    )
