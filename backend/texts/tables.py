import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

from cipherspeed.types import Acceleration
from texts.ciphers import ONLY_SSH, is_other_algorithm, mac_name, openssl_cipher, ssh_cipher
from texts.events import Event, TableCell, TableRow
from texts.lines import Line
from texts.numbers import DURATION, RATE, Unit, number_with, rate_of, unit_of, unit_within
from texts.words import Setting, aes_in, block_size_in, is_name

CELLS_LIMIT, ROWS_TRIED, LINES_ABOVE = 60, 200, 40
_RULE = re.compile(r"[\s|:+=_-]+|\{\|.*|\|\}|\|\+.*")  # also around a table of MediaWiki
_RULED = re.compile(r"(?=.*(?:--|==))[\s|:+=-]+")
_NO_CSV = re.compile(  # only decimal commas and those of thousands
    r"\s*(?:(?:[^\s,]+|[^\s,\w]?\d{1,18}(?:,\d{3})*,\d{1,18}[^\s,]*)(?:\s+|$))*"
)
_PIPE = re.compile(r"(?<!\\)\|")
_ALIGNED = re.compile(r"\s{2,}")
_SIZE_TITLE = re.compile(r"(\d{1,6}|\d{1,2},\d{3})\s?(?:(k)i?)?(?:b|bytes?)?", re.I)
_VALUE = re.compile(r"\d{1,20}[.,]\d{1,20}k?")
_RATE_WITHIN = re.compile(RATE, re.I)
_APPROXIMATE = re.compile(r"^[~≈<>]|\b(?:about|approx|ca)\b|[-–~]\s?\d", re.I)
_CIPHER_WITHIN = re.compile(r"(?<![\w@-])(?:aes[\w-]+|chacha20[\w-]*|arcfour\d*)(?:@[\w.]+)?", re.I)
_NAME_CELL = re.compile(
    r"[`*\"' ]{0,4}(?P<name>[\w@.-]{2,40}(?: (?:cbc|ede3))?)[`*\"' ]{0,4}"
    r"(?:(?:[+(/（,]|[hu]mac-).{0,60}|\d{1,5}[ -]bytes?)?",
    re.I,
)
_LISTED = re.compile(
    r"[\s*•-]{0,40}(\d{2,5} bytes|[\w@.-]{3,40}(?: (?:\([^()]{1,30}\)|[hu]mac-[\w@.-]{1,40}))?)"
    r"(?: {0,20}[:=-] {1,20}| )(\d[\d.,]{0,15}|(?<=s: )\d.{2,20}/s)"
)
_NAMED_ABOVE = re.compile(r"(?:[a-z]+\d*-|[a-z]+[\d-])[\w-]{2,30}|blowfish|camellia", re.I)
_NOTE = re.compile(r"\s*[(\[][^()\[\]]{0,60}[)\]]$")
_RATIO = r"\b(?:ratio|diff|delta|change|relative|factor|speed-?up|gain|loss|overhead)\b"
_IGNORED = re.compile(
    rf"^[#№]$|%|[(\[](?:s|secs?|seconds)[)\]]$|zeit|temps|tiempo|время|时间|{_RATIO}|\b(?:no|nr|t|rank|cpu|load|time"
    r"|real|user|sys|elapsed|seconds?|secs?|min|max|stdev|deviation|stddev|date|notes?|comment|remarks?|size|key"
    r"|bits?|mode|status|type|link|limit|\+/-|ops?|ns|us|cycles|c/b|latency|memory|rss|n)\b",
    re.I,
)
_TRY = re.compile(r"(?:try|run|test|pass|versuch|lauf|essai|#) ?#?\d{1,2}", re.I)
_SETTINGS = {
    "compression": re.compile("compress"),
    "mac": re.compile(r"^macs?$"),
    "aes": re.compile(r"^(?:(?:hw|hardware)[ _-]?)?aes(?:[ _-]?(?:ni|hw|accel\w*|support))?$"),
    "unit": re.compile(r"units?$"),
    "size": re.compile(
        r"^(?:(?:block|chunk|buffer|input|message|packet)(?:[ _-]?size)?s?|bytes)"
        r"(?: ?\((?:in )?bytes\))?$|^sizes? \((?:in )?bytes\)$"
    ),
    "machine": re.compile(
        r"^(?:host(?:name)?|machine|server|node|system|device|board|cpu|computer|box|rechner|maschine)"
        r"(?: ?name)?$"
    ),
}
_ACCELERATIONS: dict[str, Acceleration] = {"off": "masked", "on": "default"}
_ANSWER = re.compile(
    r"(?:(?P<on>yes|1|true|y|✓|ja|oui|with|w/|mit|avec|on|enabled|default|native)"
    r"|no|0|false|n|-|✗|nein|non|none|without|w/o|ohne|sans|off|disabled|masked)",
    re.I,
)
_MEGABYTES, _THOUSANDS = Unit(1e6, 2.0**20), Unit(1e3, 1e3)
_MEMBER = re.compile(r"\"([\w ./-]{1,40})\": ?\"?([^\"{}\[\],]{1,100})")  # of JSON
_PAIR = re.compile(r"\d[\d.]{0,15} ?/ ?\d[\d.]{0,15}")
_PLAIN = re.compile(
    r"(?:\b(?:speed|rate|throughput|bandwidth|performance|result|results|value|average|avg|mean|median|try|run"
    r"|test|tries|transfer|in|per|second|sec|s|of|the|ssh|scp|openssl|[kmgt]i?b(?:ytes?)?|[kmgt]?bits?|mbps|gbps"
    r"|geschwindigkeit|durchsatz|débit|vitesse|velocidad|скорость|速度|\w{2,5}_per_s(?:ec)?)\b|(?<![\w.])\d{1,2}(?![\w.])|[\s/().:,_#-])*",
    re.I,
)


class Column(NamedTuple):
    title: str
    unit: Unit | None
    size: int | None
    setting: str
    is_ignored: bool
    other_unit: Unit | None

    @property
    def machine(self) -> str:
        is_setting = self.size or self.acceleration or "ompress" in self.title
        return "" if is_setting or _PLAIN.fullmatch(self.title) else self.title[:100]

    @property
    def acceleration(self) -> Acceleration | None:
        return _ACCELERATIONS.get(aes_in(self.title))


class Around:
    def __init__(self, above: Sequence[Line], below: Sequence[Line] = ()) -> None:
        self.lines = [line.text for line in above]
        notes = (line.text for line in below if line.text[-1:] != ":")
        self.below = " ".join(text for text in notes if not _RATE_WITHIN.search(text))

    @cached_property
    def caption(self) -> str:
        near = [line[-300:] for line in self.lines[-5:] if not _RULE.fullmatch(line or "-")]
        return " ".join(text for text in near[-2:] if not _RATE_WITHIN.search(text))

    @cached_property
    def unit(self) -> Unit | None:
        lines = (line for line in self.lines[::-1] if not _RATE_WITHIN.search(line))
        return next(filter(None, map(unit_within, (*lines, self.below))), None)

    @cached_property
    def cipher(self) -> str:
        for line in self.lines[::-1]:
            named = {openssl_cipher(word) for word in _NAMED_ABOVE.findall(line[-500:])} - {None}
            if named:
                return str(named.pop()) if len(named) == 1 else ""
        return ""


def events_of_tables(lines: Sequence[Line]) -> dict[int, tuple[Event, ...]]:
    events: dict[int, tuple[Event, ...]] = {}
    at = end = 0
    header: tuple[object, tuple[int, list[str]]] | None = None
    while at < len(lines):
        text = lines[at].text
        if members := dict(_MEMBER.findall(text)) if text.lstrip()[:2] == '{"' else {}:
            events |= _rows(list(members), [(at, list(members.values()))], Around(lines[at:at]))
        split = None if members else _splitter(text)
        if split is None:
            at += 1
            continue
        titles = [line.text.strip() for line in lines[end:at]]
        is_continued = any(titles) and all(not title or _openssl_name(title) for title in titles)
        end = at + 1
        while split in _DELIMITERS.values() and lines[end : end + 1] and not lines[end].text:
            end += 1  # below its header
        while end < len(lines) and (
            _splitter(lines[end].text) is split
            or (split in (_aligned, _piped) and _RULED.fullmatch(lines[end].text))
        ):
            end += 1
        rows = [(index, split(lines[index].text)) for index in range(at, end) if lines[index].text]
        if split is _DELIMITERS["\t"]:
            for _, cells in rows:
                cells += [""] * (len(rows[0][1]) - len(cells))  # the last cells may be empty
        while len(rows) > 1 and _RULE.fullmatch(lines[rows[0][0]].text):
            events[rows.pop(0)[0]] = ()
        counts = [len(cells) for _, cells in rows]
        if split is _piped:
            counts = [lines[index].text.lstrip()[:1] in "|!^+" for index, _ in rows]
        if split is not _aligned and counts[1:3] == [counts[-1]] * 2 != counts[:2]:
            at = rows.pop(0)[0] + 1  # a sentence
        if is_continued and header and header[0] is split and not _may_head(rows[0][1]):
            rows.insert(0, header[1])
        header = (split, rows[0])
        around = Around(lines[max(at - LINES_ABOVE, 0) : at], lines[end : end + 2])
        if split is _listed:
            events |= _rows(("size", "rate"), rows, around)
        elif len(rows) > 1 and (table := _table(rows, around, lines[at].text[:2] == "  ")):
            events |= {rows[0][0]: (), **table}
        at = end
    return events


def _table(
    rows: Sequence[tuple[int, list[str]]], around: Around, is_indented: bool
) -> dict[int, tuple[Event, ...]]:
    header = rows[0][1]
    if len(header) == 2 and header[1].replace(".", "").isdigit() and _cipher(header[0]):
        return dict(_rows(("size", "rate"), rows, around))
    if not _may_head(header):
        return {}
    if header[-1][0:1] == "(" and len(header) == len(rows[1][1]) + 1:
        header = [" ".join(header[:: len(header) - 1]), *header[1:-1]]  # a unit behind all titles
    if is_indented and len(header) < len(rows[1][1]):
        header = ["", *header]
    body = [(index, cells) for index, cells in rows[1:] if len(cells) == len(header)]
    return dict(_rows(header, body, around))


def _splitter(text: str) -> Callable[[str], list[str]] | None:
    if (text[-1:].isdigit() or text[-2:] == "/s") and _LISTED.fullmatch(text):
        return _listed
    if "|" in text or text.lstrip()[:2] in ("+-", "+=", "! ", "^ "):
        return _piped
    is_aligned = "  " in text.strip() and ",  " not in text
    for delimiter, split in _DELIMITERS.items():
        if delimiter in text and not (delimiter == "," and (is_aligned or _NO_CSV.fullmatch(text))):
            return split
    return _aligned if is_aligned else None


def _by(delimiter: str) -> Callable[[str], list[str]]:
    reader = partial(csv.reader, delimiter=delimiter, skipinitialspace=True)
    return lambda line: [cell.strip() for cell in next(reader([line]))]


_DELIMITERS = {delimiter: _by(delimiter) for delimiter in ("\t", ";", ",")}


def _piped(line: str) -> list[str]:
    line = re.sub(r"^!|\s(?:!!|\|\|)\s|(?:^|\s)\^(?:\s|$)", "|", line.strip())
    return [cell.strip() for cell in _PIPE.split(line.removeprefix("|").removesuffix("|"))]


def _listed(line: str) -> list[str]:
    match = _LISTED.fullmatch(line)
    return list(match.groups()) if match else []


def _aligned(line: str) -> list[str]:
    return _ALIGNED.split(line.strip())


def _may_head(cells: Sequence[str]) -> bool:
    if not 2 <= len(cells) <= CELLS_LIMIT or any(len(cell) > 60 for cell in cells):
        return False
    is_code = re.match(r"\$ |.* = ", cells[0])
    if is_code or any(_VALUE.fullmatch(cell) or rate_of(cell) for cell in cells):
        return False
    return any(cells[1:]) and not (len(cells) == 2 and _RATE_WITHIN.search(cells[1]))


def _rows(
    header: Sequence[str], rows: Sequence[tuple[int, list[str]]], around: Around
) -> Iterator[tuple[int, tuple[Event, ...]]]:
    body = [(index, cells) for index, cells in rows if not _RULE.fullmatch("|".join(cells))]
    if not body:
        return
    names = [_cipher(title) for title in header]
    cipher_at = _cipher_column(body, len(header))
    size = block_size_in(around.caption) if "openssl" in around.caption else None
    caption = f"{header[cipher_at or 0]} {around.caption} {around.below[:300]}"
    other_unit = unit_within(" ".join(header)) or around.unit or _MEGABYTES
    if re.search(r"aes[- ]?ni", f"{header} {around.caption}", re.I):
        header = [_with_aes(title) for title in header]
    columns = [_column(title, caption, other_unit) for title in header]
    if sum(tries := [bool(_TRY.fullmatch(title)) for title in header]) > 1:  # and their mean
        columns = [columns[at]._replace(is_ignored=not tries[at]) for at in range(len(columns))]
    if cipher_at is None or names[cipher_at]:
        yield from _titled_rows(columns, body, around)
        return
    for at, column in enumerate(columns):
        columns[at] = column = column._replace(size=column.size or size)
        values = {row[at] for _, row in body}
        is_rate = all(_rate(value, column.unit) for value in values) and not values <= {"0", "1"}
        if column.setting in ("compression", "aes") and is_rate:
            columns[at] = column._replace(setting="")
    parsed = [(index, _cipher_row(cells, cipher_at, columns)) for index, cells in body]
    yield from ((index, (TableRow(row),)) for index, row in parsed if row)
    if any(row for _, row in parsed):
        kept = {index for index, _ in body}
        yield from ((index, ()) for index, _ in rows if index not in kept)


def _with_aes(text: str) -> str:
    answer = _ANSWER.fullmatch(text.strip())
    return f"AES-NI {'on' if answer['on'] else 'off'}" if answer else text


def _cipher_column(body: Sequence[tuple[int, list[str]]], count: int) -> int | None:
    columns = range(min(count, 16))
    named = [sum(_cipher(row[at]) is not None for _, row in body[:ROWS_TRIED]) for at in columns]
    return named.index(max(named)) if any(named) else None


def _cipher(text: str) -> tuple[str, str, str] | None:
    match = _NAME_CELL.fullmatch(text)
    plain = match["name"] if match else ""
    if name := ssh_cipher(plain):
        is_only = ONLY_SSH.fullmatch(plain.lower()) or not openssl_cipher(plain)
        return name, "ssh" if is_only else "", ""
    if name := openssl_cipher(plain):
        return name, "openssl", ""
    names = {ssh_cipher(word) for word in _CIPHER_WITHIN.findall(text[:60])} - {None}
    is_one = len(names) == 1 and not _RATE_WITHIN.search(text)
    rest = _CIPHER_WITHIN.sub("", text).strip("` ()")
    return (str(names.pop()), "ssh", rest) if is_one else None


def _column(title: str, caption: str, other_unit: Unit | None) -> Column:
    setting = next((name for name, sign in _SETTINGS.items() if sign.search(title.lower())), "")
    unit = unit_within(title) or unit_within(caption)
    is_ignored = bool(_IGNORED.search(title)) and not unit_within(title)
    return Column(title, unit, _size_of_title(title), setting, is_ignored, other_unit)


def _size_of_title(title: str) -> int | None:
    size = _SIZE_TITLE.fullmatch(title.strip())
    count = int(size[1].replace(",", "")) if size else 0
    stated = block_size_in(title) if "block" in title else None
    return count * (1024 if size and size[2] else 1) if count >= 8 else stated


def _titled_rows(
    columns: Sequence[Column], body: Sequence[tuple[int, list[str]]], around: Around
) -> Iterator[tuple[int, tuple[Event, ...]]]:
    names = [_cipher(column.title) for column in columns]
    is_size = columns[0].setting == "size" or all("yte" in row[0] for _, row in body)
    labels = {row[0].lower() for _, row in body}
    caption_size = block_size_in(around.caption)
    of_macs = columns[0].setting == "mac"
    is_own = any(openssl_cipher(row) or is_other_algorithm(row) for row in labels)
    if "evp" in labels or (is_own and not of_macs):
        return  # the tool's own table
    for index, row in body:
        if re.search(_RATIO, row[0], re.I):
            continue
        row_size = _size_of_title(row[0]) if is_size else None
        row_aes = aes_in(row[0].rpartition("(")[2]) if "(" in row[0] else ""
        cells: dict[tuple[str, str, int | None], TableCell] = {}
        for text, column, name in zip(row, columns, names, strict=True):
            size, cipher = row_size or column.size, name[0] if name else ""
            if size and size & (size - 1) == 0:
                cipher = _openssl_name(column.title) or ("" if any(names) else around.cipher)
            elif caption_size and (own := _openssl_name(column.title)):
                cipher, size = own, caption_size
            elif any(names) and (sum(map(bool, names)) < 2 or (name and name[1] == "openssl")):
                continue
            unit = column.unit or (around.unit if size else None)
            rate = _rate(text, unit, size)
            is_named = cipher or not (size or any(names))
            if not (is_named and rate) or column.is_ignored or column.title == columns[0].title:
                continue
            machine = column.title.partition("(")[2].rstrip(") ") if name else column.machine
            label = row[0][:100] if names[0] is None and not (row_size or of_macs) else ""
            if row_size or not (any(names) or size):
                label = " / ".join(filter(None, (label, machine)))
            settings = {"mac": mac_name(row[0])} if of_macs else {}
            aes = _ACCELERATIONS.get(row_aes, column.acceleration)
            if size and aes:
                settings["acceleration"] = aes
            caveat = _rate_caveat(text) or rate[1].caveat
            cell = TableCell(cipher, *rate, label, size, settings, caveat)
            cells.setdefault((cipher, label, size), cell)
        if cells:
            yield index, (TableRow(tuple(cells.values())),)


def _openssl_name(text: str) -> str | None:
    match = _NAME_CELL.fullmatch(text)
    return openssl_cipher(match["name"]) if match else None


def _cipher_row(
    cells: Sequence[str], cipher_at: int, columns: Sequence[Column]
) -> tuple[TableCell, ...]:
    cipher = _cipher(cells[cipher_at])
    if cipher is None:
        return ()
    settings: dict[str, Any] = {}
    if is_name(cipher[2]):
        settings["machine"] = cipher[2][:100]
    if aes := aes_in(cells[cipher_at].rpartition("(")[2]):
        settings["acceleration"] = _ACCELERATIONS.get(aes, "")
    if mac := re.search(r"[+/ ]((?:hmac|umac)-[\w@.-]+)", cells[cipher_at]):
        settings["mac"] = mac_name(mac[1])
    size, unit = block_size_in(cells[cipher_at]) or columns[cipher_at].size, None
    for cell, column in zip(cells, columns, strict=True):
        if column.setting == "unit":
            unit = unit_of(cell)
        elif column.setting == "size":
            size = block_size_in(f"{cell} bytes") or block_size_in(cell)
        elif column.setting == "compression":
            settings["compression"] = bool(re.search(r"-C|yes|on|ja|oui|zlib|✓|true", cell))
        elif column.setting == "machine" and cell[-1:] != "%":
            settings["machine"] = cell[:100]
        elif column.setting == "aes":
            settings["acceleration"] = _ACCELERATIONS.get(aes_in(_with_aes(cell)), "")
        elif column.setting == "mac" and mac_name(cell):
            settings["mac"] = mac_name(cell)
    table_cells = []
    for index, (cell, column) in enumerate(zip(cells, columns, strict=True)):
        if index != cipher_at and not (column.setting or column.is_ignored):
            named = column._replace(size=column.size or size, unit=column.unit or unit)
            machine = " / ".join(filter(None, (settings.get("machine", ""), column.machine)))
            own = settings | {"machine": machine}
            if "ompress" in column.title:
                own["compression"] = Setting.of(column.title).compressed
            if column.acceleration:
                own["acceleration"] = column.acceleration
            for text in cell.split("/") if _PAIR.fullmatch(cell) else (cell,):
                table_cells += _cell(cipher, cells[cipher_at], text.strip(), named, own)
    return tuple(table_cells)


def _cell(
    cipher: tuple[str, str, str], label: str, text: str, column: Column, settings: Mapping[str, Any]
) -> list[TableCell]:
    rate, (name, tool, _) = _rate(text, column.unit, column.acceleration and column.size), cipher
    caveat = "" if rate else "no unit in the table"
    is_bare = text.isdigit() and (column.title != "rate" or column.other_unit is _MEGABYTES)
    if rate is None and column.size is None and not is_bare:
        rate = _rate(text, column.other_unit)
    size = None if tool == "ssh" else column.size
    if rate is None or (tool == "openssl" and size is None):
        return []
    caveat = _rate_caveat(text) or rate[1].caveat or caveat
    if Setting.of(label).several:
        caveat = "several transfers or threads"
    if settings.get("acceleration") == "":
        caveat = "unclear whether AES was off"
    own = {key: value for key, value in settings.items() if key != "machine" and value != ""}
    if size is not None:
        name = _openssl_name(label) or name
        own = {key: value for key, value in own.items() if key == "acceleration"}
    return [TableCell(name, *rate, settings["machine"], size, own, caveat)]


def _rate(text: str, unit: Unit | None, size: int | None = None) -> tuple[float, Unit] | None:
    plain = _NOTE.sub("", text).strip("`*~≈<> ")
    if size and plain[-1:] == "k":
        plain, unit = plain[:-1], _THOUSANDS
    if re.fullmatch(r"[\d.,']{1,20}", plain):
        return number_with(unit, plain) if unit else None
    rates = _RATE_WITHIN.findall(plain) if "/" in plain or "p" in plain else ()
    return rate_of(rates[0]) if len(rates) == 1 else None


def _rate_caveat(text: str) -> str:
    plain = _NOTE.sub("", text).strip("`* ")
    more = _RATE_WITHIN.sub("", plain, count=1)
    has_words = more != plain and re.search(r"\w", re.sub(DURATION, "", more))
    return "not exactly one rate in cell" if has_words or _APPROXIMATE.search(plain) else ""
