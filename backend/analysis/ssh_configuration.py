"""The lines for ssh_config and sshd_config that a recommendation comes to.

They say what they rest on in comments, and whoever named a host or a run has no way out of a
comment: what is not printable becomes a space, and every line is short, because OpenSSH once
read its files in pieces of 1024 bytes and took the rest of a longer comment for a setting.
"""

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol
from urllib.parse import quote

from analysis.cipher_catalogue import Assessment, Catalogue, Cipher
from analysis.host_ciphers import HostCiphers
from analysis.openssh_versions import openssh_version

WIDTH = 78
LONGEST_NAME = 80
LONGEST_EVIDENCE = 400
LONGEST_COMMENT = 2000
LONGEST_ADDRESS = 900
"""Characters; a longer address is cut, for the sake of old readers of long lines."""

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
    reason. Names and caution may hold any text.
    """

    made_on: date
    subject: str
    measured: str
    policy: str
    rules_version: str
    permalink: str
    caution: str = ""


def client_configuration(
    order: Iterable[Placed], host: HostCiphers, catalogue: Catalogue, evidence: Evidence
) -> str | None:
    """What to put into ~/.ssh/config of that host; None when its ssh has none of the ciphers."""
    placed = _had(order, catalogue, host.client_has)
    if not placed:
        return None
    notes = [
        CLIENT_DECIDES,
        "Put this before the other Host blocks: the first value found counts. A server that has "
        "none of these ciphers cannot be reached.",
        *_client_checks(host.client),
    ]
    return _text(placed, evidence, notes, ("Host *", "    Ciphers "))


def server_configuration(
    order: Iterable[Placed], host: HostCiphers, catalogue: Catalogue, evidence: Evidence
) -> str | None:
    """What to put into sshd_config of that host; None when its sshd has none of the ciphers."""
    placed = _had(order, catalogue, host.server_has)
    if not placed:
        return None
    notes = [
        CLIENT_DECIDES,
        "Put this before the first Match block. A client that has none of these ciphers is "
        "turned away, so keep a session open until a new one works.",
        "Check: sudo sshd -t finds no fault; sudo sshd -T | grep '^ciphers ' shows this list.",
    ]
    return _text(placed, evidence, notes, ("Ciphers ",))


def _had(
    order: Iterable[Placed], catalogue: Catalogue, has: Callable[[Cipher], bool | None]
) -> list[Placed]:
    """Those that the program is known to have: one unknown name and it refuses the file."""
    known = [(one, catalogue.find("ssh", one.cipher)) for one in order]
    return [one for one, cipher in known if cipher and has(cipher)]


def _client_checks(client: str | None) -> Iterable[str]:
    version = openssh_version(client)
    if version is None or version >= SSH_PRINTS_CONFIGURATION:
        yield "Check: ssh -G HOST | grep '^ciphers ' shows this list."
    yield "Check: ssh -v HOST true 2>&1 | grep 'kex: server' names the cipher that was agreed."


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
