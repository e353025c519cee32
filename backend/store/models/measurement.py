"""The stored results of runs; the tries themselves stay in the documents."""

from django.db import models

from store.models.run import Run
from store.models.series import Negotiated, Series


class Measurement(models.Model):
    """One series of one run with the statistics of its tries; rates in bytes per second.

    There are millions of these: no text, no foreign keys that the database checks, and no index
    but the key. Whoever deletes a run deletes them (`ingest.changes.recompute`).
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
    cpu_bound_throughput = models.FloatField(null=True)
    cpu_bound_throughput_spread = models.FloatField(null=True, help_text="A fraction.")
    try_seconds = models.FloatField(
        null=True, help_text="Of a pipeline, whose rate depends on it: the median of its tries."
    )
