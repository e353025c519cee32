"""The machine."""

from django.db import models
from django.db.models import Q


class Host(models.Model):
    """A machine whose runs belong together.

    It is recognised by its machine id; without one, by its name. Published hosts stand apart:
    an uploaded run can never join the history of a machine that somebody else wrote about.
    """

    name = models.CharField(max_length=200)
    slug = models.CharField(max_length=220, unique=True, help_text="Its key in URLs and filters.")
    machine_id = models.CharField(max_length=64, null=True, blank=True, unique=True)
    published = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["name", "published"],
                condition=Q(machine_id__isnull=True),
                name="one_host_per_name_without_machine_id",
            ),
        ]

    def __str__(self) -> str:
        return self.name
