"""Environments as rows, found or made by their fingerprint."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import fields
from typing import Any

from documents.environment import dimensions, fingerprint, ssh_environment, ssh_library
from documents.naming import Label
from ingest.processing.id_cache import Remembered
from store.models import DimensionValue, Environment
from store.models.dimension import OF_LIBRARIES

_environments: Remembered[str] = Remembered()


def environment_id(facts: Mapping[str, Any]) -> int:
    """The number of the environment that a run document's `environment` describes."""
    digest = fingerprint(facts)
    return _environments.numbers({digest}, _find, lambda _: _make(digest, facts))[digest]


def _find(digests: Set[str]) -> dict[str, int]:
    stored = Environment.objects.filter(fingerprint__in=digests)
    return dict(stored.values_list("fingerprint", "pk"))


def _make(digest: str, facts: Mapping[str, Any]) -> None:
    labels = columns_of(facts)
    values = dimension_values(labels.values())
    made = {column: values[dimension, value.key] for column, (dimension, value) in labels.items()}
    made_of = {**made, "ssh_environment": ssh_environment(facts)}
    new = Environment(fingerprint=digest, **made_of)
    Environment.objects.bulk_create([new], ignore_conflicts=True)


Valued = tuple[str, Label]
"""A dimension and one of its values."""


def columns_of(facts: Mapping[str, Any]) -> dict[str, Valued]:
    """The foreign keys of an environment, each with what it refers to."""
    found, library = dimensions(facts), ssh_library(facts)
    columns = {one.name: (one.name, getattr(found, one.name)) for one in fields(found)}
    if library is not None:
        for dimension, column in OF_LIBRARIES.items():
            columns[column] = (dimension, getattr(library, dimension))
    return columns


def dimension_values(wanted: Iterable[Valued]) -> dict[tuple[str, str], DimensionValue]:
    """These values as rows by dimension and key, made where they are new."""
    labels = {(dimension, value.key): value.label for dimension, value in wanted}
    DimensionValue.objects.bulk_create(
        [
            DimensionValue(dimension=dimension, key=key, label=text)
            for (dimension, key), text in sorted(labels.items())
        ],
        ignore_conflicts=True,
    )
    stored = DimensionValue.objects.filter(
        dimension__in={dimension for dimension, _ in labels}, key__in={key for _, key in labels}
    )
    return {(value.dimension, value.key): value for value in stored}
