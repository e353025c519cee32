"""Parse handwritten tables (Markdown, CSV, TSV, aligned columns) by their header."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from texts.ciphers import ONLY_SSH, mac_name, openssl_cipher, ssh_cipher
from texts.events import Event, TableCell, TableRow
from texts.lines import Line
from texts.numbers import DURATION, RATE, Unit, number_of, rate_of, size_of, unit_of, unit_within
from texts.words import aes_in, block_size_in

CELLS_LIMIT, ROWS_TRIED = 60, 200
_RULE = re.compile(r"[\s|:+=_-]+")
_PIPE = re.compile(r"(?<!\\)\|")
_ALIGNED = re.compile(r"\s{2,}")
_SIZE_TITLE = re.compile(r"(\d{1,6}|\d{1,2},\d{3})\s?(?:(k)i?)?(?:b|bytes?)?", re.I)
_VALUE = re.compile(r"\d{1,20}[.,]\d{1,20}k?")
_RATE_WITHIN = re.compile(RATE, re.I)
_APPROXIMATE = re.compile(r"^[~≈<>]|\b(?:about|approx|ca)\b|[-–~]\s?\d", re.I)
_NAME_CELL = re.compile(
    r"[`*\"' ]{0,4}(?P<name>[\w@.-]{2,40}(?: (?:cbc|ede3))?)[`*\"' ]{0,4}"
    r"(?:[+(/（,].{0,60}|\d{1,5}[ -]bytes?)?",
    re.I,
)
_LISTED = re.compile(
    r"[\s*•-]{0,8}([\w@.-]{3,40}(?: \([^()]{1,30}\))?)(?: {0,20}[:=-] {1,20}| )(\d[\d.,]{0,15})"
)
"""A name and a number; the unit may be above the list."""
_NOTE = re.compile(r"\s*[(\[][^()\[\]]{0,60}[)\]]$")
_IGNORED = re.compile(
    r"^[#№]$|%|\b(?:no|nr|rank|ratio|diff|delta|change|relative|factor|speed-?up|gain|loss|overhead|cpu|load|time"
    r"|real|user|sys|elapsed|seconds?|secs?|min|max|stdev|deviation|stddev|date|notes?|comment|remarks?|size|key"
    r"|bits?|mode|status|type|link|limit|\+/-|ops|cycles|c/b|latency|memory|rss|n)\b",
    re.I,
)
_SETTINGS = {
    "compression": re.compile("compress"),
    "mac": re.compile(r"^macs?$"),
    "unit": re.compile(r"units?$"),
    "size": re.compile(
        r"^(?:(?:block|chunk|buffer)(?:[ _-]?size)?s?|bytes)(?: ?\((?:in )?bytes\))?$"
    ),
    "machine": re.compile(
        r"^(?:host(?:name)?|machine|server|node|system|device|board|cpu|computer|box|rechner|maschine)"
        r"(?: ?name)?$"
    ),
}
_MEAN = re.compile(r"\b(?:average|avg|mean|median)\b", re.I)
_TRY = re.compile(r"#?\d{1,2}|(?:run|try|test|round|pass)\s?#?\d{1,2}", re.I)
_MEGABYTES = Unit(1e6, 2.0**20)
_PLAIN = re.compile(
    r"(?:\b(?:speed|rate|throughput|bandwidth|performance|result|results|value|average|avg|mean|median|try|run"
    r"|test|tries|transfer|in|per|second|sec|s|of|the|ssh|scp|openssl|[kmgt]i?b(?:ytes?)?|[kmgt]?bits?|mbps|gbps"
    r"|geschwindigkeit|durchsatz|débit|vitesse|velocidad|скорость|速度|mib_per_s|mb_per_s)\b|(?<![\w.])\d{1,2}(?![\w.])|[\s/().:,_#-])*",
    re.I,
)


class Column(NamedTuple):
    title: str
    unit: Unit | None
    size: int | None
    setting: str
    is_ignored: bool

    @property
    def is_try(self) -> bool:
        return bool(_TRY.fullmatch(self.title.strip()))

    @property
    def machine(self) -> str:
        """Return the title if it names a machine or setting instead of a unit."""
        return "" if self.size or _PLAIN.fullmatch(self.title) else self.title[:100]


def events_of_tables(lines: Sequence[Line]) -> dict[int, tuple[Event, ...]]:
    """Return the events of rows of tables, by the index of the line."""
    events: dict[int, tuple[Event, ...]] = {}
    at = 0
    while at < len(lines):
        split = _splitter(lines[at].text)
        if split is None:
            at += 1
            continue
        end = at + 1
        if split in _DELIMITERS.values() and end < len(lines) and not lines[end].text:
            end += 1  # below its header
        while end < len(lines) and _splitter(lines[end].text) is split:
            end += 1
        rows = [(index, split(lines[index].text)) for index in range(at, end) if lines[index].text]
        while len(rows) > 1 and _RULE.fullmatch(lines[rows[0][0]].text):
            events[rows.pop(0)[0]] = ()
        caption = _caption(lines, at)
        if split is _listed:
            events |= _rows(("", ""), rows, caption)
        elif len(rows) > 1 and (table := _table(rows, caption, lines[at].text[:2] == "  ")):
            events |= {rows[0][0]: (), **table}
        at = end
    return events


def _table(
    rows: Sequence[tuple[int, list[str]]], caption: str, is_indented: bool
) -> dict[int, tuple[Event, ...]]:
    """Read lines with one delimiter as a table if the first can be its header."""
    header = rows[0][1]
    if not _may_head(header):
        return {}
    if is_indented and len(header) < len(rows[1][1]):
        header = ["", *header]
    body = [(index, cells) for index, cells in rows[1:] if len(cells) == len(header)]
    return dict(_rows(header, body, caption))


def _caption(lines: Sequence[Line], start: int) -> str:
    """Return the last words above a table, without lines that contain a rate."""
    above = [line.text[-80:] for line in lines[max(start - 4, 0) : start] if line.text]
    return " ".join(text for text in above[-2:] if not _RATE_WITHIN.search(text))


def _splitter(text: str) -> Callable[[str], list[str]] | None:
    """Return the function that splits a row of a table at its first known delimiter."""
    if text[-1:].isdigit() and _LISTED.fullmatch(text):
        return _listed
    if "|" in text or text.lstrip()[:2] in ("+-", "+="):
        return _piped
    is_aligned = "  " in text.strip() and ",  " not in text
    for delimiter, split in _DELIMITERS.items():
        if delimiter in text and not (delimiter == "," and is_aligned):
            return split
    return _aligned if is_aligned else None


def _by(delimiter: str) -> Callable[[str], list[str]]:
    return lambda line: [
        cell.strip() for cell in next(csv.reader([line.strip(" ")], delimiter=delimiter))
    ]


_DELIMITERS = {delimiter: _by(delimiter) for delimiter in ("\t", ";", ",")}


def _piped(line: str) -> list[str]:
    return [cell.strip() for cell in _PIPE.split(line.strip().removeprefix("|").removesuffix("|"))]


def _listed(line: str) -> list[str]:
    match = _LISTED.fullmatch(line)
    return list(match.groups()) if match else []


def _aligned(line: str) -> list[str]:
    return _ALIGNED.split(line.strip())


def _may_head(cells: Sequence[str]) -> bool:
    """Return True if cells may be titles: at least two, and none of them a rate."""
    if not 2 <= len(cells) <= CELLS_LIMIT or any(len(cell) > 60 for cell in cells):
        return False
    if cells[0][:2] == "$ " or any(_VALUE.fullmatch(cell) or rate_of(cell) for cell in cells):
        return False
    return any(cells[1:])


def _rows(
    header: Sequence[str], rows: Sequence[tuple[int, list[str]]], caption: str
) -> Iterator[tuple[int, tuple[Event, ...]]]:
    body = [(index, cells) for index, cells in rows if not _RULE.fullmatch("|".join(cells))]
    if not body:
        return
    names = [_cipher(title) for title in header]
    if sum(name is not None for name in names) >= 2:
        unit = unit_within(header[0]) or unit_within(caption)
        for index, cells in body:
            if row := _machine_row(cells, names, unit):
                yield index, (TableRow(row),)
        return
    cipher_at = _cipher_column(body, len(header))
    if cipher_at is None or names[cipher_at]:
        return
    columns = [_column(title, caption) for title in header]
    parsed = [(index, _cipher_row(cells, cipher_at, columns)) for index, cells in body]
    yield from ((index, (TableRow(row),)) for index, row in parsed if row)
    if any(row for _, row in parsed):
        kept = {index for index, _ in body}
        yield from ((index, ()) for index, _ in rows if index not in kept)


def _cipher_column(body: Sequence[tuple[int, list[str]]], count: int) -> int | None:
    """Return the column that names most ciphers in the first rows."""
    columns = range(min(count, 16))
    named = [sum(_cipher(row[at]) is not None for _, row in body[:ROWS_TRIED]) for at in columns]
    return named.index(max(named)) if any(named) else None


def _cipher(text: str) -> tuple[str, str] | None:
    """Return the cipher that a cell names, and the tool that uses this name."""
    match = _NAME_CELL.fullmatch(text)
    if match is None:
        return None
    plain = match["name"]
    if name := ssh_cipher(plain):
        return name, "ssh" if ONLY_SSH.fullmatch(plain.lower()) or not openssl_cipher(plain) else ""
    return (name, "openssl") if (name := openssl_cipher(plain)) else None


def _column(title: str, caption: str) -> Column:
    size = _SIZE_TITLE.fullmatch(title.strip())
    lower = title.lower()
    setting = next((name for name, sign in _SETTINGS.items() if sign.search(lower)), "")
    count = int(size[1].replace(",", "")) if size else 0
    number = count * (1024 if size and size[2] else 1) if count >= 8 else None
    unit = unit_within(title) or unit_within(caption)
    return Column(
        title, unit, number, setting, bool(_IGNORED.search(title)) and not unit_within(title)
    )


def _cipher_row(
    cells: Sequence[str], cipher_at: int, columns: Sequence[Column]
) -> tuple[TableCell, ...]:
    cipher = _cipher(cells[cipher_at])
    if cipher is None:
        return ()
    settings: dict[str, Any] = {}
    if aes := aes_in(cells[cipher_at].rpartition("(")[2]):
        settings["acceleration"] = {"off": "masked", "on": "default"}.get(aes, "")
    if mac := re.search(r"\+\s?((?:hmac|umac)-[\w@.-]+)", cells[cipher_at]):
        settings["mac"] = mac_name(mac[1])
    size, unit = block_size_in(cells[cipher_at]), None
    for cell, column in zip(cells, columns, strict=True):
        if column.setting == "unit":
            unit = unit_of(cell)
        elif column.setting == "size":
            size = block_size_in(f"{cell} bytes") or block_size_in(cell)
        elif column.setting == "compression":
            settings["compression"] = bool(re.search(r"-C|yes|on|ja|oui|zlib|✓|true", cell))
        elif column.setting == "machine" and cell[-1:] != "%":
            settings["machine"] = cell
        elif column.setting == "mac" and mac_name(cell):
            settings["mac"] = mac_name(cell)
    table_cells = []
    kept = [column for column in columns if not column.setting and not column.is_ignored]
    has_tries = any(column.is_try for column in kept)
    for index, (cell, column) in enumerate(zip(cells, columns, strict=True)):
        is_mean = has_tries and bool(_MEAN.search(column.title))
        if index != cipher_at and column in kept and not is_mean:
            named = column._replace(size=column.size or size, unit=column.unit or unit)
            table_cells += _cell(cipher, cells[cipher_at], cell, named, settings)
    return tuple(table_cells)


def _cell(
    cipher: tuple[str, str], label: str, text: str, column: Column, settings: Mapping[str, Any]
) -> list[TableCell]:
    rate, name, tool = _rate(text, column.unit), *cipher
    has_unit = rate is not None
    if rate is None and column.is_try:
        rate = _rate(text, _MEGABYTES)
    is_openssl = column.size is not None and tool != "ssh"
    if rate is None or (tool == "openssl" and not is_openssl):
        return []
    number, unit = rate
    caveat = "" if has_unit else "no unit in its table"
    caveat = _rate_caveat(text) or ("" if unit.clear else "bits or bytes unclear") or caveat
    if settings.get("acceleration") == "":
        caveat = "unclear whether AES was off"
    if is_openssl:
        plain = _NAME_CELL.fullmatch(label)
        name = (plain and openssl_cipher(plain["name"])) or name
        machine = settings.get("machine", "")[:100]
        own = {key: value for key, value in settings.items() if key == "acceleration" and value}
        return [TableCell(name, number, unit, machine, column.size, own, caveat)]
    own = {key: value for key, value in settings.items() if key != "machine" and value != ""}
    machine = " / ".join(filter(None, (settings.get("machine", "")[:100], column.machine)))
    return [TableCell(name, number, unit, machine, None, own, caveat)]


def _rate(text: str, unit: Unit | None) -> tuple[float, Unit] | None:
    plain = _NOTE.sub("", text).strip("`*~≈<> ")
    rates = _RATE_WITHIN.findall(plain)
    if len(rates) == 1 and (rate := rate_of(rates[0])):
        return rate
    if unit is None or not re.fullmatch(r"[\d.,']{1,20}", plain):
        return None
    number = number_of(plain)
    return None if number is None else (number, unit)


def _rate_caveat(text: str) -> str:
    """Return a caveat for a cell that holds more or less than one rate: a range, a remark."""
    plain = _NOTE.sub("", text).strip("`*~≈<> ")
    more = _RATE_WITHIN.sub("", plain, count=1)
    has_words = more != plain and re.search(r"\w", re.sub(DURATION, "", more))
    return "not one rate in its cell" if has_words or _APPROXIMATE.search(text) else ""


def _machine_row(
    cells: Sequence[str], names: Sequence[Any], unit: Unit | None
) -> tuple[TableCell, ...]:
    machine = cells[0][:100] if names[0] is None else ""
    table_cells = []
    for cell, name in zip(cells, names, strict=True):
        rate = _rate(cell, unit) if name and name[1] != "openssl" else None
        if rate:
            table_cells.append(TableCell(name[0], *rate, machine, caveat=_rate_caveat(cell)))
    return tuple(table_cells)


def amount_in(text: str) -> int | None:
    sizes = {
        size_of(size) for size in re.findall(r"\b\d[\d.]{0,8}\s?[kmgt]i?b\b(?!/|ps)", text, re.I)
    }
    return sizes.pop() if len(sizes) == 1 else None
