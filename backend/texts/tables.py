"""Read tables by hand (Markdown, CSV, TSV, aligned columns) by their header."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from texts.ciphers import ONLY_SSH, mac_name, openssl_cipher, ssh_cipher
from texts.events import Event, TableCell, TableRow
from texts.lines import Line
from texts.numbers import RATE, Unit, number_of, rate_of, size_of, unit_within

CELLS_LIMIT = 60
_RULE = re.compile(r"[\s|:+=_-]+")
_ALIGNED = re.compile(r"\s{2,}")
_SIZE_TITLE = re.compile(r"(\d{1,6})\s?(?:(k)i?)?(?:b|bytes?)?", re.I)
_VALUE = re.compile(r"\d{1,20}[.,]\d{1,20}k?")
_RATE_WITHIN = re.compile(RATE, re.I)
_APPROXIMATE = re.compile(r"^[~≈<>]|\b(?:about|approx|ca)\b|[-–~]\s?\d", re.I)
_NAME_CELL = re.compile(
    r"[`*\"' ]{0,4}(?P<name>[\w@.-]{2,40}(?: (?:cbc|ede3))?)[`*\"' ]{0,4}(?:[+(/（,].{0,60})?", re.I
)
_NOTE = re.compile(r"\s*[(\[][^()\[\]]{0,60}[)\]]$")
_IGNORED = re.compile(
    r"^[#№]$|%|\b(?:no|nr|rank|ratio|diff|delta|change|relative|factor|speed-?up|gain|loss|overhead|cpu|load|time"
    r"|real|user|sys|elapsed|seconds?|secs?|min|max|stdev|deviation|stddev|date|notes?|comment|remarks?|size|key"
    r"|bits?|mode|status|type|link|limit|\+/-|ops|cycles|c/b|latency|memory|rss|n)\b",
    re.I,
)
_MACHINE = re.compile(
    r"(?:host(?:name)?|machine|server|node|system|device|board|cpu|computer|box|rechner|maschine)"
    r"(?: ?name)?"
)
_MEAN = re.compile(r"\b(?:average|avg|mean|median)\b", re.I)
_TRY = re.compile(r"#?\d{1,2}|(?:run|try|test|round|pass)\s?#?\d{1,2}", re.I)
_MEGABYTES = Unit(1e6, 2.0**20)
_NO_MACHINE = re.compile(r"%|\b(?:ratio|diff|difference|delta|change|speed-?up|gain|loss)\b", re.I)
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
        """Return the title where it names what was measured, rather than what the numbers are."""
        return "" if self.size or _PLAIN.fullmatch(self.title) else self.title[:100]


HEADERS_TRIED = 2
"""Lines at the start of a block that may be its header: the first, or the one below a title."""


def events_of_tables(lines: Sequence[Line]) -> dict[int, tuple[Event, ...]]:
    """Return the events of lines that are rows of tables, by the position of the line."""
    events: dict[int, tuple[Event, ...]] = {}
    at = 0
    while at < len(lines):
        split = _splitter(lines[at].text)
        if split is None:
            at += 1
            continue
        end = at + 1
        while end < len(lines) and _splitter(lines[end].text) is split:
            end += 1
        for start in range(at, min(at + HEADERS_TRIED, end - 1)):
            found = _table(lines, start, end, split)
            if found:
                events |= {start: (), **found}
                break
        at = end
    return events


def _table(
    lines: Sequence[Line], start: int, end: int, split: Callable[[str], list[str]]
) -> dict[int, tuple[Event, ...]]:
    """Read lines with one delimiter as a table if the first can be its header."""
    header = split(lines[start].text)
    if not _may_head(header):
        return {}
    if split is _aligned and lines[start].text[:2] == "  ":
        header = ["", *header]
    rows = [(index, split(lines[index].text)) for index in range(start + 1, end)]
    rows = [(index, cells) for index, cells in rows if len(cells) == len(header)]
    above = lines[max(start - 2, 0) : start]
    caption = next((line.text for line in reversed(above) if line.text), "")
    return dict(_rows(header, rows, caption))


def _splitter(text: str) -> Callable[[str], list[str]] | None:
    """Return what splits a line of a table into cells, by the first delimiter that it has."""
    if "|" in text:
        return _piped
    for delimiter, split in _DELIMITERS.items():
        if delimiter in text:
            return split
    return _aligned if "  " in text.lstrip() else None


def _by(delimiter: str) -> Callable[[str], list[str]]:
    return lambda line: [cell.strip() for cell in line.split(delimiter)]


_DELIMITERS = {delimiter: _by(delimiter) for delimiter in ("\t", ";", ",")}


def _piped(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _aligned(line: str) -> list[str]:
    return _ALIGNED.split(line.strip())


def _may_head(cells: Sequence[str]) -> bool:
    """Tell whether cells may be titles: several, and none of them is a rate."""
    if not 2 <= len(cells) <= CELLS_LIMIT or any(len(cell) > 60 for cell in cells):
        return False
    if any(_VALUE.fullmatch(cell) or rate_of(cell) for cell in cells):
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
        for index, cells in body:
            yield from _machine_row(index, cells, names, header, caption)
        return
    place = _cipher_column(body, len(header))
    if place is None or names[place]:
        return
    if (
        all(len(cells) == 2 and rate_of(cells[1 - place]) for _, cells in body)
        and not header[place]
    ):
        return
    columns = [_column(title, caption) for title in header]
    made = [(index, _cipher_row(cells, place, columns)) for index, cells in body]
    if any(row for _, row in made):
        for index, row in made:
            if row:
                yield index, (TableRow(row),)
        for index, cells in rows:
            if _RULE.fullmatch("|".join(cells)):
                yield index, ()


def _cipher_column(body: Sequence[tuple[int, list[str]]], count: int) -> int | None:
    for place in range(min(count, 4)):
        if any(_cipher(cells[place]) for _, cells in body):
            return place
    return None


def _cipher(text: str) -> tuple[str, str] | None:
    """Return the cipher that a cell names, and the tool that calls it so."""
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
    setting = "compression" if "compress" in lower else ""
    setting = "mac" if re.fullmatch(r"macs?", lower) else setting
    setting = "machine" if _MACHINE.fullmatch(lower) else setting
    number = int(size[1]) * (1024 if size[2] else 1) if size and int(size[1]) >= 8 else None
    unit = unit_within(title) or unit_within(caption[-80:])
    return Column(
        title, unit, number, setting, bool(_IGNORED.search(title)) and not unit_within(title)
    )


def _cipher_row(
    cells: Sequence[str], place: int, columns: Sequence[Column]
) -> tuple[TableCell, ...]:
    found = _cipher(cells[place])
    if found is None:
        return ()
    settings: dict[str, Any] = {}
    if beside := re.search(r"\+\s?((?:hmac|umac)-[\w@.-]+)", cells[place]):
        settings["mac"] = mac_name(beside[1])
    for cell, column in zip(cells, columns, strict=True):
        if column.setting == "compression":
            settings["compression"] = bool(re.search(r"-C|yes|on|ja|oui|zlib|✓|true", cell))
        elif column.setting == "machine":
            settings["machine"] = cell
        elif column.setting == "mac" and mac_name(cell):
            settings["mac"] = mac_name(cell)
    made = []
    kept = [column for column in columns if not column.setting and not column.is_ignored]
    has_tries = any(column.is_try for column in kept)
    for index, (cell, column) in enumerate(zip(cells, columns, strict=True)):
        is_mean = has_tries and bool(_MEAN.search(column.title))
        if index != place and column in kept and not is_mean:
            made += _cell(found, cells[place], cell, column, settings)
    return tuple(made)


def _cell(
    found: tuple[str, str], label: str, text: str, column: Column, settings: Mapping[str, Any]
) -> list[TableCell]:
    rate, name, tool = _rate(text, column.unit), *found
    has_unit = rate is not None
    if rate is None and column.is_try:
        rate = _rate(text, _MEGABYTES)
    is_openssl = column.size is not None and tool != "ssh"
    if rate is None or (tool == "openssl" and not is_openssl):
        return []
    number, unit = rate
    doubt = "" if has_unit else "no unit in its table"
    doubt = "approximate or a range" if _APPROXIMATE.search(text) else doubt
    doubt = doubt or ("" if unit.clear else "bits or bytes unclear")
    doubt = doubt or _beside_rate(text)
    if is_openssl:
        name = openssl_cipher(label.strip("`*\"' ")) or name
        machine = settings.get("machine", "")[:100]
        return [TableCell(name, label, number, unit, machine, column.size, {}, doubt)]
    own = {key: value for key, value in settings.items() if key != "machine"}
    machine = " / ".join(filter(None, (settings.get("machine", "")[:100], column.machine)))
    return [TableCell(name, label, number, unit, machine, None, own, doubt)]


def _rate(text: str, unit: Unit | None) -> tuple[float, Unit] | None:
    plain = _NOTE.sub("", text).strip("`*~≈<> ")
    rates = _RATE_WITHIN.findall(plain)
    if len(rates) == 1 and (rate := rate_of(rates[0])):
        return rate
    if unit is None or not re.fullmatch(r"[\d.,']{1,20}", plain):
        return None
    number = number_of(plain)
    return None if number is None or number <= 0 else (number, unit)


def _beside_rate(text: str) -> str:
    """Return a doubt where a cell holds more than its rate: a time, a remark."""
    plain = _NOTE.sub("", text).strip("`*~≈<> ")
    more = _RATE_WITHIN.sub("", plain, count=1)
    return "more than a rate in its cell" if more != plain and re.search(r"\w", more) else ""


def _machine_row(
    index: int,
    cells: Sequence[str],
    names: Sequence[tuple[str, str] | None],
    header: Sequence[str],
    caption: str,
) -> Iterator[tuple[int, tuple[Event, ...]]]:
    """Yield a row whose columns are ciphers: its first cell names the machine."""
    machine = cells[0] if names[0] is None else ""
    if _NO_MACHINE.search(machine):
        return
    unit = unit_within(header[0]) or unit_within(caption[-80:])
    made = []
    for cell, name, title in zip(cells, names, header, strict=True):
        rate = _rate(cell, unit) if name and name[1] != "openssl" else None
        if name and rate:
            doubt = _beside_rate(cell)
            made.append(TableCell(name[0], title, *rate, machine[:100], doubt=doubt))
    if made:
        yield index, (TableRow(tuple(made)),)


def amount_in(text: str) -> int | None:
    """Return the one amount of bytes that words name: "100 MiB transfer"."""
    sizes = {
        size_of(found) for found in re.findall(r"\b\d[\d.]{0,8}\s?[kmgt]i?b\b(?!/|ps)", text, re.I)
    }
    return sizes.pop() if len(sizes) == 1 else None
