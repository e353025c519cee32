"""How a CSV file is written: as the standard says, or for spreadsheets with a decimal comma."""

from collections.abc import Iterable
from dataclasses import dataclass

from exports.text import inert

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
