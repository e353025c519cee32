"""Numbers and units of rates as people write them: 104.167 MB/s, 88,0 MB/s, 1 234.5 Mbit/s."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Megabyte = Literal["MB", "MiB"]
"""What "MB" means: 10^6 or 2^20 bytes."""

_PREFIXES = {
    "": 0, "k": 1, "m": 2, "g": 3, "t": 4, "kilo": 1, "mega": 2, "giga": 3, "tera": 4,
    "к": 1, "м": 2, "г": 3, "т": 4,
}  # fmt: skip

PER_SECOND = (
    r"(?:\s?/\s?(?:seconds?|secs?|sek|s|с|сек|秒)(?![^\W\d_]|/\w)|ps(?![^\W\d_])|\sper\ssecond)"
)
UNIT = (
    r"(?P<prefix>kilo|mega|giga|tera|[kmgtкмгт])?(?P<binary>i)?"
    r"(?P<base>bytes?|octets?|bits?|байт|бит|b|o|б)" + PER_SECOND
)
_UNIT = re.compile(UNIT, re.I)
UNIT_SOUGHT = re.compile(r"(?<![^\W_])" + UNIT, re.I)
"""A unit of a rate anywhere in a text."""

_RATE_SOUGHT = re.compile(r"\d\s?" + UNIT, re.I)

_NUMBER = re.compile(r"\d{1,18}(?:[.,'’\u202f]\d{1,18}){0,6}(?:e[+-]?\d{1,3})?", re.I)
_SIMPLE = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")
"""Most numbers: nothing but a dot that marks decimals."""
_GROUPED = re.compile(r"\d{1,3}(?:([.,'’\u202f])\d{3})(?:\1\d{3})*")
_THOUSANDS_ONLY = "'’\u202f"
_MARK = re.compile(r"[.,'’\u202f]")


@dataclass(frozen=True)
class Unit:
    """A unit of a rate: `decimal` bytes per second, or `binary` where MB means 2^20.

    The two are the same where the unit leaves no doubt. `clear` is false for "Mb/s" and "mb/s",
    which some write for bytes and some for bits.
    """

    decimal: float
    binary: float
    clear: bool = True

    def factor(self, megabyte: Megabyte) -> float:
        """Bytes per second of one such unit."""
        return self.binary if megabyte == "MiB" else self.decimal

    @property
    def assumed(self) -> bool:
        """Whether one has to know what MB means."""
        return self.decimal != self.binary


def unit_of(text: str) -> Unit | None:
    """The unit that `text` is, and nothing else; None for anything that is no rate."""
    found = _UNIT.fullmatch(text)
    return _unit(found) if found else None


def unit_within(text: str) -> Unit | None:
    """The first unit of a rate that a caption or column title mentions."""
    found = UNIT_SOUGHT.search(text)
    return _unit(found) if found else None


def is_rate_within(text: str) -> bool:
    """Whether a text mentions a number with a unit of a rate."""
    return _RATE_SOUGHT.search(text) is not None


def _unit(found: re.Match[str]) -> Unit:
    prefix, base = found["prefix"] or "", found["base"]
    power = _PREFIXES[prefix.lower()]
    decimal, binary = float(1000**power), float(1024**power)
    if found["binary"]:
        decimal = binary
    if base.lower().startswith(("bit", "бит")) or _is_bit(found):
        scale = (binary if found["binary"] else decimal) / 8
        return Unit(scale, scale)
    return Unit(decimal, binary, clear=not _is_unclear(prefix, base))


def _is_bit(found: re.Match[str]) -> bool:
    """ "Mbps" is bits by custom; "Mb/s" may be either."""
    prefix = found["prefix"] or ""
    return found["base"] == "b" and found[0].endswith("bps") and prefix in ("", "k", "K", *"MGT")


def _is_unclear(prefix: str, base: str) -> bool:
    return base in ("b", "б") or (prefix == "m" and base in ("B", "o"))


def number_style(numbers: Iterable[str]) -> Literal["comma", "dot", "both"] | None:
    """What marks the decimals in a text, as far as its numbers leave no doubt."""
    styles = {style for number in numbers if (style := _style(number))}
    if len(styles) == 2:
        return "both"
    return next(iter(styles), None)


def _style(number: str) -> Literal["comma", "dot"] | None:
    """A comma or dot with other than three digits behind it marks decimals; so does the second."""
    comma, dot = number.rfind(","), number.rfind(".")
    if comma >= 0 and dot >= 0:
        return "comma" if comma > dot else "dot"
    mark = max(comma, dot)
    if mark < 0 or number.count(number[mark]) > 1:
        return None
    leading, decimals = number[:mark], number[mark + 1 :]
    if len(decimals) == 3 and leading != "0" and len(leading) <= 3:
        return None
    return "comma" if comma >= 0 else "dot"


def number_of(text: str, style: str | None) -> float | None:
    """The value of a number, None where it may mean two things ("1,234" alone) or none.

    A single dot marks decimals unless the text's other numbers have decimal commas.
    """
    if style in (None, "dot") and _SIMPLE.fullmatch(text):
        return float(text)
    if not _NUMBER.fullmatch(text):
        return None
    marks = _MARK.findall(text)
    if not marks:
        return float(text)
    last = marks[-1]
    whole, decimals = text.rsplit(last, 1)
    if len(marks) == 1 and last not in _THOUSANDS_ONLY:
        usual = "comma" if last == "," else "dot"
        if _style(text) or style == usual or (style is None and last == "."):
            return float(f"{whole}.{decimals}")
        return float(whole + decimals) if last == "," and style == "dot" else None
    if len(set(marks)) == 1:
        whole, decimals = text, ""
    elif last in _THOUSANDS_ONLY:
        return None
    return float(re.sub(r"\D", "", whole) + f".{decimals}") if _GROUPED.fullmatch(whole) else None
