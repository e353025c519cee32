"""What people know of a date that no run says: "BIOS update"."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from store.models.host import Host
from store.models.run import Run


class Note(models.Model):
    """A sentence at a time, about a host, a run or a group of a comparison; one of the three."""

    at = models.DateTimeField(help_text="The time it is about; of a run, its start.")
    text = models.CharField(max_length=500)
    host = models.ForeignKey(Host, models.CASCADE, null=True, blank=True, related_name="notes")
    run = models.ForeignKey(Run, models.CASCADE, null=True, blank=True, related_name="notes")
    group_by = models.CharField(max_length=60, blank=True, help_text='Such as "cpu".')
    group = models.CharField(max_length=260, blank=True, help_text="The key of the group.")
    made_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["-at", "-id"], name="notes_by_time"),
            models.Index(fields=["group_by", "group"], name="notes_of_a_group"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(host__isnull=False, run=None, group_by="")
                | Q(host=None, run__isnull=False, group_by="")
                | Q(host=None, run=None) & ~Q(group_by=""),
                name="a_note_is_about_one_thing",
            ),
        ]

    def __str__(self) -> str:
        return self.text
