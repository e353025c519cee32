"""Machines by ciphers: the votes of a comparison, unsummarised."""

from collections.abc import Sequence
from typing import Any

from runs.models.environment import OF_LIBRARIES
from runs.queries.comparison import profile_of
from runs.queries.export_rows import DIMENSION_JOINS
from runs.queries.export_selection import InGroups
from runs.queries.grouped_votes import valued_votes
from runs.queries.machine_results import class_series
from runs.queries.selection import ComparisonQuery, voting_environment
from runs.queries.statements import fetch_rows


def pivot_lines(
    query: ComparisonQuery, groups: InGroups | None, facts: Sequence[str]
) -> tuple[tuple[str, ...], list[list[Any]]]:
    """The ciphers; and of each host in an environment its name, the labels of `facts` and the
    value of its vote on each cipher, None where it has none. `query` has its block size.
    """
    every = class_series(query)
    chosen = every.choice(query)
    votes = valued_votes(query, profile_of(query), chosen, chosen.used_slots)
    environment = voting_environment(query.tool)
    own = OF_LIBRARIES if query.tool == "ssh" else {}
    labels = ", ".join(f"{own.get(name, name)}.label" for name in facts)
    sql = f"""{votes.sql}
        SELECT h.name, {labels}, machine.slots, machine.figures
        FROM (
            SELECT host_id, environment_id, array_agg(slot) AS slots, array_agg(value) AS figures
            FROM valued {"" if groups is None else "WHERE g = ANY(%s)"}
            GROUP BY host_id, environment_id
        ) machine
        JOIN runs_host h ON h.id = machine.host_id
        JOIN (
            SELECT DISTINCT ON ({environment}) {environment} AS voting_id, e.*
            FROM runs_environment e ORDER BY {environment}, e.id
        ) e ON e.voting_id = machine.environment_id {DIMENSION_JOINS}
        ORDER BY h.name, {labels}, h.id, e.id
    """  # noqa: S608 - closed lists
    members = [] if groups is None else [list(groups.members)]
    rows = fetch_rows(sql, [*votes.parameters, *members])
    ciphers = sorted({chosen.slots[slot].cipher for row in rows for slot in row[-2]})
    places = {cipher: place for place, cipher in enumerate(ciphers)}
    lines = []
    for *names, slots, figures in rows:
        line = [*names, *(None for _ in ciphers)]
        for slot, figure in zip(slots, figures, strict=True):
            line[len(names) + places[chosen.slots[slot].cipher]] = figure
        lines.append(line)
    return tuple(ciphers), lines
