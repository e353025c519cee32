"""The votes of a comparison: of each host in each group its latest result, and its value."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from analysis.comparison import NEEDS_BASELINE, Group, Reference
from analysis.groups import FEW_VOTES, GroupSummary, interpolated
from compare.question import MOST_SPLITS, ComparisonQuery
from documents.naming import UNKNOWN_KEY
from results.analytics.ask import Ask
from results.analytics.engine import questions
from results.analytics.tables import is_doubtful
from results.comparison.measured import measured
from results.figures import LATEST, SOURCE_BITS, Slot, Statement, results_statement
from results.selection import SPLIT, group_members, group_table, member, name_of_text
from store.outage import AnalyticsUnavailable, Unanswerable
from store.statements import array, fetch_rows

VALUES = {
    "throughput": "v.median",
    "normalised": "v.median / d.divisor",
    "vs_arcfour": "v.median / d.divisor",
    "vs_blowfish": "v.median / d.divisor",
    "vs_3des": "v.median / d.divisor",
    "cpu_seconds_per_gb": "v.cpu_seconds_per_gb",
}
"""Metric -> SQL of a vote's value, NULL where its run has none."""

_INDICES = """
    SELECT run, "index" AS divisor, uncertainty, family FROM speed_index WHERE tool = $tool
"""
_LEVELS = """
    SELECT run, level AS divisor, NULL::DOUBLE AS uncertainty, '' AS family FROM level
    WHERE tool = $tool AND family = $family
"""


def sources_of(bits: int) -> tuple[str, ...]:
    """The sources that `bit_or` of their `SOURCE_BITS` stands for."""
    return tuple(sorted(name for name, bit in SOURCE_BITS.items() if bits & bit))


def votes_statement(
    ask: Ask,
    query: ComparisonQuery,
    groups: list[Any] | None = None,
) -> Statement:
    """Return SQL: `votes` (g, host, slot, run, value, uncertainty, family, source, doubtful).

    The latest run has the vote whatever it can say: without a baseline its value is NULL.
    `groups`: the votes in these alone, ids or texts. Of a matched query the votes of matched hosts
    alone, with their group's two parts, `own` and `split`.
    """
    if query.matched:
        return _matched(ask, query, groups)
    found = measured(ask, query)
    statement = results_statement(query, found.series.choice(query), runs=found.runs)
    if groups is not None:
        statement.ctes["runs"] += " WHERE list_contains($groups, g)"
        statement.parameters["groups"] = groups
    statement.ctes["latest"] = LATEST
    divisor, uncertainty, family = "", "NULL::DOUBLE", "''"
    if query.metric in NEEDS_BASELINE:
        by_index = query.metric == "normalised"
        statement.ctes["divisors"] = _INDICES if by_index else _LEVELS
        statement.parameters["tool"] = query.tool
        if not by_index:
            statement.parameters["family"] = query.metric.removeprefix("vs_")
        divisor = "LEFT JOIN divisors d ON d.run = v.run"
        uncertainty, family = "d.uncertainty", "d.family"
    statement.ctes["votes"] = f"""
        SELECT v.g, v.host, v.slot, v.run, v.series, {VALUES[query.metric]} AS value,
            {uncertainty} AS uncertainty, {family} AS family, v.source,
            {is_doubtful(query.metric)} AS doubtful
        FROM latest v {divisor}
    """  # noqa: S608 - closed lists
    return statement


def voting(query: ComparisonQuery, groups: Collection[Group] | None) -> list[tuple[int, int]]:
    """Return run and series of every figure that votes, or of those in these groups."""
    members = None if groups is None else group_members(query, groups)
    with questions() as ask:
        votes = votes_statement(ask, query, members)
        return list(ask(votes.sql("SELECT run, series FROM votes"), votes.parameters))


_MATCHED = f"""
    SELECT v.*, p.own, p.split FROM votes v JOIN (
        SELECT g, split_part(g::VARCHAR, chr({ord(SPLIT)}), 1) AS own,
            split_part(g::VARCHAR, chr({ord(SPLIT)}), 2) AS split
        FROM (SELECT DISTINCT g FROM votes)
    ) p USING (g) WHERE v.value IS NOT NULL AND p.own IS DISTINCT FROM $unknown
"""  # noqa: S608 - constants
_IN_ALL_GROUPS = """
    FROM valued SEMI JOIN (
        SELECT host, slot, split FROM valued GROUP BY host, slot, split
        HAVING count(*) = (SELECT count(DISTINCT own) FROM valued)
    ) USING (host, slot, split)
"""


def _matched(
    ask: Ask,
    query: ComparisonQuery,
    groups: list[Any] | None,
) -> Statement:
    """The votes of hosts that have a value of a cipher in every known group; worked out once."""
    key = f"matched {query!r}"
    table = ask.kept.get(key)
    if table is None:
        statement = votes_statement(ask, replace(query, matched=False))
        statement.ctes["valued"] = _MATCHED
        statement.parameters["unknown"] = member(query.group_by, UNKNOWN_KEY)
        table = ask.kept[key] = f"matched_{len(ask.kept)}"
        votes = statement.sql(_IN_ALL_GROUPS)
        ask(f"CREATE TEMP TABLE {table} AS {votes}", statement.parameters)
    if groups is None:
        return Statement({"votes": f"FROM {table}"})
    condition = "WHERE list_contains($groups, g)"
    return Statement({"votes": f"FROM {table} {condition}"}, {"groups": groups})


_AT = "values[(n - 1) * {quarters} // 4 + 1], values[least((n - 1) * {quarters} // 4 + 2, n)]"

_SUMMARIES = f"""
SELECT g, slot, n, values[1], {", ".join(_AT.format(quarters=one) for one in (1, 2, 3))}, values[n],
    values[rank], values[n + 1 - rank],
    known, uncertainties[(known - 1) // 2 + 1], uncertainties[least((known - 1) // 2 + 2, known)],
    sources, CASE WHEN n <= {FEW_VOTES} THEN doubtful END, families
FROM (
    SELECT g, slot, count(*) AS n,
        floor((n + 1) / 2 - 0.98 * sqrt(n))::BIGINT AS rank, list_sort(list(value)) AS values,
        count(uncertainty) AS known,
        list_sort(list(uncertainty) FILTER (WHERE uncertainty IS NOT NULL)) AS uncertainties,
        bit_or(source) AS sources, count(*) FILTER (WHERE doubtful) AS doubtful,
        list_sort(list(DISTINCT family) FILTER (WHERE family <> '')) AS families
    FROM votes WHERE value IS NOT NULL GROUP BY g, slot
)
"""  # noqa: S608 - constants
"""A group's summary of one slot: the order statistics that `analysis.groups` interpolates, and
those that bound the median (`analysis.groups.interval_rank`; there are none at 0 and n + 1)."""

_WITHOUT_BASELINE = """
    SELECT count(*) FROM (SELECT host FROM votes GROUP BY host HAVING bool_and(value IS NULL))
"""
_AND_WITHOUT_BASELINE = (
    f"UNION ALL SELECT NULL, NULL, ({_WITHOUT_BASELINE}), {', '.join(['NULL'] * 15)}, []"
)


class GroupName(NamedTuple):
    """Key and label of a group, and those of its split; of a query without one they are empty."""

    key: str
    label: str
    split_key: str = ""
    split_label: str = ""


Names = dict[Any, GroupName]


def group_names(query: ComparisonQuery, groups: Iterable[Any]) -> Names:
    """What a query groups by -> the name of each of these groups, none of them twice."""
    wanted = list(groups)
    if query.split_by is None:
        own = _names(query.group_by, wanted)
        return {one: GroupName(*own[one]) for one in wanted}
    parts = {one: one.split(SPLIT, 1) for one in wanted}
    own = _names(query.group_by, {own for own, _ in parts.values()})
    split = _names(query.split_by, {split for _, split in parts.values()})
    return {one: GroupName(*own[parts[one][0]], *split[parts[one][1]]) for one in wanted}


def _names(group_by: str, wanted: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    """Of ids, or of the texts of ids, of one grouping."""
    table = group_table(group_by)
    if not table:
        return {one: name_of_text(group_by, one) for one in wanted}
    ids = {int(one): one for one in wanted}
    rows = fetch_rows(f"{table} WHERE id = ANY(%s::integer[])", [array(ids)])
    if len(rows) < len(ids):
        raise AnalyticsUnavailable("The data are being changed")
    return {ids[pk]: (key, label) for pk, key, label in rows}


@dataclass(frozen=True)
class GroupedVotes:
    """The groups of a query, how many hosts have no baseline, and what ratios refer to."""

    groups: tuple[Group, ...]
    no_baseline: int
    relative_to: Reference | None = None


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
    families: tuple[str, ...]


def grouped_votes(
    ask: Ask,
    query: ComparisonQuery,
    groups: list[Any] | None = None,
) -> GroupedVotes:
    """The groups of a query whose block size is resolved; of `groups` as in `votes_statement`.

    `Unanswerable` where it splits them by too many values.
    """
    found = measured(ask, query)
    if query.split_by:
        _check_splits(query.split_by, found.hosts_by_group())
    votes = votes_statement(ask, query, groups)
    without = query.metric in NEEDS_BASELINE
    select = _SUMMARIES + (_AND_WITHOUT_BASELINE if without and not query.matched else "")
    rows = ask(votes.sql(select), votes.parameters)
    values = [_value_row(found.series.slots, *row) for row in rows if row[1] is not None]
    no_baseline = sum(row[2] for row in rows if row[1] is None)
    if without and query.matched:  # its votes all have a value
        every = votes_statement(ask, replace(query, matched=False), groups)
        ((no_baseline,),) = ask(every.sql(_WITHOUT_BASELINE), every.parameters)
    names = group_names(query, {row.group for row in values})
    hosts = _hosts(ask, query, votes, names)
    return GroupedVotes(_groups(values, names, hosts), no_baseline)


def _check_splits(split_by: str, groups: Iterable[str]) -> None:
    number = len({group.split(SPLIT, 1)[1] for group in groups})
    if number > MOST_SPLITS:
        raise Unanswerable(
            "split_by",
            f"{split_by} has {number} values here; choose at most {MOST_SPLITS} by a filter.",
        )


def summaries(ask: Ask, query: ComparisonQuery, votes: Statement) -> list[ValueRow]:
    """Of each group and slot of a statement with `votes`."""
    slots = measured(ask, query).series.slots
    return [_value_row(slots, *row) for row in ask(votes.sql(_SUMMARIES), votes.parameters)]


def _hosts(ask: Ask, query: ComparisonQuery, votes: Statement, names: Names) -> dict[Any, int]:
    """How many hosts each group has."""
    if query.matched:
        counted = "SELECT g, count(DISTINCT host) FROM votes GROUP BY g"
        return dict(ask(votes.sql(counted), votes.parameters))
    if query.group_by == "host":  # each is one
        return dict.fromkeys(names, 1)
    return measured(ask, query).hosts_by_group()


def _value_row(slots: Sequence[Slot], group: Any, slot: int, n: int, *facts: Any) -> ValueRow:
    minimum, *quartiles, maximum, low, high, known, below, above, sources, doubtful, alone = facts
    first, median, third = (
        interpolated(n, quarters / 4, *quartiles[2 * place : 2 * place + 2])
        for place, quarters in enumerate((1, 2, 3))
    )
    uncertainty = interpolated(known, 0.5, below, above) if known else None
    summary = GroupSummary(median, first, third, minimum, maximum, n, low, high)
    return ValueRow(group, slots[slot], summary, uncertainty, sources, doubtful, tuple(alone or ()))


def _groups(values: Iterable[ValueRow], names: Names, hosts: dict[Any, int]) -> tuple[Group, ...]:
    """The groups that have a value."""
    members: dict[Any, list[ValueRow]] = {}
    for row in values:
        members.setdefault(row.group, []).append(row)
    return tuple(_group(names[group], rows, hosts[group]) for group, rows in members.items())


def _group(name: GroupName, rows: list[ValueRow], hosts: int) -> Group:
    rows.sort(key=lambda row: row.slot.cipher)
    sources = 0
    for row in rows:
        sources |= row.sources
    return Group(
        key=name.key,
        label=name.label,
        split_key=name.split_key,
        split_label=name.split_label,
        hosts=hosts,
        values={row.slot.cipher: row.summary for row in rows},
        sources=sources_of(sources),
        uncertainty={
            row.slot.cipher: row.uncertainty for row in rows if row.uncertainty is not None
        },
        families={row.slot.cipher: row.families for row in rows if row.families},
        doubtful={row.slot.cipher: row.doubtful for row in rows if row.doubtful},
    )
