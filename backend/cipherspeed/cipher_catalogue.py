import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal, get_args

from cipherspeed.types import Tool

Status = Literal["recommended", "acceptable", "legacy", "broken"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""Security statuses, safest first."""

Version = tuple[int, ...]
"""OpenSSH release, such as (9, 2) for 9.2p1."""

_OPENSSH = re.compile(r"OpenSSH[ _](?:for_Windows_)?(?P<version>\d{1,4}(?:\.\d{1,4}){1,3})")
_BARE = re.compile(r"(?P<version>\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)(?:p\d{1,2})?")


def openssh_version(text: str | None) -> Version | None:
    """Parse the output of `ssh -V`, or a version such as `9.2p1`. Return None for other text."""
    match = _OPENSSH.search(text or "") or _BARE.fullmatch(text or "")
    return _parsed(match["version"]) if match else None


def openssh_release(text: str | None) -> str:
    version = openssh_version(text)
    return f"OpenSSH {'.'.join(map(str, version))}" if version else "unknown OpenSSH version"


def _parsed(text: str) -> Version:
    return tuple(int(number) for number in text.split("."))


@dataclass(frozen=True)
class VersionRange:
    """Define a range of releases: `since` <= release < `until`. None means no limit."""

    since: str | None
    until: str | None

    def contains(self, version: Version) -> bool:
        begun = self.since is None or version >= _parsed(self.since)
        return begun and (self.until is None or version < _parsed(self.until))


@dataclass(frozen=True)
class Assessment:
    status: Status
    reason: str
    reference: str | None


@dataclass(frozen=True)
class Advisory:
    """Describe a vulnerability of some OpenSSH releases that affects a cipher.

    `ends`: "server" if only the release of the server matters, or "either" if a vulnerable release
    at either end is enough. `fixed_in_packages`: ("9.2p1 Debian-2+deb12u", 2) means fixed in 9.2p1
    Debian-2+deb12u2 and later.
    """

    name: str
    assessment: Assessment
    ends: Literal["either", "server"]
    affected: VersionRange
    assumed_when_unknown: bool
    fixed_in_packages: tuple[tuple[str, int], ...]

    def affected_ends(self, client: str | None, server: str | None) -> dict[str, str | None]:
        """Return the version text of each vulnerable end of a connection.

        The keys are "client" and "server". An end that is not vulnerable is omitted.
        """
        ends = {"client": client, "server": server}
        if self.ends == "server":
            del ends["client"]
        return {end: text for end, text in ends.items() if self._affects(text)}

    def _affects(self, text: str | None) -> bool:
        version = openssh_version(text)
        if version is None:
            return self.assumed_when_unknown
        return self.affected.contains(version) and not any(
            (match := re.search(re.escape(release) + r"(\d{1,6})", text or ""))
            and int(match[1]) >= number
            for release, number in self.fixed_in_packages
        )


@dataclass(frozen=True)
class OpenSshSupport:
    present: VersionRange
    client_default: VersionRange | None
    server_default: VersionRange | None


@dataclass(frozen=True)
class Cipher:
    """Describe a cipher of ssh or openssl.

    `block_bits`: block size, or None for a stream cipher. `openssh`: OpenSSH releases that support
    the cipher, or None for a cipher of openssl.
    """

    name: str
    tool: Tool
    family: str
    mode: str
    key_bits: int
    block_bits: int | None
    aead: bool
    assessment: Assessment
    advisories: tuple[Advisory, ...]
    openssh: OpenSshSupport | None

    def assess(self, client: str | None, server: str | None) -> Assessment:
        """Return the worst security assessment of the cipher for a connection.

        `client`, `server`: version text such as the output of `ssh -V`, or None if unknown.
        """
        known = [
            advisory.assessment
            for advisory in self.advisories
            if advisory.affected_ends(client, server)
        ]
        return max((self.assessment, *known), key=lambda each: STATUSES.index(each.status))

    @property
    def strength(self) -> tuple[int, int, int]:
        """Return a sort key that puts the strongest cipher first."""
        return (-self.aead, -(self.block_bits or 128), -self.key_bits)


@dataclass(frozen=True)
class Policy:
    name: str
    statuses: tuple[Status, ...]
    meaning: str


@dataclass(frozen=True)
class Catalogue:
    """Store all known ciphers and policies. The strictest policy comes first in `policies`."""

    rules_version: str
    scope: str
    sources: tuple[str, ...]
    policies: Mapping[str, Policy]
    ciphers: tuple[Cipher, ...]

    def find(self, tool: Tool, name: str) -> Cipher | None:
        return next(
            (cipher for cipher in self.ciphers if (cipher.tool, cipher.name) == (tool, name)), None
        )


@cache
def cipher_catalogue() -> Catalogue:
    text = resources.files(__package__).joinpath("data/ciphers.json").read_text("utf-8")
    raw = json.loads(text)
    grounds = {key: Assessment(**ground) for key, ground in raw["grounds"].items()}
    advisories = {key: _advisory(advisory) for key, advisory in raw["advisories"].items()}
    policies = (policy.values() for policy in raw["policies"])
    return Catalogue(
        raw["rules_version"],
        raw["scope"],
        tuple(raw["sources"]),
        {name: Policy(name, tuple(statuses), meaning) for name, statuses, meaning in policies},
        tuple(_cipher(cipher, grounds, advisories) for cipher in raw["ciphers"]),
    )


def _advisory(raw: Mapping[str, Any]) -> Advisory:
    return Advisory(
        raw["name"],
        Assessment(raw["status"], raw["reason"], raw["reference"]),
        raw["ends"],
        VersionRange(**raw["affected"]),
        raw["assumed_when_unknown"],
        tuple((package["release"], package["number"]) for package in raw["fixed_in_packages"]),
    )


def _cipher(
    raw: dict[str, Any], grounds: Mapping[str, Assessment], advisories: Mapping[str, Advisory]
) -> Cipher:
    ranges = {key: each and VersionRange(**each) for key, each in (raw["openssh"] or {}).items()}
    facts = {
        **raw,
        "assessment": grounds[raw["ground"]],
        "advisories": tuple(advisories[key] for key in raw["advisories"]),
        "openssh": OpenSshSupport(**ranges) if ranges else None,
    }
    del facts["ground"]
    return Cipher(**facts)


@lru_cache(2000)
def cipher_family(tool: Tool, name: str) -> str:
    """Return the family and mode of a cipher ("aes-gcm"), or the name of an unknown cipher."""
    cipher = cipher_catalogue().find(tool, name)
    if cipher is None:
        return name
    return cipher.family if cipher.mode in ("stream", "ecb") else f"{cipher.family}-{cipher.mode}"
