"""Recognise lines by a table of independent recognisers; the first match applies.

To support another format, add a row to `RECOGNISERS`: signs (one of them must be in the line), the
pattern of the whole line, a function that converts the match to events, and an example.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from texts import events
from texts.ciphers import mac_name, openssl_cipher, ssh_cipher
from texts.commands import Command, read_command
from texts.facts import Fact, read_fact
from texts.lines import Line
from texts.listed import RATE_SIGNS, read_list
from texts.numbers import NUMBER, RATE, Unit, number_of, rate_of, size_of
from texts.prompts import split_prompt
from texts.words import aes_in, is_name

_N = r"\d{1,9}(?:[.,]\d{1,9})?"
_SECONDS = r"(?:seconds?|secs?|sekund\w{0,4}|segundos?|secondes?|secondi|сек\w{0,5}|s|с|c|秒)"
_BYTES = (
    r"(?:bytes?|octets?|oktett?\w{0,4}|bajt\w{0,4}|tavua|байт\w{0,3}|バイト|字节|位元組|바이트)"
)
_CELL = (
    r"(?:-?\d{1,18}(?:[.,]\d{1,6})?[km]?|\d{1,3}(?:[.,'’]\d{3}){1,5}[.,]\d{1,2}k?"
    r"|-?inf(?:k)?|-?nan(?:k)?|n/a|-)"
)
_PV_RATE = rf"{_N}\ ?[kmgt]?i?b/s"

Maker = Callable[[re.Match[str]], events.Event | None]


class Recogniser(NamedTuple):
    signs: tuple[str, ...]
    pattern: re.Pattern[str]
    make: Maker
    example: str


def _row_of(signs: tuple[str, ...], pattern: str, make: Maker, example: str) -> Recogniser:
    return Recogniser(signs, re.compile(pattern, re.X | re.I), make, example)


def _decimal(text: str) -> float:
    return float(text.replace(",", "."))


def _sizes(match: re.Match[str]) -> events.Event:
    return events.Sizes(tuple(map(int, re.findall(r"\d+", match["sizes"].replace(",", "")))))


def _row(match: re.Match[str]) -> events.Event | None:
    cells = re.split(r"[\s|*†‡]+", match["cells"].strip(" |\t*†‡"))
    if not all("." in cell or "," in cell or cell[-1] in "kfna-" for cell in cells):
        return None  # because the tool prints two decimals
    if len(cells) == 1 and cells[0][-1] != "k" and not openssl_cipher(match["label"].strip(" :")):
        return None  # a heading that ends with a version
    label = match["label"].strip(" :")
    mark = "".join(filter(None, match.group("tag", "mark", "noted"))).strip()
    if aes_in(match["remark"] or "") in ("off", "unclear"):
        mark = "AES"
    words = (match["remark"] or "").strip()
    machine = words[1:-1] if words[:1] + words[-1:] == "()" and is_name(words) else ""
    return events.Row(label, tuple(_cell(cell) for cell in cells), mark=mark, machine=machine)


def _cell(text: str) -> float | None:
    """Parse "29900.29k" as 29,900,290 bytes per second; a cell without k is in bytes."""
    value = number_of(text.rstrip("kKM").removeprefix("-"))
    if value is None:
        return None  # "inf", "nan": zero seconds
    scale = {"k": 1e3, "K": 1e3, "M": 1e6}.get(text[-1], 1)
    return round((-value if text[0] == "-" else value) * scale, 2)


def _elapsed(match: re.Match[str]) -> events.Event:
    hours, minutes = int(match["h"] or 0), int(match["m"] or 0)
    seconds = _decimal(match["s"]) / (1000 if match.groupdict().get("milli") else 1)
    return events.Elapsed(hours * 3600 + minutes * 60 + seconds)


def _pv(match: re.Match[str]) -> events.Event | None:
    if (rate := rate_of(match["mean"] or match["rate"])) is None:
        return None
    binary = Unit(rate[1].binary, rate[1].binary)  # old versions print MB/s but mean MiB/s
    is_whole = match[0].rstrip().endswith("100%")
    return events.Rated(rate[0], binary, "pv", is_display=not is_whole)


def _copied(match: re.Match[str]) -> events.Event | None:
    is_whole = match["share"] == "100"
    if (rate := rate_of(f"{_decimal(match['number'])} {match['prefix']}B/s")) is None:
        return None
    caveat = "" if is_whole else "transfer not finished"
    amount = size_of(re.sub(r"(?<=[KMGT])(?=B)", "i", match["size"] or "").strip())
    return events.Rated(*rate, "scp", not is_whole, caveat=caveat, amount=amount)


def _summed(match: re.Match[str]) -> events.Event:
    rates = (number_of(rate.replace(",", "")) or 0.0 for rate in match.groups() if rate)
    return events.Rated(max(rates), Unit(1.0, 1.0), "rsync" if match[1] else "ssh")


def _typed_rate(match: re.Match[str]) -> events.Event | None:
    title, rate = match["title"] or "", rate_of(match["rate"])
    words = re.split(r"[\s+(),;]+", f"{title} {match[0][match.end('rate') :]}")
    if rate is None or any(map(ssh_cipher, words)):
        return None
    is_mean = bool(re.search(r"average|mean|median|avg", title, re.I))
    caveat = "in prose, not in command output" if match["behind"] else ""
    return events.Rated(*rate, "typed", is_mean=is_mean, caveat=caveat)


def _named(match: re.Match[str]) -> events.Event | None:
    cipher, mac = ssh_cipher(match["cipher"]), mac_name(match["mac"] or match["cipher"])
    return events.Named(cipher, mac) if cipher or mac else None


RECOGNISERS = (
    _row_of(
        (" bytes",),
        r"""[|\s#]*(?:type|cipher|algorithm|[a-z][\w-]{1,20}(?=\s+\d+\ bytes\s+\d+\ bytes))?[\s|:]*
        (?P<sizes>\d[\d,]{0,9}\ bytes?(?:[\s|]+\d[\d,]{0,9}\ bytes?)*)
        [|\s]*(?:(?:[—–…\[(]|\.\.\.)[^\d]{0,40})?""",
        _sizes,
        "type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes",
    ),
    _row_of(
        ("Doing ",),
        r"""[\s#]*\S{0,12}?Doing\ (?P<label>.{1,40}?)\ (?:ops\ )?for\ (?P<asked>\d{1,5})(?:\.\d+)?
        \ ?s\ on\ (?P<size>\d{1,10})\ size\ blocks:\s+(?P<count>\d{1,15})\ .{1,40}?
        \ in\ (?P<seconds>[\d.,]{1,12})\ ?s\W*""",
        lambda match: events.Counted(
            match["label"],
            int(match["size"]),
            int(match["count"]),
            _decimal(match["seconds"]),
            float(match["asked"]),
        ),
        "Doing aes-128-cbc for 3s on 16 size blocks: 131863971 aes-128-cbc's in 3.00s",
    ),
    _row_of(
        ("+H:",),
        r"[\s'\"]*(?:Got:\ )?\+H(?P<sizes>(?::\d{1,8}){1,12})(?:\ from\ \d{1,4})?[\"',]*",
        _sizes,
        "+H:16:64:256:1024:8192:16384",
    ),
    _row_of(
        ("+F:",),
        r"""[\s'"]*(?:Got:\ )?\+F:\d{1,3}:(?P<label>[^:]{1,40}):(?P<rates>[-\d.:infa]{1,200})
        (?:\ from\ (?P<child>\d{1,4}))?["',]*""",
        lambda match: events.Row(
            match["label"],
            tuple(_cell(cell) for cell in match["rates"].split(":")),
            int(match["child"]) if match["child"] else None,
        ),
        "+F:22:aes-128-cbc:728616225.50:785815232.00:802015232.00:806762338.46:806892821.40",
    ),
    _row_of(
        ("yte", "ctet", "ktet", "ajt", "tavua", "байт", "バイト", "字节", "位元組", "바이트"),
        rf"""(?!\s*Transferred:).{{0,40}}?(?<![\d.,/+-])(?P<bytes>\d{{4,18}})\ ?{_BYTES}(?![^\W\d_])
        \ ?(?:[(（][^()（）]{{1,60}}[)）])?[^\d()（）|:;/]{{0,40}}(?=\d)
        (?P<s>\d{{1,9}}(?:[.,]\d{{1,12}})?(?:e[+-]?\d{{1,3}})?)\ ?{_SECONDS}(?![^\W\d_])
        (?:\.?[,，、]?\ {{0,2}}\(?{NUMBER}(?:\ ?[a-z]{{1,7}}/(?:secs?|[sсc]|秒)\)?)?)?\W*
        (?:\s(?:\([a-z]{{3,7}}\ \#?\d\)|[(\#<—–-].{{1,80}}))?""",
        lambda match: events.Moved(int(match["bytes"]), _decimal(match["s"])),
        "1048576000 bytes (1.0 GB) copied, 4.40011 s, 238 MB/s",
    ),
    _row_of(
        ("real", "wall clock", "Time ("),
        rf"""\s*(?:real|.{{0,80}}wall\ clock\).{{0,30}}|Time\ \((?:mean|abs)[^()]{{0,8}}\))
        [:\s]{{1,30}}(?:(?P<h>\d{{1,4}})[h:]\s?)?(?:(?P<m>\d{{1,6}})[m:]\s?)?
        (?P<s>{_N})\ ?(?P<milli>m)?s?(?:\s.*)?""",
        _elapsed,
        "real    0m3.922s",
    ),
    _row_of(
        ("elapsed", "total", "real", "fish"),
        rf"""(?:.{{0,80}}?(?<![\d.,:])(?:(?P<h>\d{{1,4}}):)?(?P<m>\d{{1,5}})[:m]
        |.{{0,250}}?\bcpu\ |\s*(?:Executed\ in\s+)?)
        (?P<s>{_N})\ ?(?:secs?|s|(?P<milli>millis))?\s*(?:elapsed|total|real|fish)\b.{{0,300}}""",
        _elapsed,
        "dd bs=1M count=1000  0.01s user 0.68s system 15% cpu 4.401 total",
    ),
    _row_of(
        ("s",),
        rf"""(?!.*/s)[\s\#*•|>-]{{0,8}}(?P<cipher>[a-z0-9][\w-]{{2,30}}(?:@[\w.]{{5,16}})?)
        \s{{0,20}}[:=,|-]?\s*(?:real\s+)?(?P<h>(?!))?(?:(?P<m>\d{{1,4}})m\s?)?
        (?P<s>{_N})\s?(?:s|sec|secs|seconds?)\W*""",
        lambda match: _elapsed(match) if ssh_cipher(match["cipher"]) else None,
        "aes128-ctr: 4.5 s",
    ),
    _row_of(
        ("+", "us", "sys", "Range (", "CPU", "Doing ", "Forked", "Transf", "sa ", " bit"),
        rf"""\s*(?:(?:use?r|sys(?:tem)?)(?:\ time)?[:\s]+[\d.,chilmors\s]{{1,70}}|\d+inputs.{{0,99}}
        |{_N}\ ?(?:user|system).*|\d{{1,5}}%\ ?CPU.{{0,200}}|Range\ \(.*|\(\d+major.{{0,100}}
        |Doing\ .{{1,60}}?\ for\ \d.{{0,80}}|.{{0,20}}Forked\ child\ \d.*|Transferred:\ sent\ .*
        |\d{{1,18}}\+\d{{1,9}}\ [^\d\s|()][^\d|()]{{1,40}}
        |(?:[rd]sa|\d+\ bits?)\ .{{0,60}}\d\.\d+s(?:\s.{{0,60}})?
        |(?:Got:\ )?\+(?:DT|[RF]\d{{0,2}}):[\w.:+-]{{1,200}}(?:\ from\ \d{{1,4}})?)""",
        lambda match: Fact({}),
        "user    0m1.718s",
    ),
    _row_of(
        (".", ",", "k"),
        rf"""(?!.*/s)[\s|#]*(?:(?P<tag>[a-z]{{2,12}})\ +(?=[a-z]{{2,9}}\d?-[a-z\d-]+\ ))?
        (?P<label>3?[a-z][a-z0-9_()/\-+.]{{0,39}}(?:\ [a-z(][a-z0-9()/]{{1,12}}){{0,2}}\ ?:?)
        (?P<mark>\ (?:[*†‡+a-z]|\d{{1,2}}[a-z]?)(?=\ ))?[\s|:]+
        (?P<cells>{_CELL}(?:(?:\ ?(?P<noted>[*†‡]))?[\s|]+{_CELL}){{0,11}}\ ?[*†‡]?)[\s|]*
        (?P<remark>[\s|](?:[<(#—–…\[←→⇐⇒⇾]|--?>|=>|//|\.\.\.).{{1,60}}|(?<=k)\s+[a-z][a-z.]{{1,15}})?""",
        _row,
        "aes-128 cbc      90320.55k   101336.58k   104107.69k   104910.78k   105305.43k",
    ),
    _row_of(
        ("pipe", "onnection ", "o matching ", "ermission d", "Bad SSH2", "Unknown ", "non-z"),
        r"""\s*(?:[\w./@-]{2,60}:|Connection|Unable|Lost|Bad|command-line)\ .{0,200}?(?:roken\ pipe
        |ed\ by|onnection\ (?:closed|refused|reset|timed\ out)|o\ matching\ |ermission\ den
        |ad\ SSH2).{0,300}|Unknown\ cipher\ type.*|Command\ exited\ with\ non-zero.*""",
        lambda _: events.Failed(),
        "dd: error writing 'standard output': Broken pipe",
    ),
    _row_of(
        ("/s]",),
        rf""".{{0,60}}?\[\s{{0,4}}(?P<rate>{_PV_RATE})\](?:\s{{1,9}}\[\s{{0,4}}(?P<mean>{_PV_RATE})\])?
        .{{0,400}}""",
        _pv,
        "   4GiB 0:00:20 [ 200MiB/s] [================================>] 100%",
    ),
    _row_of(
        ("% ",),
        rf""".{{0,200}}?(?<![\w.,])(?P<share>\d{{1,3}})%\s{{1,9}}
        (?P<size>[\d.,]{{1,20}}\ ?[kmgt]?i?b?\s{{1,9}})?(?P<number>{_N})\ ?(?P<prefix>[kmgt]?)B/s
        \s{{1,9}}(?:[\d:]{{2,12}}|--:--)(?![\w.,:]).{{0,80}}""",
        _copied,
        "file.bin     100% 1024MB 109.5MB/s   00:09",
    ),
    _row_of(
        ("bytes/sec", "Bytes per second"),
        r"""\s*(?:sent\ [\d.,KMGT]{1,25}\ bytes\s{1,3}received\ [\d.,KMGT]{1,25}\ bytes\s{1,3}
        (\d[\d.,]{0,24})\ bytes/sec|Bytes\ per\ second:\ sent\ ([\d.]{1,15}),
        \ received\ ([\d.]{1,15}))\s*""",
        _summed,
        "sent 1,073,741,950 bytes  received 35 bytes  85,899,361.60 bytes/sec",
    ),
    _row_of(
        ("ipher", "-", "four", "fish", "3des", "3DES"),
        r"""(?!.*/s)[\s#*=>•^-]{0,80}(?:\d{1,3}[.)]\s)?[\"'(]?
        (?:(?:testing|benchmark(?:\ \d+)?|cipher|using|encryption|chiffre|algo\w{0,6}|name
        |\w{0,20}[^\x00-\x7f]\w{0,20})[\s:=：]{1,9}){0,2}[\"'(]?
        (?P<cipher>[a-z0-9][\w-]{2,30}(?:@[\w.]{5,16})?)[\"')]?
        (?:(?:\s?[+/,]\s?|\s{1,20}(?:with\s|mac[:=]?\s?|-m\s)?)(?P<mac>(?:hmac|umac)-[\w@.-]{1,40})
        |\s{0,4}[(:,-]?\s?(?:try|run|test|round)?\s?\#?\d{1,3}\s?(?:of\ \d{1,3})?\)?)?
        [\s:.=*…#-]{0,200}(?:\(\d[^()]{0,20}\)|\w{2,8}=\d{1,15})?""",
        _named,
        "Cipher: blowfish-cbc",
    ),
    _row_of(
        RATE_SIGNS,
        rf"""[\s#*>•-]*(?:(?P<title>[^\W\d][^\d:]{{0,40}}?)\s?[:=]\s*|[=→>-]{{0,3}}\s*
        |(?:in\s@.{{1,80}}\s)?summary:\s.{{1,60}}\sof\s+)?
        (?:about\s|ca\.?\s|[~≈])?[(\[]?(?:\d[\d.]{{0,6}}\s?[kmgt]i?b,?\s)?(?P<rate>{RATE})[)\].]?
        \s*(?:[,;(].{{0,40}}|(?P<behind>(?:\s[^\W\d]\w{{0,14}}){{1,4}})[.:]?)?""",
        _typed_rate,
        "Average: 158 MB/s",
    ),
)

_PREFIX = re.compile(
    r"[\s#*=>|•-]{0,8}(?:([\w.-]{2,40}):\s)?([\w@.-]{3,40}?)(?:\s(?:run|try|test)\s?\d{1,3})?[\s:=,|]"
)
_LABEL = re.compile(r"^(?:\++ |(?:benchmark|command|cmd|running|run|test)\b[ #\d]{0,5}: )", re.I)
_COMMAND_WITHIN = re.compile(r"(?<=[(`])openssl speed [^()`:]{1,100}")
_DIGIT = re.compile(r"\d")
_WITHOUT_DIGITS = tuple(row for row in RECOGNISERS if not _DIGIT.search(row.example))


def recognise(line: Line) -> Iterator[events.Event]:
    text = line.text.strip()
    if not text:
        return
    if (prompt := split_prompt(line.text)) is not None:
        host, typed = prompt
        yield events.Typed(host, None if typed[:1] in ("#", "") else read_command(typed, True))
        if typed[:1] == "#":
            yield events.Words(typed)
    elif (event := _first_match(line.text)) is not None:
        is_result = isinstance(event, events.Moved | events.Rated | events.Elapsed)
        prefix = _PREFIX.match(line.text) if is_result else None
        first, second = prefix.groups(default="") if prefix else ("", "")
        if cipher := ssh_cipher(first) or ssh_cipher(second):
            if not ssh_cipher(first) and is_name(first):
                yield events.Typed(first, None)
            yield events.Named(cipher)
        yield event
    elif command := _unprompted(text):
        yield events.Typed(None, command)
    else:
        yield from _other(text)


def _first_match(text: str) -> events.Event | None:
    for recogniser in RECOGNISERS if _DIGIT.search(text) else _WITHOUT_DIGITS:
        for sign in recogniser.signs:
            if sign in text:
                match = recogniser.pattern.fullmatch(text)
                event = recogniser.make(match) if match else None
                if event is not None:
                    return event
                break
    return None


def _unprompted(text: str) -> Command | None:
    if text.endswith(("/s", "ps")) or (text[-1] == ":" and text.startswith("OPENSSL_")):
        return None  # a result, a heading
    return read_command(_LABEL.sub("", text, count=1), False)


def _other(text: str) -> Iterator[events.Event]:
    if (listed := read_list(text)) is not None:
        yield listed
    elif fact := read_fact(text):
        yield fact
    else:
        yield events.Words(text, len(text) - len(text.lstrip("#")) or events.PLAIN)
        if text[-1] == ":" and (command := _COMMAND_WITHIN.search(text)):
            yield events.Typed(None, read_command(command[0], True))
