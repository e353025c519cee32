"""Lists and tables of rates by cipher, in every spelling: "aes128-ctr: 104.167 MB/s"."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from parsers.ssh.dd_lines import amount_said
from parsers.ssh.lists.flat_lists import pairs
from parsers.ssh.lists.list_tables import RULER, Column, Header, header_of, is_no_measurement
from parsers.ssh.lists.list_tokens import (
    PLAIN_NUMBER,
    RATE_WORDS,
    UNIT_WORDS,
    Token,
    Value,
    is_filler,
    is_mean,
    tokens_of,
    values_of,
)
from parsers.ssh.lists.list_values import by_column, by_shape, has_number, is_number
from parsers.ssh.lists.listed import Listed, ListedName, ListedRate, TableTitles
from parsers.ssh.lists.machine_rows import by_machine, value_of_cell
from parsers.ssh.lists.row_remarks import remark_of
from parsers.ssh.names import CipherName

SHORT_LINE = 80
FEW_DIGITS = 6
TITLES_LIMIT = 1_000
"""Lines of a text that are looked at as titles of a table: to look costs most of all."""
_EVERYDAY_WORDS = ("des", "idea")
"""Names of ciphers that, alone on a line, are more likely something else."""
_NO_CIPHER = re.compile(r"[\s|\"]*none\b[\s|\",;:]*\d", re.I)
"""A row of a transfer without encryption, among those of ciphers."""
_WORD = re.compile(r"[^\W\d_]+")
_RATE_WORDS = RATE_WORDS | UNIT_WORDS | {"cpu", "x"}


@dataclass
class ListReader:
    """Reads lines in turn, because the titles of a table say what its numbers are."""

    about_ssh: bool
    """Whether names that other tools print too may be taken for SSH's."""
    header: Header | None = None
    last_cipher: CipherName | None = None
    with_unit: bool = False
    titles_left: int = TITLES_LIMIT
    tables: int = 0
    doubted: set[int] = field(default_factory=set)
    """Tables with words in a row that are not understood: their rates may be anything's."""

    def is_ruler(self, text: str) -> bool:
        """Whether the line is drawn rather than written."""
        return RULER.fullmatch(text) is not None

    def read(self, text: str, *, named: bool = True) -> list[Listed] | None:
        """What a line lists; empty for titles, rulers and rows without a result; None if nothing.

        `named` is whether a name of a cipher or a MAC may be in it.
        """
        if self.is_ruler(text):
            return []
        row = self._row(text) if named or self.header or _is_rate_only(text) else None
        if row is not None:
            remark = remark_of(text) if row else ""
            if remark is None and any(isinstance(one, ListedRate) for one in row):
                return None
            return [_remarked(one, remark, text) for one in row]
        if self.header and _NO_CIPHER.match(text):
            return None
        caption, self.header = self.header, None
        if self.titles_left and (named or _has_few_digits(text)):
            self.titles_left -= 1
            self.tables += 1
            self.header = header_of(text)
        if self.header and caption and not (caption.columns or self.header.unit):
            self.header = replace(self.header, unit=caption.unit)
        self.last_cipher = None
        return [TableTitles(text)] if self.header else None

    def _row(self, text: str) -> Sequence[Listed] | None:
        tokens = tokens_of(text)
        names = [token for token in tokens if token.cipher]
        if names and not all(map(self._trusted, names)):
            return None
        if self.header and not self.header.is_understood:
            return self._doubtful(text, names)
        if len(names) > 1:
            return pairs(tokens)
        if self.header and self.header.by_cipher and not names:
            return by_machine(self.header, text)
        cells = self.header.cells_of(text) if self.header else None
        if cells is not None and ("|" in text or _stand_apart(cells)):
            return self._cells(text, cells, names)
        if names:
            return self._single(text, tokens, names[0])
        return self._nameless(text, tokens)

    def _trusted(self, token: Token) -> bool:
        return token.cipher is not None and (token.cipher.unmistakable or self.about_ssh)

    def _single(self, text: str, tokens: Sequence[Token], name: Token) -> Sequence[Listed] | None:
        """Name then rates, or rates then name."""
        at = next(place for place, token in enumerate(tokens) if token is name)
        macs = [token.mac for token in tokens if token.mac]
        before, after = _others(tokens[:at]), _others(tokens[at + 1 :])
        first, then = values_of(before), values_of(after)
        if first is None or then is None or len(macs) > 1 or name.cipher is None:
            return None
        if before and before[-1].text.lower() in ("no", "not"):
            return None
        if any(value.text.endswith(("x", "×")) for value in first):
            return None  # "2x aes128-ctr": of each of several streams, or of all
        if has_number(first) and has_number(then):
            if self.header and self.header.unclear:
                return self._doubtful(text, [name])
            if not _is_index(first):
                return None
        mac = macs[0] if macs else None
        if not first and not then:
            if name.cipher.name in _EVERYDAY_WORDS and len(tokens) == 1:
                return None
            return [_heading(tokens, name.cipher, mac)]
        values = then if has_number(then) or _is_index(first) else first + then
        rates = self._listed(text, values, name.cipher, mac, mean=is_mean(tokens))
        is_titled = self.header is not None and bool(self.header.columns)
        if not rates or is_titled or not (first and first[0].text.isdecimal()):
            return rates
        return [one._replace(row_number=int(first[0].text)) for one in rates]

    def _nameless(self, text: str, tokens: Sequence[Token]) -> Sequence[Listed] | None:
        """A row of a table by MAC, or a rate alone."""
        macs = [token.mac for token in tokens if token.mac]
        values = values_of(_others(tokens))
        if not values or len(macs) > 1:
            return None
        if macs and self.last_cipher:
            return self._listed(text, values, self.last_cipher, macs[0], mean=False)
        numbers = [value for value in values if is_number(value)]
        if macs or not numbers or any(value.unit is None for value in numbers):
            return None
        return self._listed(text, values, None, None, mean=is_mean(tokens))

    def _cells(self, text: str, cells: list[str], names: list[Token]) -> Sequence[Listed] | None:
        """A row between bars: one value a cell, an empty cell included."""
        values: list[Value] = []
        macs: list[str] = []
        machine: str | None = None
        note = ""
        for cell, title in self._titled(cells):
            if PLAIN_NUMBER.fullmatch(cell):
                values.append(Value("number", cell))
                continue
            tokens = tokens_of(cell)
            macs += [token.mac for token in tokens if token.mac]
            if any(token.cipher or token.mac for token in tokens):
                continue
            if title and title.is_machine and (title.kind == "machine" or _is_words(cell)):
                machine = cell
                if title.kind == "machine":
                    continue
            elif title and title.is_note and not is_no_measurement(cell):
                note += cell.lower()
            elif _is_words(cell) and not (title and title.allows(cell)):
                self.doubted.add(self.tables)
            values.append(value_of_cell(cell))
        cipher = names[0].cipher if names else self.last_cipher if macs else None
        if cipher is None or len(macs) > 1:
            return None
        if self.header and len(values) == len(self.header.columns) + 1:
            values = values[1:]
        rates = self._listed(text, values, cipher, macs[0] if macs else None, mean=False)
        return rates and [
            one._replace(
                remark=one.remark + note,
                column=", ".join(filter(None, (machine, one.column))) or None,
            )
            for one in rates
        ]

    def _titled(self, cells: Sequence[str]) -> Iterable[tuple[str, Column | None]]:
        """Each cell with its title, where the row has as many as the table."""
        titles = self.header.titles if self.header else ()
        return zip(cells, titles if len(titles) == len(cells) else [None] * len(cells), strict=True)

    def _doubtful(self, text: str, names: Sequence[Token]) -> list[ListedRate] | None:
        """A row of a table with a column that is not understood."""
        if self.header is None or not (names or self.header.cells_of(text)):
            return None
        cells = self.header.cells_of(text) or []
        has_number = any(token.kind == "number" for token in tokens_of(text))
        if not (has_number or any(map(PLAIN_NUMBER.fullmatch, cells))):
            return []
        self.doubted.add(self.tables)
        return [ListedRate("", None, problem="columns_unclear", table=self.tables)]

    def _listed(
        self,
        text: str,
        values: list[Value],
        cipher: CipherName | None,
        mac: str | None,
        *,
        mean: bool,
    ) -> list[ListedRate] | None:
        """The rates among the values of a row."""
        self.last_cipher = cipher or self.last_cipher
        if not has_number(values):
            return [] if any(value.kind == "blank" for value in values) else None
        header = self.header or Header((), None)
        if header.columns and len(header.columns) == len(values):
            rates = by_column(header, values)
        else:
            rates = by_shape(values, header, text)
        if not rates and header.columns and any(value.unit for value in values):
            self.doubted.add(self.tables)
            return [ListedRate("", None, problem="columns_unclear", table=self.tables)]
        if not rates:
            return self._without_unit(values, cipher, mac)
        self.with_unit = True
        # Rows of several rates without titles are one table, too: all are tries, or none.
        table = self.tables if header.columns else -1 - self.tables if len(rates) > 1 else 0
        if table < 0 and any(rate.problem for rate in rates):
            self.doubted.add(table)
        return [
            rate._replace(
                cipher=rate.cipher or cipher,
                mac=rate.mac or mac,
                mean=rate.mean or mean,
                table=table,
                remark=header.settings_of(values),
            )
            for rate in rates
        ]

    def _without_unit(
        self, values: list[Value], cipher: CipherName | None, mac: str | None
    ) -> list[ListedRate] | None:
        """A number whose unit is missing where the other rows have one: cut, or lost."""
        if not self.with_unit or cipher is None:
            return None
        number = next(value.text for value in values if is_number(value))
        return [ListedRate(number, None, cipher, mac, problem="damaged")]


def _remarked(one: Listed, remark: str | None, text: str) -> Listed:
    if isinstance(one, ListedName):
        said = text if remark is None else remark
        return replace(one, remark=said, amount=amount_said(text))
    return (
        one._replace(remark=one.remark + remark) if isinstance(one, ListedRate) and remark else one
    )


def _is_words(cell: str) -> bool:
    return values_of(tokens_of(cell)) is None


def _is_rate_only(text: str) -> bool:
    """Whether a line has no words but those around a rate: "Speed: 308 MB/s"."""
    return len(text) <= SHORT_LINE and set(_WORD.findall(text.lower())) <= _RATE_WORDS


def _has_few_digits(text: str) -> bool:
    return sum(map(text.count, "0123456789")) <= FEW_DIGITS


def _others(tokens: Iterable[Token]) -> list[Token]:
    return [token for token in tokens if not token.mac]


def _is_index(values: list[Value]) -> bool:
    """ "1." or "12)" before the name."""
    return not values or (len(values) == 1 and values[0].text.isdecimal() and not values[0].unit)


def _heading(tokens: Sequence[Token], cipher: CipherName, mac: str | None) -> ListedName:
    attempt = any(token.kind == "try" for token in tokens)
    bare = len([token for token in tokens if not is_filler(token)]) == 1 and not attempt
    return ListedName(cipher, mac, attempt, bare)


def _stand_apart(cells: Sequence[str]) -> bool:
    """Whether names and numbers stand in cells of their own: else commas are decimal marks."""
    return all(
        len(tokens) == 1
        for tokens in map(tokens_of, cells)
        if any(token.cipher or token.mac for token in tokens)
    )
