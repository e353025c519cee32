"""Baseline levels of runs, and what reference profiles make of them."""

from django.db import models
from django.db.models import F, Q
from django.utils.functional import cached_property

from analysis.profiles.profile_summary import ToolLevels, levels_of_tool, tool_fit
from store.models.run import Run


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
    """Frozen baseline levels that normalisation divides by; one is active.

    A trigger of the database refuses every change of what it was made of. Its speed indices are
    computed in chunks of runs, in the order of their ids: those up to `indexed_to` are done.
    """

    class Origin(models.TextChoices):
        PUBLISHED = "published"
        RUN = "run"
        FLEET = "fleet"

    name = models.CharField(max_length=100, unique=True)
    levels = models.JSONField(help_text="Bytes per second: {tool: {family: level}}.")
    made_from = models.TextField(help_text="In words.")
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.PUBLISHED)
    run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="+")
    fits = models.JSONField(default=dict, help_text="How the levels of each tool were fitted.")
    created_at = models.DateTimeField(auto_now_add=True)

    active = models.BooleanField(default=False)
    retired_at = models.DateTimeField(null=True, blank=True)

    runs_total = models.IntegerField(default=0, help_text="Ready runs when it was made.")
    runs_done = models.IntegerField(default=0, help_text="Of these, runs that have their indices.")
    indexed_to = models.BigIntegerField(default=0, help_text="Key of the last run done.")
    index_end = models.BigIntegerField(default=0, help_text="Key of the last run to do.")
    progressed_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["active"], condition=Q(active=True), name="one_active_profile"
            ),
            models.CheckConstraint(
                condition=Q(active=False) | Q(retired_at=None, completed_at__isnull=False),
                name="active_profile_is_complete",
            ),
            models.CheckConstraint(
                condition=Q(runs_done__lte=F("runs_total")), name="done_within_total"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """`active`, `retired`, `computing` (its indices are not all there yet) or `ready`."""
        if self.active:
            return "active"
        if self.retired_at is not None:
            return "retired"
        return "ready" if self.completed_at else "computing"

    @cached_property
    def tools(self) -> list[ToolLevels]:
        """What it has of each tool, ssh first."""
        return [
            levels_of_tool(tool, self.levels.get(tool, {}), tool_fit(self.fits[tool]))
            for tool in sorted(self.fits, reverse=True)
        ]


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
