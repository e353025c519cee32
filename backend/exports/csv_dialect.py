"""How a CSV file is written: separators, decimal comma, no formula that a spreadsheet would run.

And text from outside, made harmless for spreadsheet programs.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")

FORMULA_INSIDE = """(?<=[{}\t\r\n])(?="*[=+@-])"""
"""Where a formula would begin if a program split the text at a separator of its own (`{}`), or at
a tab or line end: spreadsheet programs take the separator from the reader's language, and then do
not see that the field is quoted. The syntax is the same in Python and PostgreSQL."""

CELL_UNITS = 32_767
"""The most that a cell of a spreadsheet holds, in UTF-16 units."""

CUT = "… [cut: {} characters in all]"
"""Ends a text that is longer than a cell."""

CUT_UNITS = 64
"""More than `CUT` with its number needs."""

ILLEGAL_IN_XML = "".join((*map(chr, (*range(1, 9), 11, 12, *range(14, 32))), "\ufffe", "\uffff"))
"""Characters (without NUL, which no text of ours can have) that XML 1.0 cannot express."""

REPLACEMENT = "\ufffd"
"""Stands where a character was that cannot be."""

_ILLEGAL = str.maketrans(dict.fromkeys(ILLEGAL_IN_XML + "\0", REPLACEMENT))


def inert(text: str, separators: str) -> str:
    """The text, with an apostrophe before what a spreadsheet would take for a formula.

    `separators`: of other dialects of CSV, at which a program may split it.
    """
    inside = re.sub(FORMULA_INSIDE.format(separators), "'", text)
    return "'" + inside if inside.startswith(FORMULA_STARTS) else inside


def for_cell(text: str) -> str:
    """The text as a cell of a workbook can hold it; one that had to be cut says so at its end."""
    legal = text.translate(_ILLEGAL)
    if len(legal) <= CELL_UNITS // 2:
        return legal
    units = legal.encode("utf-16-le")
    if len(units) // 2 <= CELL_UNITS:
        return legal
    kept = units[: 2 * (CELL_UNITS - CUT_UNITS)].decode("utf-16-le", "ignore")
    return kept + CUT.format(len(text))


def for_writer(text: str) -> str:
    """The same for XlsxWriter, which takes text between these marks for its own markup.

    A space of no width at the end keeps the one such text in a million a text.
    """
    legal = for_cell(text)
    return legal + "\u200b" if legal.startswith("<r>") and legal.endswith("</r>") else legal


def for_chart(text: str) -> str:
    """The same for a name in a chart, which XlsxWriter takes for a reference if it has "!A1" in it.

    A space of no width after each "!" keeps it a name.
    """
    return for_writer(text).replace("!", "!\u200b")


BOM = "\ufeff"
"""Makes Excel read a file as UTF-8."""

QUOTED_FOR = ',;\t"\r\n'
"""A text with one of these is quoted, whatever the delimiter: a program may expect another."""

Value = str | int | float | bool | None


@dataclass(frozen=True)
class CsvDialect:
    """RFC 4180 with a header row; `decimal_comma` also separates fields by semicolons."""

    bom: bool = False
    decimal_comma: bool = False

    @property
    def delimiter(self) -> str:
        """Between fields."""
        return ";" if self.decimal_comma else ","

    @property
    def other_delimiter(self) -> str:
        """Of the other dialect, which a reader's program may expect instead."""
        return "," if self.decimal_comma else ";"

    def line(self, values: Iterable[Value]) -> str:
        """One line with its end; text is made inert, numbers keep every digit."""
        return self.delimiter.join(map(self._field, values)) + "\r\n"

    def header(self, names: Iterable[str]) -> str:
        """The first line, after the mark that Excel asks for."""
        return (BOM if self.bom else "") + self.line(names)

    def _field(self, value: Value) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value).replace(".", ",") if self.decimal_comma else str(value)

    def _text(self, text: str) -> str:
        harmless = inert(text, self.other_delimiter)
        if not any(mark in harmless for mark in QUOTED_FOR):
            return harmless
        return '"' + harmless.replace('"', '""') + '"'
