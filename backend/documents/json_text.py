"""Strict JSON: what `json` lets pass but PostgreSQL, or a second reader, would not."""

import json
import math
from typing import Any


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
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise JsonError(f"the member {twice[:60]!r} appears twice in one object")
    return members


def _refuse_unstorable_text(text: str) -> None:
    # Both spellings would reach PostgreSQL, which stores neither a NUL nor half a character.
    if "\x00" in text or "\\u0000" in text:
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
    _refuse_unstorable_text(text)
    try:
        value = json.loads(
            text,
            parse_float=_finite,
            parse_constant=_refuse_constant,
            object_pairs_hook=_unique_members,
        )
        json.dumps(value, ensure_ascii=False).encode()
    except JsonError:
        raise
    except json.JSONDecodeError as error:
        raise JsonError(f"{error.msg} at line {error.lineno} column {error.colno}") from None
    except UnicodeEncodeError:
        raise JsonError("a text holds half of a surrogate pair") from None
    except RecursionError:
        raise JsonError("nested too deeply") from None
    except ValueError as error:
        # Python refuses integers of more than 4,300 digits.
        raise JsonError(str(error)) from None
    return value


def canonical_json(value: Any) -> bytes:
    """One spelling for equal values: members sorted, no blanks, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
