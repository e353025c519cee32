"""How SQL writes a row of a file as one text: fields of a CSV, or cells of a worksheet's XML."""

from collections.abc import Callable, Sequence
from itertools import groupby

from exports.columns import StoredColumn
from exports.csv_dialect import (
    CELL_UNITS,
    CUT,
    CUT_UNITS,
    FORMULA_INSIDE,
    FORMULA_STARTS,
    ILLEGAL_IN_XML,
    QUOTED_FOR,
    REPLACEMENT,
    CsvDialect,
)

_STARTS = ", ".join(str(ord(start)) for start in FORMULA_STARTS)

_UTC = """rtrim(rtrim(
    to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0'), '.') || 'Z'"""
"""RFC 3339; fractions of a second only where there are some."""


def _by_level(
    columns: Sequence[StoredColumn], written: Callable[[StoredColumn], str], between: str
) -> list[tuple[str, str]]:
    """Level and text of neighbours that have one level."""
    return [
        (level, between.join(written(column) for column in members))
        for level, members in groupby(columns, key=lambda column: column.level)
    ]


def _literal(text: str) -> str:
    """An SQL literal of characters that are better not written themselves."""
    return "U&'" + "".join(f"\\{ord(character):04X}" for character in text) + "'"


class CsvRows:
    """One line of CSV after RFC 4180, with text made inert."""

    def __init__(self, dialect: CsvDialect) -> None:
        self._dialect = dialect
        self._between = f" || '{dialect.delimiter}' || "

    def groups(self, columns: Sequence[StoredColumn]) -> list[tuple[str, str]]:
        """Fields of one level, separated."""
        return _by_level(columns, lambda one: f"coalesce({self._field(one)}, '')", self._between)

    def row(self, parts: Sequence[str]) -> str:
        """The parts, separated, and the end of the line."""
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
        """Inert, and quoted where `exports.csv_dialect` quotes it."""
        start = f"CASE WHEN ascii({sql}) IN ({_STARTS}) THEN '''' ELSE '' END"
        inside = _literal(FORMULA_INSIDE.format(self._dialect.other_delimiter))
        harmless = f"{start} || regexp_replace({sql}, {inside}, '''', 'g')"
        # Nearly all texts are plain, and told apart faster than they are searched.
        marks = _literal(QUOTED_FOR)
        return f"""CASE WHEN translate({sql}, {marks}, '') = {sql} THEN {start} || {sql}
            ELSE '"' || replace({harmless}, '"', '""') || '"' END"""


_MARKS = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;"))

_EXCEL_DAY = "(extract(epoch FROM {0}) / 86400 + 25569)::float8"
"""Days since the last of 1899, which is how spreadsheets count time."""

_FIRST_DAY = 61
"""The first of March 1900: spreadsheets know a day before it that never was."""


_HIGH = "[\\U00010000-\\U0010FFFF]"
"""Characters of two units of UTF-16; all others have one."""


def xml_text(sql: str) -> str:
    """SQL of a text as XML within an element, as `exports.sheet_parts.xml_text` writes it.

    `_x0041_` is what spreadsheets read as "A": its underscore is written that way itself.
    """
    special = _literal(ILLEGAL_IN_XML + "&<>\r")
    known = _literal(REPLACEMENT * len(ILLEGAL_IN_XML))
    text = f"translate({sql}, {_literal(ILLEGAL_IN_XML)}, {known})"
    text = f"CASE WHEN octet_length({sql}) > {CELL_UNITS} THEN {_cut(text)} ELSE {text} END"
    for mark, written in _MARKS:
        text = f"replace({text}, {_literal(mark)}, '{written}')"
    text = rf"regexp_replace({text}, '_(?=x[0-9A-Fa-f]{{4}}_)', '_x005F_', 'g')"
    # Nearly all texts need none of this, and are told apart faster than it is done.
    return (
        f"CASE WHEN translate({sql}, {special}, '') = {sql} AND strpos({sql}, '_x') = 0"
        f" AND octet_length({sql}) <= {CELL_UNITS} THEN {sql} ELSE {text} END"
    )


def _cut(sql: str) -> str:
    """SQL of a text cut to the length of a cell where it is longer, which its end says.

    A mark before each character of two units has both count, and goes with it.
    """
    mark = _literal("\x01")
    marked = rf"regexp_replace({sql}, '({_HIGH})', {mark} || '\1', 'g')"
    whole = f"replace(marked, {mark}, '')"
    kept = f"replace(left(marked, {CELL_UNITS - CUT_UNITS}), {mark}, '')"
    before, after = CUT.split("{}")
    fits = f"CASE WHEN char_length(marked) <= {CELL_UNITS} THEN {whole}"
    cut = f"{kept} || '{before}' || char_length({whole}) || '{after}'"
    return f"(SELECT {fits} ELSE {cut} END FROM (SELECT {marked} AS marked) long)"  # noqa: S608


class SheetRows:
    """One row of a worksheet's XML; `styles` are the numbers of the columns' cell styles.

    Cells stand side by side without an address, so that those of a run are made once for all its
    rows. A text is a text by its type, whatever it begins with.
    """

    def __init__(self, styles: Sequence[str]) -> None:
        self._styles = styles

    def groups(self, columns: Sequence[StoredColumn]) -> list[tuple[str, str]]:
        """Cells of one level."""
        styles = dict(zip(columns, self._styles, strict=True))
        return _by_level(columns, lambda column: _cell(column, styles[column]), " || ")

    def row(self, parts: Sequence[str]) -> str:
        """The cells as a row."""
        return f"'<row>' || {' || '.join(parts)} || '</row>'"


def _cell(column: StoredColumn, style: str) -> str:
    """The SQL of a cell; what is no possible value of it leaves it empty."""
    sql = f"({column.sql})"
    begin, written = '"><v>', f"{sql} || '</v></c>'"
    # Infinity, and what is no number (for PostgreSQL larger than that), are no values of cells.
    possible = f"{sql} > '-Infinity' AND {sql} < 'Infinity'"
    if column.kind == "text":
        begin, possible = '" t="inlineStr"><is><t xml:space="preserve">', f"{sql} <> ''"
        written = f"{xml_text(sql)} || '</t></is></c>'"
    elif column.kind == "flag":
        begin, possible = '" t="b"><v>', f"{sql} IS NOT NULL"
        written = f"{sql}::int || '</v></c>'"
    elif column.kind == "integer":
        possible = f"{sql} IS NOT NULL"
    elif column.kind == "moment":
        day = _EXCEL_DAY.format(sql)
        possible, written = f"{day} >= {_FIRST_DAY}", f"{day} || '</v></c>'"
    return f"""CASE WHEN {possible} THEN '<c s="{style}{begin}' || {written} ELSE '<c/>' END"""
