"""The stored row of one series of one run."""

from django.db import models

from runs.models.run import Run


class Measurement(models.Model):
    """One series with its tries and their statistics.

    Rates in bytes per second. Fields of the series mean what `documents.types.Series` says.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="measurements")
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
    negotiated_mac = models.CharField(max_length=100, blank=True)
    negotiated_kex = models.CharField(max_length=100, blank=True)

    samples = models.JSONField(help_text="Every try, as uploaded.")
    implausible = models.BooleanField(help_text="Kept, and left out of every statistic.")
    median = models.FloatField(null=True)
    minimum = models.FloatField(null=True)
    maximum = models.FloatField(null=True)
    n = models.IntegerField()
    spread = models.FloatField(null=True, help_text="1.4826 * MAD / median, a fraction.")
    noisy = models.BooleanField()
    cpu_seconds_per_gb = models.FloatField(null=True, help_text="Both ends, per 10^9 bytes.")
    cpu_seconds_per_gb_spread = models.FloatField(null=True, help_text="A fraction, as `spread`.")
    cpu_bound_throughput = models.FloatField(null=True)
    cpu_bound_throughput_spread = models.FloatField(null=True, help_text="A fraction.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "run",
                    "tool",
                    "cipher",
                    "operation",
                    "block_size",
                    "threads",
                    "mac",
                    "compression",
                    "method",
                    "pinned",
                    "target_kind",
                    "target_name",
                    "acceleration",
                ],
                nulls_distinct=False,
                name="one_measurement_per_series",
            ),
        ]
        indexes = [
            models.Index(fields=["tool", "cipher", "method", "block_size"], name="series_lookup"),
        ]
