"""Hosts by ciphers: the votes of a comparison, unsummarised."""

from collections.abc import Sequence
from typing import Any

from analysis.comparison import group_title
from results.analytics.engine import questions
from results.comparison.measured import measured
from results.comparison.votes import group_names, votes_statement
from results.figures import group_expression
from results.selection import ComparisonQuery
from store.models import DimensionValue, Host

_LINES = """
SELECT v.g, v.host, {facts}, v.slots, v.figures
FROM (
    SELECT v.g, v.host, arg_max(r.environment, r.moment) AS environment,
        list(v.slot) AS slots, list(v.value) AS figures
    FROM votes v JOIN run r ON r.id = v.run GROUP BY v.g, v.host
) v JOIN environment e ON e.id = v.environment AND e.tool = $tool
"""


def pivot_lines(
    query: ComparisonQuery, groups: list[Any] | None, facts: Sequence[str]
) -> tuple[tuple[str, ...], list[list[Any]]]:
    """The ciphers; and of each host in a group a line.

    A line has the host's name, its group's, the labels of `facts` in the latest run that votes,
    and the value of its vote on each cipher, None where it has none. `query` has its block size;
    `groups`: those in these groups alone, ids or texts.
    """
    columns = ", ".join(group_expression(fact)[0] for fact in facts)
    with questions() as ask:
        every = measured(ask, query).series
        votes = votes_statement(ask, query, groups)
        votes.parameters["tool"] = query.tool
        rows = ask(votes.sql(_LINES.format(facts=columns)), votes.parameters)
    ciphers = sorted({every.slots[slot].cipher for row in rows for slot in row[-2]})
    hosts = Host.objects.filter(pk__in={row[1] for row in rows}).order_by("name", "pk")
    names = dict(hosts.values_list("pk", "name"))
    labels = DimensionValue.objects.in_bulk({one for row in rows for one in row[2:-2]})
    of_groups = group_names(query, {row[0] for row in rows})
    order = {host: place for place, host in enumerate(names)}
    lines = []
    for group, host, *of_run, slots, figures in sorted(
        (row for row in rows if row[1] in names), key=lambda row: (order[row[1]], of_groups[row[0]])
    ):
        figure_of = {
            every.slots[slot].cipher: one for slot, one in zip(slots, figures, strict=True)
        }
        texts = [
            names[host],
            group_title(of_groups[group].label, of_groups[group].split_label),
            *(labels[one].label for one in of_run),
        ]
        lines.append([*texts, *map(figure_of.get, ciphers)])
    return tuple(ciphers), lines
