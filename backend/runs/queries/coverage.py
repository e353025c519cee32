"""Which ciphers and block sizes were measured under a query's filters, and by how many hosts."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from runs.analytics.engine import questions
from runs.queries.figures import measured_runs, results_statement
from runs.queries.selection import ComparisonQuery, group_members, group_table
from runs.queries.series_choice import class_series

# A bit for each cipher of a host: counting distinct hosts by cipher takes half as long again.
_CIPHERS = """
SELECT word * 63 + bit, count(*) FROM (
    SELECT host, cipher // 63 AS word, bit_or(1::BIGINT << (cipher % 63)) AS mask
    FROM (SELECT host, list_extract($cipher_of::INTEGER[], slot + 1) AS cipher FROM results)
    GROUP BY host, word
), range(63) bits (bit)
WHERE (mask >> bit) & 1 = 1 GROUP BY ALL
"""

_BLOCK_SIZES = "SELECT DISTINCT block FROM results ORDER BY block"

_WITHOUT_SIZE = """
SELECT count(DISTINCT host) - count(DISTINCT host) FILTER (WHERE block = $block) FROM results
"""


@dataclass(frozen=True)
class CipherCount:
    """A cipher and how many hosts measured it."""

    cipher: str
    hosts: int


@dataclass(frozen=True)
class Coverage:
    """The measured ciphers, the most widely measured first, and block sizes (none for ssh).

    The same whichever ciphers and block size a query asks for: read it once for all of them.
    """

    ciphers: tuple[CipherCount, ...]
    block_sizes: tuple[int, ...]


def coverage(query: ComparisonQuery) -> Coverage:
    """Of all series of the query's class, under its filters."""
    series = class_series(query)
    names = list(dict.fromkeys(slot.cipher for slot in series.slots))
    statement = results_statement(query, series)
    cipher_of = [names.index(slot.cipher) for slot in series.slots]
    with questions() as ask:
        rows = ask(statement.sql(_CIPHERS), {**statement.parameters, "cipher_of": cipher_of})
        sizes = []
        if query.tool == "openssl":
            sizes = ask(statement.sql(_BLOCK_SIZES), statement.parameters)
    counts = [CipherCount(names[cipher], hosts) for cipher, hosts in rows]
    return Coverage(
        tuple(sorted(counts, key=lambda one: (-one.hosts, one.cipher))),
        tuple(size for (size,) in sizes),
    )


def hosts_without_size(query: ComparisonQuery) -> int:
    """How many hosts measured the query's ciphers, but not at its block size; ssh has none."""
    if query.tool == "ssh":
        return 0
    series = class_series(query).choice(replace(query, block_size=None))
    statement = results_statement(query, series)
    with questions() as ask:
        rows = ask(
            statement.sql(_WITHOUT_SIZE), {**statement.parameters, "block": query.block_size}
        )
    return int(rows[0][0])


def hosts_of_groups(query: ComparisonQuery, keys: Collection[str]) -> int:
    """How many different hosts these groups of the query have: one may be in several."""
    if query.group_by == "host":
        return len(keys)
    kind = "INTEGER" if group_table(query.group_by) else "VARCHAR"
    statement = measured_runs(query, class_series(query))
    chosen = f"list_contains($groups::{kind}[], g)"
    select = f"SELECT count(DISTINCT host) FROM measured WHERE {chosen}"  # noqa: S608 - constants
    groups = group_members(query.group_by, list(keys))
    with questions() as ask:
        rows = ask(statement.sql(select), {**statement.parameters, "groups": groups})
    return int(rows[0][0])
