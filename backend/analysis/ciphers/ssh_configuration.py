"""The lines for ssh_config and sshd_config that a recommendation comes to.

They say what they rest on in comments, and whoever named a host or a run has no way out of a
comment: what is not printable becomes a space, and every line is short, because OpenSSH once
read its files in pieces of 1024 bytes and took the rest of a longer comment for a setting.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol
from urllib.parse import quote

from analysis.ciphers.cipher_catalogue import Assessment, Catalogue, Cipher
from analysis.ciphers.host_ciphers import HostCiphers
from analysis.ciphers.openssh_versions import openssh_version

WIDTH = 78
LONGEST_NAME = 80
LONGEST_EVIDENCE = 400
LONGEST_COMMENT = 2000
FASTER_NAMED = 3
"""Of the faster ciphers that are left out."""

LONGEST_ADDRESS = 900
"""Characters; a longer address is cut, for the sake of old readers of long lines."""

LONGEST_PATTERNS = 900
"""Bytes of a Host line: of more names than fit the first ones are written."""

ANY_SERVER = "*"
UNNAMED_SERVER = "SERVER"
"""Stands for a server that has no name which ssh can be given."""

PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")
REFUSED_CHARACTERS = frozenset(" \"'\\`$;&<>|(){}*?!")
"""ssh refuses names with the first ones (`valid_hostname` in ssh.c, since 9.6 and in patched
packages); the last three make a pattern of a name."""

URL_CHARACTERS = ":/?#[]@!$&'()*+,;=%~"

SSH_PRINTS_CONFIGURATION = (6, 8)
"""The first OpenSSH whose ssh has -G (release notes of 6.8)."""

CLIENT_DECIDES = (
    "ssh uses the first cipher of the client's list that the server has too (RFC 4253, "
    "section 7.1): the client's order decides, the server's list only allows."
)

WEAK = ("legacy", "broken")


class Placed(Protocol):
    """A cipher in its place of any recommendation: for a host, a pair or a group."""

    @property
    def cipher(self) -> str:
        """The name that ssh gives it."""

    @property
    def assessment(self) -> Assessment:
        """How safe it is there."""


@dataclass(frozen=True)
class Evidence:
    """What a configuration rests on, for its header.

    `subject`: the host, pair or group it is for; `measured`: the runs behind it, in words;
    `permalink`: where to see the figures; `caution`: why to measure again first, empty for no
    reason; `faster`: faster ciphers that are left out, with their reasons. All may hold any text.
    """

    made_on: date
    subject: str
    measured: str
    policy: str
    rules_version: str
    permalink: str
    caution: str = ""
    faster: tuple[str, ...] = ()


def client_configuration(
    order: Iterable[Placed],
    host: HostCiphers,
    catalogue: Catalogue,
    evidence: Evidence,
    server_names: Sequence[str] | None = None,
) -> str | None:
    """What to put into ~/.ssh/config of that host; None when its ssh has none of the ciphers.

    `server_names` limits it to connections to the server of these names; None: to any server.
    """
    placed = _had(order, catalogue, host.client_has)
    if not placed:
        return None
    names = (ANY_SERVER,) if server_names is None else _patterns(server_names)
    notes = [
        CLIENT_DECIDES,
        "Put this before the other Host blocks: the first value found counts.",
        _which_servers(names),
        *_client_checks(host.client, names[0]),
    ]
    return _text(placed, evidence, notes, (f"Host {' '.join(names)}", "    Ciphers "))


def _patterns(names: Iterable[str]) -> tuple[str, ...]:
    """Names of one server as `Host` takes them; a placeholder where there is none.

    ssh compares with what was typed, in which people write host names in lower case.
    """
    found: list[str] = []
    spellings = (spelling for name in names for spelling in (name, name.lower()))
    for name in dict.fromkeys(spellings):
        pattern = _pattern(name)
        if pattern and len(" ".join((*found, pattern)).encode()) <= LONGEST_PATTERNS:
            found.append(pattern)
    return tuple(found) or (UNNAMED_SERVER,)


def _pattern(name: str) -> str | None:
    """The name, quoted where it needs that; None for one that nobody can give to ssh."""
    if PLAIN_NAME.fullmatch(name):
        return name
    taken = name and name[0] != "-" and name.isprintable() and not REFUSED_CHARACTERS & set(name)
    return f'"{name}"' if taken else None


def _which_servers(patterns: Sequence[str]) -> str:
    if patterns[0] == ANY_SERVER:
        return (
            "It holds for every server: one that has none of these ciphers cannot be reached. "
            "Write names instead of * to limit it."
        )
    if patterns[0] == UNNAMED_SERVER:
        return (
            "ssh accepts no name that this server has here: replace SERVER by the name or address "
            "that you give to ssh."
        )
    return "It holds for these names alone: add others, or addresses, that you give to ssh."


def server_configuration(
    order: Iterable[Placed], host: HostCiphers, catalogue: Catalogue, evidence: Evidence
) -> str | None:
    """What to put into sshd_config of that host; None when its sshd has none of the ciphers.

    sshd takes no Ciphers for single clients: the list counts for whoever connects.
    """
    placed = _had(order, catalogue, host.server_has)
    if not placed:
        return None
    notes = [
        CLIENT_DECIDES,
        "Put this before the first Match block. It holds for every client: one that has none of "
        "these ciphers is turned away, so keep a session open until a new one works.",
        "Check: sudo sshd -t finds no fault; sudo sshd -T | grep '^ciphers ' shows this list.",
    ]
    return _text(placed, evidence, notes, ("Ciphers ",))


def _had(
    order: Iterable[Placed], catalogue: Catalogue, has: Callable[[Cipher], bool | None]
) -> list[Placed]:
    """Those that the program is known to have: one unknown name and it refuses the file."""
    known = [(one, catalogue.find("ssh", one.cipher)) for one in order]
    return [one for one, cipher in known if cipher and has(cipher)]


def _client_checks(client: str | None, name: str) -> Iterable[str]:
    server = name if PLAIN_NAME.fullmatch(name) else "HOST"
    version = openssh_version(client)
    if version is None or version >= SSH_PRINTS_CONFIGURATION:
        yield f"Check: ssh -G {server} | grep '^ciphers ' shows this list."
    yield f"Check: ssh -v {server} true 2>&1 | grep 'kex: server' names the cipher that was agreed."


def _text(
    placed: Sequence[Placed], evidence: Evidence, notes: Sequence[str], setting: Sequence[str]
) -> str:
    comments = [line for note in (*_header(evidence), *_warning(placed)) for line in _comment(note)]
    comments.append(f"# {_address(evidence.permalink)}")
    comments += [line for note in notes for line in _comment(note)]
    *before, keyword = setting
    return "\n".join([*comments, *before, keyword + ",".join(one.cipher for one in placed), ""])


def _header(evidence: Evidence) -> Iterable[str]:
    yield (
        f"Ciphermark, {evidence.made_on.isoformat()}: ciphers for "
        f"{printable(evidence.subject, LONGEST_NAME)}, policy {evidence.policy}, "
        f"rules of {evidence.rules_version}."
    )
    yield f"Measured: {printable(evidence.measured, LONGEST_EVIDENCE)}."
    if evidence.caution:
        yield f"Careful: {evidence.caution}"
    for one in evidence.faster[:FASTER_NAMED]:
        yield f"Faster, but left out: {printable(one, LONGEST_EVIDENCE)}."
    if len(evidence.faster) > FASTER_NAMED:
        yield f"And {len(evidence.faster) - FASTER_NAMED} more, which the page lists."


def _warning(placed: Iterable[Placed]) -> Iterable[str]:
    weak = [f"{one.cipher} ({one.assessment.status})" for one in placed if _is_weak(one)]
    if weak:
        yield f"Warning: weak ciphers are among these: {', '.join(weak)}."


def _is_weak(one: Placed) -> bool:
    return one.assessment.status in WEAK


def _comment(text: str) -> list[str]:
    """Comment lines, each short and printable, wherever the text came from."""
    plain = printable(text, LONGEST_COMMENT)
    return textwrap.wrap(
        plain, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
    )


def printable(text: str, longest: int) -> str:
    """One line of printable characters, at most `longest`: no line ends, no control codes."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(plain.split())[:longest]


def _address(url: str) -> str:
    """The address in ASCII without spaces; what an address cannot hold is percent-encoded."""
    return quote(url.encode("utf-8", "replace"), safe=URL_CHARACTERS)[:LONGEST_ADDRESS]
