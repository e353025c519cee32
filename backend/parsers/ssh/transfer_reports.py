"""Rates that pv, scp, sftp and rsync print while they copy, and that `ssh -v` prints at its end."""

import re
from dataclasses import dataclass
from typing import Literal

from parsers.ssh.units import Unit, number_of, unit_of

_NUMBER = r"\d{1,9}(?:[.,]\d{1,6})?"
_SIZE = rf"{_NUMBER} ?[kKMGTP]?(?:i?B)?"
_CLOCK = r"(?:\d{1,4}:){1,3}\d\d"
_PV_RATE = rf"\[ {{0,4}}({_NUMBER}) ?([kKMGT]?i?[Bb]/s)\]"
_PV = re.compile(
    rf"(?:(?<![\w.,])(?P<moved>{_NUMBER} ?[kKMGTP]?i?B)\s{{1,9}})?"
    rf"(?:(?<![\w.,:])(?P<clock>{_CLOCK})\s{{1,9}})?"
    rf"{_PV_RATE}(?:\s{{1,9}}{_PV_RATE})?"
    rf"(?P<bar>\s{{0,9}}\[[-=<>#. ]{{1,300}}\])?(?P<share>\s{{0,99}}\d{{1,3}}%)?"
    rf"(?P<left>\s{{0,9}}(?:ETA|FIN) [\d:+]{{4,14}})?"
)
_COPY = re.compile(
    rf"(?:(?<![\w.,])(?P<before>\d[\d.,]{{0,24}}[KMGT]?)\s{{1,9}})?(?<![\w.,])(?P<share>\d{{1,3}})%"
    rf"\s{{1,9}}(?:(?P<size>{_SIZE})\s{{1,9}})?"
    rf"(?P<rate>{_NUMBER}) ?(?P<prefix>[kKMGT]?)B/s\s{{1,9}}(?:[\d:]{{2,12}}|--:--)(?![\w.,:])"
    r"(?: ETA| {0,3}\((?:xfe?r#|to-ch|ir-ch)[^()]{1,60}\))?"
)
"""scp and sftp: "100% 1024MB 109.5MB/s 00:09"; rsync: "1,073,741,824 100% 109.54MB/s 0:00:09"."""
_RSYNC = re.compile(
    r"sent (?P<sent>\d[\d.,]{0,24}[KMGT]?) bytes {1,3}received (?P<received>\d[\d.,]{0,24}[KMGT]?)"
    r" bytes {1,3}(?P<rate>\d[\d.,]{0,24})(?P<prefix>[KMGT]?) bytes/sec"
)
_SENT = re.compile(r"\s*Transferred: sent (\d{1,18}), received (\d{1,18}) bytes")
_SPEED = re.compile(r"\s*Bytes per second: sent (\d{1,12}\.\d), received (\d{1,12}\.\d)")
_BAR = re.compile(r"\s*\[[-=>#.]")
"""A bar that shows a share: where that is missing the line was cut off."""
WHOLE = 100
"""Per cent."""
_SPEED_UP = re.compile(r"\btotal size is [\d.,]{1,30}[KMGT]? {1,3}speedup is (\d[\d.,]{0,24})")
MOST_SPEED_UP = 2.0
"""How many times what rsync sent the files may have: with more they were there, or compressed."""
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


Kind = Literal["try", "mean", "display", "total"]


@dataclass(frozen=True)
class Report:
    """A rate as printed, with `moved` bytes and `seconds` so far where the line has them.

    `display`: of pv, which prints it again and again. `total`: of a whole connection; it counts
    where no file of it has a rate of its own. `session`: how many bytes that was stands elsewhere.
    `file`: its name, where the line begins with it.
    """

    number: str
    unit: Unit
    kind: Kind = "try"
    moved: float | None = None
    seconds: float | None = None
    session: bool = False
    received: bool = False
    """Whether most bytes of the session came from the server."""
    unfinished: bool = False
    """Whether it says that more is to come: no rate of a whole transfer."""
    file: str = ""

    def follows(self, earlier: "Report") -> bool:
        """Whether it shows the same transfer as an earlier display, further on."""
        if self.kind != "display" or earlier.kind != "display":
            return False
        if self.moved is None or self.seconds is None:
            return False
        moved, seconds = earlier.moved, earlier.seconds
        is_before = seconds is not None and seconds <= self.seconds
        return is_before and moved is not None and moved < self.moved


@dataclass(frozen=True)
class Transferred:
    """Bytes of a whole connection, the larger direction."""

    moved: int


@dataclass(frozen=True)
class SentPart:
    """rsync says that it sent a part of the files, or sent them compressed."""


@dataclass(frozen=True)
class Copying:
    """sftp says which way the next file goes, or that it had a part of it already."""

    direction: Literal["put", "get", "resumed"]


def reports(text: str) -> list[tuple[int, int, Report | None]]:
    """Every report in a line, with where it begins and ends; None for a file not yet copied."""
    found: list[tuple[int, int, Report | None]] = []
    if "/s]" in text:
        found += [(one.start(), one.end(), _pv(one)) for one in _PV.finditer(text) if _is_pv(one)]
    if "% " in text:
        found += [(one.start(), one.end(), _copied(one)) for one in _COPY.finditer(text)]
    if "bytes/sec" in text:
        found += [(one.start(), one.end(), _synced(one)) for one in _RSYNC.finditer(text)]
    return found


def _is_pv(found: re.Match[str]) -> bool:
    """A rate in brackets may be a remark, unless it stands first or with pv's other items."""
    items = ("moved", "clock", "bar", "share", "left")
    before = found.string[: found.start()].rstrip()
    return before[-1:] in ("", ":") or any(found[item] for item in items)


def _pv(found: re.Match[str]) -> Report | None:
    """The mean so far (`pv -a`) where it is shown beside the rate of the last second."""
    *_, number, unit_text = [group for group in found.groups()[2:6] if group]
    unit = unit_of(unit_text)
    if unit is None:
        return None
    share = found["share"]
    if share:
        unfinished = int(share.strip(" %")) < WHOLE
    else:
        after = found["bar"] or found.string[found.end() :].lstrip()
        is_cut = "<" not in after and _BAR.match(after) is not None
        unfinished = is_cut or found["left"] is not None
    moved, seconds = _amount(found["moved"]), _seconds(found["clock"])
    return Report(number, unit, "display", moved, seconds, unfinished=unfinished)


def _copied(found: re.Match[str]) -> Report | None:
    """A file that is copied; scp's and rsync's MB is 2^20 bytes in every version."""
    if found["share"] != "100":
        return None
    factor = float(1024 ** _POWERS[found["prefix"].upper()])
    moved = _amount(found["size"] or found["before"])
    return Report(found["rate"], Unit(factor, factor), moved=moved)


def _synced(found: re.Match[str]) -> Report:
    """rsync's last line: all files, and the time it took to compare them."""
    power = _POWERS[found["prefix"]]
    moved = max(_amount(found["sent"]) or 0, _amount(found["received"]) or 0)
    return Report(found["rate"], Unit(float(1000**power), float(1024**power)), "total", moved)


def session(text: str) -> Report | Transferred | None:
    """What `ssh -v` says at the end of a connection: bytes, or the rate of those."""
    if found := _SENT.match(text):
        return Transferred(max(int(found[1]), int(found[2])))
    if found := _SPEED.match(text):
        sent, received = float(found[1]), float(found[2])
        number = found[1] if sent >= received else found[2]
        unit = Unit(1.0, 1.0)
        return Report(number, unit, "total", session=True, received=received > sent)
    return None


_SFTP = re.compile(r"\s*(?:(?P<put>Uploading )|(?P<get>Fetching )|(?P<resumed>Resuming ))\S")


def copying(text: str) -> Copying | None:
    """What sftp says before it copies a file."""
    found = _SFTP.match(text)
    if found is None:
        return None
    return Copying("resumed" if found["resumed"] else "put" if found["put"] else "get")


def sent_little(text: str) -> bool:
    """Whether rsync says that it sent but a part of the files, or sent them compressed."""
    found = _SPEED_UP.search(text)
    speed_up = number_of(found[1].rstrip(".,"), "dot") if found else None
    return speed_up is not None and speed_up > MOST_SPEED_UP


def _amount(text: str | None) -> float | None:
    """Bytes of "1.00GiB", "1,073,741,824" or "1.07G", near enough to compare."""
    found = re.fullmatch(r"([\d.,]+) ?([KMGTP]?)(?:i?B)?", text or "", re.I)
    value = number_of(found[1].rstrip(".,"), None) if found else None
    if found is None or value is None:
        return None
    return value * float(1024 ** _POWERS[found[2].upper()])


def _seconds(clock: str | None) -> float | None:
    if clock is None:
        return None
    days, hours, minutes, seconds = ([0, 0, 0] + [int(part) for part in clock.split(":")])[-4:]
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
