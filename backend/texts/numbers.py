import re
from functools import lru_cache
from typing import NamedTuple

_PREFIXES = {
    "": 0, "k": 1, "m": 2, "g": 3, "t": 4, "kilo": 1, "mega": 2, "giga": 3, "tera": 4,
    "к": 1, "м": 2, "г": 3, "т": 4,
}  # fmt: skip

PER_SECOND = (
    r"(?:\s?/\s?(?:seconds?|secs?|sek|[sсc]|сек|秒)(?![^\W\d_])|ps(?![^\W\d_])|\sper\ssecond)"
)
SIZE_UNIT = (
    r"(?P<prefix>kilo|mega|giga|tera|[kmgtкмгт])?(?P<binary>i)?"
    r"(?P<base>bytes?|octets?|bits?|байт|бит|bs(?=/)|b|o|б)"
)
RATE_UNIT = SIZE_UNIT + PER_SECOND
NUMBER = r"\d{1,18}(?:[.,'’\u202f]\d{1,18}){0,6}(?:e[+-]?\d{1,3})?"
UNNAMED = re.compile(r"\(\?P<\w+>")
RATE = rf"(?:{NUMBER})\s{{0,9}}{UNNAMED.sub('(?:', RATE_UNIT)}"
DURATION = r"(?<![\w.])(?:\d{1,4}m\s?)?\d[\d.,]{0,12}\s?(?:ms|s|secs?|seconds?|min)(?![^\W\d_])"

_RATE = re.compile(rf"(?P<number>{NUMBER})\s{{0,9}}(?P<unit>{UNNAMED.sub('(?:', RATE_UNIT)})", re.I)
_UNIT = re.compile(RATE_UNIT, re.I)
_AMOUNT = re.compile(r"\b\d[\d.]{0,8}\s?[kmgt]i?b\b(?!/|ps)", re.I)
_EXACT = re.compile(r"\b(\d{6,15}) bytes\b")
_FILE = re.compile(r"-[rwx-]{9}\S? .{1,60}? (\d{5,15}) \S{1,8} +\d{1,2} ")  # ls -l
_UNIT_WITHIN = re.compile(r"(?<![A-Za-z0-9])" + RATE_UNIT, re.I)
_SIZE = re.compile(rf"(?P<number>{NUMBER})\s?{SIZE_UNIT}", re.I)
_FINITE = re.compile(rf"(?!.*e[+-]?\d{{3}}){NUMBER}", re.I)
_SIMPLE = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")
_GROUPED = re.compile(r"\d{1,3}(?:([.,'’\u202f])\d{3})(?:\1\d{3})*")


class Unit(NamedTuple):
    """Describe a unit's size in bytes: `decimal`, or `binary` if its MB means 2^20.

    `clear` is False for "Mb/s" (bytes or bits) and for a comma that may separate thousands.
    """

    decimal: float
    binary: float
    clear: bool = True

    @property
    def caveat(self) -> str:
        return "" if self.clear else "unit or comma unclear"

    @property
    def is_assumed(self) -> bool:
        return self.decimal != self.binary


@lru_cache(maxsize=256)
def unit_of(text: str) -> Unit | None:
    match = _UNIT.fullmatch(text.strip())
    return _unit(match) if match else None


def unit_within(text: str) -> Unit | None:
    text = re.sub(r"(?:1000s|thousands) of bytes", "kB", text)
    match = _UNIT_WITHIN.search(re.sub(r"_?per_s(?:ec(?:ond)?)?\b", "/s", text))
    return _unit(match) if match else None


def _unit(match: re.Match[str]) -> Unit:
    prefix, base = match["prefix"] or "", match["base"].removesuffix("s")
    power = _PREFIXES[prefix.lower()]
    decimal, binary = float(1000**power), float(1024**power)
    binary_only = bool(match["binary"])
    if binary_only:
        decimal = binary
    written_as_bits = base == "b" and match[0].endswith("bps") and prefix in ("", *"kKMGT")
    if base.lower().startswith(("bit", "бит")) or written_as_bits:
        scale = (binary if match["binary"] else decimal) / 8
        return Unit(scale, scale)
    if base == "b" and prefix.lower() == "g" and not binary_only:
        return Unit(decimal / 8, decimal / 8, clear=False)
    return Unit(decimal, binary, clear=base not in ("b", "б") or prefix == "m" or binary_only)


def rate_of(text: str) -> tuple[float, Unit] | None:
    match = _RATE.fullmatch(text.strip())
    if match is None or (unit := unit_of(match["unit"])) is None:
        return None
    return number_with(unit, match["number"])


def number_with(unit: Unit, text: str) -> tuple[float, Unit] | None:
    if (number := number_of(text)) is not None:
        return number, unit
    grouped = re.fullmatch(r"(\d{1,3}),(\d{3})", text)
    return (float(grouped[1] + grouped[2]), unit._replace(clear=False)) if grouped else None


def size_of(text: str) -> int | None:
    match = _SIZE.fullmatch(text.strip())
    if match is None or (number := number_of(match["number"])) is None:
        return None
    thousand = 1024 if match["binary"] else 1000
    return int(number * thousand ** _PREFIXES[(match["prefix"] or "").lower()])


def number_of(text: str) -> float | None:
    """Return the value of a number, or None if it is ambiguous ("1,234") or not a number.

    A single dot marks decimals. So does a single comma, unless three digits follow it.
    """
    if _SIMPLE.fullmatch(text):
        return float(text)
    if not _FINITE.fullmatch(text):
        return None
    marks = re.findall(r"[.,'’\u202f]", text)
    whole, decimals = text.rsplit(marks[-1], 1) if marks else (text, "0")
    if not marks or (len(marks) == 1 and marks[0] in ".,"):
        may_group = marks == [","] and len(decimals) == 3 and whole != "0" and len(whole) <= 3
        return None if may_group else float(f"{whole}.{decimals}" if marks else text)
    if len(set(marks)) == 1:
        whole, decimals = text, "0"
    if not _GROUPED.fullmatch(whole):
        return None
    return float(f"{re.sub(r'[^0-9]', '', whole)}.{decimals}")


def amount_in(text: str) -> int | None:
    listed = _FILE.search(text) if "-r" in text else None
    if exact := listed or ("bytes" in text and _EXACT.search(text)):
        return int(exact[1])
    sizes = {size_of(size) for size in _AMOUNT.findall(text)}
    return sizes.pop() if len(sizes) == 1 else None
