"""Where a comparison by OpenSSL version crosses a change of `openssl speed` itself."""

from dataclasses import dataclass

from analysis.comparison import Comparison
from analysis.over_time.tool_changes import ToolChange, tool_changes


@dataclass(frozen=True)
class ToolBreak:
    """A change that some of the groups have and others have not, for some of the ciphers shown."""

    change: ToolChange
    ciphers: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def tool_breaks(comparison: Comparison) -> tuple[ToolBreak, ...]:
    """The changes of the tool that lie between the releases compared.

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
