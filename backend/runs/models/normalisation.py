"""Baseline levels of runs, and what reference profiles make of them."""

from django.db import models
from django.db.models import Q

from runs.models.run import Run


class BaselineLevel(models.Model):
    """Level b(f) of one baseline family in one run and tool, bytes per second."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="baseline_levels")
    tool = models.CharField(max_length=10)
    family = models.CharField(max_length=10)
    level = models.FloatField()
    cpu_bound_level = models.FloatField(
        null=True, help_text="The same from CPU-bound rates; null where CPU time is not known."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "tool", "family"], name="one_level_per_family"),
        ]


class ReferenceProfile(models.Model):
    """Frozen baseline levels that normalisation divides by; one is active."""

    name = models.CharField(max_length=100, unique=True)
    levels = models.JSONField(help_text="Bytes per second: {tool: {family: level}}.")
    made_from = models.TextField()
    active = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["active"], condition=Q(active=True), name="one_active_profile"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class RunSpeedIndex(models.Model):
    """Speed index of one run and tool under one profile."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="speed_indices")
    profile = models.ForeignKey(ReferenceProfile, models.CASCADE, related_name="+")
    tool = models.CharField(max_length=10)
    index = models.FloatField()
    uncertainty = models.FloatField(null=True, help_text="A factor; null for one family.")
    families = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "profile", "tool"], name="one_index_per_run_and_profile"
            ),
        ]
