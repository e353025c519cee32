"""Temporary tables of votes in the copy; they last for one block of `questions()`.

In a group a host votes with one environment: that of its latest run in the group that has a result
of one of the ciphers asked for; for each cipher with its latest result in there. Of runs without a
date the one with more of these ciphers counts as later, and any with a date as later still.

A laptop, asked for GCM and CTR, in the group of its CPU:

    1 May, Fedora    GCM 328, CTR 230
    2 May, Mac OS X           CTR 87
    3 May, Fedora             CTR 231

It votes with Fedora, of its latest run: GCM 328 from the first run and CTR 231 from the third. The
statements below are the steps: `eligible` are all three runs, `environments` says Fedora, and
`deciding` are the first and third (the latest of each set of series); `latest` has both results.

`tests/compare/comparison_reference.py` says the same in Python.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from cipherspeed.groups import NEEDS_BASELINE, Group
from cipherspeed.naming import UNKNOWN_KEY
from compare.copy_tables import DISTURBED_RUN, NOISY, NOISY_CPU_COST, RUNS_BEYOND
from compare.engine import Ask, questions
from compare.figures import (
    PLACES,
    SOURCE_BITS,
    SeriesTable,
    Statement,
    add_series,
    agreed,
    class_series,
    group_type,
    member,
    members,
    runs_statement,
)
from compare.question import ComparisonQuery


@dataclass(frozen=True)
class Counted:
    """The runs that a query's filters let through, whatever ciphers and block size it asks for.

    `runs`: their table (id, host, g, s, environment, moment, undated, source_bit, series_set), of
    group and split. `slots`: their sets of series, each with a bit for each slot of `series`.
    """

    runs: str
    series: SeriesTable
    slots: Mapping[int, int]

    def sets(self, query: ComparisonQuery) -> dict[int, int]:
        """Return the sets with what the query asks for -> of how many ciphers."""
        wanted = sum(
            1 << place for place, slot in enumerate(self.series.slots) if slot.is_in(query)
        )
        counts = {key: (bits & wanted).bit_count() for key, bits in self.slots.items()}
        return {key: ciphers for key, ciphers in counts.items() if ciphers}


_SLOTS_OF_SETS = """
SELECT x.series_set, list(DISTINCT s.slot) FROM series_of_set x
JOIN series s ON s.id = x.series WHERE {agreed} GROUP BY x.series_set
"""

_COUNTED = """
SELECT r.id, r.host, r.g, r.s, e.seen_as AS environment, r.moment, r.started IS NULL AS undated,
    r.source_bit, r.series_set
FROM runs r JOIN environment e ON e.id = r.environment AND e.tool = $tool
WHERE r.series_set IN (SELECT unnest($sets::BIGINT[]))
"""


def slots_of_sets(ask: Ask, query: ComparisonQuery) -> tuple[SeriesTable, dict[int, int]]:
    """Find the series of the query's class, and which of their slots each set of series has."""
    series, statement = class_series(query), Statement()
    add_series(statement, series)
    select = _SLOTS_OF_SETS.format(agreed=agreed(query, statement))
    rows = ask(statement.sql(select), statement.parameters)
    return series, {key: sum(1 << slot for slot in slots) for key, slots in rows}


def counted(ask: Ask, query: ComparisonQuery) -> Counted:
    """Find the runs with figures of the query's class; once in a block of questions."""
    runs_alone = replace(query.plain, split_by=query.split_by)
    key = f"counted {replace(runs_alone, ciphers=(), block_size=None, metric='')!r}"
    if key not in ask.kept:
        series, slots = slots_of_sets(ask, query)
        statement = runs_statement(query)
        statement.parameters["sets"] = list(slots)
        ask.kept[key] = Counted(_made(ask, statement, _COUNTED), series, slots)
    kept: Counted = ask.kept[key]
    return kept


def _made(ask: Ask, statement: Statement, select: str) -> str:
    """Make a table of a SELECT, which the block keeps as its next; return its name."""
    table = f"made_{len(ask.kept)}"
    ask(f"CREATE TEMP TABLE {table} AS {statement.sql(select)}", statement.parameters)
    return table


_ELIGIBLE = f"""
    SELECT r.*, r.moment + CASE WHEN r.undated THEN a.ciphers * {RUNS_BEYOND} ELSE 0 END AS recency
    FROM {{runs}} r JOIN (
        SELECT unnest($sets::BIGINT[]) AS series_set, unnest($ciphers::BIGINT[]) AS ciphers
    ) a ON a.series_set = r.series_set
"""  # noqa: S608 - constants
"""The runs with a result that is asked for; the latest of a host has the highest `recency`."""

_ENVIRONMENTS = """
    SELECT g, s, host, arg_max(environment, recency) AS environment FROM eligible GROUP BY ALL
"""
_DECIDING = f"""
    SELECT *, row_number() OVER (ORDER BY recency) * {PLACES} AS rank FROM eligible SEMI JOIN (
        SELECT max(recency) AS recency
        FROM eligible SEMI JOIN environments USING (g, s, host, environment)
        GROUP BY g, s, host, series_set
    ) USING (recency)
"""  # noqa: S608 - constants
"""Of runs in the environment that votes, with results of the same series, only the latest; between
their ranks is room for the places of series, because a run may have two of one slot."""

_RESULTS = """
    SELECT x.*, s.slot, r.g, r.s, r.host, r.source_bit AS source, r.rank - s.place AS rank
    FROM result x JOIN series s ON s.id = x.series JOIN deciding r ON r.id = x.run WHERE {agreed}
"""
_LATEST = """
    SELECT * FROM results SEMI JOIN (
        SELECT max(rank) AS rank FROM results GROUP BY g, s, host, slot
    ) USING (rank)
"""
_VOTES = """
SELECT v.g, v.s, v.host, v.slot, v.run, v.series, {value} AS value, {uncertainty} AS uncertainty,
    {family} AS family, v.source, (v.flags & {doubts}) <> 0 AS doubtful
FROM latest v {divisors}
"""

_INDICES = 'SELECT run, "index" AS divisor, uncertainty, family FROM speed_index WHERE tool = $tool'
_LEVELS = """
    SELECT run, level AS divisor, NULL::DOUBLE AS uncertainty, '' AS family FROM level
    WHERE tool = $tool AND family = $family
"""


def votes(ask: Ask, query: ComparisonQuery) -> str:
    """Make the table of votes, once in a block of questions.

    Of each group (g), split (s), host and slot the run and series that vote, and the value, which
    is NULL where that run has none in the metric. Of a matched query the votes of matched hosts.
    """
    key = f"votes {replace(query, relative_to=None)!r}"
    if key not in ask.kept:
        ask.kept[key] = (_matched if query.matched else _all_votes)(ask, query)
    table: str = ask.kept[key]
    return table


def _all_votes(ask: Ask, query: ComparisonQuery) -> str:
    all_runs = counted(ask, query)
    sets = all_runs.sets(query)
    statement = Statement(
        {"eligible": _ELIGIBLE.format(runs=all_runs.runs), "environments": _ENVIRONMENTS}
    )
    statement.parameters |= {"sets": list(sets), "ciphers": list(sets.values())}
    statement.ctes["deciding"] = _DECIDING
    add_series(statement, all_runs.series.choice(query))
    statement.ctes["results"] = _RESULTS.format(agreed=agreed(query, statement))
    statement.ctes["latest"] = _LATEST
    value = "v.cpu_seconds_per_gb" if query.metric == "cpu_seconds_per_gb" else "v.median"
    of_divisor = {"uncertainty": "NULL::DOUBLE", "family": "''", "divisors": ""}
    if query.metric in NEEDS_BASELINE:
        value += " / d.divisor"
        statement.ctes["divisors"] = _INDICES if query.metric == "normalised" else _LEVELS
        statement.parameters["tool"] = query.tool
        if query.metric != "normalised":
            statement.parameters["family"] = query.metric.removeprefix("vs_")
        of_divisor = {
            "uncertainty": "d.uncertainty",
            "family": "d.family",
            "divisors": "LEFT JOIN divisors d ON d.run = v.run",
        }
    doubts = DISTURBED_RUN | (NOISY_CPU_COST if query.metric == "cpu_seconds_per_gb" else NOISY)
    return _made(ask, statement, _VOTES.format(value=value, **of_divisor, doubts=doubts))


_IN_EVERY_GROUP = """
FROM valued SEMI JOIN (
    SELECT host, slot, s FROM valued GROUP BY host, slot, s
    HAVING count(*) = (SELECT count(DISTINCT g) FROM valued)
) USING (host, slot, s)
"""


def _matched(ask: Ask, query: ComparisonQuery) -> str:
    """Make a table of the votes of hosts that have a value of the cipher in every known group."""
    every = votes(ask, replace(query, matched=False))
    known = "value IS NOT NULL AND g::VARCHAR IS DISTINCT FROM $unknown"
    statement = Statement(
        {"valued": f"SELECT * FROM {every} WHERE {known}"},  # noqa: S608 - names of our own
        {"unknown": member(query.group_by, UNKNOWN_KEY)},
    )
    return _made(ask, statement, _IN_EVERY_GROUP)


def voting(query: ComparisonQuery, groups: Collection[Group] | None) -> list[tuple[int, int]]:
    """Return run and series of every figure that votes, or of those in these groups."""
    with questions() as ask:
        select, parameters = f"SELECT run, series FROM {votes(ask, query)}", {}  # noqa: S608
        if groups is not None:
            own, split = zip(*members(query, groups), strict=True) if groups else ((), ())
            parameters = {"own": list(own), "split": list(split)}
            select += f""" SEMI JOIN (
                SELECT unnest($own::{group_type(query.group_by)}[]) AS g,
                    unnest($split::{group_type(query.split_by)}[]) AS s
            ) USING (g, s)"""
        return [(run, series) for run, series in ask(select, parameters)]


def sources_of(bits: int) -> tuple[str, ...]:
    """Return the sources that `bit_or` of their `SOURCE_BITS` represents."""
    return tuple(sorted(name for name, bit in SOURCE_BITS.items() if bits & bit))
