"""Which groups of a comparison are in view, and in which order: the page's choice, and a file's."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from analysis.comparison import Comparison, Group
from analysis.groups import GroupSummary

SORT_NAME, SORT_BEST, SORT_MACHINES = SORTS = ("name", "best", "machines")
SCALES = ("linear", "log")
CIPHER_SORT = "cipher:"
"""Before a cipher's name: by that cipher, best first."""

LOWER_IS_BETTER = frozenset({"cpu_seconds_per_gb"})
MOST_GROUPS = 200
"""Groups on one page, at most: what a browser draws without a pause."""


@dataclass(frozen=True)
class GroupView:
    """`search`: groups whose name has this text; `top` of them are on a page, None: all that one
    may have. `page` counts from 1.
    """

    sort: str = SORT_NAME
    search: str = ""
    top: int | None = 20
    page: int = 1
    logarithmic: bool = False

    def found(self, comparison: Comparison) -> Comparison:
        """The comparison with the groups that are searched for, in order."""
        text = self.search.casefold()
        groups = tuple(group for group in comparison.groups if text in group.label.casefold())
        return replace(
            comparison, groups=ordered_groups(replace(comparison, groups=groups), self.sort)
        )

    def on_page(self, groups: tuple[Group, ...]) -> tuple[Group, ...]:
        """Those of the page; one beyond the last is the last."""
        size = self.top or MOST_GROUPS
        start = (min(self.page, max(1, -(-len(groups) // size))) - 1) * size
        return groups[start : start + size]


def ordered_groups(comparison: Comparison, sort: str) -> tuple[Group, ...]:
    """The groups by one of `SORTS`, or by a cipher; groups without a value come last."""
    sign = 1 if comparison.metric in LOWER_IS_BETTER else -1

    def best(values: Mapping[str, GroupSummary]) -> float:
        medians = [sign * summary.median for summary in values.values()]
        return min(medians, default=math.inf)

    keys: dict[str, Callable[[Group], float]] = {
        SORT_BEST: lambda group: best(group.values),
        SORT_MACHINES: lambda group: -group.hosts,
    }
    if sort.startswith(CIPHER_SORT):
        cipher = sort.removeprefix(CIPHER_SORT)
        return tuple(
            sorted(
                comparison.groups,
                key=lambda group: best({c: s for c, s in group.values.items() if c == cipher}),
            )
        )
    key = keys.get(sort)
    return tuple(sorted(comparison.groups, key=key)) if key else comparison.groups
