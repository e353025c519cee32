"""A line of a list of rates, cut into names, numbers, units and words."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from parsers.ssh.names import CipherName, cipher_name, mac_name
from parsers.ssh.units import Unit, unit_of

Kind = Literal["cipher", "mac", "number", "bad_number", "unit", "aside", "blank", "try", "word"]

_CHUNK = re.compile(r"(?:[^\s|;=:,→⇒\"“”„`*()\[\]{}<>'’]|(?<=\d)[,'’](?=\d))+")
_PER = re.compile(r"\s{0,2}(?:/|\bper\b)\s{0,2}(?=s(?:ec(?:onds?)?)?\b)", re.I)
_COMMENT = re.compile(r"\s(?:#|//)\s.*$")
_PAREN = re.compile(r"\(([^()]{0,80})\)")
_NUMBER = re.compile(r"[+\-−]?\d[\d.,'’\u202f]*(?:e[+-]?\d{1,3})?", re.I)
_GLUED = re.compile(
    r"(?P<number>[+\-−]?\d[\d.,'’\u202f]*?)(?P<unit>[kmgt]?i?(?:bytes?|bits?|[bo])(?:/|ps).*)", re.I
)
_ASIDE = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:%|x|×|s|secs?|seconds?|ms)|±.*", re.I)
_ASIDE_UNITS = frozenset(["s", "sec", "secs", "second", "seconds", "ms", "%", "x", "times"])
_BAD_NUMBERS = frozenset(["inf", "-inf", "infinity", "nan", "-nan", "infk"])
_BLANKS = frozenset(
    [
        "-",
        "--",
        "---",
        "–",
        "—",
        "n/a",
        "na",
        "unsupported",
        "failed",
        "fail",
        "error",
        "none",
        "null",
        "unavailable",
        "x",
        "refused",
    ]
)
_TRY = frozenset(
    [
        "try",
        "run",
        "attempt",
        "pass",
        "round",
        "test",
        "iteration",
        "versuch",
        "lauf",
        "försök",
        "essai",
    ]
)
_FILLERS = frozenset(
    [
        "cipher",
        "algorithm",
        "mac",
        "speed",
        "rate",
        "throughput",
        "bandwidth",
        "transfer",
        "average",
        "avg",
        "mean",
        "median",
        "result",
        "average:",
        "and",
        "+",
        "=>",
        "->",
        "~>",
        ":",
        "no",
        "nr",
        "is",
        "encryption",
        "real",
        "•",
        "·",
        "-",
        "–",
        "—",
        "*",
        ">",
        ".",
    ]
)
RATE_WORDS = _FILLERS | _TRY
"""Words that may stand beside a rate without making it another thing's."""
_MEANS = frozenset(["average", "avg", "mean", "median"])
_LEADER = re.compile(r"\.{2,}|…|_{2,}|-{2,}>?|={1,3}>|~{2,}|—|–(?=\s)")
TOKEN_LIMIT = 2_000


@dataclass(frozen=True)
class Token:
    """A piece of a line. `aside`: a number that is no rate (per cent, seconds, a ratio)."""

    kind: Kind
    text: str
    cipher: CipherName | None = None
    mac: str | None = None
    unit: Unit | None = None


@dataclass(frozen=True)
class Value:
    """A cell of a row: a number, perhaps with its unit, or something else in its place."""

    kind: Literal["number", "bad_number", "aside", "blank"]
    text: str = ""
    unit: Unit | None = None


def tokens_of(text: str) -> list[Token]:
    """The tokens of a line or of a cell, comments and what stands in brackets aside."""
    plain = _LEADER.sub(" ", _without_asides(_COMMENT.sub("", _PER.sub("/", text))))
    pieces: list[Token] = []
    for found in _CHUNK.finditer(plain):
        pieces += _tokens(found[0])
        if len(pieces) > TOKEN_LIMIT:
            break
    return _with_meanings(pieces)


def _without_asides(text: str) -> str:
    """Brackets hold remarks, or the same rate in another unit; a MAC or the only rate is kept."""
    if "(" not in text:
        return text
    outside = _PAREN.sub(" ", text)
    has_rate = any(token.kind in ("unit", "number") for token in map(_token, outside.split()))

    def kept(found: re.Match[str]) -> str:
        inner = found[1].strip()
        is_name = mac_name(inner) or cipher_name(inner)
        return f" {inner} " if is_name or not has_rate else " "

    return _PAREN.sub(kept, text)


def _tokens(chunk: str) -> list[Token]:
    """One token; two for "16.8MB/s" and for "aes128-ctr/hmac-md5"; several for a CSV row."""
    first, comma, _ = chunk.partition(",")
    if comma and cipher_name(first):
        return [_token(part) for part in chunk.split(",") if part]
    glued = _GLUED.fullmatch(chunk)
    if glued and unit_of(glued["unit"]):
        return [_token(glued["number"]), _token(glued["unit"])]
    for mark in "/+":
        left, found, right = chunk.partition(mark)
        if found and cipher_name(left) and mac_name(right):
            return [_token(left), _token(right)]
    return [_token(chunk)]


@lru_cache(maxsize=4096)
def _token(chunk: str) -> Token:
    bare = chunk.strip(".!?_") or chunk
    lower = bare.lower()
    if name := cipher_name(bare):
        return Token("cipher", bare, cipher=name)
    if mac := mac_name(bare):
        return Token("mac", bare, mac=mac)
    if _NUMBER.fullmatch(bare):
        return Token("number", bare)
    if unit := unit_of(bare):
        return Token("unit", bare, unit=unit)
    return Token(_other_kind(lower), bare)


def _other_kind(lower: str) -> Kind:
    if lower in _BAD_NUMBERS:
        return "bad_number"
    if lower in _BLANKS:
        return "blank"
    if lower in _ASIDE_UNITS or _ASIDE.fullmatch(lower) or re.fullmatch(r"#\d{1,3}", lower):
        return "aside"
    return "try" if lower in _TRY else "word"


def _with_meanings(pieces: list[Token]) -> list[Token]:
    """Numbers that their neighbour makes something else: "try 1", "3.3 s", "± 2"."""
    meant: list[Token] = []
    skip = False
    for index, token in enumerate(pieces):
        if skip:
            skip = False
            continue
        following = pieces[index + 1] if index + 1 < len(pieces) else None
        if token.kind == "number" and following and following.text.lower() in _ASIDE_UNITS:
            meant.append(Token("aside", token.text))
            skip = True
        elif token.kind == "try" or token.text in ("±", "+/-"):
            skip = following is not None and following.kind in ("number", "aside")
            meant.append(Token("try", token.text))
        else:
            meant.append(token)
    return meant


def is_filler(token: Token) -> bool:
    """Whether the token says nothing of its own in a row: "speed", "try 1", an arrow."""
    if token.kind == "try" or token.text.lower() in _FILLERS:
        return True
    return not any(character.isalnum() for character in token.text)


def is_mean(tokens: list[Token]) -> bool:
    """Whether a row says that it is the mean of others."""
    return any(token.text.lower() in _MEANS for token in tokens)


def values_of(tokens: list[Token]) -> list[Value] | None:
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
