"""How a CSV file is written: as the standard says, or for spreadsheets with a decimal comma."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass

from exports.text import inert

BOM = "\ufeff"
"""Makes Excel read a file as UTF-8."""

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

    def line(self, values: Iterable[Value]) -> str:
        """One line with its end; text is made inert, numbers keep every digit."""
        line = _Line()
        csv.writer(line, delimiter=self.delimiter).writerow([self._field(one) for one in values])
        return line.text

    def header(self, names: Iterable[str]) -> str:
        """The first line, after the mark that Excel asks for."""
        return (BOM if self.bom else "") + self.line(names)

    def _field(self, value: Value) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            return inert(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value).replace(".", ",") if self.decimal_comma else str(value)


class _Line:
    """A file of one line."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text
