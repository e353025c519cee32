"""Strict JSON: what `json` lets pass but PostgreSQL, or a second reader, would not."""

import json
import math
import re
from itertools import accumulate
from typing import Any

MAX_DEPTH = 64
"""Objects and arrays inside each other; a run document has seven."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class JsonError(ValueError):
    """The text is not the JSON that we take; the message says what and where."""


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonError(f"the number {text[:30]} is too large")
    return number


def _refuse_constant(name: str) -> float:
    raise JsonError(f"{name} is not a JSON number")


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise JsonError(f"the member {name[:60]!r} appears twice in one object")
        members[name] = value
    return members


def _refuse_deep_nesting(text: str) -> None:
    brackets = re.findall(r"[\[\]{}]", _STRING.sub("", text))
    depths = accumulate(1 if bracket in "[{" else -1 for bracket in brackets)
    if max(depths, default=0) > MAX_DEPTH:
        raise JsonError(f"nested too deeply: at most {MAX_DEPTH} objects and arrays in each other")


def _refuse_unstorable_text(value: Any) -> None:
    """PostgreSQL stores neither a NUL nor half a character."""
    try:
        spelt = json.dumps(value, ensure_ascii=False)
        spelt.encode()
    except UnicodeEncodeError:
        raise JsonError("a text holds half of a surrogate pair") from None
    if _NUL.search(spelt):
        raise JsonError("a text holds a NUL character, which cannot be stored")


def parse_json(body: bytes) -> Any:
    """The value that `body` (UTF-8) holds.

    Raises `JsonError` for text that is not UTF-8 or not JSON, for NaN and infinite numbers,
    members named twice, NUL characters, halves of surrogate pairs and too deep nesting.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8: byte {error.start} cannot be read") from None
    _refuse_deep_nesting(text)
    try:
        value = json.loads(
            text,
            parse_float=_finite,
            parse_constant=_refuse_constant,
            object_pairs_hook=_unique_members,
        )
    except JsonError:
        raise
    except json.JSONDecodeError as error:
        raise JsonError(f"{error.msg} at line {error.lineno} column {error.colno}") from None
    except ValueError as error:
        # Python refuses integers of more than 4,300 digits.
        raise JsonError(str(error)) from None
    _refuse_unstorable_text(value)
    return value


def canonical_json(value: Any) -> bytes:
    """One spelling for equal values: members sorted, no blanks, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
