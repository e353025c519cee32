"""How parameters of an address are read and described: one way for API, pages and files.

A list of `Parameter` says what an address takes; `read` makes values of it and names every fault,
`described` is what the OpenAPI document says of it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

from django.http import QueryDict
from django.utils.dateparse import parse_date, parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError

from questions.unknown_parameters import none_of

MAX_VALUES = 200
"""Values of one repeatable parameter."""

MAX_LENGTH = 260
"""Characters of one value; the longest is a tag: a key of 50, a colon and a value of 200."""

MOST = 999_999_999

TRUE = frozenset({"1", "true", "yes"})
FALSE = frozenset({"0", "false", "no"})

Read = Callable[[str], Any]
"""The value of a text; `ValueError` says what is wrong with it."""


def text(value: str) -> str:
    """Any text of a usual length."""
    if len(value) > MAX_LENGTH or "\x00" in value:
        raise ValueError(f"A value has at most {MAX_LENGTH} printable characters.")
    return value


def searched(value: str) -> str:
    """Return a text to be looked for, without blanks around it."""
    return text(value).strip()


def printable(longest: int) -> Read:
    """A text of one line, without blanks around it."""

    def read(value: str) -> str:
        if len(value.strip()) > longest or not value.strip().isprintable():
            raise ValueError(f"At most {longest} printable characters.")
        return value.strip()

    return read


def one_of(known: Iterable[str]) -> Read:
    """One of these."""

    def read(value: str) -> str:
        if value not in known:
            raise ValueError(none_of(value, known))
        return value

    return read


def whole_number(most: int = MOST) -> Read:
    """A number from 1 on."""

    def read(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,19}", value) or not 1 <= int(value) <= most:
            raise ValueError(f"{value[:50]!r} is no whole number from 1 to {most}.")
        return int(value)

    return read


def flag(value: str) -> bool:
    """1 or 0, in any of their spellings."""
    if value.lower() not in TRUE | FALSE:
        raise ValueError(f"{value[:50]!r} is neither 1 nor 0.")
    return value.lower() in TRUE


def moment(at: time) -> Read:
    """A time, UTC where no zone is given; a date is this time of it."""

    def read(value: str) -> datetime:
        try:
            day = parse_date(value)
            found = parse_datetime(value) if day is None else datetime.combine(day, at)
            if found is not None:
                # In UTC, because PostgreSQL takes no offset beyond 16 hours.
                return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        raise ValueError(f"{value[:50]!r} is no date (2026-11-21) or time.")

    return read


def run_id(value: str) -> UUID:
    """The id of a run."""
    try:
        return UUID(value)
    except ValueError:
        raise ValueError("Each value must be the id of a run, a UUID.") from None


@dataclass(frozen=True)
class Parameter:
    """A parameter of an address; of one that may not be repeated the last value counts."""

    name: str
    read: Read = text
    description: str = ""
    schema: Any = OpenApiTypes.STR
    many: bool = False
    choices: tuple[str, ...] | None = None
    required: bool = False
    """For the OpenAPI document; what is missing is for who needs it to say."""

    @property
    def described(self) -> OpenApiParameter:
        """What the OpenAPI document says of it."""
        return OpenApiParameter(
            self.name,
            self.schema,
            many=self.many,
            enum=self.choices,
            required=self.required,
            description=self.description,
        )

    def value(self, params: QueryDict) -> Any:
        """What the address says; None where it is silent: an empty value counts as absent."""
        given = list(dict.fromkeys(one for one in params.getlist(self.name) if one))
        if len(given) > MAX_VALUES:
            raise ValueError(f"At most {MAX_VALUES} values; there are {len(given)}.")
        if self.many:
            return tuple(map(self.read, given)) or None
        return self.read(given[-1]) if given else None


def choice(name: str, known: Sequence[str], description: str = "", **more: Any) -> Parameter:
    """A parameter of a few values."""
    return Parameter(name, one_of(known), description, choices=tuple(known), **more)


def number(name: str, description: str = "", most: int = MOST) -> Parameter:
    """A parameter that is a number from 1 on."""
    schema = {"type": "integer", "minimum": 1, "maximum": most}
    return Parameter(name, whole_number(most), description, schema)


def switch(name: str, description: str = "") -> Parameter:
    """A parameter that is 1 or 0."""
    return Parameter(name, flag, description, OpenApiTypes.BOOL)


def read(params: QueryDict, known: Iterable[Parameter]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values of what the address says, and faults, each by the parameter's name."""
    found: dict[str, Any] = {}
    faults: dict[str, Any] = {}
    for one in known:
        try:
            value = one.value(params)
        except ValueError as error:
            faults[one.name] = str(error)
        else:
            if value is not None:
                found[one.name] = value
    if {"since", "until"} <= found.keys() and found["since"] > found["until"]:
        faults["until"] = "This is before since, so nothing can lie between them."
    return found, faults


def checked(params: QueryDict, known: Iterable[Parameter]) -> dict[str, Any]:
    """The values; DRF's `ValidationError` names every fault."""
    found, faults = read(params, known)
    if faults:
        raise ValidationError(faults)
    return found


def described(known: Iterable[Parameter]) -> list[OpenApiParameter]:
    """What the OpenAPI document says of them."""
    return [one.described for one in known]


def names_of(parameters: Iterable[Parameter | OpenApiParameter]) -> frozenset[str]:
    """Those that stand in an address."""
    return frozenset(
        one.name
        for one in parameters
        if isinstance(one, Parameter) or one.location == OpenApiParameter.QUERY
    )
