"""Hosts: machines, their names and identities."""

from django.db import models
from django.db.models import Q


class Host(models.Model):
    """A machine whose runs belong together.

    It is recognised by its machine id; without one, by its name; where an editor has found that
    several machines share the id, by both. Published hosts stand apart: an uploaded run can never
    join the history of a machine that somebody else wrote about.
    """

    name = models.CharField(max_length=200)
    slug = models.CharField(max_length=220, unique=True, help_text="Its key in URLs and filters.")
    machine_id = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 - none
    machine_name = models.CharField(
        max_length=200,
        blank=True,
        db_default="",
        default="",
        help_text="Under a shared machine id: the name (`same_name`) that belongs to it.",
    )
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
            models.UniqueConstraint(fields=["machine_id", "machine_name"], name="one_host"),
        ]

    def __str__(self) -> str:
        return self.name


class HostAlias(models.Model):
    """Another machine id or name of a host: of one that was merged into it, or its former name.

    Uploads that come with it go to the host.
    """

    host = models.ForeignKey(Host, models.CASCADE, related_name="aliases")
    machine_id = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 - none
    machine_name = models.CharField(
        max_length=200,
        blank=True,
        db_default="",
        default="",
        help_text="Under a shared machine id: as of `Host`.",
    )
    name = models.CharField(max_length=200)
    published = models.BooleanField(default=False)
    slug = models.CharField(max_length=220, blank=True, help_text="Of the merged host.")
    former_key = models.BigIntegerField(
        null=True, blank=True, help_text="Primary key of the merged host: old addresses lead on."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["name", "published"],
                condition=Q(machine_id__isnull=True),
                name="one_alias_per_name_without_machine_id",
            ),
            models.UniqueConstraint(fields=["machine_id", "machine_name"], name="one_alias"),
        ]
        verbose_name_plural = "host aliases"

    def __str__(self) -> str:
        return self.name


class HostName(models.Model):
    """A name that a host has or had: it still finds the host in searches and addresses.

    A name alone does not bring uploads to the host: that is what `HostAlias` is for.
    """

    host = models.ForeignKey(Host, models.CASCADE, related_name="names")
    name = models.CharField(max_length=200)
    slug = models.CharField(max_length=220, db_index=True)
    renames = models.BooleanField(
        default=True,
        db_default=True,
        help_text="The host is shown by it where its latest run has it; off for all names that an "
        "editor replaced by another one.",
    )
    same_machine = models.BooleanField(
        default=False,
        db_default=False,
        help_text="An editor merged what had it: no sign of another machine.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["host", "name"], name="a_name_once"),
        ]

    def __str__(self) -> str:
        return self.name
