"""Query parameters of comparison and exports, checked and named."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, time
from typing import Any, cast
from uuid import UUID

from django.http import QueryDict
from django.utils.dateparse import parse_date, parse_datetime
from rest_framework.exceptions import ValidationError

from questions.near_names import none_of
from results.host_aliases import present_keys
from results.selection import (
    FILTERS,
    GROUPINGS,
    METRICS,
    TAG_PREFIX,
    TOOLS,
    ComparisonQuery,
)

MAX_VALUES = 200
"""Values of one repeatable parameter."""

MAX_LENGTH = 260
"""Characters of one value; the longest is a tag: a key of 50, a colon and a value of 200."""

TRUE = frozenset({"1", "true", "yes"})
FALSE = frozenset({"0", "false", "no", ""})

CHOICES = {
    "tool": TOOLS,
    "metric": METRICS,
    "operation": ("encrypt", "decrypt"),
    "method": ("pipeline", "steady"),
    "target_kind": ("loopback", "remote"),
    "acceleration": ("default", "masked"),
}
NUMBERS = ("block_size", "threads")
MOMENTS = ("since", "until")


def _choice(name: str, text: str) -> str:
    if text not in CHOICES[name]:
        raise ValidationError({name: none_of(text, CHOICES[name])})
    return text


def _group_by(name: str, text: str) -> str:
    tag = text.removeprefix(TAG_PREFIX)
    if text in GROUPINGS or (text.startswith(TAG_PREFIX) and re.fullmatch(r"[\w.-]{1,50}", tag)):
        return text
    raise ValidationError({name: none_of(text, GROUPINGS, f" and {TAG_PREFIX}KEY")})


def _number(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1:
        raise ValidationError({name: f"{text[:50]!r} is no whole number from 1 to 999999999."})
    return int(text)


def _flag(name: str, text: str) -> bool:
    if text.lower() not in TRUE | FALSE:
        raise ValidationError({name: f"{text[:50]!r} is neither 1 nor 0."})
    return text.lower() in TRUE


def _moment(name: str, text: str) -> datetime:
    """A date (since: its start, until: its end) or a time, UTC where no zone is given."""
    try:
        day = parse_date(text)
        moment = parse_datetime(text) if day is None else None
        if day is not None:
            moment = datetime.combine(day, time.max if name == "until" else time.min)
        if moment is not None:
            # In UTC, because PostgreSQL takes no offset beyond 16 hours.
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ValidationError({name: f"{text[:50]!r} is no date (2026-11-21) or time."})


def _text(name: str, text: str) -> str:
    return text


_SINGLE: dict[str, Callable[[str, str], object]] = {
    **dict.fromkeys(CHOICES, _choice),
    **dict.fromkeys(NUMBERS, _number),
    **dict.fromkeys(MOMENTS, _moment),
    "group_by": _group_by,
    "compression": _flag,
    "mac": _text,
    "profile": _text,
}


def _values(params: QueryDict, name: str) -> tuple[str, ...]:
    values = tuple(dict.fromkeys(value for value in params.getlist(name) if value))
    if len(values) > MAX_VALUES:
        raise ValidationError({name: f"At most {MAX_VALUES} values; there are {len(values)}."})
    for value in values:
        if len(value) > MAX_LENGTH or "\x00" in value:
            raise ValidationError({name: f"A value has at most {MAX_LENGTH} printable characters."})
        if name == "tag" and ":" not in value:
            raise ValidationError({name: f"{value[:50]!r} must be KEY:VALUE."})
    return values


def run_ids(params: QueryDict) -> list[UUID]:
    """The runs that `run_id` names; raises DRF's `ValidationError` where one is no UUID."""
    values = _values(params, "run_id")
    try:
        return [UUID(value) for value in values]
    except ValueError:
        raise ValidationError({"run_id": "Each value must be the id of a run, a UUID."}) from None


def comparison_query(params: QueryDict) -> ComparisonQuery:
    """The query that the parameters ask for; empty ones count as absent.

    A host that was merged into another stands for that one, so that old addresses hold. Raises
    DRF's `ValidationError`, keyed by parameter and naming every fault.
    """
    chosen: dict[str, Any] = {}
    faults: dict[str, Any] = {}
    for name, read in (*_SINGLE.items(), *((name, None) for name in (*FILTERS, "cipher"))):
        try:
            values = _values(params, name)
            if values:
                chosen[name] = read(name, values[-1]) if read else values
        except ValidationError as error:
            # Every fault here is keyed by its parameter.
            faults.update(cast(dict[str, Any], error.detail))
    if faults:
        raise ValidationError(faults)
    filters = {name: chosen.pop(name) for name in FILTERS if name in chosen}
    if "host" in filters:
        filters["host"] = present_keys(filters["host"])
    return ComparisonQuery(ciphers=chosen.pop("cipher", ()), filters=filters, **chosen)
