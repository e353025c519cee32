from django.db import models
from django.db.models.functions import Now

from core.validators import check_printable
from runs.models.host import Host


class Note(models.Model):
    """Describe an event on a host, such as "BIOS update". Charts mark the time `at`."""

    at = models.DateTimeField(help_text="Time of the event.")
    text = models.CharField(max_length=500, validators=[check_printable])
    host = models.ForeignKey(Host, models.CASCADE, related_name="notes")
    made_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["-at", "-id"], name="notes_by_time")]

    def __str__(self) -> str:
        return self.text
