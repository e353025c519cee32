"""The votes of a comparison: of each host in each group its latest result, and its value."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from analysis.comparison import NEEDS_BASELINE, Group
from analysis.groups import FEW_VOTES, GroupSummary, interpolated
from results.analytics.engine import Ask
from results.analytics.quality_flags import is_doubtful
from results.comparison.measured import measured
from results.figures import LATEST, SOURCE_BITS, Statement, results_statement
from results.selection import ComparisonQuery, group_table, name_of_text
from results.series_choice import Slot
from store.models import ReferenceProfile
from store.outage import DataMoved
from store.statements import array, fetch_rows

VALUES = {
    "throughput": "v.median",
    "normalised": "v.median / d.divisor",
    "vs_arcfour": "v.median / d.divisor",
    "vs_blowfish": "v.median / d.divisor",
    "vs_3des": "v.median / d.divisor",
    "cpu_seconds_per_gb": "v.cpu_seconds_per_gb",
    "cpu_bound_throughput": "v.cpu_bound_throughput",
    "cpu_bound_normalised": "v.cpu_bound_throughput / d.divisor",
}
"""Metric -> SQL of a vote's value, NULL where its run has none."""

_DIVISORS = {
    "normalised": """
        SELECT run, "index" AS divisor, uncertainty FROM speed_index
        WHERE tool = $tool AND profile = $profile
    """,
    "cpu_bound_normalised": """
        SELECT run, "index" AS divisor, NULL::DOUBLE AS uncertainty FROM cpu_bound_index
        WHERE tool = $tool AND profile = $profile
    """,
}
_LEVELS = """
    SELECT run, level AS divisor, NULL::DOUBLE AS uncertainty FROM level
    WHERE tool = $tool AND family = $family
"""


def sources_of(bits: int) -> tuple[str, ...]:
    """The sources that `bit_or` of their `SOURCE_BITS` stands for."""
    return tuple(sorted(name for name, bit in SOURCE_BITS.items() if bits & bit))


def votes_statement(
    ask: Ask,
    query: ComparisonQuery,
    profile: ReferenceProfile | None,
    groups: list[Any] | None = None,
) -> Statement:
    """`votes` (g, host, slot, run, value, uncertainty, source, doubtful) on the query's metric.

    The latest run has the vote whatever it can say: without a baseline its value is NULL, and
    without CPU time a vote on the CPU-bound normalised rate is none at all. `groups`: the votes
    in these alone, ids or texts.
    """
    found = measured(ask, query)
    statement = results_statement(query, found.series.choice(query), runs=found.runs)
    if groups is not None:
        statement.ctes["runs"] += " WHERE list_contains($groups, g)"
        statement.parameters["groups"] = groups
    statement.ctes["latest"] = LATEST
    divisor, uncertainty = "", "NULL::DOUBLE"
    if query.metric in NEEDS_BASELINE:
        statement.ctes["divisors"] = _DIVISORS.get(query.metric, _LEVELS)
        statement.parameters["tool"] = query.tool
        if query.metric in _DIVISORS:
            statement.parameters["profile"] = profile.pk if profile else None
        else:
            statement.parameters["family"] = query.metric.removeprefix("vs_")
        divisor, uncertainty = "LEFT JOIN divisors d ON d.run = v.run", "d.uncertainty"
    silent = "v.cpu_bound_throughput IS NULL" if query.metric == "cpu_bound_normalised" else "false"
    statement.ctes["votes"] = f"""
        SELECT v.g, v.host, v.slot, v.run, {VALUES[query.metric]} AS value,
            {uncertainty} AS uncertainty, v.source,
            {is_doubtful(query.metric)} AS doubtful
        FROM latest v {divisor} WHERE NOT {silent}
    """  # noqa: S608 - closed lists
    return statement


_AT = "values[(n - 1) * {quarters} // 4 + 1], values[least((n - 1) * {quarters} // 4 + 2, n)]"

_SUMMARIES = f"""
SELECT g, slot, n, values[1], {", ".join(_AT.format(quarters=one) for one in (1, 2, 3))}, values[n],
    known, uncertainties[(known - 1) // 2 + 1], uncertainties[least((known - 1) // 2 + 2, known)],
    sources, CASE WHEN n <= {FEW_VOTES} THEN doubtful END
FROM (
    SELECT g, slot, count(*) AS n, list_sort(list(value)) AS values,
        count(uncertainty) AS known,
        list_sort(list(uncertainty) FILTER (WHERE uncertainty IS NOT NULL)) AS uncertainties,
        bit_or(source) AS sources, count(*) FILTER (WHERE doubtful) AS doubtful
    FROM votes WHERE value IS NOT NULL GROUP BY g, slot
)
"""  # noqa: S608 - constants
"""A group's summary of one slot: the order statistics that `analysis.groups` interpolates."""

_NO_BASELINE = f"""
UNION ALL SELECT NULL, NULL, count(*), {", ".join(["NULL"] * 13)}
FROM (SELECT host FROM votes GROUP BY host HAVING bool_and(value IS NULL))
"""  # noqa: S608 - constants


@dataclass(frozen=True)
class GroupedVotes:
    """What the groups of a query are, and how many hosts have no baseline."""

    groups: tuple[Group, ...]
    no_baseline: int


class ValueRow(NamedTuple):
    """A group's summary of one slot. `group` is what the query groups by, an id or a text.

    `doubtful`: of its votes, None where there are too many to tell.
    """

    group: Any
    slot: Slot
    summary: GroupSummary
    uncertainty: float | None
    sources: int
    doubtful: int | None


def grouped_votes(
    ask: Ask,
    query: ComparisonQuery,
    profile: ReferenceProfile | None,
    groups: list[Any] | None = None,
) -> GroupedVotes:
    """The groups of a query whose block size is resolved; of `groups` as in `votes_statement`."""
    votes, found = votes_statement(ask, query, profile, groups), measured(ask, query)
    without = _NO_BASELINE if query.metric in NEEDS_BASELINE else ""
    rows = ask(votes.sql(_SUMMARIES + without), votes.parameters)
    values = [_value_row(found.series.slots, *row) for row in rows if row[1] is not None]
    no_baseline = sum(row[2] for row in rows if row[1] is None)
    names = group_names(query.group_by, {row.group for row in values})
    # A host that is a group is one host.
    hosts = dict.fromkeys(names, 1) if query.group_by == "host" else found.hosts_by_group()
    return GroupedVotes(_groups(values, names, hosts), no_baseline)


def _value_row(slots: Sequence[Slot], group: Any, slot: int, n: int, *facts: Any) -> ValueRow:
    minimum, *quartiles, maximum, known, below, above, sources, doubtful = facts
    first, median, third = (
        interpolated(n, quarters / 4, *quartiles[2 * place : 2 * place + 2])
        for place, quarters in enumerate((1, 2, 3))
    )
    uncertainty = interpolated(known, 0.5, below, above) if known else None
    summary = GroupSummary(median, first, third, minimum, maximum, n)
    return ValueRow(group, slots[slot], summary, uncertainty, sources, doubtful)


Names = dict[Any, tuple[str, str]]


def group_names(group_by: str, groups: Iterable[Any]) -> Names:
    """What a query groups by -> key and label of each of these groups, none of them twice."""
    table, wanted = group_table(group_by), list(groups)
    if not table:
        return {one: name_of_text(group_by, one) for one in wanted}
    rows = fetch_rows(f"{table} WHERE id = ANY(%s::integer[])", [array(wanted)])
    if len(rows) < len(wanted):
        raise DataMoved("The data are being changed")
    return {pk: (key, label) for pk, key, label in rows}


def _groups(values: Iterable[ValueRow], names: Names, hosts: dict[Any, int]) -> tuple[Group, ...]:
    """The groups that have a value."""
    members: dict[Any, list[ValueRow]] = {}
    for row in values:
        members.setdefault(row.group, []).append(row)
    return tuple(_group(names[group], rows, hosts[group]) for group, rows in members.items())


def _group(name: tuple[str, str], rows: list[ValueRow], hosts: int) -> Group:
    rows.sort(key=lambda row: row.slot.cipher)
    sources = 0
    for row in rows:
        sources |= row.sources
    return Group(
        key=name[0],
        label=name[1],
        hosts=hosts,
        values={row.slot.cipher: row.summary for row in rows},
        sources=sources_of(sources),
        uncertainty={
            row.slot.cipher: row.uncertainty for row in rows if row.uncertainty is not None
        },
        doubtful={row.slot.cipher: row.doubtful for row in rows if row.doubtful},
    )
