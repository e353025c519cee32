"""One comparison at several block sizes of openssl."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from analysis.comparison import Comparison
from results.comparison.comparison import compare
from results.selection import FILTERS, ComparisonQuery

MOST_SIZES = 12
"""Sizes that are compared at most, a comparison each; `openssl speed` has 6 of its own."""


def compare_block_sizes(
    query: ComparisonQuery, sizes: Sequence[int], groups: Iterable[str]
) -> Mapping[int, Comparison]:
    """Block size (bytes, ascending) -> the query's comparison at it, of the `MOST_SIZES` largest.

    `groups`: keys of the groups that are wanted. Where the grouping is also a filter, no other
    machine is read: a filter on the grouping leaves the votes of the groups it keeps as they are.
    """
    if query.group_by in FILTERS:
        query = replace(query, filters={**query.filters, query.group_by: tuple(groups)})
    largest = sorted(set(sizes))[-MOST_SIZES:]
    return {size: compare(replace(query.plain, block_size=size)) for size in largest}
