"""List changes in `openssl speed` that affect the reported rates (docs/method.md, section 3)."""

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
    release: str
    url: str
    says: str


@dataclass(frozen=True)
class ToolChange:
    """Describe a change in `openssl speed` that affects the reported rates.

    `since`: first changed release of each release series, such as {"3.0": "3.0.16"}. Newer release
    series include the change. `modes`: affected cipher modes.
    """

    id: str
    summary: str
    effect: str
    modes: frozenset[str]
    since: Mapping[str, str]
    sources: tuple[Source, ...]

    def touches(self, cipher: str) -> bool:
        return not self.modes.isdisjoint(cipher.lower().split("-"))

    def in_release(self, version_text: str) -> bool | None:
        """Return whether a release includes the change, or None if unknown (LibreSSL)."""
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
"""Whether a release includes each change that can affect a cipher. None means unknown."""


@lru_cache(4096)
def tool_state(version_text: str, cipher: str) -> ToolState:
    return tuple(
        change.in_release(version_text) for change in tool_changes() if change.touches(cipher)
    )


def differ(first: Iterable[ToolState], second: Iterable[ToolState]) -> bool:
    """Return whether two sets of results were measured with different states of `openssl speed`.

    A state that contains None (unknown) is ignored.
    """
    known, other = ({state for state in side if None not in state} for side in (first, second))
    return bool(known and other) and known != other


def breaks_between(version_a: str, version_b: str, cipher: str) -> tuple[ToolChange, ...]:
    """Return the changes that affect a cipher and that only one of the two releases includes.

    Versions are texts such as "OpenSSL 3.0.15 3 Sep 2024" or "OpenSSL 3.0.15", in either order.
    """
    return tuple(
        change
        for change in tool_changes()
        if change.touches(cipher)
        and {change.in_release(version_a), change.in_release(version_b)} == {True, False}
    )


@dataclass(frozen=True)
class ToolBreak:
    """Describe where `openssl speed` changed in a sequence of runs.

    `index`: index of the first run with release `after`. `before`: release of the earlier runs.
    """

    index: int
    before: str
    after: str
    change: ToolChange

    @property
    def words(self) -> str:
        return (
            f"openssl speed itself changed between {self.before} and {self.after}, so results from"
            " before and after the change are not compared."
        )


def find_breaks(releases: Sequence[str], cipher: str) -> Iterator[ToolBreak]:
    """Yield the changes in `openssl speed` between consecutive runs.

    `releases`: release in each run, oldest run first. Unknown releases (LibreSSL) are ignored.
    """
    before: str | None = None
    for index, after in enumerate(releases):
        if not tool_state(after, cipher) or None in tool_state(after, cipher):
            continue
        if before is not None:
            for change in breaks_between(before, after, cipher):
                yield ToolBreak(index, before, after, change)
        before = after
