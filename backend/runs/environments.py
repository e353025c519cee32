"""Environments as rows, found or made by their fingerprint."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from documents.environment import Dimensions, dimensions, fingerprint
from documents.naming import Label
from runs.models import DimensionValue, Environment


def find_environment(facts: Mapping[str, Any]) -> Environment:
    """The environment that a run document's `environment` describes."""
    digest = fingerprint(facts)
    environment = Environment.objects.filter(fingerprint=digest).first()
    if environment is not None:
        return environment
    # get_or_create: another worker may be storing the same new environment just now.
    values = _dimension_values(dimensions(facts))
    return Environment.objects.get_or_create(fingerprint=digest, defaults=values)[0]


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
