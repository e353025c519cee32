"""Parse JSON. Reject values that Python accepts but PostgreSQL cannot store."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

MAX_DEPTH = 64
"""Maximum nesting depth. A run document has seven levels."""


class JsonError(ValueError):
    """Report invalid or unsupported JSON. `place`: path of the value, such as "host.name"."""

    def __init__(self, message: str, place: str = "", at: str = "") -> None:
        where = f" at {at or place}" if at or place else ""
        super().__init__(f"Invalid JSON{where}: {message}")
        self.place = place


class _Refused:
    """Mark a value as invalid. At this point, the parser does not know the path of the value."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def parse_json(body: bytes) -> Any:
    """Parse JSON in UTF-8.

    Raise `JsonError` for invalid UTF-8, invalid JSON, NaN, numbers too large for a double,
    duplicate members, NUL characters, unpaired surrogates, or more than `MAX_DEPTH` levels.
    """
    try:
        value = json.loads(
            body.decode("utf-8-sig"),
            parse_int=_number(int),
            parse_float=_number(float),
            parse_constant=lambda name: _Refused(f"{name} is not a JSON number"),
            object_pairs_hook=_members,
        )
    except UnicodeDecodeError as error:
        raise JsonError("not UTF-8", at=f"byte {error.start}") from None
    except json.JSONDecodeError as error:
        fault = re.sub("^expecting (.*)", r"\1 expected", error.msg[:1].lower() + error.msg[1:])
        at = f"line {error.lineno}, column {error.colno}"
        raise JsonError(re.sub("( starting)? at$", "", fault), at=at) from None
    except RecursionError:
        raise JsonError(_TOO_DEEP) from None
    for place, reason in _faults(value, ()):
        raise JsonError(reason, ".".join(str(name)[:60] for name in place))
    return value


def canonical_json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


_TOO_DEEP = f"more than {MAX_DEPTH} nested objects and arrays"


def _number(read: Callable[[str], float]) -> Callable[[str], Any]:
    def number(text: str) -> Any:
        # Python refuses to format integers with more than 4,300 digits.
        if not math.isfinite(float(text)):
            return _Refused(f"the number {text[:30]}... is too large")
        return read(text)

    return number


def _members(pairs: list[tuple[str, Any]]) -> Any:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
    return _Refused(f"duplicate member {twice[:60]!r}")


def _faults(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, _Refused):
        yield place, value.reason
    elif isinstance(value, str):
        if "\0" in value:
            yield place, "NUL characters cannot be stored"
        elif not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                yield place, "unpaired surrogates cannot be stored"
    elif isinstance(value, (dict, list)):
        if len(place) >= MAX_DEPTH:
            yield (), _TOO_DEEP
            return
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for name, member in inner:
            yield from _faults(name, place)
            yield from _faults(member, (*place, name))
