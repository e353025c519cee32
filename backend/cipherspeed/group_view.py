import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeVar

from cipherspeed.changes import SMALLEST_CHANGE
from cipherspeed.choices import METRICS
from cipherspeed.groups import Comparison, Group, GroupSummary
from cipherspeed.naming import UNKNOWN_KEY

SORT_NAME, SORT_BEST, SORT_MACHINES = SORTS = ("name", "best", "machines")
SCALES = ("linear", "log")
CIPHER_SORT = "cipher:"
"""Prefix of the sort option for the results of a cipher, such as "cipher:aes128-ctr"."""

OneGroup = TypeVar("OneGroup")

LOWER_IS_BETTER = frozenset(metric.key for metric in METRICS if metric.lower_is_better)

MOST_GROUPS = 200
"""Maximum number of groups on a page. Browsers draw this number without noticeable delay."""

MOST_BARS = 600
"""Maximum number of bars in a chart. Browsers on phones cannot draw the canvas for more bars."""


@dataclass(frozen=True)
class GroupView:
    """Store the options that select and sort the groups on a page.

    `top`: number of groups on a page. `page`: page number, from 1. `pinned`: keys of hosts that
    appear first on every page.
    """

    sort: str = SORT_NAME
    search: str = ""
    top: int = 20
    page: int = 1
    logarithmic: bool = False
    pinned: tuple[str, ...] = ()

    def finds(self, label: str) -> bool:
        return self.search.casefold() in label.casefold()

    def filtered(self, comparison: Comparison) -> Comparison:
        metric = comparison.metric
        best = min if metric in LOWER_IS_BETTER else max

        def own(group: Group) -> tuple[bool, float]:
            is_unknown = group.key == UNKNOWN_KEY
            if self.sort == SORT_MACHINES:
                return is_unknown, -group.hosts
            medians = [
                summary.median for cipher, summary in group.values.items() if self.sorts_by(cipher)
            ]
            return is_unknown, self.place(best(medians, default=None), metric)

        groups = [group for group in comparison.groups if self.finds(group.label)]
        places = dict[str, tuple[bool, float]]()
        for group in groups:  # keep the parts of a split group together
            place = own(group)
            places[group.key] = min(place, places.get(group.key, place))
        groups.sort(key=lambda group: places[group.key])
        return replace(comparison, groups=tuple(groups))

    def sorts_by(self, cipher: str) -> bool:
        return self.sort in (SORT_BEST, f"{CIPHER_SORT}{cipher}")

    @property
    def cipher(self) -> str:
        return self.sort.removeprefix(CIPHER_SORT) if self.sort.startswith(CIPHER_SORT) else ""

    def ranks(self, comparison: Comparison) -> dict[str, str]:
        """Return the rank of each group, by group ID. `comparison` must be sorted by one cipher."""
        return ranks(
            (group.id, group.values.get(self.cipher))
            for group in comparison.groups
            if not comparison.split_by and group.key != UNKNOWN_KEY
        )

    def place(self, best: float | None, metric: str) -> float:
        if best is None:
            return math.inf
        return best if metric in LOWER_IS_BETTER else -best

    def on_page(self, groups: Sequence[OneGroup]) -> tuple[OneGroup, ...]:
        """Return the groups on the page, or on the last page if `page` is too large."""
        start = (min(self.page, page_count(len(groups), self.top)) - 1) * self.top
        return tuple(groups[start : start + self.top])


def ranks(summaries: Iterable[tuple[str, GroupSummary | None]]) -> dict[str, str]:
    """Return the rank of each group by key, such as "1". The best group comes first.

    A group has the same rank as a better group if the quartile ranges overlap or the medians differ
    by less than 5 %. A group whose summary is None has no rank.
    """
    ranks: dict[str, str] = {}
    leader: GroupSummary | None = None
    rank = 0
    for place, (key, summary) in enumerate(summaries, start=1):
        if summary is None:
            continue
        if leader is None or not _ties(leader, summary):
            leader, rank = summary, place
        ranks[key] = str(rank)
    return ranks


def _ties(first: GroupSummary, second: GroupSummary) -> bool:
    overlap = first.q1 <= second.q3 and second.q1 <= first.q3
    return overlap or abs(first.median - second.median) < SMALLEST_CHANGE * max(
        first.median, second.median
    )


def page_count(groups: int, size: int) -> int:
    return max(1, -(-groups // size))


@dataclass(frozen=True)
class InView:
    """Store the groups on one page of a comparison.

    `comparison`: all groups, or only the hosts on the page if each group is a host. `total`:
    number of all groups. `matches`: number of groups that match the search. `ranks`: by group ID,
    over all pages.
    """

    comparison: Comparison
    groups: tuple[Group, ...]
    total: int
    matches: int
    ranks: Mapping[str, str]

    @property
    def part(self) -> Comparison:
        return replace(self.comparison, groups=self.groups)


def in_view(comparison: Comparison, view: GroupView) -> InView:
    matching = view.filtered(comparison)
    groups = matching.groups
    on_page, ranks = view.on_page(groups), view.ranks(matching)
    return InView(comparison, on_page, len(comparison.groups), len(groups), ranks)


def drawable(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Return the first groups that fit in a chart of `MOST_BARS` bars, but at least one group."""
    bars = accumulate(len(group.values) for group in groups)
    return groups[: max(1, sum(count <= MOST_BARS for count in bars))]
