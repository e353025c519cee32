"""What changed in the fleet, found as runs were processed; and what people know of it."""

from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Now

from store.models.host import Host
from store.models.run import Run


class FleetChange(models.Model):
    """A change of one host, or of all those that changed alike by the same cause within days.

    `fixed_at` is set once every one of its hosts is as it was before.
    """

    class Kind(models.TextChoices):
        SPEED = "speed"
        VERDICT = "verdict"
        SILENT = "silent"

    class Direction(models.TextChoices):
        SLOWER = "slower"
        FASTER = "faster"
        LOST = "lost"
        REGAINED = "regained"
        CHANGED = "changed"
        SILENT = "silent"

    class Status(models.TextChoices):
        NEW = "new"
        ACKNOWLEDGED = "acknowledged"
        IGNORED = "ignored"

    kind = models.CharField(max_length=10, choices=Kind)
    direction = models.CharField(max_length=10, choices=Direction)
    cause = models.CharField(
        max_length=300, blank=True, help_text="The likeliest difference of the environment."
    )
    first_at = models.DateTimeField(help_text="Start of the first changed run of all hosts.")
    last_at = models.DateTimeField(help_text="Start of the last host's first changed run.")
    status = models.CharField(max_length=12, choices=Status, default=Status.NEW)
    note = models.CharField(max_length=1000, blank=True)
    decided_by = models.CharField(max_length=200, blank=True, help_text="Who set status or note.")
    decided_at = models.DateTimeField(null=True, blank=True)
    fixed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    # Of its members, whom no list counts: an upgrade of the fleet has tens of thousands.
    hosts = models.IntegerField(db_default=0, default=0)
    open_hosts = models.IntegerField(db_default=0, default=0)
    confirmed = models.BooleanField(db_default=False, default=False)
    effects = models.JSONField(
        db_default=Value([], models.JSONField()),
        default=list,
        help_text="Of each tool and family: hosts, ratio, lowest, highest, series, agreeing.",
    )
    cpus = models.JSONField(
        db_default=Value([], models.JSONField()),
        default=list,
        help_text="The most frequent CPUs: name, hosts, ratio.",
    )
    stale = models.BooleanField(
        db_default=True, default=True, help_text="These figures are to be counted again."
    )

    class Meta:
        ordering = ["-last_at", "-id"]
        indexes = [
            models.Index(fields=["id"], condition=Q(stale=True), name="fleet_changes_to_count"),
            models.Index(fields=["-last_at", "-id"], name="fleet_changes_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.direction} {self.cause}".strip()


class FleetChangeMember(models.Model):
    """One host's part of a change: of a speed, one cipher family of one tool.

    A run that is deleted because it is old leaves its times here.
    """

    change = models.ForeignKey(FleetChange, models.CASCADE, related_name="members", db_index=False)
    host = models.ForeignKey(Host, models.CASCADE, related_name="fleet_changes")
    tool = models.CharField(max_length=10, blank=True)
    family = models.CharField(max_length=100, blank=True)
    before = models.CharField(max_length=10, blank=True, help_text="The verdict before.")
    after = models.CharField(max_length=10, blank=True)
    ratio = models.FloatField(null=True, blank=True, help_text="After / before, of a speed.")
    series = models.SmallIntegerField(default=0, help_text="Series of the family compared.")
    agreeing = models.SmallIntegerField(default=0, help_text="Those that show at least half of it.")
    example = models.IntegerField(
        null=True, blank=True, help_text="Number of the series that shows it most exactly."
    )
    confirmed = models.BooleanField(help_text="It has lasted.")
    at = models.DateTimeField(help_text="Start of the first changed run; of silence, its begin.")
    good_at = models.DateTimeField(null=True, blank=True, help_text="Start of the last good run.")
    first_run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="+")
    good_run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="+")
    differences = models.JSONField(default=list, help_text="Of the environment, in words.")
    ended_at = models.DateTimeField(null=True, blank=True, help_text="It was as before by then.")
    ended_run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        indexes = [
            models.Index(fields=["change", "at"], name="members_of_a_change"),
            models.Index(
                fields=["change"], condition=Q(ended_at=None), name="open_members_of_a_change"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.host}: {self.tool} {self.family}".strip(": ")


class HostWatch(models.Model):
    """What must be known of a host's runs so far to tell whether the next one shows a change.

    Derived from the runs, and worked out again while `due` is above zero. `due` counts the
    reasons, so that a new one is not lost while an earlier one is being dealt with.
    """

    host = models.OneToOneField(Host, models.CASCADE, primary_key=True, related_name="watch")
    state = models.TextField(blank=True, db_default="", default="", help_text="JSON.")
    last_at = models.DateTimeField(null=True, help_text="Start of the latest run taken in.")
    due = models.IntegerField(db_default=0, default=0)
    silent_after = models.DateTimeField(
        null=True, help_text="Without a run by then the host is silent; null: it is, or never is."
    )

    class Meta:
        indexes = [
            models.Index(fields=["host"], condition=Q(due__gt=0), name="hosts_due"),
            models.Index(fields=["silent_after"], name="hosts_by_silence"),
        ]
        verbose_name_plural = "host watches"
