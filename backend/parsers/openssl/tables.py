"""Headers and rows of the tables that `openssl speed` prints."""

import re
from typing import NamedTuple

COLUMNS_LIMIT = 16
"""More columns than any version has printed."""

CLASSIC_BLOCKS = (16, 64, 256, 1024, 8192, 16384)
"""Block sizes in bytes; the last column came with OpenSSL 1.1.0, and SSLeay began with 8."""

PLAIN_LIMIT = 10_000
"""Rates above this (bytes per second) are printed in thousands, with a k."""

_LABEL_WIDTH = 13

_HEADER = re.compile(r"\s*(?:type\s+(?:\d+\s*bytes\b)?|\d+ bytes\s+(?=\d+ bytes))")
_COLUMN = re.compile(r"(?<!\d)(\d{1,9})\s*bytes\b")
_CUT_COLUMN = re.compile(r"\s*(\d{1,9})(\s+b|\s*by?t?e?)?\s*")
_PADDING = str.maketrans({"|": " ", "`": " "})

_SOUND_ROW = re.compile(
    r"\s*(?P<label>[A-Za-z][\w()/-]{0,40}(?: [a-z]\w{0,9})?)(?P<figures>(?: +\d{1,12}\.\d\dk)+)"
)
_SOUND_CELL = re.compile(r"(\d+\.\d\d)k")
_CELL = re.compile(r"-?\d+\.\d\dk(?=[\s\d-]|$)|\S+")
_THOUSANDS = re.compile(r"(\d{1,12}(?:\.\d{1,9})?|\d{1,3}(?:,\d{3}){1,3}\.\d\d)k")
_PLAIN = re.compile(r"\d+\.\d\d")
_NEGATIVE = re.compile(r"-\d+(?:\.\d+)?k?")
_NO_NUMBER = re.compile(r"-?(?:inf|nan|1\.#(?:inf|ind|qnan)\d*)k?", re.I)
_SIGN_OF_FIGURES = re.compile(r"\d(?:\.\d\d|k)")
_BULLET = re.compile(r"\s*[*•-]\s+(?=[A-Za-z])")


class Header(NamedTuple):
    """Block sizes of the columns in bytes, and where each column ends on its line."""

    blocks: tuple[int, ...]
    ends: tuple[int, ...] = ()
    assumed: bool = False
    """Whether a size was not printed, or not whole."""


class Cell(NamedTuple):
    """One printed figure; `rate` in bytes per second, None with the remark's code in `fault`."""

    text: str
    end: int
    rate: float | None = None
    fault: str | None = None


class Row(NamedTuple):
    """A label with figures; `rest` is what follows them on the line."""

    label: str
    cells: tuple[Cell, ...]
    rest: str = ""


def tidy(text: str) -> str:
    """A line without the bars, backticks and bullets that Markdown adds; columns keep places."""
    plain = text.translate(_PADDING) if "|" in text or "`" in text else text
    found = _BULLET.match(plain)
    return " " * found.end() + plain[found.end() :] if found else plain


def read_header(text: str) -> Header | None:
    """The column sizes of a `type  16 bytes  64 bytes ...` line; None if it is no such line."""
    if "bytes" not in text or _HEADER.match(text) is None:
        return None
    columns = list(_COLUMN.finditer(text))
    blocks = tuple(int(column[1]) for column in columns)
    if not blocks or 0 in blocks or len(blocks) > COLUMNS_LIMIT:
        return None
    ends = tuple(column.end() for column in columns)
    cut = _CUT_COLUMN.fullmatch(text, columns[-1].end())
    if cut is None:
        return Header(blocks, ends)
    last = _completed(blocks, cut[1], whole=bool(cut[2]))
    return Header(blocks + last, ends, assumed=True)


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
    if ("." in text or "k" in text) and _SIGN_OF_FIGURES.search(text):
        return True
    lowered = text.lower()
    return "inf" in lowered or "nan" in lowered or "#ind" in lowered


def _read_odd_row(text: str) -> Row | None:
    """A row with something other than figures with a k."""
    if not may_be_row(text):
        return None
    tokens = list(_CELL.finditer(text))
    first = next((i for i, token in enumerate(tokens[:5]) if i and _is_value(token[0])), None)
    if first is None or not tokens[0][0][0].isalpha():
        return None
    last = first
    while last < len(tokens) and _is_figure_like(tokens[last][0]):
        last += 1
    exact = any(_PLAIN.fullmatch(token[0].rstrip("k")) for token in tokens[first:last])
    cells = tuple(_cell(token, exact) for token in tokens[first:last])
    label = text[tokens[0].start() : tokens[first - 1].end()].rstrip(":")
    rest = text[tokens[last].start() :].strip() if last < len(tokens) else ""
    return Row(" ".join(label.split()), _without_cut_end(cells, rest), rest)


def _is_value(token: str) -> bool:
    """Whether a token can only be a figure: with two decimals, a k, or no number at all."""
    return bool(
        _PLAIN.fullmatch(token.removesuffix("k").removeprefix("-"))
        or _THOUSANDS.fullmatch(token)
        or _NO_NUMBER.fullmatch(token)
    )


def _is_figure_like(token: str) -> bool:
    """Whether a token in a row stands for a figure, whole or broken."""
    return (any(c.isdigit() for c in token) and token[0] not in "(#<[") or _is_value(token)


def _cell(token: re.Match[str], exact: bool) -> Cell:
    text, end = token[0], token.end()
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

    A row with fewer figures than columns was cut at its end, unless the places of its figures
    on the line say which columns they stand in.
    """
    blocks = header.blocks
    if len(row.cells) >= len(blocks):
        return (*blocks, *(None for _ in row.cells[len(blocks) :]))
    by_place = _by_place(row, header)
    return by_place or blocks[: len(row.cells)]


def _by_place(row: Row, header: Header) -> tuple[int, ...] | None:
    """Block sizes by alignment: a figure ends where its column's heading ends."""
    shift = max(0, len(row.label) - _LABEL_WIDTH)
    places = {end + shift: block for end, block in zip(header.ends, header.blocks, strict=False)}
    if any(cell.fault == "damaged" for cell in row.cells):
        return None
    found = [places.get(cell.end) for cell in row.cells]
    blocks = tuple(block for block in found if block is not None)
    return blocks if len(blocks) == len(found) else None
