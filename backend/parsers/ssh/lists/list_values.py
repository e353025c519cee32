"""What the numbers of a row are: rates of their columns, tries, or nothing that is certain."""

import re
from collections.abc import Iterable, Sequence

from parsers.ssh.lists.list_tables import Column, Header
from parsers.ssh.lists.list_tokens import RATE_WORDS, TRY_WORDS, UNIT_WORDS, Value
from parsers.ssh.lists.listed import ListedRate
from parsers.ssh.units import number_of

SPREAD_OF_TRIES = 2.0
"""Rates on one line without titles are tries of one thing only if they are this close."""
SAME_RATE = 0.06
_CHANGE = re.compile(
    r"(?<![\w.,-])\d[\d.,]{0,20}(?:\s?[a-zA-Z]{1,7}/s\w{0,5})?\s{0,3}"
    r"(?:-{1,3}>|={1,2}>|~>|→|⇒|/(?=\s))\s{0,3}[<>]?\d"
)
"""Two numbers with an arrow or a slash between them: before and after, or two machines."""
_REMARK = re.compile(r"\d[^()\d]{0,20}\(([^()]{1,80})\)(?=[^()]*\d)")
_COUNTED = re.compile(rf"\b(?:{'|'.join(sorted(TRY_WORDS))})\s?#?\d{{1,3}}\s?[:=]", re.I)
_SIGN = re.compile(
    r"(?<![\w.,-])\d[\d.,]{0,20}(?:\s?[a-zA-Z]{1,7}/s\w{0,5})?"
    r"(?:\s{0,3}[\[{&?<>=]{1,3}\s{0,3}|:)\d"
)
"""Two numbers with a sign between them that does not only part them."""
_WORD = re.compile(r"[^\W\d_]+")
_STARRED = re.compile(r"(?<![^\s,;|])\*\*?\d")
_ALL_WORDS = RATE_WORDS | UNIT_WORDS


def is_number(value: Value) -> bool:
    """Whether a cell holds a number, be it none that can be used."""
    return value.kind == "number" or value.kind == "bad_number"


def has_number(values: Iterable[Value]) -> bool:
    """Whether any cell does."""
    return any(is_number(value) for value in values)


def by_column(header: Header, values: Sequence[Value]) -> list[ListedRate]:
    """The rates of a row of a table with titles; a mean beside its tries is none of its own."""
    cells = _rated(header, values)
    kinds = {column.kind for column, _ in cells}
    if "try" in kinds:
        cells = [(column, value) for column, value in cells if column.kind == "try"]
    elif "mean" in kinds:
        cells = [(column, value) for column, value in cells if column.kind == "mean"][:1]
    elif _is_one_rate([value for _, value in cells]):
        cells = cells[:1]
    machines = [one for one in header.columns if one.is_configuration]
    nameless = len(cells) > 1 and any(one.is_configuration and not one.has_name for one, _ in cells)
    return [
        ListedRate(
            value.text,
            value.unit,
            column.cipher,
            column.mac,
            column=column.label if len(machines) > 1 and column.has_name else None,
            mean=column.kind == "mean",
            problem="columns_unclear" if nameless else _problem(value),
        )
        for column, value in cells
    ]


def _rated(header: Header, values: Sequence[Value]) -> list[tuple[Column, Value]]:
    """The cells that hold rates, each with its unit."""
    cells: list[tuple[Column, Value]] = []
    for column, value in zip(header.columns, values, strict=True):
        unit = value.unit or header.unit_for(column)
        if column.kind not in ("skip", "machine") and is_number(value) and unit:
            cells.append((column, Value(value.kind, value.text, unit)))
    return cells


def by_shape(values: Sequence[Value], header: Header, text: str) -> list[ListedRate]:
    """The rates of a row without titles (or with titles that do not fit it)."""
    titled = bool(header.columns)
    fits = not titled or header.unclear
    numbers = [value for value in values if is_number(value)]
    cells = [
        value if value.unit or not fits else Value(value.kind, value.text, header.unit)
        for value in numbers
    ]
    if header.unclear and (len(cells) > 1 or (titled and any(not one.unit for one in numbers))):
        return _unclear(cells, header) if not _is_one_rate(cells) else _plain(cells[:1])
    if titled and not all(value.unit for value in cells):
        return [ListedRate(value.text, header.unit, problem="damaged") for value in cells[:1]]
    if any(value.unit is None for value in cells):
        return []
    if _is_one_rate(cells):
        cells = cells[:1]
    return _plain(cells) if len(cells) == 1 or _are_tries(cells, text) else _unclear(cells, header)


def _plain(cells: Sequence[Value]) -> list[ListedRate]:
    return [ListedRate(value.text, value.unit, problem=_problem(value)) for value in cells]


def _problem(value: Value) -> str | None:
    return "not_a_rate" if value.kind == "bad_number" else None


def _unclear(cells: Sequence[Value], header: Header) -> list[ListedRate]:
    return [
        ListedRate(value.text, value.unit or header.unit, problem="columns_unclear")
        for value in cells
    ]


def _is_one_rate(cells: Sequence[Value]) -> bool:
    """Whether the same rate is given in several units."""
    if len(cells) < 2 or len({value.unit for value in cells}) < len(cells):
        return False
    return _span(cells) <= 1 + SAME_RATE


def _are_tries(cells: Sequence[Value], text: str) -> bool:
    """Whether rates without titles are of one thing: alike, and nothing tells them apart."""
    unit = cells[0].unit
    if any(value.unit is not unit and value.unit != unit for value in cells):
        return False
    if cells[0].text.isdecimal() and not all(one.text.isdecimal() for one in cells):
        return False  # the size of a key, a row's number, digits before a space
    if 0 < len(_STARRED.findall(text)) < len(cells):
        return False  # the mean or the best of them
    return _span(cells) <= SPREAD_OF_TRIES and not _is_told_apart(text)


def _is_told_apart(text: str) -> bool:
    """Whether arrows, slashes, other signs or words in brackets stand between the numbers."""
    if text.count("|") == 1 and re.search(r"\d\|\d", text):
        return True
    if _SIGN.search(_COUNTED.sub(" ", text)):
        return True
    if any(mark in text for mark in (">", "→", "⇒", "/ ")) and _CHANGE.search(text):
        return True
    remarks = _REMARK.findall(text) if "(" in text else []
    return any(not _ALL_WORDS.issuperset(_WORD.findall(one.lower())) for one in remarks)


def _span(cells: Sequence[Value]) -> float:
    """The largest of some rates over the smallest; endless if one is no positive number."""
    rates = [
        (number_of(value.text, None) or 0.0) * (value.unit.decimal if value.unit else 1.0)
        for value in cells
    ]
    return max(rates) / min(rates) if min(rates) > 0 else float("inf")
