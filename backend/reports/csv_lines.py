"""How SQL writes a line of CSV after RFC 4180, with text made inert."""

from collections.abc import Sequence
from itertools import groupby

from exports.columns import Level, StoredColumn
from exports.csv_dialect import (
    FORMULA_INSIDE,
    FORMULA_STARTS,
    QUOTED_FOR,
    CsvDialect,
)

_STARTS = ", ".join(str(ord(start)) for start in FORMULA_STARTS)

_UTC = """rtrim(rtrim(
    to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0'), '.') || 'Z'"""
"""RFC 3339; fractions of a second only where there are some."""


def _literal(text: str) -> str:
    """Return an SQL literal of characters that are better not written themselves."""
    return "U&'" + "".join(f"\\{ord(character):04X}" for character in text) + "'"


class CsvLines:
    """Lines in one dialect."""

    def __init__(self, dialect: CsvDialect) -> None:
        self._dialect = dialect
        self._between = f" || '{dialect.delimiter}' || "

    def parts(self, columns: Sequence[StoredColumn]) -> list[tuple[Level, str]]:
        """Return level and fields of neighbours that have one level, separated."""
        return [
            (level, self._between.join(f"coalesce({self._field(one)}, '')" for one in members))
            for level, members in groupby(columns, key=lambda column: column.level)
        ]

    def line(self, parts: Sequence[str]) -> str:
        """Return the parts, separated, and the end of the line."""
        return f"{self._between.join(parts)} || {_literal(chr(13) + chr(10))}"

    def _field(self, column: StoredColumn) -> str:
        sql = f"({column.sql})"
        if column.kind == "text":
            return self._text(sql)
        if column.kind == "flag":
            return f"CASE WHEN {sql} THEN 'true' ELSE 'false' END"
        if column.kind == "moment":
            return _UTC.format(sql)
        if column.kind == "number" and self._dialect.decimal_comma:
            return f"replace({sql}::text, '.', ',')"
        return f"{sql}::text"

    def _text(self, sql: str) -> str:
        """Make a text inert, and quote it where `exports.csv_dialect` does."""
        start = f"CASE WHEN ascii({sql}) IN ({_STARTS}) THEN '''' ELSE '' END"
        inside = _literal(FORMULA_INSIDE.format(self._dialect.other_delimiter))
        harmless = f"{start} || regexp_replace({sql}, {inside}, '''', 'g')"
        # Nearly all texts are plain, and told apart faster than they are searched.
        marks = _literal(QUOTED_FOR)
        return f"""CASE WHEN translate({sql}, {marks}, '') = {sql} THEN {start} || {sql}
            ELSE '"' || replace({harmless}, '"', '""') || '"' END"""
