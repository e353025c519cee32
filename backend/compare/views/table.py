from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cipherspeed.baselines import only
from cipherspeed.group_view import MOST_GROUPS
from cipherspeed.groups import Comparison, Group, GroupSummary, Ratio
from cipherspeed.tool_changes import ToolChange, tool_changes
from core.page_query import TOPS, PageAddress

MEASURED = "agent"


def page_sizes(address: PageAddress, groups: int, shown: int) -> list[tuple[str, str]]:
    steps = [top for top in TOPS if top != "all" and shown < int(top) < groups]
    ways = [(f"Show {top}", address.changed(top=top, page=None)) for top in steps[:1]]
    if shown < min(groups, MOST_GROUPS):
        words = f"Show all {groups}" if groups <= MOST_GROUPS else f"Show {MOST_GROUPS}"
        ways.append((words, address.changed(top="all", page=None)))
    return ways


def doubt_words(group: Group, cipher: str) -> str:
    doubtful, n = group.doubtful.get(cipher, 0), group.values[cipher].n
    if not doubtful:
        return ""
    return "low confidence" if n == 1 else f"{doubtful} of {n} low confidence"


def counted_hosts(count: int) -> str:
    return f"{count} host{'' if count == 1 else 's'}"


def only_baseline(group: Group) -> str:
    """Return a note such as "3DES only" if no host has more than one baseline.

    Return an empty string if a host has several baselines, or if the metric uses no speed index.
    """
    families = sorted({family for known in group.families.values() for family in known})
    return "" if group.uncertainty else only(families)


def hosts_note(group: Group, comparison: Comparison, saved_hosts: Sequence[str]) -> str:
    """Describe the hosts of a group, for example "reference, 3 hosts, each cipher on at most 2"."""
    saved = "just saved" if group.key in saved_hosts else ""
    reference = "reference" if comparison.is_reference(group) else ""
    hosts = counted_hosts(group.hosts)
    most = max((summary.n for summary in group.values.values()), default=0)
    fewer = "" if most >= group.hosts else f"each cipher on {'at most ' * (most > 1)}{most}"
    notes = (saved, reference, hosts, fewer, only_baseline(group))
    return ", ".join(filter(None, notes))


def measured_here(comparison: Comparison) -> frozenset[str]:
    """Return the IDs of groups with results from agents of this site.

    Return an empty set if all groups have results from agents.
    """
    here = {group.id for group in comparison.groups if MEASURED in group.sources}
    return frozenset(here if len(here) < len(comparison.groups) else ())


class Cell(NamedTuple):
    """Describe the result of a cipher in a group.

    `shade`: median relative to the highest median of the cipher, from 0 to `SHADES`. `only`: note
    such as "3DES only" or "some hosts 3DES only".
    """

    cipher: str
    summary: GroupSummary
    doubt: str
    shade: int
    only: str
    uncertainty: float | None
    ratio: Ratio | None


class Line(NamedTuple):
    rank: str
    group: Group
    here: bool
    hosts: str
    cells: tuple[Cell | None, ...]


SHADES = 4


def table_lines(
    comparison: Comparison,
    ciphers: Sequence[str],
    ranks: Mapping[str, str],
    saved_hosts: Sequence[str],
) -> list[Line]:
    here = measured_here(comparison)
    highest = {
        cipher: max(
            (group.values[cipher].median for group in comparison.groups if cipher in group.values),
            default=0.0,
        )
        for cipher in ciphers
    }
    return [
        Line(
            ranks.get(group.id, ""),
            group,
            group.id in here,
            hosts_note(group, comparison, saved_hosts),
            tuple(_cell(group, cipher, highest[cipher]) for cipher in ciphers),
        )
        for group in comparison.groups
    ]


def _cell(group: Group, cipher: str, highest: float) -> Cell | None:
    if cipher not in group.values:
        return None
    summary = group.values[cipher]
    uncertainty = group.uncertainty.get(cipher)
    return Cell(
        cipher,
        summary,
        doubt_words(group, cipher),
        round(SHADES * summary.median / highest) if highest > 0 else 0,
        _only(group.families.get(cipher, ()), some=uncertainty is not None),
        uncertainty,
        group.ratios.get(cipher),
    )


def _only(families: Sequence[str], *, some: bool) -> str:
    named = only(families)
    return f"some hosts {named}" if named and some else named


@dataclass(frozen=True)
class ToolBreak:
    """Describe a change of `openssl speed` between the compared releases.

    `before`: labels of the groups without the change. `after`: labels of the groups with the
    change.
    """

    change: ToolChange
    ciphers: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def tool_breaks(comparison: Comparison) -> tuple[ToolBreak, ...]:
    """Return the changes of `openssl speed` between the compared releases.

    Return an empty tuple unless each group is a release. A group of another kind, such as a CPU,
    can contain results from before and after a change.
    """
    if comparison.tool != "openssl" or comparison.group_by != "openssl":
        return ()
    changes = (_break(comparison, change) for change in tool_changes())
    return tuple(change for change in changes if change.ciphers and change.before and change.after)


def after_a_break(comparison: Comparison) -> frozenset[str]:
    """Return the keys of groups with a change of `openssl speed` that another group lacks."""
    labels = {label for tool_break in tool_breaks(comparison) for label in tool_break.after}
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
