"""What a check found."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "wrong"]

STATES: tuple[State, ...] = ("ok", "warning", "wrong")
"""The worse, the later."""


@dataclass(frozen=True)
class Finding:
    """A state, what was found in words, and what to do about it unless it is ok."""

    state: State
    found: str
    to_do: str = ""


def ok(found: str) -> Finding:
    """Nothing is to be done."""
    return Finding("ok", found)


def warning(found: str, to_do: str) -> Finding:
    """It works, and somebody should look at it."""
    return Finding("warning", found, to_do)


def wrong(found: str, to_do: str) -> Finding:
    """Something does not work."""
    return Finding("wrong", found, to_do)


def duration(seconds: float) -> str:
    """In the largest unit of which there are two at least."""
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
