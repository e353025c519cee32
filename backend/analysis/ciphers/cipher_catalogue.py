"""What is known of each cipher: kind, family, strength, which OpenSSH has it (data/ciphers.json).

The facts and their sources are data with a version; this only reads them, and refuses a
catalogue that contradicts itself. data/policies.json says what recommendations may name.
"""

import json
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal, get_args

from analysis.ciphers.openssh_versions import VersionRange, openssh_version, parse_range
from documents.types import Series, Tool

Status = Literal["recommended", "acceptable", "legacy", "broken"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""Safest first."""

Ends = Literal["either", "server"]

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*(@[a-z0-9.]+)?")
"""What a cipher may be called: such names go into configuration files as they are."""


@dataclass(frozen=True)
class Assessment:
    """How safe a cipher is, why in one sentence, and where to read about it."""

    status: Status
    reason: str
    reference: str | None


@dataclass(frozen=True)
class PackageFix:
    """A distribution's package that has a fix although its OpenSSH release is older.

    `release` is the start of the version text that ssh -V prints; the number after it counts
    up, and from `number` on the fix is in. `source` is the distribution's advisory.
    """

    release: str
    number: int
    source: str


@dataclass(frozen=True)
class Advisory:
    """A weakness that some releases have, and what the cipher is worth with it.

    `name` is what people call it, for the middle of a sentence. It counts when `either` end or
    when the `server` is affected. `assumed_when_unknown` is how an end of unknown version is taken.
    """

    name: str
    assessment: Assessment
    ends: Ends
    affected: VersionRange
    assumed_when_unknown: bool
    fixed_in_packages: tuple[PackageFix, ...]

    def concerns(self, client: str | None, server: str | None) -> bool:
        """Whether a connection between these two (version texts of OpenSSH) is affected."""
        return bool(self.affected_ends(client, server))

    def affected_ends(self, client: str | None, server: str | None) -> dict[str, str | None]:
        """The ends that have the weakness, "client" first, with their version texts."""
        ends = {"client": client, "server": server}
        if self.ends == "server":
            del ends["client"]
        return {end: text for end, text in ends.items() if self._affects(text)}

    def _affects(self, text: str | None) -> bool:
        inside = self.affected.contains(openssh_version(text))
        if inside is None:
            return self.assumed_when_unknown
        return inside and not any(_has_fix(text or "", fix) for fix in self.fixed_in_packages)


@dataclass(frozen=True)
class OpenSshSupport:
    """Which releases of OpenSSH know the cipher, and which use it by default (None: none ever)."""

    present: VersionRange
    client_default: VersionRange | None
    server_default: VersionRange | None


@dataclass(frozen=True)
class Cipher:
    """One cipher of one tool.

    `key_bits` and `block_bits` are bits; a stream cipher has no block. `aead`: whether it
    authenticates what it encrypts. `openssh` is None for the ciphers of openssl.
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
        """How safe it is between two OpenSSH versions, as `ssh -V` prints them; worst first."""
        known = [one.assessment for one in self.advisories if one.concerns(client, server)]
        return max((self.assessment, *known), key=lambda one: STATUSES.index(one.status))

    @property
    def strength(self) -> tuple[int, int, int]:
        """Orders ciphers of one status, the safer first: AEAD, then large blocks and keys."""
        return (-self.aead, -(self.block_bits or 128), -self.key_bits)


@dataclass(frozen=True)
class Catalogue:
    """All ciphers; `rules_version` names the state of the rules that a result rests on."""

    rules_version: str
    scope: str
    sources: tuple[str, ...]
    ciphers: tuple[Cipher, ...]

    def find(self, tool: Tool, name: str) -> Cipher | None:
        """The cipher that this tool calls so; None for one that the catalogue does not know."""
        return next((one for one in self.ciphers if (one.tool, one.name) == (tool, name)), None)


class CatalogueError(ValueError):
    """The catalogue contradicts itself; the message names the entry."""


@cache
def cipher_catalogue() -> Catalogue:
    """The catalogue that comes with this version of Ciphermark."""
    text = resources.files(__package__).joinpath("data/ciphers.json").read_text("utf-8")
    return read_catalogue(json.loads(text))


def read_catalogue(raw: Mapping[str, Any]) -> Catalogue:
    """The typed catalogue; `CatalogueError` for an entry that cannot be."""
    grounds = {key: _assessment(key, one) for key, one in raw["grounds"].items()}
    advisories = {key: _advisory(key, one) for key, one in raw["advisories"].items()}
    ciphers = tuple(_cipher(one, grounds, advisories) for one in raw["ciphers"])
    _check_unique(ciphers)
    return Catalogue(raw["rules_version"], raw["scope"], tuple(raw["sources"]), ciphers)


def _assessment(key: str, raw: Mapping[str, Any], reference: str = "reference") -> Assessment:
    if raw["status"] not in STATUSES:
        raise CatalogueError(f"{key}: no such status: {raw['status']!r}")
    return Assessment(raw["status"], raw["reason"], raw[reference])


def _advisory(key: str, raw: Mapping[str, Any]) -> Advisory:
    if raw["ends"] not in get_args(Ends):
        raise CatalogueError(f"{key}: ends are one of {get_args(Ends)}, not {raw['ends']!r}")
    return Advisory(
        name=raw["name"],
        assessment=_assessment(key, raw, "identifier"),
        ends=raw["ends"],
        affected=parse_range(raw["affected"]),
        assumed_when_unknown=raw["assumed_when_unknown"],
        fixed_in_packages=tuple(PackageFix(**one) for one in raw["fixed_in_packages"]),
    )


def _cipher(
    raw: Mapping[str, Any], grounds: Mapping[str, Assessment], advisories: Mapping[str, Advisory]
) -> Cipher:
    facts = {**raw, "openssh": _support(raw["openssh"])}
    try:
        facts["assessment"] = grounds[facts.pop("ground")]
        facts["advisories"] = tuple(advisories[key] for key in raw["advisories"])
    except KeyError as missing:
        raise CatalogueError(f"{raw['name']}: the catalogue has no {missing}") from missing
    cipher = Cipher(**facts)
    if not _NAME.fullmatch(cipher.name) or cipher.tool not in get_args(Tool):
        raise CatalogueError(f"{cipher.name!r} of {cipher.tool!r} is no name of a cipher")
    if (cipher.openssh is None) != (cipher.tool == "openssl"):
        raise CatalogueError(f"{cipher.name}: versions of OpenSSH belong to ciphers of ssh")
    return cipher


def _support(raw: Mapping[str, Any] | None) -> OpenSshSupport | None:
    if raw is None:
        return None
    client, server = raw["client_default"], raw["server_default"]
    return OpenSshSupport(
        present=parse_range(raw["present"]),
        client_default=parse_range(client) if client else None,
        server_default=parse_range(server) if server else None,
    )


def _check_unique(ciphers: Iterable[Cipher]) -> None:
    seen: set[tuple[str, str]] = set()
    for cipher in ciphers:
        if (cipher.tool, cipher.name) in seen:
            raise CatalogueError(f"{cipher.tool} {cipher.name} stands in the catalogue twice")
        seen.add((cipher.tool, cipher.name))


def _has_fix(text: str, fix: PackageFix) -> bool:
    """Whether the version text names that package or a later one of the same line."""
    found = re.search(re.escape(fix.release) + r"(\d{1,6})", text)
    return found is not None and int(found[1]) >= fix.number


_MODE_SAYS_NOTHING = frozenset({"stream", "ecb"})


@lru_cache(2000)
def cipher_family(tool: Tool, name: str) -> str:
    """Family and mode ("aes-gcm", "chacha20-poly1305", "arcfour"); an unknown cipher is its own."""
    cipher = cipher_catalogue().find(tool, name)
    if cipher is None:
        return name
    if cipher.mode in _MODE_SAYS_NOTHING:
        return cipher.family
    return f"{cipher.family}-{cipher.mode}"


def family_of_series(series: Series) -> str | None:
    """Tool and family whose speed on its host this series tells of, such as "ssh aes-gcm".

    None for series that say something else: with the AES instructions turned off, or over a
    network to another machine.
    """
    if series.acceleration != "default" or series.target_kind == "remote":
        return None
    return f"{series.tool} {cipher_family(series.tool, series.cipher)}"


DEFAULT_POLICY = "modern"


@dataclass(frozen=True)
class Policy:
    """A named choice of statuses, safest first, and what it means in a sentence."""

    name: str
    statuses: tuple[Status, ...]
    meaning: str

    def allows(self, status: Status) -> bool:
        """Whether a cipher of this status may be recommended."""
        return status in self.statuses


@cache
def policies() -> dict[str, Policy]:
    """All policies by name, the strictest first."""
    text = resources.files(__package__).joinpath("data/policies.json").read_text("utf-8")
    return {raw["name"]: read_policy(raw) for raw in json.loads(text)["policies"]}


def read_policy(raw: Mapping[str, Any]) -> Policy:
    """A typed policy; `CatalogueError` unless it takes all that is as safe as its weakest."""
    statuses = STATUSES[: len(raw["statuses"])]
    if tuple(raw["statuses"]) != statuses:
        raise CatalogueError(f"policy {raw['name']}: its statuses must begin {statuses}")
    return Policy(raw["name"], statuses, raw["meaning"])


NOT_OFFERED = "this OpenSSH does not offer it"
"""The agent's reason for having skipped a cipher that `ssh -Q cipher` does not list."""


def offered_ciphers(
    client: str | None,
    measured: AbstractSet[str],
    not_offered: AbstractSet[str],
    catalogue: Catalogue,
) -> frozenset[str] | None:
    """What `ssh -Q cipher` would list; None where the version of the client is not known.

    A run names only what it measured, so the rest is what OpenSSH of that version has. What was
    measured is there although a distribution may differ from the release; what a run says to be
    `not_offered` is not.
    """
    version = openssh_version(client)
    if version is None:
        return None
    released = {
        cipher.name
        for cipher in catalogue.ciphers
        if cipher.openssh and cipher.openssh.present.contains(version)
    }
    return frozenset((released | measured) - not_offered)
