"""Which groups have hosts in common: only those can be matched."""

from dataclasses import dataclass

from analysis.comparison import group_order
from results.analytics.engine import questions
from results.comparison.measured import measured
from results.comparison.votes import GroupName, group_names
from results.selection import ComparisonQuery

MOST_PAIRS = 5

_PAIRS = """
WITH member AS (SELECT DISTINCT g, host FROM {runs}),
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


def shared_hosts(query: ComparisonQuery) -> list[SharedHosts]:
    """The pairs of groups of a query that is not split, those with the most hosts in both first."""
    with questions() as ask:
        runs = measured(ask, query).runs
        rows = ask(_PAIRS.format(runs=runs, most=MOST_PAIRS), {})
    names = group_names(query, {group for row in rows for group in row[:2]})
    found = []
    for one, other, shared, hosts in rows:
        first, second = sorted((names[one], names[other]), key=lambda it: group_order(*it[:2]))
        found.append(SharedHosts(first, second, shared, hosts))
    return found
