"""Options and operands of a call of ssh, scp or sftp."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

_CIPHERS_OPTION = re.compile(r"Ciphers?[= ](\S+)", re.I)
_MACS_OPTION = re.compile(r"MACs[= ](\S+)", re.I)
_COMPRESSION_OPTION = re.compile(r"Compression[= ]yes", re.I)
_WORD = re.compile(
    r"(?<=-o)[\"'][^\"']{1,200}[\"']|(?<=-o )[\"'][^\"']{1,200}[\"']"
    r"|[\"'“”‘’]?[^\s\"'“”‘’;|<>]+[\"'“”‘’]?|[|;<>]|[\"'“”‘’]"
)
_WORD_LIMIT = 60
_QUOTES = "\"'“”‘’\\"
_FLAGS = {
    "ssh": frozenset("46AaCgKknqTtVvXxYy"),
    "dbclient": frozenset("CyTtAasvq"),
    "tlssh": frozenset("Cv"),
    "scp": frozenset("46BCOpqrsTv"),
    "sftp": frozenset("46AaCfNpqrv"),
}
_WITH_VALUE = {
    "ssh": frozenset("bcBeEFiIlmopQ"),
    "dbclient": frozenset("cmpilKIWbo"),
    "tlssh": frozenset("cp"),
    "scp": frozenset("cFioP"),
    "sftp": frozenset("bBcFioPRs"),
}
_SETTING = re.compile(
    r"(?:Ciphers?|MACs|Compression(?:Level)?|StrictHostKeyChecking|\w*KnownHosts\w*|BatchMode"
    r"|Connect\w+|LogLevel|Identit\w+|\w*Authentications?|\w*Algorithms|\w*KeyTypes|HostKeyAlias"
    r"|HostName|User|Port|IPQoS|Protocol|Server\w+|TCPKeepAlive|VisualHostKey|CheckHostIP"
    r"|Forward\w+|RequestTTY|AddressFamily|BindAddress|EscapeChar|TcpRcvBuf\w*|HPN\w+"
    r"|NumberOfPasswordPrompts|UpdateHostKeys|RekeyLimit)\s*[= ]|\w+\s*[= ]\s*(?:no|none)$",
    re.I,
)


@dataclass
class Arguments:
    """What they say of the connection."""

    ciphers: list[str] = field(default_factory=list)
    macs: list[str] = field(default_factory=list)
    compression: bool = False
    target: str | None = None
    end: int = 0
    """Where the options and the target end."""
    unknown: bool = False
    """Whether an option, or a second far host, may change what is measured."""


def arguments_of(text: str, program: str) -> Arguments:
    """The options and the first operand; words behind them are the remote command."""
    said = Arguments()
    words = islice(_WORD.finditer(text), _WORD_LIMIT)
    for word in words:
        bare = word[0].strip(_QUOTES)
        if word[0] in ("|", ";", "<", ">"):
            break
        if bare.startswith("[-"):  # an option that was not always there
            continue
        if bare.startswith("-") and len(bare) > 1:
            said.end = word.end()
            _option(bare, words, said, program)
        elif program == "scp" and (":" not in bare or bare[1:3] == ":\\"):
            continue
        elif said.target is None and bare:
            said.target, said.end = bare, word.end()
        elif program == "scp":
            said.unknown |= host_of(bare) != host_of(said.target)
        elif bare:
            break
    return said


def _option(word: str, words: Iterator[re.Match[str]], said: Arguments, program: str) -> None:
    """One word of options: flags, of which the last may take a value, glued or apart."""
    for index, flag in enumerate(word[1:], start=1):
        if flag == "C":
            said.compression = True
        takes = _takes_value(program, flag)
        if takes is None:
            said.unknown = True
        if takes:
            value = word[index + 1 :]
            if not value and (found := next(words, None)):
                value, said.end = found[0], found.end()
            _value(flag, value.strip(_QUOTES), said)
            return


def _value(flag: str, value: str, said: Arguments) -> None:
    if flag == "c":
        said.ciphers.append(value)
    elif flag == "m":
        said.macs.append(value)
    elif flag == "o":
        if found := _CIPHERS_OPTION.match(value):
            said.ciphers.append(found[1])
        elif found := _MACS_OPTION.match(value):
            said.macs.append(found[1])
        elif _COMPRESSION_OPTION.match(value):
            said.compression = True
        elif not _is_known_setting(value):
            said.unknown = True


def _takes_value(program: str, flag: str) -> bool | None:
    """Whether an option has a value; None where it may change more than the project knows."""
    if flag in _FLAGS[program]:
        return False
    return True if flag in _WITH_VALUE[program] else None


def _is_known_setting(value: str) -> bool:
    """Whether `-o VALUE` adds no connection and no cipher that the options do not name."""
    return _SETTING.match(value) is not None


def host_of(target: str | None) -> str | None:
    """The host of user@host or host:path; None for a variable."""
    if not target or "$" in target or target in ("&&", "&"):
        return None
    host = target.rsplit("@", 1)[-1].removeprefix("ssh://")
    if not host.startswith("[") and host.count(":") == 1:
        host = host.split(":")[0]
    return host if re.fullmatch(r"[\w.:\[\]-]{1,200}", host) else None
