"""The version of what answers are made from."""

from django.db import models


class DataVersion(models.Model):
    """One row that changes with everything that a comparison may read (`store.data_version`)."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    version = models.UUIDField()
    changed_at = models.DateTimeField()
