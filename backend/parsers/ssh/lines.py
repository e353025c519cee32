"""What a line of an ssh text says: a command, a rate, a summary, a time, a fact."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from parsers.ssh import dd_lines, time_blocks
from parsers.ssh.commands.command import Command
from parsers.ssh.commands.command_lines import command_of
from parsers.ssh.dd_lines import DdSummary
from parsers.ssh.headings import counts_tries
from parsers.ssh.hints import COMMAND, FACT, FAILURE, LOG, NAME, RATE, RESULT
from parsers.ssh.lists.cipher_loops import ListReader
from parsers.ssh.lists.listed import Listed, ListedName, ListedRate
from parsers.ssh.lists.row_remarks import has_footnote
from parsers.ssh.machine_facts import Facts, answering_host, facts_of, node_of
from parsers.ssh.names import CipherName, cipher_name, mac_name
from parsers.ssh.time_blocks import TimeSpan
from parsers.ssh.transfer_reports import (
    Copying,
    Report,
    SentPart,
    Transferred,
    copying,
    reports,
    sent_little,
    session,
)
from parsers.ssh.units import UNIT_SOUGHT

_FAILURE = re.compile(
    r"unknown cipher|bad (?:ssh2? )?(?:cipher|mac)|no matching (?:cipher|mac)|unable to negotiate"
    r"|connection (?:refused|closed by|reset)|lost connection|permission denied \(|broken pipe"
    r"|host key verification|could not resolve|no route to host|timed out|division by zero"
    r"|(?:unsupported|invalid) cipher|no valid ciphers"
    r"|^warning: .{0,20}none cipher"
    r"|cipher.{0,40}(?:refused|rejected|unsupported|not (?:available|offered|supported))"
)
"""In lower case."""
_NO_RESULT = re.compile(
    r"^[^:]{1,60}:.{0,40}(?:unsupported|not (?:supported|available|offered)|no result|refused"
    r"|rejected|failed|error)",
    re.I,
)
"""Behind the name of a cipher: words that alone on a line could be about anything."""
_NEGOTIATED = re.compile(
    r"kex: (?P<way>client->server|server->client)(?: cipher:)?"
    r" (?P<cipher>[^\s:]{1,60})(?: MAC:)? (?P<mac>[^\s:]{1,60})"
    r"(?: compression:)? (?P<packed>\S{1,30})"
)
_CHATTER = re.compile(
    r"\s*(?:debug[123]: |load: [\d.]{3,8} {1,3}cmd: |Transferred: sent"
    r"|Bytes per second: sent|Enter passphrase"
    r"|(?:s|rec)e(?:nd|iv)ing incremental file list|total size is \d|building file list"
    r"|sftp> (?!!)|(?:Upload|Fetch|Resum)ing \S|Connected to \S{1,80}$"
    r"|Warning: Permanently|Authenticated to |Pseudo-terminal|Connection to \S{1,80} closed"
    r"|\S{1,80}'s password:|NEXT AUTHMETHOD|AUTH (?:FAILURE|SUCCESS)|CONNECTED$"
    r"|COMMAND_EXITSTATUS|dd: )"
)
_SETTING = re.compile(
    r"\s*(?P<name>MACs?|compression)\s*[:=]\s*(?P<value>[\w@.-]+?)[.:]?\s*$", re.I
)
_COMPRESSIONS = {"yes": True, "on": True, "zlib": True, "true": True, "zlib@openssh.com": True} | {
    "no": False, "off": False, "none": False, "false": False,
}  # fmt: skip
_PEER = re.compile(
    r"\s*(?:debug1: )?(?:Connect(?:ed|ing) to|Connection to|Authenticated to|\S+'s password:"
    r"|Warning: Permanently)"
)
"""Lines that say with which machine a connection is."""
_ASKS_DD = re.compile(
    r"[^|;&]{0,80}[$#%]\s(?:sudo )?(?:p?kill|killall)\s[^|;&]{0,40}(?:USR1|INFO)\b"
)
"""A signal at which dd says how far it is: no command of a transfer's own."""
_FILE = re.compile(r"\s*\S{0,300}[^\s:]\s*")
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\dT?[\d:.,]*Z?|\b(?:(?:mon|tue|wed|thu|fri|sat|sun),? )?"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) {1,2}\d{1,2}\b",
    re.I,
)
_LETTERS = re.compile(r"[^\W\d_]+")
_HARMLESS = re.compile(
    "dd|pv|scp|sftp|rsync|ssh|cipher|speed|rate|throughput|transfer|bandwidth|results?|try|run|test"
    "|attempt|pass|round|iteration|versuch|lauf|fish|external"
)
"""Words beside a result that make it no other thing's."""
MESSAGE_LIMIT = 400
CONTINUATION_LIMIT = 12
"""Lines of one command."""
_COMMAND_TIMED = re.compile(r'\s*Command being timed: "(?P<command>.{1,2000})"\s*$')


@dataclass(frozen=True)
class Failure:
    """The connection came to nothing: what is measured until the next one is no transfer."""


@dataclass(frozen=True)
class Records:
    """dd's counts of whole and partial records, "12+0": a summary after them is dd's last word."""

    counts: str


@dataclass(frozen=True)
class CutSummary:
    """A dd summary of which the seconds are missing."""


@dataclass(frozen=True)
class Agreed:
    """What the client's log says was negotiated."""

    cipher: CipherName | None
    compression: bool
    mac: str | None = None
    downward: bool = False
    """Whether it is about what the server sends."""


@dataclass(frozen=True)
class Setting:
    """ "MAC: hmac-md5" or "Compression: yes" on a line of its own."""

    mac: str | None = None
    compression: bool | None = None
    text: str = ""


@dataclass(frozen=True)
class Answer:
    """The head of what one of several machines answered to the same command."""

    host: str


@dataclass(frozen=True)
class Aside:
    """Understood, and of no consequence."""


Event = (
    Command
    | Listed
    | DdSummary
    | TimeSpan
    | Report
    | Transferred
    | SentPart
    | Copying
    | Failure
    | Records
    | CutSummary
    | Agreed
    | Setting
    | Facts
    | Answer
    | Aside
)


def events_of(text: str, lists: ListReader, hints: int) -> list[Event]:
    """What a line says, in its order; empty for a line that says nothing known."""
    if not hints & ~FAILURE and lists.header is None:
        return [Aside()] if lists.is_ruler(text) else []
    if hints & LOG and _CHATTER.match(text) and not _holds_result(text):
        return _log_line(text)
    if text.lstrip()[:2] == "+ " and hints & RATE and hints & NAME and UNIT_SOUGHT.search(text):
        return []  # a row that a diff adds, or a command that `set -x` shows
    events: list[Event] = []
    at = 0
    is_clear = True
    for start, end, result in _results(text, hints) if hints & (RESULT | RATE) else ():
        before, event = text[at:start], _echoed(text[at:start], result)
        said = _before_result(before, result, lists)
        is_clear &= bool(said) or _is_harmless(before, event)
        events += [*said, _with_file(before, event)]
        at = end
    rest = text[at:]
    if not events:
        return _plain(rest, lists, hints)
    if _is_worth_reading(rest):
        after = _plain(rest, lists, hints)
        is_clear &= bool(after) or _is_harmless(rest, Aside())
        events += after
    is_clear &= not has_footnote(text)
    # Words that are not understood may say that it is another thing's result.
    return events if is_clear or not any(map(_is_measured, events)) else []


def _holds_result(text: str) -> bool:
    """A log line that lost its line breaks goes on with a result."""
    return bool(dd_lines.records(text)) or "elapsed" in text


def _results(text: str, hints: int) -> list[tuple[int, int, Event]]:
    """What dd, time and copying programs say in a line, in order, none within another."""
    found: list[tuple[int, int, Event]] = []
    if hints & RATE:
        found += [(start, end, report or Aside()) for start, end, report in reports(text)]
    if hints & RESULT:
        found += dd_lines.summaries(text)
        found += [(start, end, Records(counts)) for start, end, counts in dd_lines.records(text)]
        found += time_blocks.spans(text)
    if len(found) < 2:
        return found
    found.sort(key=lambda one: one[0])
    apart: list[tuple[int, int, Event]] = []
    for one in found:
        if not apart or one[0] >= apart[-1][1]:
            apart.append(one)
    return apart


def _before_result(text: str, result: Event, lists: ListReader) -> list[Event]:
    """What stands before a result on its line: a command, a cipher's name, or nothing."""
    if not _is_worth_reading(text):
        return []
    command = command_of(text)
    if command is not None:
        echoed = isinstance(result, TimeSpan) and result.echoes and not command.ssh
        return [] if echoed else [command]
    return [event for event in lists.read(text) or [] if not isinstance(event, ListedRate)]


def _is_harmless(text: str, result: Event) -> bool:
    """Whether words beside a result say no more than which tool, try, file or hour it is of."""
    if isinstance(result, TimeSpan) and (result.echoes or result.kind == "cpu"):
        return True
    if not _is_worth_reading(text) or counts_tries(text) or _CHATTER.match(text):
        return True
    is_copied = isinstance(result, Aside) or (isinstance(result, Report) and result.kind == "try")
    if is_copied and _FILE.fullmatch(text):
        return True
    words = _LETTERS.findall(_STAMP.sub(" ", text).lower())
    return all(map(_HARMLESS.fullmatch, words)) or dd_lines.is_verb(text)


def _with_file(before: str, event: Event) -> Event:
    """The report of scp or sftp with the name of the file, which stands before it."""
    if isinstance(event, Report) and event.kind == "try" and _FILE.fullmatch(before):
        return replace(event, file=before.strip())
    return event


def _is_measured(event: Event) -> bool:
    is_time = isinstance(event, TimeSpan) and event.kind == "real"
    return is_time or isinstance(event, (DdSummary, Report))


def _echoed(before: str, result: Event) -> Event:
    """zsh gives a time for each command of a pipeline: only that of ssh is the transfer's."""
    if isinstance(result, TimeSpan) and result.echoes and before.strip():
        return result if re.search(r"\b(?:ssh|scp|sftp)\b", before) else TimeSpan("cpu", 0.0)
    return result


def _is_worth_reading(text: str) -> bool:
    return any(character.isalpha() for character in text) and not time_blocks.is_rest(text)


def _plain(text: str, lists: ListReader, hints: int) -> list[Event]:
    """A line, or the end of one, without a result of dd or time."""
    for hint, read in _READERS:
        if hints & hint and (events := read(text)):
            return events
    if hints & RESULT and (time_blocks.is_rest(text) or dd_lines.is_cut(text)):
        return [Aside() if time_blocks.is_rest(text) else CutSummary()]
    fails = hints & FAILURE and hints & (LOG | NAME) and _is_failure(text)
    if hints & (NAME | RATE) or lists.header:
        listed = lists.read(text, named=bool(hints & NAME))
        if listed is not None and not fails:
            return [*listed] or [Aside()]
    return _failure(text, lists) if fails else []


def _failure(text: str, lists: ListReader) -> list[Event]:
    """ "Unknown cipher type", alone or behind the name of the cipher in a list."""
    name, colon, _ = text.partition(":")
    read = (lists.read(name) or []) if colon else []
    named = [event for event in read if isinstance(event, ListedName)]
    if not named and not _FAILURE.search(text.lower()):
        return []
    return [*named, Failure()]


def _is_failure(text: str) -> bool:
    if len(text) > MESSAGE_LIMIT:
        return False
    return bool(_FAILURE.search(text.lower()) or _NO_RESULT.match(text))


def _log_line(text: str) -> list[Event]:
    found = _NEGOTIATED.search(text)
    if found:
        agreed = cipher_name(found["cipher"])
        compression = found["packed"].strip("<>").lower() != "none"
        is_downward = found["way"].startswith("server")
        return [Agreed(agreed, compression, mac_name(found["mac"]), is_downward)]
    facts = facts_of(text) if "OpenSSH_" in text else None
    if facts or _PEER.match(text):
        return [Facts(facts or {}, text=text)]
    if said := session(text) or copying(text):
        return [said]
    if sent_little(text):
        return [SentPart()]
    if _CHATTER.match(text):
        return [Failure()] if _FAILURE.search(text.lower()) else [Aside()]
    return []


def _command(text: str) -> list[Event]:
    if "kill" in text and _ASKS_DD.match(text):
        return [Aside()]
    timed = _COMMAND_TIMED.match(text)
    command = command_of("$ time " + timed["command"] if timed else text)
    return [command] if command else []


def _setting(text: str) -> list[Event]:
    found = _SETTING.match(text)
    if found is None:
        return []
    if found["name"].lower() == "compression":
        compression = _COMPRESSIONS.get(found["value"].lower())
        return [] if compression is None else [Setting(compression=compression, text=text)]
    mac = mac_name(found["value"])
    return [Setting(mac=mac, text=text)] if mac else []


def _facts(text: str) -> list[Event]:
    facts = facts_of(text)
    return [] if facts is None else [Facts(facts, node_of(text), text)]


def _answer(text: str) -> list[Event]:
    host = answering_host(text)
    return [Answer(host)] if host else []


_READERS: tuple[tuple[int, Callable[[str], list[Event]]], ...] = (
    (FACT, _answer),
    (LOG | FACT, _log_line),
    (COMMAND, _command),
    (LOG, _setting),
    (FACT, _facts),
)


def joined(lines: Iterable[tuple[int, str, int]]) -> Iterator[tuple[list[int], str, int]]:
    """Commands that go over several lines, as one, each with the numbers of its lines."""
    numbers: list[int] = []
    parts: list[str] = []
    all_hints = 0
    for number, text, hints in lines:
        numbers.append(number)
        parts.append(text.removesuffix("\\"))
        all_hints |= hints
        if len(parts) < CONTINUATION_LIMIT and _goes_on(text, parts[0], all_hints):
            continue
        yield numbers, _one_line(parts), all_hints
        numbers, parts, all_hints = [], [], 0
    if numbers:
        yield numbers, _one_line(parts), all_hints


def _goes_on(text: str, first: str, hints: int) -> bool:
    if not hints & COMMAND or text[-1:] not in ("\\", "|"):
        return False
    return text.endswith("\\") or command_of(first) is not None


def _one_line(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else " ".join(part.strip() for part in parts)
