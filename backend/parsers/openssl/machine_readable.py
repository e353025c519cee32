"""The lines that `openssl speed -mr` and the processes of `-multi` print for programs."""

import re
from dataclasses import dataclass

from parsers.openssl.tables import Cell, Header, Row

_ANY = re.compile(r"(?:Got: )?\+(?:[FR]\d*|DTP?|H):|Got: \+|Forked child \d+")
_GOT = re.compile(r"Got: (?P<line>\+.*?)(?: from (?P<child>\d{1,6}))?")
_SIZES = re.compile(r"\+H((?::\d{1,9})+):?")
_RATES = re.compile(r"\+F:\d+:(?P<label>[^:]+):(?P<rates>[^:]+(?::[^:]+)*):?")
_FORKED = re.compile(r"Forked child (\d{1,6})")
_NUMBER = re.compile(r"\d{1,15}\.\d\d")


@dataclass(frozen=True)
class MachineLine:
    """What one line says; `child` numbers the process of `-multi` that it comes from."""

    kind: str
    """`sizes`, `rates`, `count` (+DT, +R), `forked`, `other` (key algorithms), `damaged`."""
    child: int | None = None
    from_child: bool = False
    header: Header | None = None
    row: Row | None = None


def read_machine_line(text: str) -> MachineLine | None:
    """A line of machine output, understood; None if it is none."""
    text = text.strip()
    if not _ANY.match(text):
        return None
    forked = _FORKED.fullmatch(text)
    if forked:
        return MachineLine("forked", int(forked[1]), from_child=True)
    got = _GOT.fullmatch(text)
    child = int(got["child"]) if got and got["child"] else None
    return _read(got["line"] if got else text, child, from_child=got is not None)


def _read(text: str, child: int | None, from_child: bool) -> MachineLine:
    sizes = _SIZES.fullmatch(text)
    if sizes:
        blocks = tuple(int(size) for size in sizes[1].split(":")[1:])
        header = Header(blocks) if all(blocks) else None
        return MachineLine("sizes", child, from_child, header=header)
    rates = _RATES.fullmatch(text)
    if rates:
        cells = tuple(_cell(rate) for rate in rates["rates"].split(":"))
        return MachineLine("rates", child, from_child, row=Row(rates["label"], cells))
    if text.startswith(("+DT:", "+R:")):
        return MachineLine("count", child, from_child)
    kind = "damaged" if text.startswith(("+F:", "+H")) else "other"
    return MachineLine(kind, child, from_child)


def _cell(text: str) -> Cell:
    """A rate in plain bytes per second."""
    if _NUMBER.fullmatch(text):
        rate = float(text)
        return Cell(text, 0, rate) if rate else Cell(text, 0, fault="zero_rate")
    known = re.fullmatch(r"-?(?:inf|nan|\d+\.\d\d)", text)
    return Cell(text, 0, fault="not_a_rate" if known else "damaged")
