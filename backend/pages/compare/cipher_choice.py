"""Which ciphers the compare page shows, and its picker of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from exports.palette import cipher_order, colour_slot, family
from results.comparison.coverage import CipherCount, Coverage, coverage
from results.selection import ComparisonQuery

# What most readers come for: the AEADs, the plain counter mode, and the slow yardstick.
USUAL_CIPHERS = {
    "ssh": (
        "aes128-gcm@openssh.com",
        "aes256-gcm@openssh.com",
        "chacha20-poly1305@openssh.com",
        "aes128-ctr",
        "aes256-ctr",
        "3des-cbc",
    ),
    "openssl": (
        "aes-128-gcm",
        "aes-256-gcm",
        "chacha20-poly1305",
        "aes-128-cbc",
        "aes-256-cbc",
        "des-ede3",
        "des-ede3-cbc",
    ),
}
ENOUGH = 3
AT_MOST = 6


@dataclass(frozen=True)
class CipherOption:
    """A cipher in the picker, with how many hosts measured it."""

    cipher: str
    slot: str
    hosts: int
    chosen: bool


@dataclass(frozen=True)
class FamilyOptions:
    """The ciphers of one family in the picker."""

    key: str
    label: str
    options: tuple[CipherOption, ...]


def _default_ciphers(tool: str, measured: Sequence[CipherCount]) -> tuple[str, ...]:
    """The ciphers to show when the URL names none: the usual ones that somebody measured.

    Where fewer than three of those exist, the most widely measured ones fill up to six.
    """
    names = [count.cipher for count in measured]
    usual = [cipher for cipher in USUAL_CIPHERS[tool] if cipher in names]
    if len(usual) < ENOUGH:
        usual += [name for name in names if name not in usual][: AT_MOST - len(usual)]
    return tuple(sorted(usual, key=cipher_order))


def with_ciphers(query: ComparisonQuery, covered: Coverage | None = None) -> ComparisonQuery:
    """The query with the usual ciphers where it names none; `covered` for who has read it."""
    if query.ciphers:
        return query
    measured = (covered or coverage(query)).ciphers
    return replace(query, ciphers=_default_ciphers(query.tool, measured))


def families(measured: Iterable[CipherCount], chosen: Sequence[str]) -> tuple[FamilyOptions, ...]:
    """The picker: what is measured, and what was asked for although nobody measured it."""
    hosts = {count.cipher: count.hosts for count in measured}
    hosts |= {cipher: 0 for cipher in chosen if cipher not in hosts}
    ordered = sorted(hosts, key=cipher_order)
    return tuple(
        FamilyOptions(
            known.key,
            known.label,
            tuple(
                CipherOption(cipher, colour_slot(cipher), hosts[cipher], cipher in chosen)
                for cipher in members
            ),
        )
        for known, members in groupby(ordered, key=family)
    )
