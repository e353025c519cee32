"""The block size of openssl at which a query compares when it names none."""

from dataclasses import replace

from results.analytics.engine import questions
from results.comparison.measured import measured
from results.selection import ComparisonQuery


def resolve_block_size(query: ComparisonQuery) -> ComparisonQuery:
    """The query with its block size decided, where the tool has one and none was asked for.

    The largest block size at which all groups have a figure of its ciphers; failing that, most.
    """
    if query.tool != "openssl" or query.block_size is not None:
        return query
    with questions() as ask:
        groups = measured(ask, query).count(
            "g", lambda slot: slot.block_size if slot.is_in(query) else None
        )
    most = max(groups, key=lambda size: (groups[size], size), default=None)
    return replace(query, block_size=most)
