"""The kinds of charts, and which of them make sense for a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.comparison import Comparison
from results.selection import ComparisonQuery

BARS, BOX, LINES, HEATMAP, SCATTER = "bars", "box", "lines", "heatmap", "scatter"


@dataclass(frozen=True)
class ChartKind:
    """A kind of chart; `missing` says what a comparison lacks that cannot be drawn so."""

    key: str
    label: str
    described: str
    missing: str


KINDS = (
    ChartKind(BARS, "Bars", "Bar chart", ""),
    ChartKind(
        BOX, "Box plot", "Box plot", "A box plot needs a group with two hosts, and there is none."
    ),
    ChartKind(
        HEATMAP,
        "Heat map",
        "Heat map",
        "A heat map needs two groups and two ciphers, and there are fewer.",
    ),
    ChartKind(
        LINES,
        "Block sizes",
        "Line charts",
        "Lines need figures of OpenSSL with two block sizes, and there are none.",
    ),
    ChartKind(
        SCATTER,
        "SSH vs OpenSSL",
        "Scatter plot",
        "OpenSSL stands against SSH only by plain throughput: encryption with one thread, and a "
        "transfer over loopback without compression.",
    ),
)


def offered_kinds(
    query: ComparisonQuery, comparison: Comparison, block_sizes: Sequence[int]
) -> tuple[ChartKind, ...]:
    """The kinds that this comparison can be drawn as; bars it always can."""
    n = max((value.n for group in comparison.groups for value in group.values.values()), default=0)
    possible = {
        BARS: True,
        BOX: n > 1,
        HEATMAP: len(comparison.groups) > 1 and len(comparison.ciphers) > 1,
        LINES: query.tool == "openssl" and len(block_sizes) > 1,
        SCATTER: _by_both_tools(query),
    }
    return tuple(kind for kind in KINDS if possible[kind.key])


def _by_both_tools(query: ComparisonQuery) -> bool:
    plain = query.metric == "throughput" and query.mac is None and not query.compression
    return (
        plain
        and query.target_kind == "loopback"
        and (query.operation, query.threads) == ("encrypt", 1)
    )


def chosen_kind(asked: str, offered: Sequence[ChartKind]) -> tuple[ChartKind, str]:
    """The kind to draw, and why it is not the one that was asked for (empty where it is)."""
    for kind in KINDS:
        if kind.key == asked:
            return (kind, "") if kind in offered else (offered[0], kind.missing)
    return offered[0], ""
