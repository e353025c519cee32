"""Headers and rows of the tables that `openssl speed` prints."""

import re
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import NamedTuple

BARS_LIMIT = 64
"""Bars of a line that divide anything: several times what any table has."""

COLUMNS_LIMIT = 16
"""More columns than any version has printed; in a line of more every figure is left out."""

CLASSIC_BLOCKS = (16, 64, 256, 1024, 8192, 16384)
"""Block sizes in bytes; the last column came with OpenSSL 1.1.0, and SSLeay began with 8."""

PLAIN_LIMIT = 10_000
"""Rates above this (bytes per second) are printed in thousands, with a k."""

TOKENS_LIMIT = 64
"""Words of a row that are looked at: several times what any table has."""

_LABEL_WIDTH = 13

_HEADER = re.compile(r"\s*(?:type\s+(?:\d+\s*bytes\b)?|\d+ bytes\s+(?=\d+ bytes))")
_COLUMN = re.compile(r"(?<!\d)(\d{1,9})\s*bytes\b")
_CUT_COLUMN = re.compile(r"\s*(\d{1,9})(\s+b|\s*by?t?e?)?\s*")
_SIZE = re.compile(r"(\d{1,9}) ?bytes?")
_TITLES = ("type", "cipher", "algorithm", "algo", "name", "")
_ALIKE = str.maketrans({"`": " ", "│": "|", "┃": "|", "║": "|", "¦": "|"})
_NO_TAIL = " |`*_:;,.-"

_SOUND_ROW = re.compile(
    r"\s*(?P<label>[A-Za-z][\w()/-]{0,40}(?: [a-z]\w{0,9})?)"
    r"(?P<figures>(?: +\d{1,12}\.\d\dk){1,16})"
)
_SOUND_CELL = re.compile(r"(\d+\.\d\d)k")
_CELL = re.compile(r"-?\d+\.\d\dk(?=[\s\d-]|$)|\S+")
_THOUSANDS = re.compile(r"(\d{1,12}(?:\.\d{1,9})?|\d{1,3}(?:,\d{3}){1,3}\.\d\d)k")
_DECIMAL_COMMA = re.compile(r"(?P<whole>-?\d{1,12}|\d{1,3}(?:\.\d{3}){1,3}),(?P<decimals>\d\dk?)")
_PLAIN = re.compile(r"\d+\.\d\d")
_NEGATIVE = re.compile(r"-\d+(?:\.\d+)?k?")
_NO_NUMBER = re.compile(r"-?(?:inf|nan|1\.#(?:inf|ind|qnan)\d*)k?", re.I)
_VALUE = re.compile(rf"-?{_PLAIN.pattern}k?|{_THOUSANDS.pattern}|(?i:{_NO_NUMBER.pattern})")
_SIGN_OF_FIGURES = re.compile(r"\d(?:[.,]\d\d(?!\d)|k)")
_WORD = re.compile(r"[A-Za-z]{2}")
BLANKS = ("", "-", "--", "---", "–", "—", "n/a", "N/A", "?", "x")
"""What stands in a cell that has no figure."""
_BULLET = re.compile(r"\s*[*•-]\s+(?=[A-Za-z])")


class Header(NamedTuple):
    """Block sizes of the columns in bytes, and where each column ends on its line."""

    blocks: tuple[int, ...]
    ends: tuple[int, ...] = ()
    assumed: bool = False
    """Whether a size was not printed, or not whole."""
    cells: tuple[int | None, ...] = ()
    """Between bars: what each cell after the first says, None where that is no size."""
    tail: bool = False
    """Whether words follow on the line that say something else."""


UNREADABLE = Header(())
"""Stands over rows whose block sizes cannot be told."""


class Cell(NamedTuple):
    """One printed figure; `rate` in bytes per second, None with the remark's code in `fault`.

    With neither, it is a cell that was left empty.
    """

    text: str
    end: int
    rate: float | None = None
    fault: str | None = None


class Row(NamedTuple):
    """A label with figures; `rest` is what follows them on the line."""

    label: str
    cells: tuple[Cell, ...]
    rest: str = ""
    celled: bool = False
    """Whether bars say in which column each figure stands."""


def tidy(text: str) -> str:
    """A line without backticks and bullets, bars of all kinds alike; columns keep their places."""
    plain = text.translate(_ALIKE) if not text.isascii() or "`" in text else text
    found = _BULLET.match(plain)
    return " " * found.end() + plain[found.end() :] if found else plain


def cells_of(text: str) -> list[str]:
    """What stands between the bars of a line, without the outer ones; nothing if too many do."""
    if text.count("|") > BARS_LIMIT:
        return []
    inner = text.strip().removeprefix("|").removesuffix("|")
    return [" ".join(cell.split()) for cell in inner.split("|")]


def read_header(text: str) -> Header | None:
    """The column sizes of a `type  16 bytes  64 bytes ...` line; None if it is no such line."""
    if "bytes" not in text:
        return None
    if "|" in text and (celled := _celled_header(text)):
        return celled
    if _HEADER.match(text) is None:
        return None
    columns = list(islice(_COLUMN.finditer(text), COLUMNS_LIMIT + 1))
    blocks = tuple(int(column[1]) for column in columns)
    if not _are_sizes(blocks):
        return UNREADABLE if blocks else None
    ends = tuple(column.end() for column in columns)
    cut = _CUT_COLUMN.fullmatch(text, columns[-1].end())
    if cut is None:
        return Header(blocks, ends, tail=bool(text[columns[-1].end() :].strip(_NO_TAIL)))
    last = _completed(blocks, cut[1], whole=bool(cut[2]))
    return Header(blocks + last, ends, assumed=True)


def _are_sizes(sizes: tuple[int, ...]) -> bool:
    """Whether they rise, as those of one table do."""
    rising = all(one < other for one, other in pairwise((0, *sizes)))
    return rising and 0 < len(sizes) <= COLUMNS_LIMIT


def _celled_header(text: str) -> Header | None:
    """The header of a table between bars."""
    titles = cells_of(text)
    if titles and not _SIZE.fullmatch(titles[0]):
        titles = titles[1:] if titles[0].lower().strip(" *_:") in _TITLES else []
    found = [_SIZE.fullmatch(title) for title in titles]
    cells = tuple(int(size[1]) if size else None for size in found)
    blocks = tuple(size for size in cells if size is not None)
    damaged = any("bytes" in title and not _SIZE.fullmatch(title) for title in titles)
    if not blocks or damaged:
        return None
    return Header(blocks, cells=cells) if _are_sizes(blocks) else UNREADABLE


def speaks_of_sizes(text: str) -> bool:
    """Whether a line that is no header names several block sizes, as a damaged one does."""
    return "bytes" in text and len(list(islice(_COLUMN.finditer(text), 2))) > 1


def _completed(blocks: tuple[int, ...], digits: str, whole: bool) -> tuple[int, ...]:
    """The column that a header was cut in, where it is certain which one it was."""
    if whole:
        return (int(digits),)
    known = CLASSIC_BLOCKS[len(blocks)] if len(blocks) < len(CLASSIC_BLOCKS) else None
    expected = blocks[1:] == CLASSIC_BLOCKS[1 : len(blocks)]
    return (known,) if known and expected and str(known).startswith(digits) else ()


def assumed_header(columns: int, first: int = CLASSIC_BLOCKS[0]) -> Header | None:
    """The sizes that a table of so many columns has had in all versions; None if not known."""
    if columns not in (5, 6):
        return None
    return Header((first, *CLASSIC_BLOCKS[1:columns]), assumed=True)


def read_row(text: str) -> Row | None:
    """A label and the figures after it; None if the line has none that `openssl speed` prints."""
    sound = _SOUND_ROW.fullmatch(text)
    if sound is not None:
        cells = tuple(
            Cell(figure[0], figure.end(), round(float(figure[1]) * 1000, 3))
            for figure in _SOUND_CELL.finditer(text, sound.start("figures"))
        )
        if all(cell.rate for cell in cells):
            return Row(" ".join(sound["label"].split()), cells)
    return _read_odd_row(text)


def may_be_row(text: str) -> bool:
    """A quick no for most lines that are no rows."""
    if ("." in text or "k" in text or "," in text) and _SIGN_OF_FIGURES.search(text):
        return True
    lowered = text.lower()
    return "inf" in lowered or "nan" in lowered or "#ind" in lowered


def _read_odd_row(text: str) -> Row | None:
    """A row with something other than figures with a k."""
    if not may_be_row(text):
        return None
    if "|" in text and (celled := _read_celled_row(text)):
        return celled
    tokens = list(islice(_CELL.finditer(text), TOKENS_LIMIT))
    first = next((i for i, token in enumerate(tokens[:5]) if i and _is_value(token[0])), None)
    if first is None or not tokens[0][0][0].isalpha():
        return None
    last = first
    while last < len(tokens) and _is_figure_like(tokens[last][0]):
        last += 1
    while tokens[last - 1][0] in BLANKS:
        last -= 1
    cells = _cells([(token[0], token.end()) for token in tokens[first:last]])
    label = text[tokens[0].start() : tokens[first - 1].end()].rstrip(":")
    rest = text[tokens[last].start() :].strip() if last < len(tokens) else ""
    return Row(" ".join(label.split()), _without_cut_end(cells, rest), rest)


def _read_celled_row(text: str) -> Row | None:
    """A row between bars, one figure or none a cell."""
    found = celled_figures(text)
    if found is None:
        return None
    label, figures = found
    cells = _cells([(figure, 0) for figure in figures])
    return Row(" ".join(label.split()), _without_cut_end(cells, ""), celled=True)


def celled_figures(text: str) -> tuple[str, list[str]] | None:
    """The label and what stands in the cells of a row between bars; None for another line."""
    label, *figures = cells_of(text) or [""]
    while figures and figures[-1] in BLANKS:
        figures.pop()
    usable = label[:1].isalpha() and not may_be_row(label) and len(figures) <= TOKENS_LIMIT
    if not usable:
        return None
    others = [one for one in figures if not _is_value(one)]
    if len(others) == len(figures) or " " in "".join(figures):
        return None
    return (label, figures) if all(_is_figure_like(one or "-") for one in others) else None


def is_overlong(row: Row) -> bool:
    """Whether figures follow that are none of this row's: another table's, or cut off by a bar."""
    return row.rest[:1] not in ("", *"(#<[") and has_figures(row.rest)


def has_figures(text: str) -> bool:
    """Whether there is a figure with a k, or with two decimals, anywhere in a text."""
    return may_be_row(text) and any(_is_value(token) for token in text.split()[:TOKENS_LIMIT])


def _is_value(token: str) -> bool:
    """Whether a token can only be a figure: with two decimals, a k, or no number at all."""
    return _VALUE.fullmatch(_with_point(token)) is not None


def _is_figure_like(token: str) -> bool:
    """Whether a token in a row stands for a figure: whole, broken, or left out."""
    if token in BLANKS or _is_value(token):
        return True
    # A broken figure may have got one letter; what starts with more is a name or a word.
    return any(c.isdigit() for c in token) and token[0] not in "(#<[|" and not _WORD.match(token)


def _with_point(token: str) -> str:
    """A figure with a decimal comma as the tool itself would print it."""
    found = _DECIMAL_COMMA.fullmatch(token) if "," in token else None
    return f"{found['whole'].replace('.', '')}.{found['decimals']}" if found else token


def _cells(tokens: Sequence[tuple[str, int]]) -> tuple[Cell, ...]:
    """The cells of a row, from their texts and the places where these end."""
    texts = [_with_point(text) for text, _ in tokens]
    exact = any(_PLAIN.fullmatch(text.rstrip("k")) for text in texts)
    ends = [end for _, end in tokens]
    return tuple(_cell(text, end, exact) for text, end in zip(texts, ends, strict=True))


def _cell(text: str, end: int, exact: bool) -> Cell:
    if text in BLANKS:
        return Cell("", end)
    if _NO_NUMBER.fullmatch(text) or _NEGATIVE.fullmatch(text):
        return Cell(text, end, fault="not_a_rate")
    thousands = _THOUSANDS.fullmatch(text)
    # Where the other figures have two decimals, one with more or fewer has lost a digit.
    if thousands and (not exact or _PLAIN.fullmatch(text[:-1].replace(",", ""))):
        rate = round(float(thousands[1].replace(",", "")) * 1000, 3)
    elif _PLAIN.fullmatch(text) and float(text) <= PLAIN_LIMIT:
        rate = float(text)
    else:
        return Cell(text, end, fault="damaged")
    return Cell(text, end, rate) if rate else Cell(text, end, fault="zero_rate")


def _without_cut_end(cells: tuple[Cell, ...], rest: str) -> tuple[Cell, ...]:
    """The cells, the last one damaged where it may have been cut before its k."""
    *before, last = cells
    plain = last.rate is not None and not last.text.endswith("k")
    if plain and not rest and any(cell.text.endswith("k") for cell in before):
        return (*before, Cell(last.text, last.end, fault="damaged"))
    return cells


def columns_of(row: Row, header: Header) -> tuple[int | None, ...]:
    """The block size of each of a row's cells; None where it cannot be told.

    A row with fewer figures than columns was cut at its end, unless bars, or the places of its
    figures on the line, say which columns they stand in. One with more is not of this table.
    """
    count, blocks = len(row.cells), header.blocks
    columns = (header.cells or blocks) if row.celled else blocks
    if count > len(columns):
        return (None,) * count
    if row.celled or count == len(columns):
        return columns[:count]
    empty = any(cell.rate is None and cell.fault is None for cell in row.cells)
    return _by_place(row, header) or ((None,) * count if empty else blocks[:count])


def _by_place(row: Row, header: Header) -> tuple[int, ...] | None:
    """Block sizes by alignment: a figure ends where its column's heading ends, before its k."""
    shift = max(0, len(row.label) - _LABEL_WIDTH)
    places = {end + shift: block for end, block in zip(header.ends, header.blocks, strict=False)}
    if any(cell.fault == "damaged" for cell in row.cells):
        return None
    found = [places.get(cell.end - cell.text.endswith("k")) for cell in row.cells]
    blocks = tuple(block for block in found if block is not None)
    return blocks if len(blocks) == len(found) else None
