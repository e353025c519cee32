"""The counts behind a table: `Doing ...` lines, and the `+DT` and `+R` lines of `-mr`."""

import re
from typing import NamedTuple

_DOING = re.compile(
    r"\s*Doing (?P<label>\S+(?: \S+){0,3}?)(?: ops)? for (?P<nominal>\d{1,6})s on "
    r"(?P<block>\d{1,9}) size blocks: *(?P<count>\d{1,12}) +\S+(?: \S+){0,4}? in "
    r"(?P<seconds>\d{1,7}\.\d\d)s?\s*"
)
_BLOCKS = re.compile(r"\s*Doing \S.{0,60}? size block")
_DONE = re.compile(r"\bin -?(?:\d+\.\d\d|inf|nan)s?\s*$")
_TIMED = re.compile(r"\+DT:(?P<label>[^:]+):(?P<nominal>\d{1,6}):(?P<block>\d{1,9})\s*")
_RESULT = re.compile(r"\+R:(?P<count>\d{1,12}):(?P<label>[^:]+):(?P<seconds>\d{1,7}\.\d{6})\s*")

BORROWED = 0.25
"""Share of the wall time below which CPU time says that others did the work: a program that
shares its processor with two more still gets a third."""


class Count(NamedTuple):
    """So many blocks of a size within so many seconds, of `nominal` seconds asked for."""

    line: int
    label: str
    block: int
    blocks: int
    seconds: float
    nominal: float

    @property
    def bytes(self) -> int:
        """What was processed."""
        return self.blocks * self.block

    @property
    def borrowed(self) -> bool:
        """Whether the seconds are CPU time that cannot be the time the work took."""
        return self.seconds < BORROWED * self.nominal

    def agrees_with(self, rate: float) -> bool:
        """Whether a rate in bytes per second comes from this count: seconds have two decimals."""
        if self.seconds <= 0:
            return False
        tolerance = 0.03 + 0.011 / self.seconds
        return abs(rate - self.bytes / self.seconds) <= tolerance * rate


def is_doing(text: str) -> bool:
    """Whether a line tells of a measurement in progress, of whatever algorithm."""
    return text.lstrip().startswith("Doing ")


def is_block_count(text: str) -> bool:
    """Whether a `Doing` line is about blocks of bytes, not about keys."""
    return _BLOCKS.match(text) is not None


def is_unfinished(text: str) -> bool:
    """Whether a `Doing` line was cut or wrapped before its seconds."""
    return _DONE.search(text[-40:]) is None


def read_doing(line: int, text: str) -> Count | None:
    """The count of a whole `Doing ... for 3s on 16 size blocks: ...` line."""
    found = _DOING.fullmatch(text)
    if found is None or int(found["block"]) == 0:
        return None
    return Count(
        line=line,
        label=found["label"],
        block=int(found["block"]),
        blocks=int(found["count"]),
        seconds=float(found["seconds"]),
        nominal=float(found["nominal"]),
    )


class PairedResults:
    """Pairs each `+DT` (what is timed) with the `+R` (what came out) that follows it.

    The lines of several processes at once come interleaved: which result belongs to which block
    size cannot be told then, and no count is believed.
    """

    def __init__(self) -> None:
        self.counts: list[Count] = []
        self.interleaved = False
        self._pending: re.Match[str] | None = None

    def read(self, line: int, text: str) -> None:
        """Take in a line that starts with `+DT:` or `+R:`."""
        if text.startswith("+DT:"):
            self.interleaved |= self._pending is not None
            self._pending = _TIMED.fullmatch(text)
            return
        result, timed = _RESULT.fullmatch(text), self._pending
        self._pending = None
        if timed is None or result is None or timed["label"] != result["label"]:
            self.interleaved |= result is not None
            return
        self.counts.append(
            Count(
                line=line,
                label=timed["label"],
                block=int(timed["block"]),
                blocks=int(result["count"]),
                seconds=float(result["seconds"]),
                nominal=float(timed["nominal"]),
            )
        )
