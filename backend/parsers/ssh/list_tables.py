"""Titles of columns: what the numbers below them are."""

import re
from dataclasses import dataclass
from typing import Literal

from parsers.ssh.list_tokens import tokens_of
from parsers.ssh.names import CipherName, cipher_name, mac_name
from parsers.ssh.units import Unit, unit_of, unit_within

ColumnKind = Literal["name", "rate", "try", "mean", "skip", "other"]

_NAME = re.compile(
    r"(?:ssh )?(?:ciphers?|algorithms?|algo|names?|encryption|macs?|methods?|chiffre"
    r"|verschlüsselung|chiffrement|cifrado|algoritm\w*)$",
    re.I,
)
_TRY = re.compile(
    r"(?:(?:try|run|pass|test|round|attempt|iteration|versuch|lauf|#)\s?#?\d{1,3}|\d{1,2}(?:st|nd"
    r"|rd|th)?(?:\s(?:try|run))?)$",
    re.I,
)
_MEAN = re.compile(r"(?:avg|average|mean|median|ø|mittel\w*|durchschnitt|moyenne|media)\b", re.I)
_SKIP = re.compile(
    r"(?:time|real|user|sys|elapsed|seconds?|secs?|zeit|cpu|load|size|bytes|amount|relative|ratio"
    r"|factor|gain|speed-?up"
    r"|min|max|minimum|maximum|best|worst|std\w*|dev\w*|stdev|key\w*|bits?|rank|#|no\.?|nr\.?"
    r"|count|notes?|remarks?|comments?)\b|%|.*\bvs\b",
    re.I,
)
_RATE = re.compile(
    r"(?:speed|rate|throughput|bandwidth|transfer|performance|result|geschwindigkeit|durchsatz"
    r"|débit|velocidad)\b",
    re.I,
)
CAPTION_LIMIT = 120
RULER = re.compile(r"[\s|:+=\-_*~─━┼│]{3,}")


@dataclass(frozen=True)
class Column:
    """A column: `unit` of its numbers if its title says, a cipher or MAC if that is its title."""

    kind: ColumnKind
    label: str
    unit: Unit | None = None
    cipher: CipherName | None = None
    mac: str | None = None


@dataclass(frozen=True)
class Header:
    """The columns of values (those of names left out) and the unit for all, if one is said."""

    columns: tuple[Column, ...]
    unit: Unit | None

    def unit_for(self, column: Column) -> Unit | None:
        """The unit of a column: its own, or the one said for the whole table.

        Where only some titles have a unit, a column of unknown meaning has none.
        """
        if column.kind == "other" and any(one.unit for one in self.columns):
            return column.unit
        return column.unit or self.unit


def header_of(text: str) -> Header | None:
    """The titles of a table, or a caption that only gives the unit; None for another line."""
    cells = split_cells(text)
    unit = unit_within(text)
    columns = [_column(cell) for cell in cells if not _is_only_unit(cell)]
    named = columns[0].kind == "name" if columns else False
    titled = sum(1 for one in columns[1:] if one.mac or one.cipher) >= 1
    if len(cells) >= 2 and (named or (titled and _is_corner(columns[0], text))):
        kept = _value_columns(columns)
        return Header(kept, unit)
    if unit and len(text) <= CAPTION_LIMIT and not _has_values(text):
        if len(cells) >= 2 and unit_within(cells[0]):
            return Header(_value_columns(columns), unit)
        return Header((), unit)
    return None


def _has_values(text: str) -> bool:
    """Whether a line has a cipher or a number of its own: then it is no caption."""
    return any(one.kind == "cipher" or one.text[:1].isdigit() for one in tokens_of(text))


def _is_only_unit(cell: str) -> bool:
    """ "(MB/s)" beside the titles: the unit of all columns, none of its own."""
    return cell[:1] in "([" and cell[:1] != "" and unit_of(cell.strip("()[] ")) is not None


def _is_corner(first: Column, text: str) -> bool:
    """A matrix has an empty corner, or a slash of two titles, or starts with its columns."""
    return (
        first.label == ""
        or text.startswith("  ")
        or bool(first.mac or first.cipher)
        or "/" in first.label
    )


def _value_columns(columns: list[Column]) -> tuple[Column, ...]:
    """Without the columns of names, and without a number before the name."""
    first = next((index for index, one in enumerate(columns) if one.kind == "name"), None)
    if first is None:
        return tuple(columns)
    before = [one for one in columns[:first] if one.kind != "skip" and one.label]
    return tuple(before) + tuple(one for one in columns[first:] if one.kind != "name")


def split_cells(text: str) -> list[str]:
    """Cells by bars, by semicolons or commas, or by two spaces."""
    if "|" in text or "│" in text:
        cells = [cell.strip() for cell in re.split(r"[|│]", text)]
        return cells[:-1] if len(cells) > 1 and not cells[-1] else cells
    if ";" in text:
        return [cell.strip() for cell in text.split(";")]
    if "," in text:
        return [cell.strip().strip('"') for cell in text.split(",")]
    return [cell for cell in re.split(r"\s{2,}", text.strip()) if cell]


def _column(cell: str) -> Column:
    label = cell.strip("`_ :\"'")
    unit = unit_within(label)
    bare = re.sub(r"\s*[(\[,].*$", "", label).strip()
    cipher, mac = cipher_name(bare), mac_name(bare)
    return Column(_kind(bare or label, unit, cipher, mac), label, unit, cipher, mac)


def _kind(label: str, unit: Unit | None, cipher: CipherName | None, mac: str | None) -> ColumnKind:
    if cipher or mac:
        return "rate"
    for pattern, kind in ((_NAME, "name"), (_TRY, "try"), (_MEAN, "mean")):
        if pattern.match(label):
            return kind  # type: ignore[return-value]
    if unit is None and _SKIP.match(label):
        return "skip"
    if re.match(r"(?:min|max|best|worst|std|dev|stdev|minimum|maximum)\b", label, re.I):
        return "skip"
    return "rate" if unit or _RATE.match(label) else "other"
