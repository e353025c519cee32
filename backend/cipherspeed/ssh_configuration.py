import re
import textwrap
from collections.abc import Iterable, Sequence

from cipherspeed.recommendation import RankedCipher

WIDTH = 78
LONGEST = 900
"""Maximum length of a comment in bytes.

Old OpenSSH releases read 1024 bytes of a line, and parse the rest of a longer comment as a setting.
"""

MOST_NAMES = 4
"""Maximum number of names in a `Host` line, to limit the length of the line."""

PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")

CLIENT_DECIDES = (
    "ssh uses the first cipher in the client's list that the server supports (RFC 4253, "
    "section 7.1), so only the client's order matters."
)


def ssh_config(
    order: Sequence[RankedCipher], header: Iterable[str], server: Sequence[str] | None = None
) -> str:
    """Return text for ~/.ssh/config.

    `server`: names of the server for the `Host` line. None means every server.
    """
    patterns = ["*"] if server is None else _patterns(server)
    scope = "This applies only to these names. Add any other name or address that you use with ssh."
    if patterns == ["*"]:
        scope = "This applies to every server. Connections to servers without these ciphers fail."
    if patterns == ["SERVER"]:
        scope = "Replace SERVER with the name or address that you use with ssh."
    notes = [
        "Put this before all other Host blocks, because ssh uses the first value it finds.",
        scope,
        "To see the negotiated cipher: ssh -v HOST true 2>&1 | grep 'kex: server'",
    ]
    return _text(order, header, notes, f"Host {' '.join(patterns)}\n    Ciphers ")


def sshd_config(order: Sequence[RankedCipher], header: Iterable[str]) -> str:
    notes = [
        "Put this before the first Match block. This applies to every client. sshd rejects clients "
        "without these ciphers. Keep a session open until a new one works.",
        "To check: sudo sshd -t must report no errors, and sudo sshd -T | grep '^ciphers ' must "
        "show this list.",
    ]
    return _text(order, header, notes, "Ciphers ")


def _patterns(names: Iterable[str]) -> list[str]:
    # ssh compares the pattern with the name that the user types.
    plain = [name for name in names if PLAIN_NAME.fullmatch(name)]
    return list(dict.fromkeys(each for name in plain for each in (name, name.lower())))[
        :MOST_NAMES
    ] or ["SERVER"]


def _text(
    order: Sequence[RankedCipher], header: Iterable[str], notes: Iterable[str], setting: str
) -> str:
    weak = [
        f"{place.cipher}: {place.assessment.status}"
        for place in order
        if place.assessment.status in ("legacy", "broken")
    ]
    warning = [f"Warning: this list includes weak ciphers ({', '.join(weak)})."] if weak else []
    comments = [
        line for note in (*header, *warning, CLIENT_DECIDES, *notes) for line in _comment(note)
    ]
    return "\n".join([*comments, setting + ",".join(place.cipher for place in order), ""])


def _comment(text: str) -> list[str]:
    # Names of hosts and runs must not become settings. A line break would end the comment.
    printable = "".join(each if each.isprintable() else " " for each in text)
    return textwrap.wrap(
        printable.encode()[:LONGEST].decode(errors="ignore"),
        WIDTH,
        initial_indent="# ",
        subsequent_indent="# ",
        break_on_hyphens=False,
        break_long_words=False,
    )
