"""Validation of an uploaded run document against the published JSON Schema."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import islice
from typing import Any

import jsonschema_rs

MAX_FAULTS = 50
"""Faults named in one answer (contract, section 4)."""

MAX_DETAIL = 300
"""Characters of one fault's sentence: it may quote what was sent, at most this much of it."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a document: where (dotted path), which rule, and a sentence."""

    path: str
    code: str
    detail: str


@cache
def run_schema() -> dict[str, Any]:
    """The JSON Schema of `ciphermark/run/1`, as served at /api/v1/schema/run."""
    text = resources.files(__package__).joinpath("schema/run-1.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@cache
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(run_schema(), validate_formats=True)


def _fault(error: jsonschema_rs.ValidationError) -> Fault:
    path = [str(step) for step in error.instance_path]
    code = str(error.schema_path[-1]) if error.schema_path else "invalid"
    detail = error.message
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required):
        # The rule sits on the object; the reader looks for the field.
        path.append(str(error.kind.property))
        detail = "This field is required."
    if len(detail) > MAX_DETAIL:
        detail = detail[: MAX_DETAIL - 1] + "…"
    return Fault(path=".".join(path), code=code, detail=detail)


def _faults(document: Any) -> Iterator[Fault]:
    return map(_fault, _validator().iter_errors(document))


def validate_run_document(document: Any) -> list[Fault]:
    """Every fault of the document, the first `MAX_FAULTS` of them; empty when it is valid."""
    return list(islice(_faults(document), MAX_FAULTS))
