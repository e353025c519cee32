"""Shell commands in a text: which cipher they ask for, of which host, for how many bytes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal

from documents.types import Acceleration
from parsers.ssh.dd_lines import amount_of
from parsers.ssh.names import CipherName, cipher_name, mac_name
from parsers.ssh.units import Megabyte

_PROMPT = re.compile(
    r"^\s{0,8}(?:\([\w.-]{1,40}\) )?(?!\S+@(?:openssh|ssh|lysator)\.\w)"
    r"(?:\[?(?P<user>[\w.-]{1,40})@(?P<host>[\w.-]{1,80})"
    r"(?:[ :][^\]$#%>]{0,80})?\]?\s?[$#%>] |[$%] |PS [A-Z]:[^>]{0,80}> |\++ "
    r"|[\w.-]{1,40}[:~]{1,2}\S{0,60}[$#] )"
)
_BARE_PROMPT = re.compile(
    r"^\s{0,8}(?:(?:[A-Za-z][\w.-]{0,39}|[~/]\S{0,60}\s?)(?P<sign>[$#%>])|(?P<root>#))\s+"
    r"(?=[a-z./~\\])"
)
"""A prompt with no more than a host or a folder; such a line may as well be prose or a title."""
_CALL = re.compile(
    r"(?<![\w.@=~:/-])(?:[\w.~-]*/[\w./~-]*)?(?P<program>ssh|scp|sftp|dbclient|tlssh)(?=\s+\S)"
)
_SHELL = re.compile(
    r"^\s*(?:for\s+\w+\s+in\b|for\s*\(|while\b.*\bdo\b|do\b|done\b|echo\s|printf\s|export\s"
    r"|unset\s|time\s+\S"
    r"|sudo\s|\w+=(?:\S*[^:\s])?\s*$|#!/|if\s+\[|fi$|then$|else$|sleep\s|dd\s+\w+=|cat\s+/"
    r"|head\s+-c|awk\s|grep\s|pv\s|yes\s*\|"
    r"|openssl\s|\|(?!.*\|\s*$)|\}|\{|2?>)"
)
_OPTIONS_WITH_VALUE = frozenset("bcDEeFIiJLlmOoPpQRSWw")
_SCP_WITH_VALUE = frozenset("cDFiJloPSX")
_CIPHERS_OPTION = re.compile(r"Ciphers?[= ](\S+)", re.I)
_MACS_OPTION = re.compile(r"MACs[= ](\S+)", re.I)
_COMPRESSION_OPTION = re.compile(r"Compression[= ]yes", re.I)
_MASK = re.compile(r"OPENSSL_ia32cap\s?=\s?[\"'“”]?(?P<value>[^\s\"'“”;]{0,200})")
_UNMASK = re.compile(r"\bunset\s+OPENSSL_ia32cap")
_DIVISION = re.compile(r"(?<![\w.])(\d{1,12})\s?/\s?\$")
_LOCAL = re.compile(
    r"(?:localhost(?:\.localdomain|[46])?|ip6-localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|0)$"
)
_WORD = re.compile(r"[\"'“”‘’]?[^\s\"'“”‘’;|<>]+[\"'“”‘’]?|[|;<>]|[\"'“”‘’]")
_WORD_LIMIT = 60
_LISTS_CIPHERS = re.compile(r"(?<![$]\()(?<!\w)ssh\s+-Q\s?c")
_LOOP = re.compile(r"\$\(|\bfor\s|\bin\s+`")
_READS = re.compile(r"\bif=(?!/dev/stdin)|\bcat\s+/\w|\bhead\s+-c\s?\w+\s+/\w|\byes\b")
_WRITES = re.compile(r"\bof=(?!/dev/stdout)|(?<![\d&<])>\s?[\w/$]|\|\s*(?:nc|netcat|ncat|socat)\b")
_PIPED_TO = re.compile(r"\|\s*(?:sudo\s+|time\s+)?[a-z./]", re.I)
_LIMITED = re.compile(
    r"\bscp\b[^|;&]*\s-l\s?\d|\s--bwlimit\b|\bpv\b[^|;&]*\s(?:-\w*L\b|--rate-limit)"
)
"""A command with a bandwidth limit."""
_RSYNC_HOST = re.compile(r"\s(?:[\w.-]{1,40}@)?(\[[\da-f:]{2,40}\]|[\w.-]{1,200}):(?!//)", re.I)
_PROGRAM_FIRST = re.compile(r"(?:ssh|scp|sftp|dbclient)\s+-")
_SEPARATORS = re.compile(r"[;|&]+")
_PRINTS_VARIABLE = re.compile(
    r"(?:^|[;&({]|\b(?:do|then)\b)\s*(?:[12]?>&2\s*)?(?:echo|printf)\b[^;|&]*\$\{?[A-Za-z_]"
)
_PROGRAMS = ("ssh", "scp", "sftp", "dbclient")
AES_BIT = 57
"""Of OPENSSL_ia32cap: the AES instructions."""


@dataclass(frozen=True)
class Command:
    """What one command line says of the transfers that follow it.

    `cipher` is None where it names none (`by_variable`: a loop, or `default`: ssh's own choice).
    `ssh` is false for a command that sends nothing through SSH.
    """

    ssh: bool
    cipher: CipherName | None = None
    by_variable: bool = False
    mac: str | None = None
    compression: bool = False
    target_kind: Literal["loopback", "remote"] = "loopback"
    target_name: str | None = None
    amount: int | None = None
    both_ends: bool = False
    """Whether dd runs at both ends: two summaries for one transfer."""
    masks: Acceleration | None = None
    """Whether it turns hardware AES off, where it speaks of that."""
    typed: bool = False
    """Whether it stands behind a prompt: it was run, once."""
    traced: bool = False
    """Whether a shell with `set -x` printed it: each part of a pipeline by itself."""
    host: str | None = None
    lists_ciphers: bool = False
    apart: bool = False
    """Whether it moves bytes by itself, and none of them through SSH."""
    far_end: bool = False
    """Whether it does so on the far side of a connection."""
    dd_apart: bool = False
    """Whether dd on the same line makes a file: its summary is not the transfer's."""
    names: Literal["", "before", "after"] = ""
    """Where a script prints the cipher's name, as far as it says; "before" without ssh."""
    says_mb: Megabyte | None = None
    """What the printed "MB/s" must mean, from a division of a number by a time."""


@dataclass
class _Arguments:
    ciphers: list[str] = field(default_factory=list)
    macs: list[str] = field(default_factory=list)
    compression: bool = False
    target: str | None = None


def prompt_host(text: str) -> str | None:
    """The machine that a shell's prompt names."""
    found = _PROMPT.match(text)
    return found["host"] if found else None


def command_of(text: str) -> Command | None:
    """What a line says as a command, None where it is none."""
    prompt = _PROMPT.match(text) or _bare_prompt(text)
    body = text[prompt.end() :] if prompt else text
    host = prompt["host"] if prompt and "host" in prompt.re.groupindex else None
    traced = prompt is not None and prompt[0].lstrip().startswith("+")
    call = next((one for one in _calls(body) if _is_call(body, one)), None)
    if call is not None and (prompt or _looks_typed(body, call)):
        command = _ssh_command(body, call, host)
        return replace(command, typed=prompt is not None, traced=traced)
    lists_ciphers = _lists_ciphers(body)
    if prompt or lists_ciphers or _SHELL.match(body):
        return Command(
            ssh=False,
            host=host,
            typed=prompt is not None,
            traced=traced,
            amount=amount_of(body),
            says_mb=megabyte_meant(body),
            by_variable="$" in body,
            lists_ciphers=lists_ciphers,
            apart=call is None and _moves_bytes(body),
            masks=acceleration_said(body),
            names="before" if _PRINTS_VARIABLE.search(body) else "",
        )
    return None


def _bare_prompt(text: str) -> re.Match[str] | None:
    """ "nas$ dd ...", "# dd ...": a prompt where a command follows that is no title.

    "# ssh -c aes128-ctr" may as well be a heading, and is read as one.
    """
    found = _BARE_PROMPT.match(text)
    if found is None:
        return None
    body = text[found.end() :]
    is_shell = _SHELL.match(body) is not None
    if found["root"]:
        return found if is_shell and next(_calls(body), None) is None else None
    return found if is_shell or found["sign"] == "$" or _PROGRAM_FIRST.match(body) else None


def _lists_ciphers(body: str) -> bool:
    """Whether ssh is asked for its ciphers, other than for a loop over them."""
    return "-Q" in body and bool(_LISTS_CIPHERS.search(body)) and not _LOOP.search(body)


def _moves_bytes(body: str) -> bool:
    """Whether a command without ssh says where its bytes go: into a file, to another program."""
    if not _READS.search(body):
        return False
    return bool(_WRITES.search(body) or _PIPED_TO.search(body))


def _calls(body: str) -> Iterator[re.Match[str]]:
    return _CALL.finditer(body) if any(name in body for name in _PROGRAMS) else iter(())


def _is_call(body: str, call: re.Match[str]) -> bool:
    rest = body[call.end() : call.end() + 12].lstrip()
    return not re.match(r"-[VQG]\b|[:=(]|cipher|speed|key", rest)


def _looks_typed(body: str, call: re.Match[str]) -> bool:
    """A command rather than a sentence about ssh: options, a pipe, or a shell's words."""
    rest = body[call.end() : call.end() + 60]
    return bool(
        re.match(r"\s+-[\w]", rest)
        or re.search(
            r"\|\s*(?:\w+=\S+\s+)*(?:time\s+|\\time\s+)?\S*$",
            body[max(0, call.start() - 80) : call.start()],
        )
        or _SHELL.match(body)
        or (not body[: call.start()].strip() and re.match(r"\s+\S+@\S+", rest))
    )


def _ssh_command(body: str, call: re.Match[str], host: str | None) -> Command:
    said = _arguments(body[call.end() :], scp=call["program"] == "scp")
    far = _remote_command(body[call.end() :], said.target) if call["program"] != "scp" else ""
    if _stays_there(far) or _LIMITED.search(body) or next(_calls(far), None):
        variable = any("$" in name for name in said.ciphers)
        return Command(ssh=False, host=host, by_variable=variable, apart=True, far_end=True)
    names = [name for text in said.ciphers for name in text.split(",")]
    quote = body[call.start() - 1 : call.start()]  # rsync -e "ssh ..." SOURCE HOST:TARGET
    quoted = quote in ("'", '"')
    target = _rsync_host(body[call.end() :], quote) if quoted else _host_of(said.target)
    remote = target is not None and not _LOCAL.fullmatch(target)
    names_after = _PRINTS_VARIABLE.search(body, call.end()) is not None
    return Command(
        ssh=True,
        cipher=cipher_name(names[0]) if len(names) == 1 else None,
        by_variable=any("$" in name for name in names) or "for " in body[: call.start()],
        mac=mac_name(said.macs[0]) if len(said.macs) == 1 else None,
        compression=said.compression,
        target_kind="remote" if remote else "loopback",
        target_name=target if remote else None,
        amount=amount_of(body),
        both_ends=len(re.findall(r"\bdd\b(?=[ \"'“”\\])", body)) > 1,
        masks=acceleration_said(body),
        host=host,
        dd_apart=_makes_file(body[: call.start()]),
        names="before"
        if _PRINTS_VARIABLE.search(body[: call.start()])
        else "after"
        if names_after
        else "",
        says_mb=megabyte_meant(body),
    )


def _remote_command(arguments: str, target: str | None) -> str:
    """What ssh is told to run on the other side; empty for nothing."""
    at = arguments.find(target) if target else -1
    if target is None or at < 0:
        return ""
    after = arguments[at + len(target) :].lstrip()
    quote, inside = after[:1], after[1:]
    if quote in ("'", '"'):
        return inside.partition(quote)[0]
    return re.split(r"[|;<>&]", after, maxsplit=1)[0]


def _stays_there(remote: str) -> bool:
    """Whether the remote command both makes the bytes and puts them away."""
    return bool(_READS.search(remote) and _WRITES.search(remote))


def _makes_file(before: str) -> bool:
    """Whether dd, before ssh on the line, writes what it reads into a file."""
    return any(
        re.search(r"\bdd\b", part) and "if=" in part and re.search(r"\bof=(?!/dev/stdout)", part)
        for part in _SEPARATORS.split(before)
    )


def _arguments(text: str, *, scp: bool) -> _Arguments:
    """The options and the first operand; words behind them are the remote command."""
    said = _Arguments()
    words = iter([found[0] for found in islice(_WORD.finditer(text), _WORD_LIMIT)])
    with_value = _SCP_WITH_VALUE if scp else _OPTIONS_WITH_VALUE
    for word in words:
        bare = word.strip("\"'“”‘’\\")
        if word in ("|", ";", "<", ">"):
            break
        if bare.startswith("-") and len(bare) > 1:
            _option(bare, words, said, with_value)
        elif scp and ":" not in bare:
            continue
        elif said.target is None and bare:
            said.target = bare
        elif bare:
            break
    return said


def _option(word: str, words: Iterator[str], said: _Arguments, with_value: frozenset[str]) -> None:
    """One word of options: flags, of which the last may take a value, glued or apart."""
    for index, flag in enumerate(word[1:], start=1):
        if flag == "C":
            said.compression = True
        if flag in with_value:
            value = (word[index + 1 :] or next(words, "")).strip("\"'“”‘’\\")
            _value(flag, value, said)
            return


def _value(flag: str, value: str, said: _Arguments) -> None:
    if flag == "c":
        said.ciphers.append(value)
    elif flag == "m":
        said.macs.append(value)
    elif flag == "o":
        if found := _CIPHERS_OPTION.match(value):
            said.ciphers.append(found[1])
        if found := _MACS_OPTION.match(value):
            said.macs.append(found[1])
        said.compression |= bool(_COMPRESSION_OPTION.match(value))


def _host_of(target: str | None) -> str | None:
    """The host of user@host or host:path; None for a variable."""
    if not target or "$" in target or target in ("&&", "&"):
        return None
    host = target.rsplit("@", 1)[-1].removeprefix("ssh://")
    if not host.startswith("[") and host.count(":") == 1:
        host = host.split(":")[0]
    return host if re.fullmatch(r"[\w.:\[\]-]{1,200}", host) else None


def _rsync_host(arguments: str, quote: str) -> str | None:
    """The host among the operands behind the quoted ssh command."""
    found = _RSYNC_HOST.search(arguments.partition(quote)[2])
    return found[1] if found else None


def acceleration_said(text: str) -> Acceleration | None:
    """Whether a mask on the line turns hardware AES off; None where it has no mask."""
    found = _MASK.search(text) if "ia32cap" in text else None
    if found is None:
        return "default" if _UNMASK.search(text) else None
    value = found["value"].split(":")[0]
    number = re.fullmatch(r"(~?)(0x[0-9a-f]{1,16})", value, re.I)
    if number is None:
        return "masked" if "$" in value else "default"
    has_bit = bool(int(number[2], 16) >> AES_BIT & 1)
    return "masked" if has_bit == (number[1] == "~") else "default"


_MEGABYTES: Mapping[float, Megabyte] = {1024.0**2: "MiB", 1000.0**2: "MB"}


def megabyte_meant(command: str) -> Megabyte | None:
    """From `dd bs=1M count=100 ... awk '{print 100/$2}'`: the division's unit, if it is clear."""
    amount, division = amount_of(command), _DIVISION.search(command)
    if amount is None or division is None or int(division[1]) == 0:
        return None
    ratio = amount / int(division[1])
    return _MEGABYTES.get(ratio)
