import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from cipherspeed.summary import highest_plausible
from cipherspeed.types import Acceleration, Tool
from texts.ciphers import ONLY_SSH, ssh_cipher
from texts.commands import Command, mask_turns_aes_off
from texts.events import PLAIN
from texts.facts import NAMED_CPU, Fact, contradicts, facts_in_heading, merged
from texts.lines import Line
from texts.numbers import amount_in
from texts.types import Figure, Hints, Remark
from texts.words import LEADING, SENTENCE, Setting, block_size_in, is_heading, is_name

UNCLEAR = "unclear whether AES was off"
BESIDE = 10
WORDS_ABOVE = 50
SECONDS_LIMIT = 10_000_000
HEADING_LIMIT = 100
SSH_LIMIT = 10e9  # bytes per second: both ends copy each byte several times
_OF_PROGRAMS = ("openssl", "ssh", "heading", "flags")
_WRITTEN = re.compile(
    r"(?:\bof=|>\s?|\s(?=\S+$))[\"']?(?:[^\s|&;<>\"']{0,200}/)?(?!null\b|zero\b)([^\s|&;<>\"'/]+)"
)
_SENT = re.compile(r"\b(?:files?|bytes|sen[dt]|cop[iy])|transfer|datei|fichier|файл|文件", re.I)
_MASK = re.compile(r"env:(?P<mask>[\da-fx:~]{1,200})", re.I)


@dataclass
class Group:
    line: Line
    host: str | None
    name: str
    heading: str
    environment: Mapping[str, Any]
    row: int = 0
    figures: list[Figure] = field(default_factory=list)


class Context:
    def __init__(self, hints: Hints) -> None:
        self.hints = hints
        self.line = Line(0, "")
        self.groups: list[Group] = []
        self.remarks: list[Remark] = []
        self.unrecognised: dict[int, str] = {}
        self.host: str | None = None
        self.environment: Mapping[str, Any] = {}
        self.listing = ""
        self.names: dict[int, str] = {}
        self.heading, self.heading_line = "", 0
        self.heading_cipher: str | None = None
        self.amount_above: int | None = None
        self.amount_is_sent = False
        self.files: dict[str, int] = {}
        self.remark_beside = ""
        self.stated_size: int | None = None
        self.stated_cipher: str | None = None
        self.settings: dict[int, Setting] = {}
        self.headings: list[tuple[str, int, bool]] = []
        self.command: Command | None = None
        self.command_used = False
        self.shell_masked = False
        self.processes = 0
        self.is_ended = True
        self.figures_since_fact = False
        self.shared: tuple[object, dict[str, Any]] | None = None
        self.positions: dict[int, int] = {}

    def remark(self, code: str, detail: str, line: int | None = None) -> None:
        self.remarks.append(Remark(line or self.line.number, code, detail))

    def leave_out(self, code: str, detail: str, line: Line | None = None) -> None:
        line = line or self.line
        self.remark(code, detail, line.number)
        self.unrecognised[line.number] = line.text

    def end_group(self) -> None:
        self.is_ended = True

    @property
    def name(self) -> str:
        return " / ".join(self.names[level] for level in sorted(self.names))

    @contextmanager
    def named(self, machine: str) -> Iterator[None]:
        before = self.names, self.heading, self.host
        if machine:
            self.names, self.heading, self.host = {**self.names, PLAIN: machine}, machine, None
            self.end_group()
        try:
            yield
        finally:
            if machine:
                self.names, self.heading, self.host = before
                self.end_group()

    def add_words(self, text: str, level: int) -> None:
        was_used, self.command_used = self.command_used, False
        if was_used and self.command:
            self.stated_cipher = self.command.cipher
            self.command = None
        if amount := amount_in(text):
            self.amount_above = amount
            self.amount_is_sent = text[-1:] == ":" or bool(_SENT.search(text))
            if text[:1] == "-":  # of `ls -l`
                self.add_files(text, amount)
        self.stated_size = block_size_in(text) or self.stated_size
        self.stated_cipher = only_cipher(text) or self.stated_cipher
        introduction = re.split(r"(?<!vs)[.!?]\s", text)[-1] if text[-1:] == ":" else text
        heading = LEADING.sub("", introduction).rstrip(" :=-#*").strip()
        heads = level < PLAIN or is_heading(text) or bool(re.match(NAMED_CPU, heading))
        self.headings.append((heading, level, was_used or (heads and is_name(heading))))
        self.end_group()
        if heads and heading:
            self.add_heading(heading, level)

    def add_files(self, text: str, size: int) -> None:
        self.files |= dict.fromkeys(_WRITTEN.findall(text), size)

    @property
    def size_of_file(self) -> int | None:
        words = re.split(r"[\s/=:\"'<>;|]+", self.command.text) if self.command else ()
        return next((self.files[word] for word in words if word in self.files), None)

    def add_heading(self, text: str, level: int) -> None:
        self.heading, self.heading_line = text[:HEADING_LIMIT], self.line.number
        self.heading_cipher = only_cipher(text)
        if level < PLAIN:
            self.names = {at: kept for at, kept in self.names.items() if at < level}
        if is_name(text) and not self.heading_cipher:
            self.names[level] = text[:HEADING_LIMIT]
            self._change_host(None, keeps_facts=self.listing != "heading")
        if facts := facts_in_heading(text):
            listing = "cpu" if re.match(NAMED_CPU, text) else "heading"
            self.add_fact(Fact(facts, listing=listing))

    def add_host(self, host: str) -> None:
        if host != self.host:
            self._change_host(host, keeps_facts=self.host is None)
            self.end_group()

    def _change_host(self, host: str | None, *, keeps_facts: bool) -> None:
        if self.figures_since_fact or not keeps_facts:
            self.environment = {}
        self.host = host

    def add_fact(self, fact: Fact) -> None:
        listing, self.listing = self.listing, fact.listing or self.listing
        if fact.host:
            self.add_host(fact.host)
        if not fact.environment:
            return
        self._begin_environment(fact)
        if contradicts(self.environment, fact.environment):
            if listing == fact.listing and not self.figures_since_fact:
                return  # a board with two clusters of cores lists two CPUs
            self.end_group()
            self.environment = {}
        self.environment = merged(self.environment, fact.environment)
        self.figures_since_fact = False

    def _begin_environment(self, fact: Fact) -> None:
        if not self.figures_since_fact:
            return
        if fact.listing not in _OF_PROGRAMS:
            self.environment = {}
            self.end_group()
        elif fact.environment.get("openssl", {}).get("version_text"):
            self.environment = {**self.environment, "openssl": {}}
            self.end_group()

    @property
    def setting(self) -> Setting:
        headings, self.headings = self.headings, []
        for text, level, is_new in headings[-WORDS_ABOVE:]:
            self._set_by(text, level, is_new)
        setting = Setting()
        for level in sorted(self.settings):
            setting = self.settings[level].under(setting)
        return Setting.of(self.remark_beside).under(setting)

    def _set_by(self, text: str, level: int, is_new: bool) -> None:
        last = level if is_new else BESIDE
        held = {at: kept for at, kept in self.settings.items() if at < last}
        setting = Setting.of("" if text[-1:] in "?？" else text)
        if len(text) > SENTENCE or level == BESIDE:
            self.settings = held | {BESIDE: setting}
        else:
            self.settings = held | {level: setting.under(held.get(level, Setting()))}

    @property
    def threads(self) -> int:
        command = self.command
        stated = command.threads if command and command.tool == "openssl" else 1
        return stated if stated > 1 else max(self.processes, 1)

    def new_group(self, row: int = 0) -> Group:
        return Group(self.line, self.host, self.name, self.heading, self.environment, row)

    def group(self, row: int = 0) -> Group:
        last = self.groups[-1] if self.groups else None
        if last is None or self.is_ended or last.row != row or last.environment != self.environment:
            last = self.new_group(row)
            self.add_group(last)
        self.is_ended = False
        return last

    def add_group(self, group: Group) -> None:
        self.groups.append(group)
        self.unrecognised.pop(self.heading_line, None)
        self.is_ended = True

    def emit(self, group: Group, tool: Tool, caveat: str = "", **fields: Any) -> None:
        self.figures_since_fact = self.command_used = True
        of_line = (self.line.number, tool, len(self.headings))
        if self.shared is None or self.shared[0] != of_line:
            self.shared = (of_line, self._shared_fields(tool))
        shared = self.shared[1]
        line = fields.pop("line", self.line.number)
        assumed = (*fields.pop("assumed", ()), *shared["assumed"])
        compressed = fields.pop("compression", shared.get("compression", False))
        values = {**shared, **{name: value for name, value in fields.items() if value is not None}}
        is_clear = "acceleration" in fields or "aes" not in str(values["cipher"])
        if shared["uncertain"] == UNCLEAR and is_clear:
            values["uncertain"] = ""
        values |= {"uncertain": caveat or values["uncertain"], "assumed": assumed}
        position = self.positions.get(line, 0)
        values |= {"compression": compressed, "position": position}
        self.positions[line] = position + 1
        figure = Figure(line=line, tool=tool, **values)
        wanted = (self.hints.format or figure.format).replace("sbc-bench", "openssl-speed")
        if figure.format != wanted:
            return
        if figure.rate > 0 and (figure.seconds or 0) < SECONDS_LIMIT:
            group.figures.append(_within_reason(figure))
        else:
            self.remark("not_a_rate", "Rate of zero, or time too long.", line)

    def _shared_fields(self, tool: Tool) -> dict[str, Any]:
        setting, command = self.setting, self.command
        if setting.aes == "lacking":  # in the CPU: only the figures of openssl tell
            setting = setting._replace(aes="off" if tool == "openssl" else "")
        own = command if command and command.tool in (tool, None) else None
        fields = self._of_ssh(own, setting) if tool == "ssh" else self._of_speed(own, setting)
        if setting.aes == "unclear" and not (own and own.masked):
            fields["uncertain"] = fields["uncertain"] or UNCLEAR
        if own:
            fields["uncertain"] = own.unusual or fields["uncertain"]
        elif not setting.aes:
            fields["assumed"] = (*fields["assumed"], "AES hardware enabled")
        return fields | {"acceleration": self._acceleration(setting, own)}

    def _of_speed(self, own: Command | None, setting: Setting) -> dict[str, Any]:
        threads = self.threads
        is_computed = own is not None and own.threads == 0
        several = threads > 1 or setting.several or (is_computed and not setting.is_single)
        decrypts = "decrypt" in (own.operation if own else "", setting.operation)
        return {
            "format": "openssl-speed",
            "threads": threads,
            "operation": "decrypt" if decrypts else "encrypt",
            "uncertain": "several processes at once" if several else "",
            "assumed": () if own else ("one process",),
        }

    def _of_ssh(self, own: Command | None, setting: Setting) -> dict[str, Any]:
        caveat = "several transfers or threads" if setting.several else ""
        if setting.aes == "off" and not (own and own.masked):
            caveat = "unclear which end had AES off"
        fields: dict[str, Any] = {"compression": setting.compressed, "uncertain": caveat}
        fields["format"] = "cipher-list"
        if own:
            fields["mac"] = own.mac
            fields["compression"] = setting.compressed or own.compression
            fields["target_kind"] = own.target_kind
            fields["target_name"] = own.target if own.target_kind == "remote" else None
        return fields | {"assumed": () if own and own.target_kind else ("loopback",)}

    def _acceleration(self, setting: Setting, own: Command | None) -> Acceleration:
        if setting.aes == "on":
            return "default"
        settings = self.environment.get("openssl", {}).get("cpu_settings") or ""
        mask = _MASK.search(settings)
        off = mask is not None and mask_turns_aes_off("OPENSSL_ia32cap", mask["mask"])
        off = off or setting.aes == "off" or self.shell_masked or (own is not None and own.masked)
        return "masked" if off else "default"


def _within_reason(figure: Figure) -> Figure:
    decrypts = figure.operation == "decrypt"
    limit = highest_plausible(figure.threads, cipher=figure.cipher, decrypt=decrypts)
    if figure.rate <= (SSH_LIMIT if figure.tool == "ssh" else limit):
        return figure
    implausible = "faster than any machine"
    return figure._replace(implausible=implausible, uncertain="faster than memory bandwidth")


@lru_cache(maxsize=64)
def only_cipher(text: str) -> str | None:
    words = re.findall(r"[\w@.-]{4,40}", text)
    own = (word for word in map(str.lower, words) if ONLY_SSH.fullmatch(word) or "chacha" in word)
    ciphers = {ssh_cipher(word) for word in own} - {None}
    return ciphers.pop() if len(ciphers) == 1 else None
