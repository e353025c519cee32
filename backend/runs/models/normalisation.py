from django.db import models

from runs.models.run import Run


class BaselineLevel(models.Model):
    """Store the throughput b(f), called level, of a baseline family f in one run of one tool.

    `level`: bytes per second.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="baseline_levels")
    tool = models.CharField(max_length=10)
    family = models.CharField(max_length=10)
    level = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "tool", "family"], name="one_level_per_family"),
        ]


class RunSpeedIndex(models.Model):
    run = models.ForeignKey(Run, models.CASCADE, related_name="speed_indices")
    tool = models.CharField(max_length=10)
    index = models.FloatField()
    uncertainty = models.FloatField(null=True, help_text="Factor; null for a single family.")
    families = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "tool"], name="one_index_per_run"),
        ]
