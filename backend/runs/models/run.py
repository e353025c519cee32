import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self

from django.db import connection, models, transaction
from django.db.models import Count, F, OuterRef, Prefetch, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils.functional import cached_property

from accounts.models.token import ApiToken
from runs.models.dimension import Environment
from runs.models.host import SHOWN_FACTS, Host
from runs.models.imported_text import ImportedText

if TYPE_CHECKING:
    from runs.models.normalisation import RunSpeedIndex

logger = logging.getLogger(__name__)

COUNTED = "r.status = 'ready' AND NOT r.hidden"
"""SQL condition for visible runs. `r` is the alias of the table `runs_run`.

Implausible results need no condition, because the median of such a result is NULL.
"""

DISTURBED_TEXT = "CASE WHEN r.conditions = '[]'::jsonb THEN 'no' ELSE 'yes' END"
"""SQL expression for the filter `disturbed` ("yes" or "no"). `r` is the alias of `runs_run`."""

MEASURED_AT = Coalesce("started_at", "received_at")
"""Start of a run, or upload time if the start is unknown. Lists are sorted by this expression."""


class RunQuerySet(models.QuerySet["Run"]):
    def shown(self) -> Self:
        return self.filter(hidden=False)

    def counted(self) -> Self:
        return self.shown().filter(status=Run.Status.READY)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        if connection.in_atomic_block:  # the transaction already has its snapshot
            yield
            return
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield

    def latest_first(self) -> Self:
        return self.order_by(F("started_at").desc(nulls_last=True), "-pk")

    def listed(self) -> Self:
        """Return the runs that are not hidden. The most recent upload comes first.

        Also load the related rows that lists of runs display.
        """
        measurements: Any = self.model.measurements.rel.related_model
        series = (
            measurements.objects.filter(run=OuterRef("pk"))
            .values("run")
            .annotate(measured=Count("series"))
            .values("measured")
        )
        return (
            self.shown()
            .select_related("host", *(f"environment__{name}" for name in SHOWN_FACTS))
            .annotate(measurement_count=Coalesce(Subquery(series), 0), moment=MEASURED_AT)
            .order_by("-id")
        )

    def recent_of(self, host: Host) -> Self:
        return self.listed().filter(host=host).order_by("-moment", "-pk")[:20]

    def detailed(self) -> Self:
        indices: Any = self.model.speed_indices.rel.related_model
        by_tool = Prefetch("speed_indices", indices.objects.order_by("tool"))
        return self.listed().select_related("document", "imported_text").prefetch_related(by_tool)


class Run(models.Model):
    """Store a run.

    The status is accepted after the upload. Processing sets the status to ready or rejected.
    """

    class Status(models.TextChoices):
        ACCEPTED = "accepted"
        READY = "ready"
        REJECTED = "rejected"

    class Source(models.TextChoices):
        AGENT = "agent"
        IMPORT = "import"
        PUBLISHED = "published"

    run_id = models.UUIDField(unique=True, help_text="UUID set by the agent.")
    source = models.CharField(max_length=10, choices=Source)
    status = models.CharField(max_length=10, choices=Status, default=Status.ACCEPTED)
    rejection = models.TextField(blank=True, help_text="Reason for the rejection.")
    attempts = models.SmallIntegerField(default=0, help_text="Number of processing attempts.")
    hidden = models.BooleanField(default=False, help_text="Excluded from all lists and statistics.")
    received_at = models.DateTimeField(auto_now_add=True)
    token = models.ForeignKey(ApiToken, models.SET_NULL, null=True, blank=True)
    host_name = models.CharField(max_length=200, help_text="As in the document.")
    imported_text = models.ForeignKey(
        ImportedText, models.PROTECT, null=True, blank=True, related_name="runs"
    )
    parser_version = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Version of the parser that read the imported text."
    )
    provenance = models.JSONField(
        default=dict, blank=True, help_text="Published results: page, author, date, notes."
    )

    # Set when the document is processed.
    derived_version = models.SmallIntegerField(
        default=1, help_text=("Version of the code that derived the fields below and the rows.")
    )
    machine_id = models.CharField(  # noqa: DJ001 - none
        max_length=64, null=True, blank=True, help_text="As in the document."
    )
    host = models.ForeignKey(Host, models.PROTECT, null=True, blank=True, related_name="runs")
    environment = models.ForeignKey(
        Environment, models.PROTECT, null=True, blank=True, related_name="runs"
    )
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    agent_name = models.CharField(max_length=100, blank=True)
    agent_version = models.CharField(max_length=100, blank=True)
    tags = models.JSONField(default=dict, blank=True)
    conditions = models.JSONField(default=list, blank=True)
    skipped = models.JSONField(default=list, blank=True)
    acceleration = models.CharField(max_length=10, default="unknown")
    acceleration_evidence = models.TextField(blank=True)
    acceleration_advice = models.TextField(blank=True)
    acceleration_factor = models.FloatField(
        null=True, blank=True, help_text="AES speed divided by AES speed without AES hardware."
    )

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["host", "-started_at"], name="runs_of_a_host"),
            models.Index(
                fields=["received_at"], condition=Q(status="accepted"), name="runs_to_process"
            ),
            models.Index(MEASURED_AT.desc(), F("id").desc(), name="runs_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.host_name} {self.run_id}"

    @property
    def name(self) -> str:
        """Return the name of the host. Before processing, return the name in the document."""
        return self.host.name if self.host else self.host_name

    @property
    def agent(self) -> str:
        return f"{self.agent_name} {self.agent_version}".strip()

    @property
    def speed_index(self) -> "RunSpeedIndex | None":
        return min(self.speed_indices.all(), key=attrgetter("tool"), default=None)


class RunDocument(models.Model):
    """Store a run document exactly as received, but decompressed."""

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="document")
    body = models.BinaryField()
    content_digest = models.CharField(max_length=64, help_text="SHA-256 of its canonical JSON.")

    @property
    def received(self) -> bytes:
        return bytes(self.body)

    @cached_property
    def parsed(self) -> Mapping[str, Any]:
        """Return the parsed document, or an empty document if the stored bytes are damaged."""
        try:
            document: Mapping[str, Any] = json.loads(self.received)
        except ValueError as error:
            logger.warning("cannot read the document of run %s: %s", self.pk, error)
            return {"environment": {}, "measurements": []}
        return document

    @property
    def environment(self) -> Mapping[str, Any]:
        stated: Mapping[str, Any] = self.parsed["environment"]
        return stated
