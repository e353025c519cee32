"""A line of a list of rates, cut into names, numbers, units and words."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from parsers.ssh.names import CipherName, cipher_name, mac_name
from parsers.ssh.units import Unit, unit_of

Kind = Literal["cipher", "mac", "number", "bad_number", "unit", "aside", "blank", "try", "word"]

_INSIDE = r"[^\s|;=:,：，；（）→⇒\"“”„`*()\[\]{}<>'’]"
_CHUNK = re.compile(rf"{_INSIDE}+(?:(?<=\d)[,'’](?=\d){_INSIDE}+)*")
_PER = re.compile(r"\s{0,2}(?:/|\bper\b)\s{0,2}(?=s(?:ec(?:onds?)?)?\b)", re.I)
_CLOCK = re.compile(r"(?<![\w.,:/+-])\d{1,4}(?::[0-5]\d){1,2}(?:[.,]\d{1,6})?(?![\w:])")
"""A time of day, or minutes and seconds: no number of a rate."""
_COMMENT = re.compile(r"\s(?:#|//)\s.*$")
_BOUND = re.compile(r"(?<![^\s:|(,;])(?:[<>]=?|[≤≥+↑↓]|\d{1,3}\s?[x×*])\s?(?=\d)")
"""Before a number that is a bound, a difference, or the rate of each of several streams."""
_RATE_UNIT = r"(?:[kmgt]i?)?(?:bytes?|bits?|b|o)(?:/s\w{0,5}|ps)"
_RANGE = re.compile(
    rf"(?<![\w.,:/+-])(?P<low>\d[\d.,]{{0,20}}) ?(?P<unit>{_RATE_UNIT})?"
    r"(?:(?P<blank> ?)(?:[-–—~]|\.{2,3}|…)(?P=blank)| (?:to|bis|à|do|до|until) )"
    rf"(?P<high>\d[\d.,]{{0,20}})(?![\w]* ?[-:/]\d)(?=(?(unit) ?{_RATE_UNIT}"
    rf"| ?(?:{_RATE_UNIT}|[|;,)]|$)))",
    re.I,
)
"""The lowest and the highest of several rates, of which neither is a try."""
_RANGE_SIGN = re.compile(r"\d[\w/ ]{0,9}(?:[-–—~…]|\.\.| (?:to|bis|à|do|до|until) )", re.I)
_SHARE = re.compile(
    r"\b(?:at |with )?(?:cpu|load)(?: load| usage| time)?[ :=]{0,3}"
    r"(?P<first>\d{1,3}(?:[.,]\d{1,2})?) ?%"
    r"|(?:\b(?:at|with) )?(?<![\w.,])(?P<last>\d{1,3}(?:[.,]\d{1,2})?) ?%"
    r"(?: of)?(?: the)?(?: (?:cpu|load|usage|core))+\b",
    re.I,
)
"""A share of the CPU, with the words that say so."""
_PAREN = re.compile(r"\(([^()]{0,80})\)")
_NUMBER = re.compile(r"(?P<sign>[+\-−]?)\d[\d.,'’\u202f]*(?:e[+-]?\d{1,3})?", re.I)
PLAIN_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")
_GLUED = re.compile(
    r"(?P<number>[+\-−≥]?\d[\d.,'’\u202f]*?)(?P<unit>[kmgt]?i?(?:bytes?|bits?|[bo])(?:/|ps).*)",
    re.I,
)
_ASIDE = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:%|x|×|s|secs?|seconds?|ms)|±.*", re.I)
_ASIDE_UNITS = frozenset(["s", "sec", "secs", "second", "seconds", "ms", "%", "x", "times"])
_AMOUNT = re.compile(r"\d+(?:[.,]\d+)?(?:[kmgt]i?b|[kmgt]i?bytes?|bytes)", re.I)
_AMOUNT_UNIT = re.compile(r"[kmgt]i?b|[kmgt]i?bytes?|bytes", re.I)
_BAD_NUMBERS = frozenset(["inf", "-inf", "infinity", "nan", "-nan", "infk"])
_BLANKS = frozenset([
    "-", "--", "---", "–", "—", "n/a", "na", "unsupported", "failed", "fail", "error", "none",
    "null", "unavailable", "x", "refused",
])  # fmt: skip
TRY_WORDS = frozenset([
    "try", "run", "attempt", "pass", "round", "test", "iteration", "versuch", "lauf", "försök",
    "essai",
])  # fmt: skip
_FILLERS = frozenset([
    "cipher", "algorithm", "mac", "speed", "rate", "throughput", "bandwidth", "transfer", "average",
    "avg", "mean", "median", "result", "average:", "and", "+", "=>", "->", "~>", ":", "no", "nr",
    "is", "encryption", "real", "•", "·", "-", "–", "—", "*", ">", ".",
    "cifrado", "chiffrement", "verschlüsselung", "加密算法",
])  # fmt: skip
RATE_WORDS = _FILLERS | TRY_WORDS
"""Words that may stand beside a rate without making it another thing's."""
UNIT_WORDS = frozenset([
    "b", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "tib", "kbit", "mbit", "gbit", "kbps", "mbps",
    "gbps", "mo", "go", "ko", "s", "sec", "second", "seconds", "byte", "bytes", "kbyte", "mbyte",
    "kbytes", "mbytes", "gbytes", "bits", "bit", "per", "ms", "e", "inf", "nan",
])  # fmt: skip
"""Words of units, and numbers in words."""
_MEANS = frozenset(["average", "avg", "mean", "median"])
BOUND = "≥"
"""Marks a number that is no rate of a transfer: see _BOUND."""
_MARKS = frozenset("<>≤≥+↑↓x×*")
_LEADER = re.compile(r"\.{2,}|…|_{2,}|-{2,}>?|->|={1,3}>|~{2,}|—|–(?=\s)")
_LEADERS = ("..", "…", "__", "--", "->", "=>", "~~", "—", "–")
"""One of them is in every leader; most lines have none."""
TOKEN_LIMIT = 200
"""A line of more is no row of a list, nor a list that lost its line breaks."""


class Token(NamedTuple):
    """A piece of a line. `aside`: a number that is no rate (per cent, seconds, a ratio)."""

    kind: Kind
    text: str
    cipher: CipherName | None = None
    mac: str | None = None
    unit: Unit | None = None


class Value(NamedTuple):
    """A cell of a row: a number, perhaps with its unit, or something else in its place."""

    kind: Literal["number", "bad_number", "aside", "blank"]
    text: str = ""
    unit: Unit | None = None


@lru_cache(maxsize=1024)
def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a line or of a cell, comments and what stands in brackets aside.

    None of a line of more than TOKEN_LIMIT.
    """
    pieces: list[Token] = []
    for chunk in islice(_CHUNK.finditer(_plain(text)), TOKEN_LIMIT + 1):
        pieces += _tokens(chunk[0])
    if len(pieces) > TOKEN_LIMIT:
        return ()
    return tuple(_with_meanings(pieces)) if any(map(_is_looked_at, pieces)) else tuple(pieces)


def _plain(text: str) -> str:
    """The line with spaces for what only parts its words, and bounds and shares marked."""
    if "/ " in text or " /" in text or "er " in text or "ER " in text:
        text = _PER.sub("/", text)
    if "#" in text or "//" in text:
        text = _COMMENT.sub("", text)
    if ":" in text:
        text = _CLOCK.sub(" 0s ", text)
    if "%" in text:
        text = _SHARE.sub(lambda found: f" {found['first'] or found['last']}% ", text)
    if _RANGE_SIGN.search(text):
        text = _RANGE.sub(rf"{BOUND}\g<low>", text)
    if not _MARKS.isdisjoint(text):
        text = _BOUND.sub(BOUND, text)
    text = _without_asides(text)
    return _LEADER.sub(" ", text) if any(sign in text for sign in _LEADERS) else text


def _without_asides(text: str) -> str:
    """Brackets hold remarks, or the same rate in another unit; a MAC or the only rate is kept."""
    if "(" not in text:
        return text
    outside = _PAREN.sub(" ", text)
    has_rate = any(_token(word).kind in ("unit", "number") for word in outside.split())

    def kept(found: re.Match[str]) -> str:
        inner = found[1].strip()
        is_name = mac_name(inner) or cipher_name(inner)
        return f" {inner} " if is_name or not has_rate else " "

    return _PAREN.sub(kept, text)


@lru_cache(maxsize=4096)
def _tokens(chunk: str) -> tuple[Token, ...]:
    """One token; two for "16.8MB/s" and for "aes128-ctr/hmac-md5"; several for a CSV row."""
    if PLAIN_NUMBER.fullmatch(chunk):
        return (Token("number", chunk),)
    first, comma, _ = chunk.partition(",")
    if comma and cipher_name(first):
        return tuple(_token(part) for part in chunk.split(",") if part)
    glued = _GLUED.fullmatch(chunk)
    if glued and unit_of(glued["unit"]):
        return _token(glued["number"]), _token(glued["unit"])
    for mark in "/+":
        left, found, right = chunk.partition(mark)
        if found and cipher_name(left) and mac_name(right):
            return _token(left), _token(right)
    return (_token(chunk),)


@lru_cache(maxsize=4096)
def _token(chunk: str) -> Token:
    bare = chunk.strip(".!?_") or chunk
    lower = bare.lower()
    if name := cipher_name(bare):
        return Token("cipher", bare, cipher=name)
    if mac := mac_name(bare):
        return Token("mac", bare, mac=mac)
    if number := _NUMBER.fullmatch(bare):
        return Token("bad_number" if number["sign"] else "number", bare)
    if unit := unit_of(bare):
        return Token("unit", bare, unit=unit)
    return Token(_other_kind(lower), bare)


def _other_kind(lower: str) -> Kind:
    if lower in _BAD_NUMBERS or (lower[0] == BOUND and _NUMBER.fullmatch(lower[1:])):
        return "bad_number"
    if lower in _BLANKS:
        return "blank"
    if lower in _ASIDE_UNITS or _ASIDE.fullmatch(lower) or _AMOUNT.fullmatch(lower):
        return "aside"
    if re.fullmatch(r"#\d{1,3}", lower):
        return "aside"
    return "try" if lower in TRY_WORDS else "word"


def _is_looked_at(token: Token) -> bool:
    """Whether the token may make a neighbour something else."""
    return token.kind in ("aside", "try", "word")


def _is_numeric(token: Token) -> bool:
    return token.kind in ("number", "bad_number")


def _is_no_rate(unit: Token) -> bool:
    """Whether a number before the token is no rate: seconds, per cent, an amount."""
    if unit.kind not in ("aside", "word"):
        return False
    return unit.text.lower() in _ASIDE_UNITS or _AMOUNT_UNIT.fullmatch(unit.text) is not None


def _with_meanings(pieces: Sequence[Token]) -> list[Token]:
    """Numbers that their neighbour makes something else: "try 1", "3.3 s", "± 2"."""
    meant: list[Token] = []
    skip = False
    for index, token in enumerate(pieces):
        if skip:
            skip = False
            continue
        following = pieces[index + 1] if index + 1 < len(pieces) else None
        if _is_numeric(token) and following and _is_no_rate(following):
            meant.append(Token("aside", token.text))
            skip = True
        elif token.kind == "try" or token.text in ("±", "+/-"):
            skip = following is not None and (_is_numeric(following) or following.kind == "aside")
            meant.append(Token("try", token.text))
        else:
            meant.append(token)
    return meant


def is_filler(token: Token) -> bool:
    """Whether the token says nothing of its own in a row: "speed", "try 1", an arrow."""
    if token.kind == "try" or token.text.lower() in _FILLERS:
        return True
    return not any(character.isalnum() for character in token.text)


def is_mean(tokens: Sequence[Token]) -> bool:
    """Whether a row says that it is the mean of others."""
    return any(token.kind == "word" and token.text.lower() in _MEANS for token in tokens)


def values_of(tokens: Sequence[Token]) -> list[Value] | None:
    """The cells among the tokens; None if there is a word or a name among them.

    A unit belongs to the number before it; one at the end of several numbers to all of them.
    """
    values: list[Value] = []
    for token in tokens:
        if token.kind == "unit":
            if not values or values[-1].kind not in ("number", "bad_number"):
                return None
            values[-1] = Value(values[-1].kind, values[-1].text, token.unit)
        elif token.kind in ("number", "bad_number", "aside", "blank"):
            values.append(Value(token.kind, token.text))
        elif not is_filler(token):
            return None
    return _unit_of_last(values)


def _unit_of_last(values: list[Value]) -> list[Value]:
    numbers = [value for value in values if value.kind == "number"]
    if len(numbers) < 2 or numbers[-1].unit is None or any(one.unit for one in numbers[:-1]):
        return values
    last = numbers[-1].unit
    return [Value(one.kind, one.text, last) if one.kind == "number" else one for one in values]
