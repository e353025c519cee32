from datetime import datetime
from typing import Any, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from changes.models.fleet_change import FleetChange

REJECTED, TEST = "rejected", "test"  # topics other than the directions of changes

# Text after the host name in titles, by topic.
TOPIC_WORDS = {
    FleetChange.Direction.SLOWER.value: "slower",
    FleetChange.Direction.FASTER.value: "faster",
    FleetChange.Direction.LOST.value: "AES acceleration lost",
    FleetChange.Direction.REGAINED.value: "AES acceleration regained",
    FleetChange.Direction.CHANGED.value: "AES verdict changed",
    FleetChange.Direction.SILENT.value: "host silent",
    REJECTED: "run rejected",
}


class ChannelQuerySet(models.QuerySet["NotificationChannel"]):
    def open(self, now: datetime) -> Self:
        return self.filter(Q(next_at=None) | Q(next_at__lte=now), paused=False)


class NotificationChannel(models.Model):
    class Kind(models.TextChoices):
        SPEED = FleetChange.Kind.SPEED.value, "Speed"
        VERDICT = FleetChange.Kind.VERDICT.value, "AES verdict"
        SILENT = FleetChange.Kind.SILENT.value, "Silent host"
        REJECTED = REJECTED, "Rejected run"

    class Severity(models.IntegerChoices):
        INFO = 1, "Info"
        WARNING = 2, "Warning"
        CRITICAL = 3, "Critical"

    name = models.CharField(max_length=100, unique=True)
    address = models.CharField(max_length=1000, help_text="Apprise URL, which contains secrets.")
    kinds = models.JSONField(default=list, blank=True, help_text="Empty: all.")
    severity = models.SmallIntegerField(
        choices=Severity, default=Severity.WARNING, help_text="Minimum severity."
    )
    tags = models.JSONField(default=list, blank=True, help_text="KEY:VALUE of runs. Empty: all.")
    daily = models.BooleanField(default=False, help_text="Send one message a day.")
    paused = models.BooleanField(default=False)
    made_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    failures = models.SmallIntegerField(default=0, help_text="Consecutive failed messages.")
    next_at = models.DateTimeField(null=True, blank=True, help_text="Earliest next attempt.")

    objects = ChannelQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def service(self) -> str:
        return self.address.partition("://")[0]

    def facts(self) -> dict[str, Any]:
        """Return the field values for an audit entry, without the URL, which contains secrets."""
        names = ("name", "service", "kinds", "severity", "tags", "daily", "paused")
        return {name: getattr(self, name) for name in names}


class NotificationQuerySet(models.QuerySet["Notification"]):
    def due(self, now: datetime) -> Self:
        return self.filter(state=Notification.State.WAITING, due_at__lte=now)


class Notification(models.Model):
    """Store a message to a channel about a change or a rejected run, and the state of the delivery.

    `change_key` and `run_id` are not foreign keys, because the change or run may be deleted before
    the message is sent.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        SENT = "sent"
        FAILED = "failed"
        WITHDRAWN = "withdrawn"

    channel = models.ForeignKey(
        NotificationChannel, models.CASCADE, related_name="notifications", db_index=False
    )
    topic = models.CharField(max_length=10, help_text="Direction of a change, rejected, or test.")
    title = models.CharField(max_length=300)
    change_key = models.BigIntegerField(null=True, help_text="Key of the change.")
    run_id = models.UUIDField(null=True, help_text="ID of the rejected run.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    due_at = models.DateTimeField()
    attempts = models.SmallIntegerField(default=0)
    error = models.CharField(max_length=300, blank=True, help_text="Error of the last attempt.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    ended_at = models.DateTimeField(null=True)

    objects = NotificationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["channel", "change_key"],
                condition=Q(state="waiting"),
                name="an_entry_waits_once_for_a_channel",
            ),
            models.UniqueConstraint(
                fields=["channel", "run_id"], name="a_channel_is_sent_a_run_once"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(state="waiting"), name="notices_to_send"),
            models.Index(fields=["channel", "-id"], name="notices_of_a_channel"),
        ]

    def __str__(self) -> str:
        return self.title


_SEVERITIES = {
    FleetChange.Direction.LOST.value: NotificationChannel.Severity.CRITICAL,
    FleetChange.Direction.FASTER.value: NotificationChannel.Severity.INFO,
    FleetChange.Direction.REGAINED.value: NotificationChannel.Severity.INFO,
}


def severity_of(topic: str) -> NotificationChannel.Severity:
    return _SEVERITIES.get(topic, NotificationChannel.Severity.WARNING)
