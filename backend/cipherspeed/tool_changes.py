"""Changes of the measuring tool itself, as data with their sources (docs/method.md, section 3)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from natsort import natsort_key

from cipherspeed.environment import openssl_release, openssl_series


@dataclass(frozen=True)
class Source:
    """Where it is written, about which release, and what it says there."""

    release: str
    url: str
    says: str


@dataclass(frozen=True)
class ToolChange:
    """A change of what a tool measures.

    `since`: release line -> its first release with the change ("3.0" -> "3.0.16"); lines after
    the last of them have it from their beginning. `modes`: the cipher modes it touches.
    """

    id: str
    summary: str
    effect: str
    modes: frozenset[str]
    since: Mapping[str, str]
    sources: tuple[Source, ...]

    def touches(self, cipher: str) -> bool:
        """Return whether the change touches this openssl cipher ("aes-128-gcm")."""
        return not self.modes.isdisjoint(cipher.lower().split("-"))

    def in_release(self, version_text: str) -> bool | None:
        """Return whether a release has the change; None for what is not OpenSSL or not known."""
        release = openssl_release(version_text) or ""
        series = openssl_series(version_text)
        match = re.match(r"OpenSSL (\d[\d.]*[a-z]*)", release)
        if match is None or series is None:
            return None
        if series in self.since:
            return natsort_key(match[1]) >= natsort_key(self.since[series])
        return natsort_key(series) > max(map(natsort_key, self.since))


@cache
def tool_changes() -> tuple[ToolChange, ...]:
    """Return every known change, as data/tool_changes.json has them."""
    text = resources.files(__package__).joinpath("data/tool_changes.json").read_text("utf-8")
    return tuple(
        ToolChange(
            id=change["id"],
            summary=change["summary"],
            effect=change["effect"],
            modes=frozenset(change["modes"]),
            since=change["from"],
            sources=tuple(Source(**source) for source in change["sources"]),
        )
        for change in json.loads(text)["changes"]
    )


ToolState = tuple[bool | None, ...]
"""Of each change of `openssl speed` for a cipher whether a release has it; None: not known."""


@lru_cache(4096)
def tool_state(version_text: str, cipher: str) -> ToolState:
    """Return how a release measures this cipher; empty where no change touches it."""
    return tuple(
        change.in_release(version_text) for change in tool_changes() if change.touches(cipher)
    )


def differ(first: Iterable[ToolState], second: Iterable[ToolState]) -> bool:
    """Return whether two sides are known to have been measured in different ways."""
    known, other = ({state for state in side if None not in state} for side in (first, second))
    return bool(known and other) and known != other


def breaks_between(version_a: str, version_b: str, cipher: str) -> tuple[ToolChange, ...]:
    """Return the changes of `openssl speed` for this cipher between two releases.

    Versions as the tool prints them, "OpenSSL 3.0.15 3 Sep 2024" or "OpenSSL 3.0.15", in either
    order. Across a break a difference is no property of the cipher, so no percentage is stated.
    A release that is not known (LibreSSL, BoringSSL) breaks nothing that we could name.
    """
    return tuple(
        change
        for change in tool_changes()
        if change.touches(cipher)
        and {change.in_release(version_a), change.in_release(version_b)} == {True, False}
    )


@dataclass(frozen=True)
class ToolBreak:
    """`index`: the first run measured by the changed tool; `before` and `after` are releases."""

    index: int
    before: str
    after: str
    change: ToolChange

    @property
    def words(self) -> str:
        """Return what is not compared, and between which releases."""
        return (
            f"The tool changed between {self.before} and {self.after}, not the cipher:"
            " no percentage is stated across this break."
        )


def find_breaks(releases: Sequence[str], cipher: str) -> Iterator[ToolBreak]:
    """Yield where runs of `openssl speed`, the oldest first, cross a change of the tool.

    A release that is not known (LibreSSL) breaks nothing; the next known one is compared with the
    last known one before it.
    """
    before: str | None = None
    for index, after in enumerate(releases):
        if not tool_state(after, cipher) or None in tool_state(after, cipher):
            continue
        if before is not None:
            for change in breaks_between(before, after, cipher):
                yield ToolBreak(index, before, after, change)
        before = after
