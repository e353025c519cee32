"""Strict JSON: what `json` lets pass but PostgreSQL, or a second reader, would not.

There is one strict reader, `_read_strictly`, which names what is wrong. A text that a few scans
prove to hold nothing that it would refuse or read differently is left to a compiled parser, which
takes a twentieth of the time; whatever is in doubt goes to the strict reader.
"""

import json
import math
import re
from itertools import accumulate
from typing import Any

import orjson

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


_BOM = b"\xef\xbb\xbf"
_ALL_BUT_BRACKETS_AND_QUOTES = bytes(set(range(256)) - set(b'[]{}"'))
_DIGITS_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
"""Any 64-bit integer has fewer digits: the compiled parser reads longer ones as floats."""

_SURE_ROUNDS = MAX_DEPTH // 2


def _without_escaped_quotes(body: bytes) -> bytes | None:
    """The text with no `\\\\` and `\\"` in it; None where characters are given by number.

    Of those alone NUL, halves of surrogate pairs and disguised quotes can be made.
    """
    if b"\\" not in body:
        return body
    body = body.replace(b"\\\\", b"")
    return None if b"\\u" in body else body.replace(b'\\"', b"")


def _is_surely_flat(plain: bytes) -> bool:
    """Whether no text holds a bracket and nothing is nested deeper than `MAX_DEPTH`.

    Texts without brackets leave pairs of quotes; a bracket inside one leaves a quote over. Each
    round then takes away at most two levels, the innermost.
    """
    brackets = plain.translate(None, _ALL_BUT_BRACKETS_AND_QUOTES).replace(b'""', b"")
    for _ in range(_SURE_ROUNDS):
        if not brackets:
            return True
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return not brackets


def _read_surely(body: bytes) -> Any:
    """The value, where it can be told that `_read_strictly` gives the same; else `ValueError`."""
    plain = _without_escaped_quotes(body)
    if (
        plain is None
        or not _is_surely_flat(plain)
        or _LONG_NUMBER in plain.translate(_DIGITS_AS_ZEROS)
    ):
        raise ValueError("not sure")
    value = orjson.loads(body)
    # Each member has one colon, and texts have theirs: fewer are left when a member was dropped.
    if orjson.dumps(value).count(b":") != body.count(b":"):
        raise ValueError("not sure")
    return value


def parse_json(body: bytes) -> Any:
    """The value that `body` (UTF-8) holds.

    Raises `JsonError` for text that is not UTF-8 or not JSON, for NaN and infinite numbers,
    members named twice, NUL characters, halves of surrogate pairs and too deep nesting.
    """
    try:
        return _read_surely(body.removeprefix(_BOM))
    except ValueError:
        return _read_strictly(body)


def read_again(text: str) -> Any:
    """The value of a text that `parse_json` has taken before."""
    return orjson.loads(text.removeprefix("\ufeff"))


def _read_strictly(body: bytes) -> Any:
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
