"""Environments as rows, found or made by their fingerprint."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from documents.environment import Dimensions, dimensions, fingerprint
from documents.naming import Label
from runs.models import DimensionValue, Environment
from runs.remembered import Remembered

_environments: Remembered[str] = Remembered()


def environment_id(facts: Mapping[str, Any]) -> int:
    """The number of the environment that a run document's `environment` describes."""
    digest = fingerprint(facts)
    known = _environments.known([digest])
    if not known:
        known = {digest: _find(digest, facts)}
        _environments.remember(known)
    return known[digest]


def _find(digest: str, facts: Mapping[str, Any]) -> int:
    found = Environment.objects.filter(fingerprint=digest).values_list("pk", flat=True).first()
    if found is not None:
        return found
    # get_or_create: another worker may be storing the same new environment just now.
    values = _dimension_values(dimensions(facts))
    return Environment.objects.get_or_create(fingerprint=digest, defaults=values)[0].pk


def _dimension_values(found: Dimensions) -> dict[str, DimensionValue]:
    labels: dict[str, Label] = {one.name: getattr(found, one.name) for one in fields(found)}
    DimensionValue.objects.bulk_create(
        [
            DimensionValue(dimension=dimension, key=value.key, label=value.label)
            for dimension, value in sorted(labels.items())
        ],
        ignore_conflicts=True,
    )
    stored = DimensionValue.objects.filter(
        dimension__in=labels, key__in={value.key for value in labels.values()}
    )
    values = {(value.dimension, value.key): value for value in stored}
    return {dimension: values[dimension, value.key] for dimension, value in labels.items()}
