"""What `time` says in every shell, seconds by the clock on the wall, and what it measured."""

import re
from dataclasses import dataclass
from typing import Literal

_N = r"\d{1,7}(?:[.,]\d{1,9})?"


@dataclass(frozen=True)
class TimeSpan:
    """One item of a time block: `real` has the seconds, the CPU's times are only recognised."""

    kind: Literal["real", "cpu"]
    seconds: float
    echoes: bool = False
    """Whether the shell repeats the command on the same line before the times (zsh)."""


_ITEMS = re.compile(
    rf"""
    (?<![\w.\[])(?P<label>real|user|sys)(?:[ ]{{1,30}}|:[ ]{{0,30}})
        (?:(?:(?P<bh>\d{{1,4}})h[ ]?)?(?P<bm>\d{{1,6}})m[ ]?(?P<bs>{_N})s
            |(?P<ps>{_N})s?)(?![\w.,:%/])
    |(?<![\w.,])(?P<gu>{_N})[ ]?(?P<gl>user|system|elapsed)\b
    |(?<![\w.,:])(?:(?P<eh>\d{{1,4}}):)?(?P<em>\d{{1,5}}):(?P<es>{_N})[ ]?elapsed\b
    |Elapsed\ \(wall\ clock\)\ time\ \(h:mm:ss\ or\ m:ss\):[ ]?
        (?:(?P<vh>\d{{1,4}}):)?(?P<vm>\d{{1,5}}):(?P<vs>{_N})
    |(?<![\w.,])(?P<zu>{_N})s[ ]user[ ]{{1,4}}{_N}s[ ]system[ ]{{1,4}}\d{{1,5}}%[ ]cpu[ ]
        (?:(?:(?P<zh>\d{{1,4}}):)?(?P<zm>\d{{1,5}}):)?(?P<zs>{_N})[ ]total\b
    |(?<![\w.,])(?:(?P<dm>\d{{1,6}})m)?(?P<ds>{_N})s?[ ]real[ ]{{1,20}}
        (?:\d{{1,6}}m)?{_N}s?[ ]user[ ]{{1,20}}(?:\d{{1,6}}m)?{_N}s?[ ]sys(?:tem)?\b
    |(?<![\w.,])(?P<cu>{_N})u[ ]{_N}s[ ](?:(?P<ch>\d{{1,4}}):)?(?P<cm>\d{{1,5}}):(?P<cs>{_N})[ ]\d
    |Executed\ in[ ]{{1,4}}(?P<f>{_N})[ ](?P<fu>mins|secs|millis)\b
    """,
    re.X | re.I,
)
_FISH = {"mins": 60.0, "secs": 1.0, "millis": 0.001}
_WORDS = ("real", "user", "sys", "elapsed", "cpu", "total", "executed", "u ")
"""One of them is in every line of a time."""
_REST = re.compile(
    r"""\s*(?:\d{1,5}%\s?CPU|\(\d+avgtext\+\d+avgdata\s\d+maxresident\)k|\d+inputs\+\d+outputs
    |\(\d+major\+\d+minor\)pagefaults|\d+swaps|[\d.,]+%|\d+\+\d+k|\d+\+\d+io|\d+pf\+\d+w)""",
    re.X | re.I,
)
_VERBOSE = re.compile(
    r"\s*(?:User time \(seconds\)|System time \(seconds\)|Percent of CPU|Average |Maximum resident"
    r"|Major \(requiring I/O\)|Minor \(reclaiming|Voluntary context|Involuntary context|Swaps:"
    r"|File system (?:in|out)puts|Socket messages|Signals delivered|Page size \(bytes\)"
    r"|Exit status:|(?:usr|sys) time\s+[\d.]+)"
)


def spans(text: str) -> list[tuple[int, int, TimeSpan]]:
    """Every item of a time block in a line, with where it begins and ends."""
    lower = text.lower()
    if not any(word in lower for word in _WORDS):
        return []
    return [(found.start(), found.end(), _span(found)) for found in _ITEMS.finditer(text)]


def is_rest(text: str) -> bool:
    """Whether the text is what GNU, BSD and C shell time print beside the times."""
    if _VERBOSE.match(text):
        return True
    at = 0
    while at < len(text) and (found := _REST.match(text, at)):
        at = found.end()
    return at > 0 and not text[at:].strip()


def _span(found: re.Match[str]) -> TimeSpan:
    if found["label"] and found["label"].lower() != "real":
        return TimeSpan("cpu", 0.0)
    if found["gl"] and found["gl"].lower() != "elapsed":
        return TimeSpan("cpu", 0.0)
    return TimeSpan("real", _seconds(found), echoes=found["zu"] is not None)


def _seconds(found: re.Match[str]) -> float:
    for family in "bevzc":
        if found[f"{family}s"]:
            return _clock(found[f"{family}h"], found[f"{family}m"], found[f"{family}s"])
    if found["f"]:
        return _number(found["f"]) * _FISH[found["fu"].lower()]
    if found["ds"]:
        return _clock(None, found["dm"], found["ds"])
    return _number(found["ps"] or found["gu"])


def _clock(hours: str | None, minutes: str | None, seconds: str) -> float:
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + _number(seconds)


def _number(text: str) -> float:
    return float(text.replace(",", "."))


_TIMES_LOOP = re.compile(
    r"(?:^|[;&|({]|\b(?:do|then)\b)\s*(?:\\|[\w/]{0,80}/)?time\b"
    r"(?:[^;|&]{0,80}?[\s({\"'](?:for|foreach|while|until|repeat)\b|[^;|&]{0,80}[({]\s*$)"
)
"""`time` before a loop, or before a group that goes on below."""
_TIME = re.compile(r"\btime\b")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_REDIRECTED = re.compile(r"\d?>&\d|&>")
_JOINED = re.compile(r"[;&]")
_CLOSED = re.compile(r"[^;&)}]*(?:;\s*)?[)}]")


def times_loop(command: str) -> bool:
    """Whether `time` measures all rounds of a loop at once."""
    return "time" in command and _TIMES_LOOP.search(command) is not None


def times_other(before: str, after: str) -> bool:
    """Whether `time` measures something else than one call of ssh with its pipeline, or more.

    `before` and `after` are what stands around the call on its line.
    """
    if "time" not in before and "time" not in after:
        return False
    before, after = _REDIRECTED.sub("", before), _REDIRECTED.sub("", after)
    far, after = " ".join(_QUOTED.findall(after)[:1]), _QUOTED.sub("", after)
    clocks = [one.end() for one in _TIME.finditer(before)]
    if not clocks:
        return _TIME.search(after) is not None
    timed = before[clocks[-1] :].lstrip()
    if _JOINED.search(timed) or _JOINED.search(far):
        return True
    return timed[:1] in ("(", "{") and _CLOSED.match(after) is None
