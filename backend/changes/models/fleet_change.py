from typing import Self

from django.db import models
from django.db.models import Avg, Count, Exists, Max, Min, OuterRef, Prefetch, Q
from django.db.models.functions import Now

from core.validators import check_printable
from runs.models.run import Run
from runs.models.series import Series


class FleetChangeQuerySet(models.QuerySet["FleetChange"]):
    def listed(self) -> Self:
        """Exclude changes whose runs are all hidden. Order changes by date, newest first."""
        members = FleetChangeMember.objects.filter(change=OuterRef("pk"))
        return self.filter(Exists(members)).order_by("-last_at", "-id")

    def with_members(self, most: int) -> Self:
        """Annotate each change with `hosts`, `ratio`, `lowest`, `highest` and `certainty`.

        Compute these values from the members of the change whose runs are visible. Also prefetch
        up to `most` of the latest members of each change into the attribute `named`.
        """
        members = FleetChangeMember.objects.select_related(
            "run__host", "run__environment__cpu", "previous", "series"
        )
        shown = Q(members__run__hidden=False)
        # An inherited ordering would split the aggregation.
        return (
            self.order_by("-last_at", "-id")
            .annotate(
                hosts=Count("members__run__host", distinct=True, filter=shown),
                ratio=Avg("members__ratio", filter=shown),
                lowest=Min("members__ratio", filter=shown),
                highest=Max("members__ratio", filter=shown),
                certainty=Max("members__confidence", filter=shown),
            )
            .prefetch_related(
                Prefetch(
                    "members",
                    members.order_by("-at", "run__host", "-tool", "family")[:most],
                    to_attr="named",
                )
            )
        )


class FleetChange(models.Model):
    """Store a change of speed, a change of the AES verdict, or missing runs, on one or more hosts.

    Hosts share a change of speed or verdict if the same environment difference preceded the change,
    such as a new OpenSSL version. The AES verdict states whether a host uses AES hardware.
    """

    class Kind(models.TextChoices):
        SPEED = "speed", "Speed"
        VERDICT = "verdict", "AES acceleration"
        SILENT = "silent", "Silent host"

    class Direction(models.TextChoices):
        SLOWER = "slower", "Slower"
        FASTER = "faster", "Faster"
        LOST = "lost", "AES acceleration lost"
        REGAINED = "regained", "AES acceleration regained"
        CHANGED = "changed", "AES verdict changed"
        SILENT = "silent", "Host silent"

    class Status(models.TextChoices):
        NEW = "new"
        ACKNOWLEDGED = "acknowledged"
        IGNORED = "ignored"
        FIXED = "fixed"

    LONGEST_NOTE = 1000

    kind = models.CharField(max_length=10, choices=Kind)
    direction = models.CharField(max_length=10, choices=Direction)
    family = models.CharField(max_length=100, blank=True, help_text="Cipher family, such as aes.")
    difference = models.CharField(
        max_length=300, blank=True, help_text="First environment difference, shared by all hosts."
    )
    first_at = models.DateTimeField(help_text="Start of the first changed run on any host.")
    last_at = models.DateTimeField(help_text="Start of the first changed run on the last host.")
    status = models.CharField(max_length=12, choices=Status, default=Status.NEW)
    note = models.CharField(max_length=LONGEST_NOTE, blank=True, validators=[check_printable])
    decided_by = models.CharField(
        max_length=200, blank=True, help_text="Last editor of status or note."
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    fixed_at = models.DateTimeField(
        null=True, blank=True, help_text="Time when all hosts had returned to normal."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = FleetChangeQuerySet.as_manager()

    class Meta:
        ordering = ["-last_at", "-id"]
        indexes = [models.Index(fields=["-last_at", "-id"], name="fleet_changes_by_time")]

    def __str__(self) -> str:
        return f"{self.family} {self.direction} {self.difference}".strip()

    @property
    def state(self) -> str:
        """Return `fixed` if all hosts have returned to normal, otherwise the stored status."""
        return self.Status.FIXED if self.fixed_at else self.status

    @property
    def confidence(self) -> str:
        """Return the highest confidence of the members: `low`, `medium` or `high`.

        The change must come from a queryset with the annotations of `with_members`.
        """
        return FleetChangeMember.Confidence(getattr(self, "certainty", 1)).label


class ShownMembers(models.Manager["FleetChangeMember"]):
    def get_queryset(self) -> "MemberQuerySet":
        return MemberQuerySet(self.model, using=self._db).filter(run__hidden=False)


class MemberQuerySet(models.QuerySet["FleetChangeMember"]):
    def open_on(self, host: int) -> Self:
        status = FleetChange.Status
        return (
            self.filter(run__host=host, ended_at=None)
            .exclude(change__status__in=(status.IGNORED, status.FIXED))
            .select_related("change", "run", "series")
            .order_by("-change__last_at", "-change", "-tool", "family")
        )


class FleetChangeMember(models.Model):
    """Store a `FleetChange` on one host.

    A change of speed has a member for each tool and cipher mode, such as ssh with aes-gcm.
    """

    class Confidence(models.IntegerChoices):
        LOW = 1, "low"
        MEDIUM = 2, "medium"
        HIGH = 3, "high"

    change = models.ForeignKey(FleetChange, models.CASCADE, related_name="members", db_index=False)
    run = models.ForeignKey(
        Run,
        models.CASCADE,
        related_name="+",
        help_text="First changed run, or last run of a silent host.",
    )
    previous = models.ForeignKey(
        Run, models.SET_NULL, null=True, blank=True, related_name="+", help_text="Previous run."
    )
    at = models.DateTimeField(help_text="Start of the run, or time when a silent host was overdue.")
    tool = models.CharField(max_length=10, blank=True)
    family = models.CharField(max_length=100, blank=True, help_text="Family with mode (aes-gcm).")
    ratio = models.FloatField(null=True, blank=True, help_text="Speed ratio (after / before).")
    series_count = models.SmallIntegerField(default=0, help_text="Number of compared series.")
    series = models.ForeignKey(
        Series,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="With the median ratio.",
    )
    before = models.CharField(max_length=10, blank=True, help_text="Previous verdict.")
    after = models.CharField(max_length=10, blank=True)
    confidence = models.SmallIntegerField(choices=Confidence, default=Confidence.HIGH)
    differences = models.JSONField(default=list, help_text="Environment differences as text.")
    ended_at = models.DateTimeField(null=True, blank=True, help_text="Time of return to normal.")

    objects = ShownMembers.from_queryset(MemberQuerySet)()
    # Includes members of hidden runs, so that changes remain stored while a run is hidden.
    stored = MemberQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["change", "at"], name="members_of_a_change")]

    def __str__(self) -> str:
        return f"{self.tool} {self.family}".strip()
