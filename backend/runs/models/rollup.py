"""Answers to the questions that are asked most, made from all machines' latest results."""

import json
from typing import Any

import orjson
from django.contrib.postgres.fields import ArrayField
from django.db import models


class FastDecoder(json.JSONDecoder):
    """Reads by a compiled parser what this program wrote: a fifth of an answer's time else."""

    def decode(self, s: str, *_: Any) -> Any:
        """The value."""
        return orjson.loads(s)


class Rollup(models.Model):
    """One answer, as of the moment its data were read (`runs.rollups`).

    `version` is that of the data it was made from: while that is the present one, it is exact.
    """

    key = models.CharField(max_length=400, unique=True, help_text="The question, as JSON.")
    version = models.UUIDField()
    as_of = models.DateTimeField()
    seconds = models.FloatField(help_text="How long it took to make.")
    body = models.JSONField(decoder=FastDecoder)


class RollupSlot(models.Model):
    """What the groups of a rollup measured of one cipher and block size."""

    rollup = models.ForeignKey(Rollup, models.CASCADE, related_name="slots", db_index=False)
    version = models.UUIDField(help_text="As the rollup's, when it was made with it.")
    slot = models.SmallIntegerField(help_text="Its place in the rollup's list of slots.")
    body = models.JSONField(decoder=FastDecoder)
    ranks = ArrayField(
        models.FloatField(), null=True, help_text="Every host's value, ascending; for standings."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["rollup", "slot"], name="one_row_per_slot"),
        ]
