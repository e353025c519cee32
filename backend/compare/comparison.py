"""Compute comparisons from the analytics copy, which is in DuckDB or ClickHouse.

`tests/compare/comparison_reference.py` computes the same comparisons in plain Python.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from cipherspeed.group_view import LOWER_IS_BETTER, GroupView, InView, in_view, ranks
from cipherspeed.groups import (
    FEW_VOTES,
    NEEDS_BASELINE,
    Comparison,
    Group,
    GroupKey,
    GroupSummary,
    Ratio,
    Reference,
    against,
    comparison_of,
    group_order,
    interpolated,
    natural_key,
    ratio_of_hosts,
    reference_among,
    relative,
)
from cipherspeed.naming import UNKNOWN_KEY
from cipherspeed.tool_changes import ToolState, differ, tool_changes, tool_state
from compare.engine import Session, analytics
from compare.figures import Slot, is_text, member
from compare.question import MOST_SPLITS, ComparisonQuery
from compare.votes import Counted, counted, sources_of, votes
from core.errors import Unanswerable
from core.outage import AnalyticsUnavailable
from runs.models import DimensionValue, Host


def compare(query: ComparisonQuery) -> Comparison:
    """Compute the comparison that a query describes.

    Raise `Unanswerable` if `split_by` has more than `MOST_SPLITS` values.
    """
    with analytics() as db:
        return _compared(db, query)


def _compared(db: Session, query: ComparisonQuery, hosts: list[int] | None = None) -> Comparison:
    """Compute a comparison. `query.group_by` must be "host" if `hosts` is set.

    `hosts`: primary keys of the hosts to summarise (default: all). The host totals in the
    comparison always include all hosts.
    """
    check_splits(query)
    groups, reference = list(_groups(db, query, hosts)), None
    if query.relative_to is not None:
        groups, reference = _related(db, query, groups)
    return comparison_of(
        groups,
        tool=query.tool,
        group_by=query.group_by,
        metric=query.metric,
        split_by=query.split_by,
        relative_to=reference,
        matched=query.matched,
        hosts=_hosts_with_result(db, query),
        no_baseline=_hosts_without_baseline(db, query),
        no_block_size=_hosts_without_block_size(db, query),
    )


def compare_in_view(query: ComparisonQuery, view: GroupView) -> InView:
    """Compute the groups on one page of a comparison.

    If each group is a host, the reference host and pinned hosts come first on each page. Without
    `split_by`, only the hosts on the page are summarised, because a site can have ten thousand
    hosts.
    """
    if query.group_by != "host" or query.split_by or query.matched:
        return in_view(compare(query), view)
    with analytics() as db:
        slots = counted(db, query).series.slots
        best = "min" if query.metric in LOWER_IS_BETTER else "max"
        select = f"""
            SELECT g, {best}(CASE WHEN list_contains($sorting::INTEGER[], slot) THEN value END)
            FROM {votes(db, query)} WHERE value IS NOT NULL GROUP BY g
        """  # noqa: S608 - names of our own
        sorting = [place for place, slot in enumerate(slots) if view.sorts_by(slot.cipher)]
        values: dict[int, float | None] = dict(db(select, {"sorting": sorting}))
        names = group_names(query, ((host, 0) for host in values))

        def place(host: int) -> Any:
            name = names[host, 0]
            return view.place(values[host], query.metric), *group_order(name.key, name.label)

        hosts = [host for host in values if view.finds(names[host, 0].label)]
        hosts.sort(key=place)
        first = (query.reference_host, *view.pinned)
        pinned = [host for host in hosts if names[host, 0].key in first]
        on_page = list(dict.fromkeys((*pinned, *view.on_page(hosts))))
        comparison = _compared(db, query, on_page)
        measured = f"SELECT DISTINCT slot FROM {votes(db, query)} WHERE value IS NOT NULL"  # noqa: S608
        ciphers = {slots[slot].cipher for (slot,) in db(measured, {})}
    last = max(map(hosts.index, on_page), default=0) if view.cipher else -1
    values_by_host = ((names[host, 0].key, _single(values[host])) for host in hosts[: last + 1])
    places = {names[host, 0].key: number for number, host in enumerate(on_page)}
    return InView(
        replace(comparison, ciphers=tuple(sorted(ciphers, key=natural_key))),
        tuple(sorted(comparison.groups, key=lambda group: places[group.key])),
        len(values),
        len(hosts),
        ranks(values_by_host),
    )


def _single(value: float | None) -> GroupSummary | None:
    return None if value is None else GroupSummary(*(value,) * 5, n=1)


def fastest_ciphers(query: ComparisonQuery) -> dict[str, int]:
    """Return the number of hosts on which each cipher is the fastest.

    `query.group_by` must be "host".
    """
    with analytics() as db:
        slots = counted(db, query).series.slots
        of_hosts = f"""
            SELECT arg_max(slot, value) AS slot FROM {votes(db, query)}
            WHERE value IS NOT NULL GROUP BY g
        """  # noqa: S608 - names of our own
        rows = db(f"SELECT slot, count(*) FROM ({of_hosts}) GROUP BY slot", {})  # noqa: S608
        return {slots[slot].cipher: hosts for slot, hosts in rows}


def check_splits(query: ComparisonQuery) -> None:
    if query.split_by is None:
        return
    with analytics() as db:
        rows = db(f"SELECT count(DISTINCT s) FROM {counted(db, query).runs}", {})  # noqa: S608
    if rows[0][0] > MOST_SPLITS:
        raise Unanswerable(
            "split_by",
            f"{query.split_by} has {rows[0][0]} values here. Use filters to select at most"
            f" {MOST_SPLITS}.",
        )


def _hosts_with_result(db: Session, query: ComparisonQuery) -> int:
    select = f"SELECT count(DISTINCT host) FROM {votes(db, query)} WHERE value IS NOT NULL"  # noqa: S608
    return int(db(select, {})[0][0])


def _hosts_without_baseline(db: Session, query: ComparisonQuery) -> int:
    if query.metric not in NEEDS_BASELINE:
        return 0
    every = votes(db, replace(query, matched=False))  # all rows of matched hosts have a result
    by_host = f"SELECT host FROM {every} GROUP BY host HAVING count(value) = 0"  # noqa: S608
    return int(db(f"SELECT count(*) FROM ({by_host})", {})[0][0])  # noqa: S608


def _hosts_without_block_size(db: Session, query: ComparisonQuery) -> int:
    if query.tool != "openssl":
        return 0
    all_runs = counted(db, query)
    sets = {"at_any": list(all_runs.sets(replace(query, block_size=None)))}
    sets["at_this"] = list(all_runs.sets(query))
    select = f"""
        SELECT count(*) FROM (
            SELECT host FROM {all_runs.runs} WHERE list_contains($at_any::BIGINT[], series_set)
            GROUP BY host
            HAVING count(*) FILTER (WHERE list_contains($at_this::BIGINT[], series_set)) = 0
        )
    """  # noqa: S608 - names of our own
    return int(db(select, sets)[0][0])


_AT = "values[(n - 1) * {quarters} // 4 + 1], values[least((n - 1) * {quarters} // 4 + 2, n)]"

_SUMMARIES = f"""
SELECT g, s, slot, n, sources, CASE WHEN n <= {FEW_VOTES} THEN doubtful END, families,
    known, uncertainties[(known - 1) // 2 + 1], uncertainties[least((known - 1) // 2 + 2, known)],
    values[1], values[n], values[rank], values[n + 1 - rank],
    {", ".join(_AT.format(quarters=quarters) for quarters in (1, 2, 3))}
FROM (
    SELECT g, s, slot, count(*)::BIGINT AS n,
        floor((n + 1) / 2 - 0.98 * sqrt(n))::BIGINT AS rank, list_sort(list(value)) AS values,
        count(uncertainty)::BIGINT AS known,
        list_sort(list(uncertainty) FILTER (WHERE uncertainty IS NOT NULL)) AS uncertainties,
        bit_or(source) AS sources, count(*) FILTER (WHERE doubtful) AS doubtful,
        list_sort(list(DISTINCT family) FILTER (WHERE family <> '')) AS families
    FROM {{votes}} GROUP BY g, s, slot
)
"""  # noqa: S608 - constants
"""SQL for order statistics by group (g), value of `split_by` (s) and slot (see `compare.votes`).

`cipherspeed.groups` computes the quartiles.
`values[rank]` and `values[n + 1 - rank]` are the limits of an interval that contains the median
with a probability of at least 95 %. For fewer than six results, `rank` is 0 and the limits are
NULL.

The number of results below the median has a binomial distribution with mean n / 2 (David and
Nagaraja, Order Statistics (2003), section 7.1). The normal approximation of this distribution is
conservative for every n.
"""


class _Figure(NamedTuple):
    """Summarise the results of a cipher in a group.

    `sources`: bit mask of `SOURCE_BITS`. `doubtful`: number of low-confidence results, or None for
    more than `FEW_VOTES` results. `families`: baselines that are the only baseline of some hosts.
    """

    cipher: str
    summary: GroupSummary
    sources: int
    doubtful: int | None
    families: tuple[str, ...]
    uncertainty: float | None


def _figures(
    db: Session, source: Counted, valued: str, parameters: Mapping[str, Any]
) -> dict[tuple[Any, Any], list[_Figure]]:
    """Return the summaries of all ciphers by (group, value of `split_by`).

    `valued`: table name for the FROM clause, optionally followed by a WHERE clause.
    """
    figures = defaultdict[tuple[Any, Any], list[_Figure]](list)
    for g, s, slot, n, *facts in db(_SUMMARIES.format(votes=valued), parameters):
        sources, doubtful, families, known, below, above, minimum, maximum, low, high, *at = facts
        quartiles = (interpolated(n, (1 + q) / 4, *at[2 * q : 2 * q + 2]) for q in range(3))
        first, median, third = quartiles
        summary = GroupSummary(median, first, third, minimum, maximum, n, low, high)
        uncertainty = interpolated(known, 0.5, below, above) if known else None
        cipher = source.series.slots[slot].cipher
        alone = tuple(families or ())
        figures[g, s].append(_Figure(cipher, summary, sources, doubtful, alone, uncertainty))
    return figures


def _groups(db: Session, query: ComparisonQuery, hosts: list[int] | None = None) -> Iterator[Group]:
    all_runs = counted(db, query)
    valued = f"{votes(db, query)} WHERE value IS NOT NULL"
    among = "" if hosts is None else " AND list_contains($hosts::INTEGER[], g)"
    parameters = {} if hosts is None else {"hosts": hosts}
    figures = _figures(db, all_runs, valued + among, parameters)
    names = group_names(query, figures)
    members = votes(db, query) if query.matched else all_runs.runs
    count = f"SELECT g, s, count(DISTINCT host) FROM {members} GROUP BY g, s"  # noqa: S608
    numbers = {(g, s): number for g, s, number in db(count, {})}
    for key, of_group in figures.items():
        of_group.sort(key=lambda figure: figure.cipher)
        yield Group(
            **names[key]._asdict(),
            hosts=numbers[key],
            values={figure.cipher: figure.summary for figure in of_group},
            sources=sources_of(reduce(or_, (figure.sources for figure in of_group))),
            uncertainty={
                figure.cipher: figure.uncertainty
                for figure in of_group
                if figure.uncertainty is not None
            },
            families={figure.cipher: figure.families for figure in of_group if figure.families},
            doubtful={figure.cipher: figure.doubtful for figure in of_group if figure.doubtful},
        )


class GroupName(NamedTuple):
    key: str
    label: str
    split_key: str = ""
    split_label: str = ""


def group_names(
    query: ComparisonQuery, groups: Iterable[tuple[Any, Any]]
) -> dict[tuple[Any, Any], GroupName]:
    wanted = list(groups)
    own = _names(query.group_by, {group for group, _ in wanted})
    if query.split_by is None:
        return {pair: GroupName(*own[pair[0]]) for pair in wanted}
    split = _names(query.split_by, {split for _, split in wanted})
    return {pair: GroupName(*own[pair[0]], *split[pair[1]]) for pair in wanted}


def _names(group_by: str, wanted: set[Any]) -> dict[Any, tuple[str, str]]:
    if is_text(group_by):
        labels = str.title if group_by == "acceleration" else _tag_label
        return {text: (text, labels(text)) for text in wanted}
    hosts = Host.objects.values_list("pk", "slug", "name")
    values = DimensionValue.objects.values_list("pk", "key", "label")
    rows: Any = (hosts if group_by == "host" else values).filter(pk__in=wanted)
    names = {pk: (key, label) for pk, key, label in rows}
    if len(names) < len(wanted):
        raise AnalyticsUnavailable("The data is changing")
    return names


def _tag_label(value: str) -> str:
    return "Not tagged" if value == UNKNOWN_KEY else value


def _related(
    db: Session, query: ComparisonQuery, groups: list[Group]
) -> tuple[list[Group], Reference]:
    if query.reference_host is not None:
        groups, reference = _to_host(db, query, groups, query.reference_host)
    else:
        reference = reference_among(groups, query.relative_to or "")
        if query.matched:
            ratios = _own_ratios(db, query)
            groups = [
                replace(group, ratios=ratios.get((group.key, group.split_key), {}))
                for group in groups
            ]
        else:
            groups = relative(groups, reference)
    ciphers = {cipher for group in groups for cipher in group.ratios}
    touched = any(change.touches(cipher) for change in tool_changes() for cipher in ciphers)
    if query.tool == "openssl" and touched:
        groups = _with_tool_changes(db, query, groups)
    return groups, reference


def _to_host(
    db: Session, query: ComparisonQuery, groups: list[Group], host: str
) -> tuple[list[Group], Reference]:
    """Divide the results of each group by the results of `host`.

    The filters of the query, except `since` and `until`, do not apply to the results of `host`.
    """
    alone = list(_groups(db, _alone(query, host)))
    base = alone[0].values if alone else {}
    related = [
        group
        if query.group_by == "host" and group.key == host
        else against(group, base, exact=True)
        for group in groups
    ]
    return related, Reference(host, alone[0].label if alone else None, is_host=True)


def _alone(query: ComparisonQuery, host: str) -> ComparisonQuery:
    return replace(query.plain, group_by="host", filters={"host": (host,)})


def _own_ratios(db: Session, query: ComparisonQuery) -> Mapping[GroupKey, Mapping[str, Ratio]]:
    """Divide each host's result by the result of the same host in the reference group.

    Return the median ratio by (group key, split key) and cipher.
    """
    table = votes(db, query)
    ratios = f"""(
        SELECT v.g, v.s, v.slot, v.value / b.value AS value, NULL::DOUBLE AS uncertainty,
            '' AS family, v.source, v.doubtful
        FROM {table} v JOIN {table} b ON b.g::VARCHAR = $reference
            AND b.host = v.host AND b.slot = v.slot AND b.s = v.s
        WHERE v.g <> b.g AND b.value > 0
    )"""  # noqa: S608 - names of our own
    reference = {"reference": member(query.group_by, query.relative_to or "")}
    figures = _figures(db, counted(db, query), ratios, reference)
    names = group_names(query, figures)
    return {
        (names[key].key, names[key].split_key): {
            figure.cipher: ratio_of_hosts(figure.summary) for figure in of_group
        }
        for key, of_group in figures.items()
    }


_RELEASES = """
SELECT v.g, v.s, v.slot, list(DISTINCT e.openssl) FROM {votes} v JOIN run r ON r.id = v.run
JOIN environment e ON e.id = r.environment AND e.tool = 'openssl'
WHERE v.value IS NOT NULL GROUP BY v.g, v.s, v.slot
"""


def _tool_states(
    db: Session, query: ComparisonQuery
) -> dict[GroupKey, dict[str, frozenset[ToolState]]]:
    slots: tuple[Slot, ...] = counted(db, query).series.slots
    rows = db(_RELEASES.format(votes=votes(db, query)), {})
    releases = DimensionValue.objects.in_bulk({release for *_, keys in rows for release in keys})
    names = group_names(query, {(g, s) for g, s, *_ in rows})
    states = defaultdict[GroupKey, dict[str, frozenset[ToolState]]](dict)
    for g, s, slot, keys in rows:
        name, cipher = names[g, s], slots[slot].cipher
        states[name.key, name.split_key][cipher] = frozenset(
            tool_state(releases[release].label, cipher) for release in keys
        )
    return states


def _with_tool_changes(db: Session, query: ComparisonQuery, groups: list[Group]) -> list[Group]:
    states, host = _tool_states(db, query), query.reference_host
    of_host = next(iter(_tool_states(db, _alone(query, host)).values()), {}) if host else {}

    def marked(group: Group) -> Group:
        reference = of_host if host else states.get((query.relative_to or "", group.split_key), {})
        own = states.get((group.key, group.split_key), {})
        return replace(
            group,
            ratios={
                cipher: ratio._replace(
                    tool_changed=differ(own.get(cipher, ()), reference.get(cipher, ()))
                )
                for cipher, ratio in group.ratios.items()
            },
        )

    return [marked(group) for group in groups]
