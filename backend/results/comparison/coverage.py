"""Which ciphers and block sizes were measured, by how many hosts; which groups share hosts."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from analysis.comparison import Group, group_order
from compare.question import ComparisonQuery
from documents.naming import UNKNOWN_KEY
from results.analytics.engine import questions
from results.analytics.tables import DISTURBED_RUN
from results.comparison.measured import measured
from results.comparison.votes import GroupName, group_names, votes_statement
from results.selection import group_members, member


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
    with questions() as ask:
        found = measured(ask, query)
        hosts = found.count("host", lambda slot: slot.cipher)
        sizes = found.count("host", lambda slot: slot.block_size)
    counts = [CipherCount(cipher, count) for cipher, count in hosts.items()]
    return Coverage(
        tuple(sorted(counts, key=lambda one: (-one.hosts, one.cipher))), tuple(sorted(sizes))
    )


def hosts_without_size(query: ComparisonQuery) -> int:
    """How many hosts measured the query's ciphers, but not at its block size; ssh has none."""
    if query.tool == "ssh":
        return 0
    of_any_size = replace(query, block_size=None)
    with questions() as ask:
        found = measured(ask, query)
        at_any = found.count("host", lambda slot: slot.is_in(of_any_size) or None)
        at_this = found.count("host", lambda slot: slot.is_in(query) or None)
    return at_any.get(True, 0) - at_this.get(True, 0)


def hosts_of_groups(query: ComparisonQuery, groups: Collection[Group]) -> int:
    """Count the different hosts of these groups of the query: one may be in several.

    Where a metric needs more than a rate, those without it are excluded and do not count.
    """
    with questions() as ask:
        if not query.matched and query.metric == "throughput":
            return measured(ask, query).hosts_of(groups)
        members = group_members(query, groups)
        votes = votes_statement(ask, query, members)
        select = "SELECT count(DISTINCT host) FROM votes WHERE value IS NOT NULL"
        ((count,),) = ask(votes.sql(select), votes.parameters)
    return int(count)


_DISTURBED = f"""
SELECT count(DISTINCT host) FROM latest WHERE (flags & {DISTURBED_RUN}) <> 0
"""  # noqa: S608 - constants


def disturbed_hosts(query: ComparisonQuery) -> int:
    """How many hosts vote by a disturbed run somewhere in a query that is not matched."""
    query = replace(query, matched=False)
    with questions() as ask:
        votes = votes_statement(ask, query)
        ((count,),) = ask(votes.sql(_DISTURBED), votes.parameters)
    return int(count)


MOST_PAIRS = 5

_PAIRS = """
WITH member AS (
        SELECT DISTINCT g, host FROM {runs} WHERE g::VARCHAR IS DISTINCT FROM $unknown
    ),
    size AS (SELECT g, count(*) AS hosts FROM member GROUP BY g)
SELECT a.g, b.g, count(*) AS shared, any_value(x.hosts) + any_value(y.hosts) - shared AS hosts
FROM member a JOIN member b ON a.host = b.host AND a.g < b.g
    JOIN size x ON x.g = a.g JOIN size y ON y.g = b.g
GROUP BY a.g, b.g ORDER BY shared DESC, a.g, b.g LIMIT {most}
"""


@dataclass(frozen=True)
class SharedHosts:
    """Two groups with `shared` hosts in both, of `hosts` in either; `first` sorts before."""

    first: GroupName
    second: GroupName
    shared: int
    hosts: int

    @property
    def keys(self) -> tuple[str, str]:
        """Of the two groups."""
        return self.first.key, self.second.key

    @property
    def mostly_different(self) -> bool:
        """Whether most hosts of either are not in both."""
        return 2 * self.shared < self.hosts


def shared_hosts(query: ComparisonQuery) -> list[SharedHosts]:
    """The pairs of a query's known groups, unsplit, those with the most hosts in both first."""
    query = replace(query, split_by=None)
    unknown = member(query.group_by, UNKNOWN_KEY)
    with questions() as ask:
        runs = measured(ask, query).runs
        rows = ask(_PAIRS.format(runs=runs, most=MOST_PAIRS), {"unknown": unknown})
    names = group_names(query, {group for row in rows for group in row[:2]})
    found = []
    for one, other, shared, hosts in rows:
        first, second = sorted((names[one], names[other]), key=lambda it: group_order(*it[:2]))
        found.append(SharedHosts(first, second, shared, hosts))
    return found
