"""Validate uploaded run documents against the published JSON Schema.

A compiled validator accepts a valid document in one call. In an invalid document, errors are
searched level by level up to a limit, because a small document can contain millions.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from itertools import islice
from typing import Any

import jsonschema_rs

from cipherspeed.json_text import JsonError, parse_json

MAX_FAULTS = 50
"""Maximum number of errors in a response."""

MAX_DETAIL = 300
"""Maximum length of an error message."""

MAX_QUOTED = 100
"""Maximum length of a quoted value."""

QUOTED = "\0"
"""Placeholder for the value in the validator's messages."""

DESCENDING = ("properties", "items", "additionalProperties")
"""Schema keywords that contain schemas of nested values."""

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
"""Earliest accepted date. Earlier dates come from clocks that were never set."""

CLOCK_TOLERANCE = timedelta(days=1)
"""Tolerated clock difference. A run further in the future would always be the latest."""

Schema = dict[str, Any]
Path = tuple[str, ...]


@dataclass(frozen=True)
class Fault:
    """Describe an error in a document: dotted path, rule and message."""

    path: str
    code: str
    detail: str


class InvalidDocument(ValueError):
    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(faults)
        self.faults = faults


def checked_document(body: bytes, now: datetime) -> dict[str, Any]:
    """Parse a run document; raise `InvalidDocument` if its JSON, fields or dates are invalid."""
    try:
        document: dict[str, Any] = parse_json(body)
    except JsonError as error:
        fault = Fault(error.place, "parse_error", f"This is not JSON: {error}.")
        raise InvalidDocument([fault]) from None
    if faults := validate_run_document(document) or date_faults(document, now):
        raise InvalidDocument(faults)
    return document


@cache
def run_schema() -> Schema:
    """Return the JSON Schema of `ciphermark/run/1`, as served at /api/v1/schema/run."""
    text = resources.files(__package__).joinpath("schema/run-1.json").read_text("utf-8")
    schema: Schema = json.loads(text)
    return schema


@cache
def _compiled(rules: str) -> jsonschema_rs.Draft202012Validator:
    """Compile a part of the schema, given as JSON text."""
    part = {**json.loads(rules), "$defs": run_schema()["$defs"]}
    return jsonschema_rs.Draft202012Validator(part, validate_formats=True, mask=QUOTED)


def _validator(rules: Schema) -> jsonschema_rs.Draft202012Validator:
    return _compiled(json.dumps({name: rule for name, rule in rules.items() if name != "$defs"}))


def _fault(error: jsonschema_rs.ValidationError, place: Path) -> Fault:
    path = [*place, *(str(step) for step in error.instance_path)]
    code = str(error.schema_path[-1]) if error.schema_path else "invalid"
    detail = error.message
    if detail.startswith(QUOTED):
        detail = _quoted(error.instance) + detail.removeprefix(QUOTED)
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required):
        # The rule belongs to the object, but the error should identify the field.
        path.append(str(error.kind.property))
        detail = "This field is required."
    if len(detail) > MAX_DETAIL:
        detail = detail[: MAX_DETAIL - 1] + "…"
    return Fault(path=".".join(path), code=code, detail=detail)


def _quoted(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 1]}…"


def _resolved(rules: Schema) -> Schema:
    reference = rules.get("$ref")
    if reference is None:
        return rules
    named: Schema = run_schema()["$defs"][reference.removeprefix("#/$defs/")]
    return named


def _inner_places(rules: Schema, value: Any) -> Iterator[tuple[str, Any, Schema]]:
    """Yield the name, value and schema of each member or item of `value`."""
    if isinstance(value, dict):
        named, others = rules.get("properties", {}), rules.get("additionalProperties")
        for name, inner in value.items():
            schema = named.get(name, others)
            if schema is not None:
                yield name, inner, schema
    elif isinstance(value, list) and "items" in rules:
        for position, inner in enumerate(value):
            yield str(position), inner, rules["items"]


def _without_inner_places(value: Any) -> Any:
    """Return the value with empty members and items."""
    if isinstance(value, dict):
        return {name: _emptied(inner) for name, inner in value.items()}
    return [_emptied(inner) for inner in value] if isinstance(value, list) else value


def _emptied(value: Any) -> Any:
    return type(value)() if isinstance(value, (dict, list)) else value


def _faults(rules: Schema, value: Any, place: Path = ()) -> Iterator[Fault]:
    """Yield the errors of a value, then those of nested values."""
    rules = _resolved(rules)
    if _validator(rules).is_valid(value):
        return
    own = {name: rule for name, rule in rules.items() if name not in DESCENDING}
    for error in _validator(own).iter_errors(_without_inner_places(value)):
        yield _fault(error, place)
    for name, inner, schema in _inner_places(rules, value):
        yield from _faults(schema, inner, (*place, name))


@cache
def _whole() -> jsonschema_rs.Draft202012Validator:
    return _validator(run_schema())


def validate_run_document(document: Any) -> list[Fault]:
    """Return the first `MAX_FAULTS` errors of the document."""
    if _whole().is_valid(document):
        return []
    return list(islice(_faults(run_schema(), document), MAX_FAULTS))


def date_faults(document: Mapping[str, Any], now: datetime) -> list[Fault]:
    """Return the errors in a document's times: invalid, before 1990, or over a day ahead."""
    named = {name: document[name] for name in ("started_at", "finished_at") if document[name]}
    return [fault for name, text in named.items() for fault in _date_faults(name, text, now)]


def _date_faults(name: str, text: str, now: datetime) -> Iterator[Fault]:
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        yield Fault(name, "date", f"{text!r} is not a date and time.")
        return
    shown = f"{moment:%Y-%m-%d %H:%M} UTC"
    if moment < EARLIEST:
        yield Fault(name, "past", f"{shown} is before 1990: set the host's clock.")
    elif moment > now + CLOCK_TOLERANCE:
        yield Fault(name, "future", f"{shown} is more than a day ahead: set the host's clock.")
