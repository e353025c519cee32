"""Comparisons by their definition: every run and result that counts, in plain Python."""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from analysis.comparison import (
    Comparison,
    Group,
    Vote,
    comparison_of,
    groups_of,
    reference_among,
    relative,
)
from analysis.groups import ratio_of_hosts, summarise_group
from analysis.profiles.baselines import MeasuredSeries, SpeedIndex, speed_of_run
from compare.question import ComparisonQuery
from documents.naming import UNKNOWN_KEY, tags_by_key
from store.models import Measurement, Run
from store.models.dimension import DIMENSIONS, OF_LIBRARIES


class Counted(NamedTuple):
    """A result of a run that passes the query's filters."""

    run: Run
    row: Measurement

    @property
    def order(self) -> tuple[Any, ...]:
        """The latest last; of one run the series that votes first last."""
        started = self.run.started_at.timestamp() if self.run.started_at else -math.inf
        series = self.row.series
        return (started, self.run.pk, not series.pinned, _backwards(series.target_name), -series.pk)


def _backwards(text: str) -> tuple[int, ...]:
    return tuple(-ord(letter) for letter in text)


def votes_in_python(
    query: ComparisonQuery,
) -> tuple[list[Vote], defaultdict[tuple[str, str], set[int]]]:
    """Return the votes of every host in every group, and the hosts of each group."""
    every = list(counted_results(query))
    query = replace(query, block_size=block_size(query, every))
    hosts: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    best: dict[tuple[tuple[str, str], int, str], Counted] = {}
    for one in every:
        key, host = (group_of(query, one.run)[0], split_of(query, one.run)[0]), one.run.host_id
        assert host is not None
        hosts[key].add(host)
        series = one.row.series
        if query.ciphers and series.cipher not in query.ciphers:
            continue
        if query.tool == "openssl" and series.block_size != query.block_size:
            continue
        slot = (key, host, series.cipher)
        best[slot] = max(best.get(slot, one), one, key=lambda found: found.order)
    votes = []
    for (_, host_id, cipher), one in best.items():
        name, label = group_of(query, one.run)
        value, source, uncertainty, family = _value(query, one)
        split = split_of(query, one.run)
        votes.append(Vote(name, label, host_id, cipher, value, source, uncertainty, *split, family))
    return votes, hosts


def compare_in_python(query: ComparisonQuery) -> Comparison:
    """Compare as `results.comparison.comparison.compare` does, without counts of doubtful votes."""
    votes, hosts = votes_in_python(query)
    without = {one.host_id for one in votes} - {
        one.host_id for one in votes if one.value is not None
    }
    if query.matched:
        votes = matched_votes(votes)
        hosts.clear()
        for vote in votes:
            hosts[vote.group_key, vote.split_key].add(vote.host_id)
    groups = groups_of(votes, {key: len(members) for key, members in hosts.items()})
    reference = None
    if query.relative_to is not None:
        reference = reference_among(groups, query.relative_to)
        if query.matched:
            groups = own_ratios(groups, votes, reference.key)
        else:
            groups = relative(groups, reference)
    return comparison_of(
        groups,
        tool=query.tool,
        group_by=query.group_by,
        metric=query.metric,
        no_baseline=len(without),
        split_by=query.split_by,
        relative_to=reference,
        matched=query.matched,
    )


def matched_votes(votes: list[Vote]) -> list[Vote]:
    """Those of hosts that have a value of the cipher in every group, within one split.

    What is of unknown group is in none that could be asked for.
    """
    valued = [one for one in votes if one.value is not None and one.group_key != UNKNOWN_KEY]
    groups = {one.group_key for one in valued}
    found: defaultdict[tuple[int, str, str], set[str]] = defaultdict(set)
    for one in valued:
        found[one.host_id, one.cipher, one.split_key].add(one.group_key)
    return [one for one in valued if found[one.host_id, one.cipher, one.split_key] == groups]


def own_ratios(groups: list[Group], votes: list[Vote], reference: str) -> list[Group]:
    """The groups with the ratios of their hosts to the same hosts in the reference's group."""
    values = {(one.group_key, one.split_key, one.host_id, one.cipher): one.value for one in votes}
    ratios: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for (key, split, host, cipher), value in values.items():
        base = values.get((reference, split, host, cipher))
        if key != reference and value is not None and base is not None and base > 0:
            ratios[key, split, cipher].append(value / base)
    return [
        replace(
            group,
            ratios={
                cipher: ratio_of_hosts(summarise_group(found))
                for cipher in group.values
                if (found := ratios.get((group.key, group.split_key, cipher)))
            },
        )
        for group in groups
    ]


def without_doubts(comparison: Comparison) -> Comparison:
    """Leave out the counts of doubtful votes and the tool's changes, as the reference does."""
    groups = tuple(
        replace(
            group,
            doubtful={},
            ratios={name: one._replace(tool_changed=False) for name, one in group.ratios.items()},
        )
        for group in comparison.groups
    )
    return replace(comparison, groups=groups)


def block_size(query: ComparisonQuery, every: list[Counted]) -> int | None:
    """The largest block size at which most groups have the query's ciphers."""
    if query.tool != "openssl" or query.block_size is not None:
        return query.block_size
    groups: defaultdict[int, set[tuple[str, str]]] = defaultdict(set)
    for one in every:
        if query.ciphers and one.row.series.cipher not in query.ciphers:
            continue
        groups[one.row.series.block_size or 0].add(
            (group_of(query, one.run)[0], split_of(query, one.run)[0])
        )
    return max(groups, key=lambda block: (len(groups[block]), block), default=None)


def counted_runs() -> list[Run]:
    """Every run that counts, with all that the reference asks of it."""
    environments = (f"environment__{field}" for field in (*DIMENSIONS, *OF_LIBRARIES.values()))
    return list(
        Run.objects.filter(status="ready", hidden=False)
        .select_related("host", *environments)
        .prefetch_related("measurements__series", "measurements__negotiated", "baseline_levels")
    )


def counted_results(query: ComparisonQuery) -> Iterator[Counted]:
    """Results of all ciphers and block sizes, of runs that pass every filter."""
    for run in counted_runs():
        if not passes(query, run):
            continue
        for row in run.measurements.all():
            series = row.series
            if row.median is None or series.tool != query.tool:
                continue
            if series.acceleration != query.acceleration:
                continue
            if query.tool == "ssh":
                agreed = row.negotiated.mac if row.negotiated else None
                of_mac = series.mac == (query.mac or "") or (query.mac and agreed == query.mac)
                plain = (series.method, series.compression, series.target_kind)
                if not of_mac or plain != (query.method, query.compression, query.target_kind):
                    continue
            elif (series.operation, series.threads) != (query.operation, query.threads):
                continue
            yield Counted(run, row)


def passes(query: ComparisonQuery, run: Run, without: str = "") -> bool:
    """Whether a run passes the query's filters and dates; but for one filter."""
    started = run.started_at
    if query.since and (started is None or started < query.since):
        return False
    if query.until and (started is None or started > query.until):
        return False
    for name, values in query.filters.items():
        if name == "tag":
            for key, wanted in tags_by_key(values).items():
                if f"tag:{key}" != without and run.tags.get(key) not in wanted:
                    return False
        elif name != without and values and value_of(name, query.tool, run)[0] not in values:
            return False
    return True


def value_of(name: str, tool: str, run: Run) -> tuple[str, str]:
    """Key and label of what a run is by a filter or grouping."""
    assert run.host is not None
    assert run.environment is not None
    if name == "host":
        return run.host.slug, run.host.name
    if name == "disturbed":
        return ("yes", "Yes") if run.conditions else ("no", "No")
    if name == "source":
        return run.source, run.source.title()
    if name in ("verdict", "acceleration"):
        return run.acceleration, run.acceleration.title()
    if name.startswith("tag:"):
        found = run.tags.get(name.removeprefix("tag:"))
        return (found, found) if found is not None else ("unknown", "Not tagged")
    environment = run.environment
    value = getattr(environment, name)
    if tool == "ssh" and name in ("openssl", "openssl_series"):
        own = "ssh_library" if name == "openssl" else "ssh_library_series"
        value = getattr(environment, own) or value
    return value.key, value.label


def group_of(query: ComparisonQuery, run: Run) -> tuple[str, str]:
    """Key and label of a run's group."""
    return value_of(query.group_by, query.tool, run)


def split_of(query: ComparisonQuery, run: Run) -> tuple[str, str]:
    """The same of its split; empty without one."""
    return value_of(query.split_by, query.tool, run) if query.split_by else ("", "")


def _value(query: ComparisonQuery, one: Counted) -> tuple[float | None, str, float | None, str]:
    """Return value, source, uncertainty and only baseline of a vote."""
    run, row, metric = one.run, one.row, query.metric
    value = row.median
    if metric == "cpu_seconds_per_gb":
        value = row.cpu_seconds_per_gb
    divisor: float | None = 1.0
    speed: SpeedIndex | None = None
    if metric.startswith("vs_"):
        family = metric.removeprefix("vs_")
        own = run.baseline_levels.all()
        levels = {level.family: level.level for level in own if level.tool == query.tool}
        divisor = levels.get(family)
    elif metric.endswith("normalised"):
        rows = [(other.series.configuration(), other) for other in run.measurements.all()]
        measured = [MeasuredSeries(series, at.median) for series, at in rows if at.median]
        speed = speed_of_run(query.tool, measured)
        divisor = speed.index if speed else None
    uncertainty = speed.uncertainty if speed else None
    only = speed.families[0] if speed and len(speed.families) == 1 else ""
    if value is None or divisor is None:
        return None, run.source, uncertainty, only
    return value / divisor, run.source, uncertainty, only
