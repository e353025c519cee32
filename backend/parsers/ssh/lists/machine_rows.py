"""Rows of a table whose columns are ciphers: each is a try, or another machine."""

import re
from collections.abc import Sequence

from parsers.ssh.headings import counts_tries
from parsers.ssh.lists.list_tables import (
    Column,
    Header,
    is_machine_name,
    is_rate_title,
    is_summary,
    split_cells,
)
from parsers.ssh.lists.list_tokens import PLAIN_NUMBER, Value, tokens_of, values_of
from parsers.ssh.lists.list_values import has_number, is_number
from parsers.ssh.lists.listed import Listed, ListedRate

_NUMBER_OF_TRY = re.compile(r"#?\d{1,3}[.:)]?")


def by_machine(header: Header, text: str) -> list[Listed] | None:
    """The rate of each cell under its cipher, with the row's title as `column`.

    None for a row that does not fill the table, or with words in its cells: which machine's or
    which cipher's its numbers are is not certain. Empty for a row that sums up the others.
    """
    row = _cells(header, text)
    if row is None:
        return None
    label, cells = row
    macs = [token.mac for token in tokens_of(label) if token.mac]
    values = [value_of_cell(cell) for cell in cells]
    if len(macs) > 1 or any(value.kind == "aside" for value in values):
        return None
    if is_summary(label):
        return []
    own = None if macs or _is_try(label, header) else label
    if own and not is_machine_name(own):
        return None
    rates: list[Listed] = [
        ListedRate(
            value.text,
            value.unit or header.unit_for(column),
            column.cipher,
            macs[0] if macs else None,
            column=own,
            problem="not_a_rate" if value.kind == "bad_number" else None,
        )
        for column, value in zip(header.columns[-len(values) :], values, strict=True)
        if is_number(value) and (value.unit or header.unit_for(column))
    ]
    return rates or (None if has_number(values) else [])


def _cells(header: Header, text: str) -> tuple[str, Sequence[str]] | None:
    """A row's title, perhaps empty, and one cell for each cipher."""
    ciphers = [column.cipher for column in header.columns]
    start = next(place for place, cipher in enumerate(ciphers) if cipher)
    count = len(ciphers) - start
    if not all(ciphers[start:]):
        return None
    cells = split_cells(text)
    if min(start, 1) <= len(cells) - count <= max(start, 1):
        titles = cells[:-count]
        if any(map(_is_rate, titles, header.columns)):
            return None  # of a cipher that we do not know
        return " ".join(titles).strip(), cells[-count:]
    values = values_of(tokens_of(text))
    if values is None or len(values) != count or start:
        return None
    return "", [value.text for value in values]


def _is_rate(cell: str, column: Column) -> bool:
    value = value_of_cell(cell)
    return value.unit is not None or (column.unit is not None and is_number(value))


def _is_try(label: str, header: Header) -> bool:
    """Whether a row's title tells it from the others as a try only."""
    if counts_tries(label) or [token.kind for token in tokens_of(label)] in ([], ["try"]):
        return True
    corner = header.titles[0] if header.titles else None
    is_plain = corner is None or corner.cipher is not None or is_rate_title(corner.label)
    return is_plain and _NUMBER_OF_TRY.fullmatch(label) is not None


def value_of_cell(cell: str) -> Value:
    """The value of a cell; one with words or several numbers is set aside."""
    if PLAIN_NUMBER.fullmatch(cell):
        return Value("number", cell)
    found = values_of(tokens_of(cell))
    if not cell.strip() or found == []:
        return Value("blank")
    rates = [value for value in found or [] if is_number(value)]
    if found is not None and len(rates) == 1:
        return rates[0]
    return Value("aside" if found is None or rates else found[0].kind, cell)
