"""Rows of a worksheet as XML, made of Python's values; those of measurements the database makes.

XlsxWriter takes ten times as long for a row, and reads text between `<r>` and `</r>` as markup.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from xml.sax.saxutils import escape

from exports.columns import Column
from exports.text import for_cell

Rows = Iterator[tuple[bytes, int]]
"""Chunks of XML, each with the number of rows in it."""

EMPTY = "<c/>"
CHUNK_CHARACTERS = 64 * 1024
FIRST_DATE = datetime(1900, 3, 1, tzinfo=UTC)
"""Spreadsheets know a day before it that never was."""

_DAY_NOUGHT = datetime(1899, 12, 30, tzinfo=UTC)
_SPOKEN_FOR = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")


def xml_text(text: str) -> str:
    """A text within an element; "_x0041_", which spreadsheets read as "A", stays what it is."""
    return _SPOKEN_FOR.sub("_x005F_", escape(for_cell(text), {"\r": "&#13;"}))


def sheet_rows(
    columns: Sequence[Column], styles: Sequence[str], lines: Iterable[Iterable[Any]]
) -> Rows:
    """The lines as rows, chunk by chunk; a value that is the one above is not written anew."""
    kinds = [column.kind for column in columns]
    above: list[Any] = [None] * len(kinds)
    cells = [EMPTY] * len(kinds)
    made: list[str] = []
    size = 0
    for line in lines:
        for place, value in enumerate(line):
            if value is not above[place]:
                above[place], cells[place] = value, _cell(kinds[place], styles[place], value)
        row = f"<row>{''.join(cells)}</row>"
        made.append(row)
        size += len(row)
        if size >= CHUNK_CHARACTERS:
            yield "".join(made).encode(), len(made)
            made, size = [], 0
    if made:
        yield "".join(made).encode(), len(made)


def _cell(kind: str, style: str, value: Any) -> str:
    """What is no possible value of a cell leaves it empty."""
    if value is None or value == "":
        return EMPTY
    if kind == "text":
        text = xml_text(str(value))
        return f'<c s="{style}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
    if kind == "flag":
        return f'<c s="{style}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime):
        if value < FIRST_DATE:
            return EMPTY
        value = (value - _DAY_NOUGHT).total_seconds() / 86400
    return f'<c s="{style}"><v>{value!r}</v></c>' if math.isfinite(value) else EMPTY
