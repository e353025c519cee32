"""A history cut where the measuring tool changed, and the changes in each part."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from analysis.over_time.series_changes import Change, find_changes
from analysis.over_time.tool_changes import ToolChange, tool_changes


@dataclass(frozen=True)
class ToolBreak:
    """`index`: the first run measured by the changed tool; `before` and `after` are releases."""

    index: int
    before: str
    after: str
    change: ToolChange

    @property
    def words(self) -> str:
        """One sentence for people: what is not compared, and between which releases."""
        return (
            f"The tool changed between {self.before} and {self.after}, not the cipher:"
            " no percentage is stated across this break."
        )


def find_breaks(releases: Sequence[str], cipher: str) -> tuple[ToolBreak, ...]:
    """Where a history of `openssl speed` runs crosses a change of the tool for this cipher.

    `releases` of the runs, the oldest first. One that nobody knows (LibreSSL, unknown) breaks
    nothing; the next known one is compared with the last known one before it.
    """
    found = [
        one
        for change in tool_changes()
        if change.tool == "openssl" and change.touches(cipher)
        for one in _breaks_of(change, releases)
    ]
    return tuple(sorted(found, key=lambda one: one.index))


def _breaks_of(change: ToolChange, releases: Sequence[str]) -> list[ToolBreak]:
    known = [
        (index, release, has)
        for index, release in enumerate(releases)
        if (has := change.in_release(release)) is not None
    ]
    return [
        ToolBreak(index, before, after, change)
        for (_, before, had), (index, after, has) in pairwise(known)
        if had != has
    ]


def changes_between_breaks(
    history: Sequence[float],
    breaks: Sequence[ToolBreak],
    *,
    seconds: Sequence[float | None] = (),
    lower_is_better: bool = False,
) -> tuple[Change, ...]:
    """The changes in each part of a history; no run is compared with one beyond a break.

    `seconds` and `lower_is_better` as in `find_changes`.
    """
    cuts = sorted({0, *(one.index for one in breaks), len(history)})
    return tuple(
        replace(change, index=start + change.index)
        for start, end in pairwise(cuts)
        for change in find_changes(
            history[start:end], seconds=seconds[start:end], lower_is_better=lower_is_better
        )
    )
