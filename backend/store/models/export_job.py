"""A file that is too large to wait for, made in the background."""

from datetime import datetime
from uuid import uuid4

from django.conf import settings
from django.core.cache import cache
from django.db import models

from store.models.token import ApiToken


class ExportJob(models.Model):
    """One file to be made, being made or ready to be fetched; without a row there is no file.

    Whoever knows its id may fetch it, if they may read at all; who asked for it may delete it.
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        READY = "ready"
        FAILED = "failed"

    class Format(models.TextChoices):
        CSV = "csv"
        XLSX = "xlsx"

    job_id = models.UUIDField(unique=True, default=uuid4, editable=False)
    kind = models.CharField(max_length=20, help_text="measurements, samples or comparison.")
    format = models.CharField(max_length=4, choices=Format)
    query = models.TextField(help_text="The question, as the parameters of an address.")
    site = models.CharField(max_length=300, help_text="Address of this site, for links.")
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    failure = models.TextField(blank=True, help_text="Why it failed, in a sentence.")
    attempts = models.SmallIntegerField(default=0, help_text="Times that it was begun.")
    rows_total = models.BigIntegerField(null=True, blank=True)
    size_bytes = models.BigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    begun_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+"
    )
    token = models.ForeignKey(ApiToken, models.CASCADE, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.kind}.{self.format} {self.job_id}"

    @property
    def pulse_key(self) -> str:
        """Under this key the cache has the rows done so far, for as long as its maker lives."""
        return f"export-job-rows:{self.job_id}"

    @property
    def network_key(self) -> str:
        """Under this key the cache has the network of a stranger who asked for it."""
        return f"export-job-network:{self.job_id}"

    @property
    def stop_key(self) -> str:
        """Under this key the cache has the wish that its maker should stop."""
        return f"export-job-stop:{self.job_id}"

    @property
    def rows_done(self) -> int:
        """Rows that are in the file by now."""
        if self.status == self.Status.READY:
            return self.rows_total or 0
        return int(cache.get(self.pulse_key) or 0)

    @property
    def percent(self) -> int:
        """How far it has come, 0 to 100."""
        total = self.rows_total or 0
        return min(100, round(100 * self.rows_done / total)) if total else 0

    @property
    def unfinished(self) -> bool:
        """It will change by itself."""
        return self.status in (self.Status.WAITING, self.Status.RUNNING)

    @property
    def until(self) -> datetime | None:
        """When the file is deleted; None while there is none."""
        return self.expires_at if self.status == self.Status.READY else None
