"""Create temporary tables with the votes of a comparison.

A slot is a cipher with a block size. A vote is the result that represents a host for one slot in a
group.

In each group, one environment represents a host: the environment of the host's latest run that
measured a requested cipher. For each slot, the vote is the latest result in this environment. A run
without a start time counts as older than all runs with a start time. Among runs without a start
time, the run with the most requested ciphers counts as the latest.

For example, a laptop in the group of its CPU has these results for GCM and CTR:

    1 May, Fedora    GCM 328, CTR 230
    2 May, Mac OS X           CTR 87
    3 May, Fedora             CTR 231

Fedora, the environment of the latest run, represents the laptop. The votes are GCM 328 from the
first run and CTR 231 from the third run. In the statements below, `eligible` contains all three
runs, and `environments` contains Fedora. `deciding` contains the first and third run: the latest
run of each set of series. `latest` contains GCM 328 and CTR 231.

`tests/compare/comparison_reference.py` selects the same results in plain Python.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from cipherspeed.groups import NEEDS_BASELINE, Group
from cipherspeed.naming import UNKNOWN_KEY
from compare.copy_tables import DISTURBED_RUN, NOISY, NOISY_CPU_COST, RUNS_BEYOND
from compare.engine import Session, analytics
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
    """Describe the runs that pass the filters of a query, with any cipher and block size.

    `runs`: name of a temporary table with the columns of `_COUNTED`. `slots`: bit mask of the slots
    in each set of series (see `compare.copy_tables`), by the key of the set. Bit N is set if the
    set contains the cipher and the block size of `series.slots[N]`.
    """

    runs: str
    series: SeriesTable
    slots: Mapping[int, int]

    def sets(self, query: ComparisonQuery) -> dict[int, int]:
        """Return the number of slots that the query requests in each set of series.

        Omit sets that contain no requested slot.
        """
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


def slots_of_sets(db: Session, query: ComparisonQuery) -> tuple[SeriesTable, dict[int, int]]:
    """Return the series with any cipher, and the bit masks for `Counted.slots`."""
    series, statement = class_series(query), Statement()
    add_series(statement, series)
    select = _SLOTS_OF_SETS.format(agreed=agreed(query, statement))
    rows = db(statement.sql(select), statement.parameters)
    return series, {key: sum(1 << slot for slot in slots) for key, slots in rows}


def counted(db: Session, query: ComparisonQuery) -> Counted:
    runs_alone = replace(query.plain, split_by=query.split_by)
    key = f"counted {replace(runs_alone, ciphers=(), block_size=None, metric='')!r}"
    if key not in db.kept:
        series, slots = slots_of_sets(db, query)
        statement = runs_statement(query)
        statement.parameters["sets"] = list(slots)
        db.kept[key] = Counted(_create_temp_table(db, statement, _COUNTED), series, slots)
    kept: Counted = db.kept[key]
    return kept


def _create_temp_table(db: Session, statement: Statement, select: str) -> str:
    table = f"made_{len(db.kept)}"
    db(f"CREATE TEMP TABLE {table} AS {statement.sql(select)}", statement.parameters)
    return table


_ELIGIBLE = f"""
    SELECT r.*, r.moment + CASE WHEN r.undated THEN a.ciphers * {RUNS_BEYOND} ELSE 0 END AS recency
    FROM {{runs}} r JOIN (
        SELECT unnest($sets::BIGINT[]) AS series_set, unnest($ciphers::BIGINT[]) AS ciphers
    ) a ON a.series_set = r.series_set
"""  # noqa: S608 - constants

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
"""SQL for the latest run of each set of series in the environment that represents the host. If a
run has several series for a slot, `_RESULTS` subtracts the position of the series from the rank of
the run. The rank is therefore a multiple of `PLACES`."""

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


def votes(db: Session, query: ComparisonQuery) -> str:
    """Create a temporary table of votes. Return the name of the table.

    The columns include `g` (group), `s` (value of `split_by`), `host`, `slot` (index in
    `SeriesTable.slots`), `run`, `series`, and `value` (NULL if the run lacks the metric).
    If the query is matched, the table contains only hosts and slots with a value in every group.
    """
    key = f"votes {replace(query, relative_to=None)!r}"
    if key not in db.kept:
        db.kept[key] = (_matched_votes if query.matched else _all_votes)(db, query)
    table: str = db.kept[key]
    return table


def _all_votes(db: Session, query: ComparisonQuery) -> str:
    all_runs = counted(db, query)
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
    return _create_temp_table(
        db, statement, _VOTES.format(value=value, **of_divisor, doubts=doubts)
    )


_IN_EVERY_GROUP = """
FROM valued SEMI JOIN (
    SELECT host, slot, s FROM valued GROUP BY host, slot, s
    HAVING count(*) = (SELECT count(DISTINCT g) FROM valued)
) USING (host, slot, s)
"""


def _matched_votes(db: Session, query: ComparisonQuery) -> str:
    every = votes(db, replace(query, matched=False))
    known = "value IS NOT NULL AND g::VARCHAR IS DISTINCT FROM $unknown"
    statement = Statement(
        {"valued": f"SELECT * FROM {every} WHERE {known}"},  # noqa: S608 - names of our own
        {"unknown": member(query.group_by, UNKNOWN_KEY)},
    )
    return _create_temp_table(db, statement, _IN_EVERY_GROUP)


def voting(query: ComparisonQuery, groups: Collection[Group] | None) -> list[tuple[int, int]]:
    """Return (run, series) of each result that is used as the value of a host in `groups`.

    If `groups` is None, return the results that are used in all groups.
    """
    with analytics() as db:
        select, parameters = f"SELECT run, series FROM {votes(db, query)}", {}  # noqa: S608
        if groups is not None:
            own, split = zip(*members(query, groups), strict=True) if groups else ((), ())
            parameters = {"own": list(own), "split": list(split)}
            select += f""" SEMI JOIN (
                SELECT unnest($own::{group_type(query.group_by)}[]) AS g,
                    unnest($split::{group_type(query.split_by)}[]) AS s
            ) USING (g, s)"""
        return [(run, series) for run, series in db(select, parameters)]


def sources_of(bits: int) -> tuple[str, ...]:
    return tuple(sorted(name for name, bit in SOURCE_BITS.items() if bits & bit))
