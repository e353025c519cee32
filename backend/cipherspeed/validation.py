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

MAX_QUOTED = 100

TYPES = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}
REQUIREMENTS = {
    "minLength": "Must not be empty.",
    "minItems": "Must not be empty.",
    "maxLength": "Must have at most {limit:,} characters (got {count:,}).",
    "maxItems": "Must have at most {limit:,} items (got {count:,}).",
    "maxProperties": "Must have at most {limit:,} members (got {count:,}).",
    "minimum": "Must be at least {limit:,} (got {value}).",
    "maximum": "Must be at most {limit:,} (got {value}).",
    "exclusiveMinimum": "Must be greater than {limit:,} (got {value}).",
}

DESCENDING = ("properties", "items", "additionalProperties")
"""JSON Schema keywords that contain the schemas of members and items."""

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
"""Earliest accepted date. A run has an earlier date if the clock of the host was never set."""

CLOCK_TOLERANCE = timedelta(days=1)
"""Tolerated error of the host's clock.

A run that is dated too far in the future would remain the latest run of the host.
"""

Schema = dict[str, Any]
Path = tuple[str, ...]


@dataclass(frozen=True)
class Fault:
    path: str
    code: str
    detail: str


class InvalidDocument(ValueError):
    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(faults)
        self.faults = faults


def checked_document(body: bytes, now: datetime) -> dict[str, Any]:
    """Parse a run document. Raise `InvalidDocument` if the JSON, a field or a date is invalid."""
    try:
        document: dict[str, Any] = parse_json(body)
    except JsonError as error:
        fault = Fault(error.place, "parse_error", f"{error}.")
        raise InvalidDocument([fault]) from None
    if faults := validate_run_document(document) or date_faults(document, now):
        raise InvalidDocument(faults)
    return document


@cache
def run_schema() -> Schema:
    text = resources.files(__package__).joinpath("schema/run-1.json").read_text("utf-8")
    schema: Schema = json.loads(text)
    return schema


@cache
def _compiled(rules: str) -> jsonschema_rs.Draft202012Validator:
    # `rules` is JSON text, because arguments of a cached function must be hashable.
    part = {**json.loads(rules), "$defs": run_schema()["$defs"]}
    return jsonschema_rs.Draft202012Validator(part, validate_formats=True)


def _validator(rules: Schema) -> jsonschema_rs.Draft202012Validator:
    return _compiled(json.dumps({name: rule for name, rule in rules.items() if name != "$defs"}))


def _fault(error: jsonschema_rs.ValidationError, place: Path, rules: Schema) -> Fault:
    path = [*place, *(str(step) for step in error.instance_path)]
    code = str(error.schema_path[-1]) if error.schema_path else "invalid"
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required):
        # The rule belongs to the object, but the error should identify the field.
        path.append(str(error.kind.property))
        return Fault(".".join(path), code, "This field is required.")
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.PropertyNames):
        error, rules = error.kind.value, rules["propertyNames"]
    return Fault(".".join(path), code, _detail(code, error.kind.value, error.instance, rules))


def _detail(code: str, limit: Any, value: Any, rules: Schema) -> str:
    quoted = _quoted(value)
    if code in REQUIREMENTS:
        count = len(value) if isinstance(value, str | list | dict) else 0
        return REQUIREMENTS[code].format(limit=limit, value=quoted, count=count)
    options = limit if isinstance(limit, list) else [limit]
    if code in ("pattern", "format"):
        options = [rules["title"]]
    if code == "type":
        options = [words for name, words in TYPES.items() if name in options]
    allowed = " or ".join(options)
    form = "{1} is not valid; use {0}." if code == "enum" else "Must be {0} (got {1})."
    return form.format(allowed, quoted)


def _quoted(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 1]}…"


def _resolved(rules: Schema) -> Schema:
    reference = rules.get("$ref")
    if reference is None:
        return rules
    named: Schema = run_schema()["$defs"][reference.removeprefix("#/$defs/")]
    return named


def _members_and_items(rules: Schema, value: Any) -> Iterator[tuple[str, Any, Schema]]:
    if isinstance(value, dict):
        named, others = rules.get("properties", {}), rules.get("additionalProperties")
        for name, inner in value.items():
            schema = named.get(name, others)
            if schema is not None:
                yield name, inner, schema
    elif isinstance(value, list) and "items" in rules:
        for position, inner in enumerate(value):
            yield str(position), inner, rules["items"]


def _with_empty_members(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _emptied(inner) for name, inner in value.items()}
    return [_emptied(inner) for inner in value] if isinstance(value, list) else value


def _emptied(value: Any) -> Any:
    return type(value)() if isinstance(value, (dict, list)) else value


def _faults(rules: Schema, value: Any, place: Path = ()) -> Iterator[Fault]:
    rules = _resolved(rules)
    if _validator(rules).is_valid(value):
        return
    own = {name: rule for name, rule in rules.items() if name not in DESCENDING}
    errors = islice(_validator(own).iter_errors(_with_empty_members(value)), MAX_FAULTS)
    own_faults = [_fault(error, place, rules) for error in errors]
    # A time violates both pattern and format, with the same message.
    yield from {(fault.path, fault.detail): fault for fault in own_faults}.values()
    for name, inner, schema in _members_and_items(rules, value):
        yield from _faults(schema, inner, (*place, name))


@cache
def _whole() -> jsonschema_rs.Draft202012Validator:
    return _validator(run_schema())


def validate_run_document(document: Any) -> list[Fault]:
    if _whole().is_valid(document):
        return []
    # Stop early, because a small document can contain millions of errors.
    return list(islice(_faults(run_schema(), document), MAX_FAULTS))


def date_faults(document: Mapping[str, Any], now: datetime) -> list[Fault]:
    named = {name: document[name] for name in ("started_at", "finished_at") if document[name]}
    return [fault for name, text in named.items() for fault in _date_faults(name, text, now)]


def _date_faults(name: str, text: str, now: datetime) -> Iterator[Fault]:
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        title = run_schema()["$defs"]["time"]["title"]
        yield Fault(name, "date", f"Must be {title} (got {_quoted(text)}).")
        return
    shown = f"{moment:%Y-%m-%d %H:%M} UTC"
    if moment < EARLIEST:
        yield Fault(name, "past", f"{shown} is before 1990. Set the host's clock.")
    elif moment > now + CLOCK_TOLERANCE:
        yield Fault(name, "future", f"{shown} is more than a day ahead. Set the host's clock.")
