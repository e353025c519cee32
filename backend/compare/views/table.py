"""The groups of a comparison as tables: ordered, searched, a page of them, with bars."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from django.http import QueryDict

from cipherspeed.baselines import only
from cipherspeed.group_view import MOST_GROUPS, GroupView, InView
from cipherspeed.groups import Comparison, Group, GroupSummary, Ratio
from cipherspeed.palette import cipher_order
from cipherspeed.tool_changes import ToolChange, tool_changes
from core.page_query import TOPS, PageAddress
from core.paging import NumberedPage, numbered_page

MEASURED = "agent"


@dataclass(frozen=True)
class GroupPage(NumberedPage):
    """One page of groups and the ways to the others."""

    comparison: Comparison
    """The comparison with the groups of this page alone."""
    total: int
    """Groups before the search."""
    found: int
    more: tuple[tuple[str, str], ...]
    """Names and addresses of longer pages."""


def group_page(viewed: InView, display: GroupView, params: QueryDict) -> GroupPage:
    """The page of groups that `display` asks for."""
    size = display.top
    return GroupPage(
        **asdict(numbered_page(viewed.found, size, params)),
        comparison=replace(viewed.comparison, groups=viewed.groups),
        total=viewed.total,
        found=viewed.found,
        more=_more(PageAddress(params), viewed.found, size),
    )


def _more(address: PageAddress, found: int, shown: int) -> tuple[tuple[str, str], ...]:
    steps = [top for top in TOPS if top != "all" and shown < int(top) < found]
    ways = [(f"Show {top}", address.changed(top=top, page=None)) for top in steps[:1]]
    if shown < min(found, MOST_GROUPS):
        words = f"Show all {found}" if found <= MOST_GROUPS else f"Show {MOST_GROUPS}"
        ways.append((words, address.changed(top="all", page=None)))
    return tuple(ways)


@dataclass(frozen=True)
class Scale:
    """An axis: linear from 0, or logarithmic from the power of ten below the lowest value."""

    low: float
    high: float
    logarithmic: bool

    def part(self, value: float) -> float:
        """Where a value is, from 0 to 1."""
        if not self.logarithmic:
            part = value / self.high
        elif value > 0:
            part = math.log10(value / self.low) / (math.log10(self.high / self.low) or 1.0)
        else:
            part = 0.0
        return min(max(part, 0.0), 1.0)


def scale_of(groups: Iterable[Group], *, logarithmic: bool) -> Scale | None:
    """The axis that holds the quartiles of all these groups; None where no value is above 0."""
    summaries = [summary for group in groups for summary in group.values.values()]
    ends = [value for one in summaries for value in (one.q1, one.q3) if value > 0]
    if not ends:
        return None
    # A little below the lowest: its bar has a length then.
    return Scale(10.0 ** math.floor(math.log10(min(ends) * 0.999)), max(ends), logarithmic)


@dataclass(frozen=True)
class Bar:
    """A small bar in a table: ends in per cent of the row's width; no whisker for one machine."""

    end: float
    low: float | None
    high: float | None

    @property
    def whisker(self) -> str:
        """The path of the whisker in a box of 100 x 10."""
        low, high = self.low, self.high
        if low is None or high is None:
            return ""
        return f"M{low} 5H{high}M{low} 2.5V7.5M{high} 2.5V7.5"


@dataclass(frozen=True)
class Row:
    """One cipher of one group; `uncertainty` and `families` as the group has them."""

    cipher: str
    summary: GroupSummary
    uncertainty: float | None
    families: tuple[str, ...]
    doubt: str
    bar: Bar
    ratio: Ratio | None


@dataclass(frozen=True)
class ShownGroup:
    """A group with its rows; `here`: it is marked as measured by an agent of this site."""

    group: Group
    here: bool
    rows: tuple[Row, ...]

    @property
    def hosts(self) -> str:
        """Its hosts in words."""
        return hosts_note(self.group)


def shown_groups(comparison: Comparison, *, logarithmic: bool) -> tuple[ShownGroup, ...]:
    here = measured_here(comparison)
    scale = scale_of(comparison.groups, logarithmic=logarithmic)
    ciphers = sorted(comparison.ciphers, key=cipher_order)
    return tuple(
        ShownGroup(
            group,
            group.id in here,
            tuple(_row(group, cipher, scale) for cipher in ciphers if cipher in group.values),
        )
        for group in comparison.groups
    )


def _row(group: Group, cipher: str, scale: Scale | None) -> Row:
    summary = group.values[cipher]
    end, low, high = (
        round(100 * scale.part(value), 2) if scale else 0.0
        for value in (summary.median, summary.q1, summary.q3)
    )
    bar = Bar(end, low, high) if summary.n > 1 else Bar(end, None, None)
    return Row(
        cipher,
        summary,
        group.uncertainty.get(cipher),
        group.families.get(cipher, ()),
        doubt_words(group, cipher),
        bar,
        group.ratios.get(cipher),
    )


def doubt_words(group: Group, cipher: str) -> str:
    """ "low confidence", or "1 of 3 low confidence" for several hosts; or empty."""
    doubtful, n = group.doubtful.get(cipher, 0), group.values[cipher].n
    if not doubtful:
        return ""
    return "low confidence" if n == 1 else f"{doubtful} of {n} low confidence"


def counted_hosts(count: int) -> str:
    """ "2 hosts"."""
    return f"{count} host{'' if count == 1 else 's'}"


def hosts_note(group: Group) -> str:
    """The group's hosts and, where no bar stands for all of them, how many at most."""
    hosts = counted_hosts(group.hosts)
    most = max((summary.n for summary in group.values.values()), default=0)
    return hosts if most >= group.hosts else f"{hosts}, n ≤ {most}"


def measured_here(comparison: Comparison) -> frozenset[str]:
    """Ids of the groups to mark as measured here: none where all are, since that marks nothing."""
    here = {group.id for group in comparison.groups if MEASURED in group.sources}
    return frozenset(here if len(here) < len(comparison.groups) else ())


class Cell(NamedTuple):
    """One figure of a matrix; `doubt` as in a row, `shade` from 0 to `SHADES`.

    `only` says on which baselines alone all of its figures rest.
    """

    summary: GroupSummary
    doubt: str
    shade: int
    only: str
    ratio: Ratio | None


class Line(NamedTuple):
    """A row of the matrix: a group, and a cell for each cipher."""

    key: str
    label: str
    cells: tuple[Cell | None, ...]


class Matrix(NamedTuple):
    """Groups down, ciphers across; of each cipher the page with its best groups first, if any."""

    columns: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]


SHADES = 4


def matrix(comparison: Comparison, ciphers: Sequence[str], sorting: Mapping[str, str]) -> Matrix:
    """Lay out the groups; `sorting`: cipher -> the page with its best groups first."""
    highest = {
        cipher: max(
            (one.values[cipher].median for one in comparison.groups if cipher in one.values),
            default=0.0,
        )
        for cipher in ciphers
    }
    return Matrix(
        tuple((cipher, sorting.get(cipher, "")) for cipher in ciphers),
        tuple(
            Line(group.id, group.name, tuple(_cell(group, one, highest[one]) for one in ciphers))
            for group in comparison.groups
        ),
    )


def _cell(group: Group, cipher: str, highest: float) -> Cell | None:
    """Return the group's figure, shaded by its share of the cipher's highest; None without one."""
    if cipher not in group.values:
        return None
    summary = group.values[cipher]
    shade = round(SHADES * summary.median / highest) if highest > 0 else 0
    alone = "" if cipher in group.uncertainty else only(group.families.get(cipher, ()))
    return Cell(summary, doubt_words(group, cipher), shade, alone, group.ratios.get(cipher))


@dataclass(frozen=True)
class ToolBreak:
    """A change that some of the groups have and others have not, for some of the ciphers shown."""

    change: ToolChange
    ciphers: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def tool_breaks(comparison: Comparison) -> tuple[ToolBreak, ...]:
    """The changes of `openssl speed` itself that lie between the releases compared.

    Only where the groups are releases: a line of releases, or machines of one CPU, may have been
    measured on both sides.
    """
    if comparison.tool != "openssl" or comparison.group_by != "openssl":
        return ()
    found = (_break(comparison, change) for change in tool_changes())
    return tuple(one for one in found if one.ciphers and one.before and one.after)


def after_a_break(comparison: Comparison) -> frozenset[str]:
    """Keys of the groups measured by a tool that changed, where others were not."""
    labels = {label for one in tool_breaks(comparison) for label in one.after}
    return frozenset(group.key for group in comparison.groups if group.label in labels)


def _break(comparison: Comparison, change: ToolChange) -> ToolBreak:
    touched = [
        (group.label, change.in_release(group.label))
        for group in comparison.groups
        if any(change.touches(cipher) for cipher in group.values)
    ]
    return ToolBreak(
        change,
        tuple(cipher for cipher in comparison.ciphers if change.touches(cipher)),
        tuple(label for label, has in touched if has is False),
        tuple(label for label, has in touched if has is True),
    )
