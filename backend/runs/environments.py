"""Environments as rows: found or made by their fingerprint, made anew when its recipe changes."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from django.db import transaction

from documents.environment import FINGERPRINT_VERSION, Dimensions, dimensions, fingerprint
from documents.naming import Label
from runs.models import DimensionValue, Environment, Run

CHUNK = 500


def find_environment(facts: Mapping[str, Any]) -> Environment:
    """The environment that a run document's `environment` describes."""
    digest = fingerprint(facts)
    environment = Environment.objects.filter(fingerprint=digest).first()
    if environment is not None:
        return environment
    # get_or_create: another worker may be storing the same new environment just now.
    new = {**_dimension_values(dimensions(facts)), "fingerprint_version": FINGERPRINT_VERSION}
    return Environment.objects.get_or_create(fingerprint=digest, defaults=new)[0]


def _dimension_values(found: Dimensions) -> dict[str, DimensionValue]:
    labels: dict[str, Label] = {one.name: getattr(found, one.name) for one in fields(found)}
    DimensionValue.objects.bulk_create(
        [
            DimensionValue(dimension=dimension, key=value.key, label=value.label)
            for dimension, value in sorted(labels.items())
        ],
        ignore_conflicts=True,
    )
    return {
        dimension: DimensionValue.objects.get(dimension=dimension, key=value.key)
        for dimension, value in labels.items()
    }


def renew_environments() -> int:
    """Give runs of an older recipe their environment of today; returns how many runs.

    A machine would else count as two: once as it was named before, once as it is named now. Safe
    to repeat and to interrupt: each chunk is a transaction, and what is done is not done again.
    """
    renewed = 0
    while chunk := _renew_chunk():
        renewed += chunk
    Environment.objects.filter(
        fingerprint_version__lt=FINGERPRINT_VERSION, runs__isnull=True
    ).delete()
    return renewed


@transaction.atomic
def _renew_chunk() -> int:
    outdated = Run.objects.filter(environment__fingerprint_version__lt=FINGERPRINT_VERSION)
    runs = list(
        outdated.select_related("document").select_for_update(of=("self",)).order_by("id")[:CHUNK]
    )
    for run in runs:
        run.environment = find_environment(json.loads(bytes(run.document.body))["environment"])
    Run.objects.bulk_update(runs, ["environment"])
    return len(runs)
