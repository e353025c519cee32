"""Titles of columns: what the numbers below them are."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from parsers.ssh.headings import counts_tries, is_direction, names_other_tool, tells_condition
from parsers.ssh.lists.list_tokens import PLAIN_NUMBER, RATE_WORDS, Value, tokens_of
from parsers.ssh.machine_facts import names_machine
from parsers.ssh.names import CipherName, cipher_name, mac_name
from parsers.ssh.units import UNIT_SOUGHT, Unit, unit_of, unit_within

ColumnKind = Literal["name", "rate", "try", "mean", "skip", "machine", "unclear", "other"]

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
    r"|factor|speed-?up"
    r"|min|max|minimum|maximum|best|worst|std\w*|dev\w*|stdev|key\w*|bits?|rank|#|no\.?|nr\.?"
    r"|count|notes?|remarks?|comments?)\b|%|.*\bvs\b",
    re.I,
)
_DIFFERENCE = re.compile(
    r"(?:\b|_)(?:chang|loss|delta|diff|gain|increase|decrease|improve|overhead|penalty|änderung"
    r"|erwart|soll\b|claim|promis|verlust|gewinn|unterschied|perte|écart|variation|limit|target|expected"
    r"|theor|extrapol|estimat|guess|normali[sz]|typo|per (?:core|thread|[gm]hz|watt|cpu|stream))"
    r"|[Δδ差]|増減",
    re.I,
)
"""Titles of rates that no transfer reached."""
_ROW_NUMBER = re.compile(
    r"(?:#|n|no|nr|number|nummer|rank|rang|pos|try|run|pass|test|round|attempt|iteration|versuch"
    r"|lauf|messung|essai)\W*$",
    re.I,
)
"""Titles of numbers left of the name that only count the rows."""
_SETTING = re.compile(r".*\b(?:size|bytes|amount|count|bits?|key\w*|link|network)\b", re.I)
"""Titles of numbers that no measurement gives: rows that differ in them are no tries."""
_QUANTITY = re.compile(
    r"\b(?:max|total|sum|summe|gesamt|combined|geomean|baseline|network|netzwerk|link|wire|tcp)\b",
    re.I,
)
"""Words that no name of a machine has."""
_NO_MACHINE = re.compile(
    r"(?!\d{1,3}(?:\.\d{1,3}){3}$)v?\d|.*(?:=|/s/)|.*\b(?:(?:open|libre|boring)ss[hl]\w*|dropbear|putty|hpn|threads?|streams?"
    r"|connections?|sessions?|jobs?|mtu|version|verbindung\w*)\b",
    re.I,
)
"""An amount, a count of something, a setting, or software and its version."""
_RATE_TITLE = RATE_WORDS | {"speeds", "rates", "results", "performance", "velocidad", "vitesse"} | {
    "geschwindigkeit", "durchsatz", "datenrate", "débit", "velocità", "hastighet", "snelheid",
    "rychlost", "скорость", "速度", "転送速度", "ssh", "scp", "sftp", "dd", "pv", "rsync",
}  # fmt: skip
"""A column of these words alone holds rates; any other word may make it something else."""
_MACHINE = re.compile(
    r"(?:host ?(?:name)?|machine|server|node|computer|box|device|board|cpu|processor|model|rechner"
    r"|maschine)s?$",
    re.I,
)
_NOTE = re.compile(r"(?:notes?|remarks?|comments?)$", re.I)
_DATE = re.compile(r"(?:dates?|days?|times?|when)$", re.I)
_UNCLEAR = re.compile(
    r"(?:compress\w*|compr|zlib|gzip|direction|encrypt\w*|decrypt\w*|reads?|reading|writes?|writing)$",
    re.I,
)
"""What ssh's figures have no place for: such columns are neither tries nor machines."""
_TITLE = re.compile(
    r"(?:try|run|pass|test|round|attempt|iteration|versuch|lauf) ?#?\d{1,3}(?!\S)"
    r"|key (?:size|bits|length)|cpu (?:time|load|usage)|std dev|[^\s()]+|\([^()]*\)",
    re.I,
)
"""A title between single spaces, of one word unless two are known to belong together."""
_WORD = re.compile(r"[^\W\d_]+|[%#]")
_TITLE_WORD = re.compile(r"\w+|%")
_REST = re.compile(r"\s*[(\[,].*$")
_TRIES = re.compile(r"\b(?:tries|runs|passes|attempts|rounds|times|twice|versuche|läufe)\b", re.I)
CAPTION_LIMIT = 120
TITLES_LIMIT = 1000
"""Characters of a line with titles."""
WORDS_OF_TITLE = 4
"""In a line between commas: more are a sentence."""
RULER = re.compile(r"[\s|:+=\-_*~─━┼│]{3,}")


@dataclass(frozen=True)
class Column:
    """A column: `unit` of its numbers if its title says, a cipher or MAC if that is its title."""

    kind: ColumnKind
    label: str
    unit: Unit | None = None
    cipher: CipherName | None = None
    mac: str | None = None

    @property
    def is_configuration(self) -> bool:
        """Whether its rates are of a machine or a setting that may be in the title."""
        return self.kind in ("rate", "other") and not (self.cipher or self.mac) and self.label != ""

    @property
    def has_name(self) -> bool:
        """Whether the title says whose rates they are: more than "Speed" or "(MB/s)"."""
        plain = unit_of(self.label.strip("()[] ")) or is_rate_title(self.label)
        return self.is_configuration and not plain

    def allows(self, words: str) -> bool:
        """Whether a cell of words in it says nothing of what was measured."""
        return self.kind == "name" or _DATE.match(self.label) is not None or not words.strip()

    @property
    def is_note(self) -> bool:
        """Whether words in it may tell rows apart."""
        return _NOTE.match(self.label) is not None

    @property
    def is_counter(self) -> bool:
        """Whether its numbers only count rows, or were measured: none tells rows apart."""
        is_measured = self.kind == "skip" and not self.is_setting
        return is_measured or _ROW_NUMBER.match(self.label) is not None

    @property
    def is_setting(self) -> bool:
        """Whether somebody chose its numbers: a size, a count."""
        return _SETTING.match(self.label) is not None

    @property
    def is_machine(self) -> bool:
        """Whether words in it name the machine of their row."""
        return _MACHINE.match(self.label) is not None


@dataclass(frozen=True)
class Header:
    """The columns of values (those of names left out) and the unit for all, if one is said.

    `unclear`: several numbers in a row that does not fit the titles may be anything.
    `separator` and `titles`: what stands between the cells, if not bars or spaces, and the
    columns with those of names.
    """

    columns: tuple[Column, ...]
    unit: Unit | None
    unclear: bool = False
    separator: str | None = None
    titles: tuple[Column, ...] = ()

    @property
    def is_understood(self) -> bool:
        """Whether every column is: machines are machines only if there is no column of rates."""
        kinds = [column.kind for column in self.columns if column.label]
        mixed = "other" in kinds and not {"rate", "try", "mean"}.isdisjoint(kinds)
        lone = kinds.count("other") == 1 and not any(map(names_machine, self._labels))
        return self.by_cipher or not ("unclear" in kinds or mixed or lone or not self._counts_tries)

    @property
    def _labels(self) -> list[str]:
        return [one.label for one in self.columns if one.kind == "other"]

    @property
    def _counts_tries(self) -> bool:
        """Whether plain numbers as titles count from 1: others are of streams, threads, sizes."""
        numbers = [int(one.label) for one in self.columns if one.label.isdecimal()]
        return numbers == list(range(1, len(numbers) + 1))

    @property
    def by_cipher(self) -> bool:
        """Whether the columns are ciphers, so that a row is a try, or another machine."""
        return any(column.cipher for column in self.columns)

    def unit_for(self, column: Column) -> Unit | None:
        """The unit of a column: its own, or the one said for the whole table.

        Where only some titles have a unit, a column of unknown meaning has none.
        """
        if column.kind == "other" and any(one.unit for one in self.columns):
            return column.unit
        return column.unit or self.unit

    def settings_of(self, values: Sequence[Value]) -> str:
        """What a row says in columns of sizes and counts, which tell its rates from another's."""
        if len(self.columns) != len(values):
            return ""
        cells = zip(self.columns, values, strict=True)
        said = (value.text for one, value in cells if one.kind == "skip" and one.is_setting)
        return " ".join(said)

    def cells_of(self, text: str) -> list[str] | None:
        """The cells of a row, if something stands between them that shows empty ones."""
        if not self.columns:
            return None
        if "|" in text:
            return split_cells(text)
        if self.separator is None or self.separator not in text:
            return None
        cells = _separated(text, self.separator)
        return cells if len(cells) == len(self.titles) else None


def header_of(text: str) -> Header | None:
    """The titles of a table, or a caption that only gives the unit; None for another line."""
    if len(text) > TITLES_LIMIT:
        return None
    cells = [text] if text.startswith("##") else split_cells(text)
    unit = unit_within(text)
    return _titles(text, cells, unit) or _close_titles(text, unit) or _caption(text, cells, unit)


def _titles(text: str, cells: list[str], unit: Unit | None) -> Header | None:
    """Titles with more than a space between them."""
    columns = [_column(cell) for cell in cells if not _is_only_unit(cell)]
    if len(cells) < 2 or not columns:
        return None
    separator = _separator(text)
    corner = 1 if columns[0].label == "" and len(columns) > 1 else 0
    if _are_tries(columns[corner + 1 :]) and columns[corner].kind in ("other", "unclear"):
        columns[corner] = replace(columns[corner], kind="name")
    named = "name" in (columns[0].kind, columns[corner].kind) or _names_later(cells, columns)
    numbered = any(PLAIN_NUMBER.fullmatch(cell) for cell in cells)
    titled = any(one.mac or one.cipher for one in columns[1:]) and _is_corner(columns, text)
    if not named and (numbered or not titled):
        return None
    return Header(_value_columns(columns), unit, separator=separator, titles=tuple(columns))


def _are_tries(columns: list[Column]) -> bool:
    """Whether titles understood as tries, with or without their mean, say what stands below."""
    return all(one.kind in ("try", "mean") for one in columns) and any(
        one.kind == "try" for one in columns
    )


def _names_later(cells: list[str], columns: list[Column]) -> bool:
    """Whether a column of names stands further on, among titles rather than in a sentence."""
    short = all(len(cell.split()) <= WORDS_OF_TITLE for cell in cells)
    kinds = [column.kind for column in columns]
    return short and "name" in kinds and any(kind in ("rate", "mean", "try") for kind in kinds)


def _close_titles(text: str, unit: Unit | None) -> Header | None:
    """Titles with one space between them: all must be known, or it is a sentence."""
    if len(text) > CAPTION_LIMIT or _separator(text) or "|" in text:
        return None
    words: list[str] = _TITLE.findall(text)
    if len(words) < 2 or _column(words[0]).kind != "name":
        return None
    brackets = [word for word in words[1:] if word.startswith("(")]
    alone = len(brackets) == 1 and unit_within(brackets[0]) is not None
    titles: list[str] = []
    for word in words[1:]:
        if not word.startswith("("):
            titles.append(word)
        elif titles and not alone:
            titles[-1] += f" {word}"
    columns = tuple(map(_column, titles))
    known = all(column.kind not in ("other", "name") for column in columns)
    if not columns or not known or not (unit or len(columns) > 1):
        return None
    return Header(columns, unit, unclear=True)


def _caption(text: str, cells: list[str], unit: Unit | None) -> Header | None:
    """A line that says the unit of what follows."""
    if unit is None or len(text) > CAPTION_LIMIT or _has_values(text):
        return None
    if len(cells) >= 2 and unit_within(cells[0]):
        others = cells[1:] if unit_of(cells[0]) else cells
        columns = [_column(cell) for cell in others if not _is_only_unit(cell)]
        return Header(_value_columns(columns), unit)
    if _DIFFERENCE.search(text):
        return Header((Column("unclear", text),), unit)
    words = _WORD.findall(UNIT_SOUGHT.sub(" ", text))
    is_column = any(pattern.match(word) for word in words for pattern in (_NAME, _SKIP, _MEAN))
    return Header((), unit, unclear=is_column and not _TRIES.search(text))


def _has_values(text: str) -> bool:
    """Whether a line has a cipher or a number of its own: then it is no caption."""
    tokens = [one for one in tokens_of(text) if one.kind != "aside"]
    kinds = ("cipher", "bad_number")
    return any(one.kind in kinds or one.text[:1].isdigit() for one in tokens)


def _is_only_unit(cell: str) -> bool:
    """ "(MB/s)" beside the titles: the unit of all columns, none of its own."""
    return cell.startswith(("(", "[")) and unit_of(cell.strip("()[] ")) is not None


def _is_corner(columns: list[Column], text: str) -> bool:
    """A matrix has an empty corner, or a slash of two titles, or starts with its columns.

    Any other word may be over the names of machines, if nothing but ciphers stands beside it.
    """
    first = columns[0]
    ciphers_alone = len(columns) > 2 and all(one.cipher for one in columns[1:])
    return (
        (ciphers_alone and not any(token.cipher for token in tokens_of(first.label)))
        or first.label == ""
        or text.startswith("  ")
        or bool(first.mac or first.cipher)
        or "/" in first.label
    )


def _value_columns(columns: list[Column]) -> tuple[Column, ...]:
    """Without the columns of names, and without a number before the name."""
    first = next((index for index, one in enumerate(columns) if one.kind == "name"), None)
    if first is None:
        return tuple(columns)
    # What stands left of a name may be of anything: a version, threads, sizes.
    before = [
        replace(one, kind="unclear")
        for one in columns[:first]
        if one.label and not (one.is_counter or one.kind == "machine")
    ]
    after = [one for one in columns[first:] if one.kind not in ("name", "machine")]
    return tuple(before + after)


def is_summary(title: str) -> bool:
    """Whether a column or row of that title sums up the others: a mean, a maximum, a ratio."""
    sums_up = _MEAN.match(title) or _SKIP.match(title) or _QUANTITY.search(title)
    return bool(sums_up or _DIFFERENCE.search(title))


def says_tries(words: str) -> bool:
    """Whether words say that several numbers of a row are tries."""
    return _TRIES.search(words) is not None


def is_no_measurement(words: str) -> bool:
    """Whether words say that a rate is a difference, a bound or a guess."""
    return _DIFFERENCE.search(words) is not None


def _separator(text: str) -> str | None:
    """What stands between the cells of a line without bars: semicolons, commas, or spaces."""
    if "|" in text or "│" in text:
        return None
    return ";" if ";" in text else "," if "," in text else None


def split_cells(text: str) -> list[str]:
    """Cells by bars, by semicolons or commas, or by two spaces."""
    if "|" in text or "│" in text:
        cells = [cell.strip() for cell in re.split(r"[|│]", text)]
        return cells[:-1] if len(cells) > 1 and not cells[-1] else cells
    if separator := _separator(text):
        return _separated(text, separator)
    return _spaced(text)


def _spaced(text: str) -> list[str]:
    return [cell for cell in re.split(r"\s{2,}", text.strip()) if cell]


def _separated(text: str, separator: str) -> list[str]:
    """Cells by a character, which within quotation marks is none."""
    if '"' in text:
        (row,) = csv.reader([text], delimiter=separator, skipinitialspace=True)
        return [cell.strip() for cell in row]
    return [cell.strip() for cell in text.split(separator)]


@lru_cache(maxsize=1024)
def _column(cell: str) -> Column:
    label = cell.strip("`_ :\"'")
    unit = unit_within(label)
    bare = _REST.sub("", label).strip()
    cipher, mac = cipher_name(bare), mac_name(bare)
    own = UNIT_SOUGHT.sub(" ", bare).strip(" ()[],:/-_") if unit else label
    own = own.removesuffix(" in").removesuffix(" en")
    return Column(_kind(own.replace("_", " "), unit, cipher, mac), own or label, unit, cipher, mac)


_KINDS: tuple[tuple[re.Pattern[str], ColumnKind], ...] = (
    (_NAME, "name"),
    (_TRY, "try"),
    (_MEAN, "mean"),
)


def _kind(label: str, unit: Unit | None, cipher: CipherName | None, mac: str | None) -> ColumnKind:
    if cipher or mac:
        return "rate"
    if _DIFFERENCE.search(label):
        return "skip"
    for pattern, kind in _KINDS:
        if pattern.match(label):
            return kind
    if counts_tries(label):
        return "try"
    if _UNCLEAR.match(label) or is_direction(label):
        return "unclear"
    if unit is None and label.lower() != "cpu" and _MACHINE.match(label):
        return "machine"
    if _SKIP.match(label) or _QUANTITY.search(label):
        return "skip"
    if is_rate_title(label) if label else unit:
        return "rate"
    return "other" if is_machine_name(label) else "unclear"


def is_rate_title(title: str) -> bool:
    """Whether a title only says that rates, or the numbers of tries, stand below it."""
    return _RATE_TITLE.issuperset(_TITLE_WORD.findall(title.lower()))


def is_machine_name(title: str) -> bool:
    """Whether the title of a column or row may name a machine."""
    return not (_NO_MACHINE.match(title) or names_other_tool(title) or tells_condition(title))
