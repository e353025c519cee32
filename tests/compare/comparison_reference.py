"""Compute comparisons in plain Python, as expected results for tests of the application."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from cipherspeed.baselines import MeasuredSeries, SpeedIndex, speed_of_run
from cipherspeed.groups import (
    FEW_VOTES,
    Comparison,
    Group,
    GroupKey,
    GroupSummary,
    comparison_of,
    interpolated,
    ratio_of_hosts,
    reference_among,
    relative,
)
from cipherspeed.naming import UNKNOWN_KEY, tags_by_key
from cipherspeed.summary import NOISY_MINIMUM_TRIES, NOISY_SPREAD
from compare.question import ComparisonQuery
from runs.models import Measurement, Run
from runs.models.dimension import DIMENSIONS, OF_LIBRARIES


class Counted(NamedTuple):
    """Store a result and the run of the result. The run passes all filters of the query."""

    run: Run
    row: Measurement

    @property
    def order(self) -> tuple[Any, ...]:
        """Return a sort key that puts undated results first and the latest result last."""
        return (*run_order(self.run), *self.within_run)

    @property
    def within_run(self) -> tuple[Any, ...]:
        """Return a sort key for the results of one run that puts the preferred series last."""
        series = self.row.series
        return (not series.pinned, _backwards(series.target_name), -series.pk)


def run_order(run: Run, ciphers: int = 0) -> tuple[Any, ...]:
    """Return a sort key that puts undated runs first and the latest run last.

    Undated runs are sorted by `ciphers`, the number of requested ciphers that the run measured.
    """
    if run.started_at is None:
        return (0, ciphers, run.pk)
    return (1, run.started_at.timestamp(), run.pk)


def _backwards(text: str) -> tuple[int, ...]:
    return tuple(-ord(letter) for letter in text)


def environment_seen(tool: str, run: Run) -> int:
    # The openssl program does not matter for ssh.
    assert run.environment is not None
    of_ssh = run.environment.ssh_environment if tool == "ssh" else None
    return run.environment.pk if of_ssh is None else of_ssh


@dataclass(frozen=True)
class Vote:
    """Store the result of a host for a cipher in a group.

    `value`: in the unit of the metric, or None if unknown. `uncertainty`: factor of the speed
    index, or None if the metric is not `normalised`. `family`: the only baseline family of the
    speed index, or empty if there are several families.
    """

    group_key: str
    group_label: str
    host_id: int
    cipher: str
    value: float | None
    source: str
    uncertainty: float | None = None
    split_key: str = ""
    split_label: str = ""
    family: str = ""
    doubtful: bool = False


class Asked(NamedTuple):
    votes: list[Vote]
    hosts: defaultdict[GroupKey, set[int]]
    no_block_size: int


def votes_in_python(query: ComparisonQuery) -> Asked:
    """Return one result for each group, host and cipher.

    In each group, only one environment of a host counts: the environment of the latest run with a
    requested cipher. For each cipher, the latest result in this environment counts.
    """
    hosts: defaultdict[GroupKey, set[int]] = defaultdict(set)
    of_host: defaultdict[tuple[GroupKey, int], list[Counted]] = defaultdict(list)
    of_any_size, of_this_size = set(), set()
    for result in counted_results(query):
        key, host = (
            (group_of(query, result.run)[0], split_of(query, result.run)[0]),
            result.run.host_id,
        )
        assert host is not None
        hosts[key].add(host)
        series = result.row.series
        if query.ciphers and series.cipher not in query.ciphers:
            continue
        of_any_size.add(host)
        if query.tool == "openssl" and series.block_size != query.block_size:
            continue
        of_this_size.add(host)
        of_host[key, host].append(result)
    votes = [
        _vote(query, result) for results in of_host.values() for result in chosen(query, results)
    ]
    return Asked(votes, hosts, len(of_any_size - of_this_size))


def chosen(query: ComparisonQuery, results: list[Counted]) -> list[Counted]:
    ciphers: defaultdict[Run, set[str]] = defaultdict(set)
    for result in results:
        ciphers[result.run].add(result.row.series.cipher)
    order = {run: run_order(run, len(results)) for run, results in ciphers.items()}
    environment = environment_seen(query.tool, max(order, key=order.__getitem__))
    best: dict[str, Counted] = {}
    for result in results:
        if environment_seen(query.tool, result.run) == environment:
            best[result.row.series.cipher] = max(
                best.get(result.row.series.cipher, result),
                result,
                key=lambda found: (order[found.run], found.within_run),
            )
    return list(best.values())


def _vote(query: ComparisonQuery, one: Counted) -> Vote:
    assert one.run.host_id is not None
    value, uncertainty, family = _value(query, one)
    return Vote(
        *group_of(query, one.run),
        one.run.host_id,
        one.row.series.cipher,
        value,
        one.run.source,
        uncertainty,
        *split_of(query, one.run),
        family,
        doubtful=bool(one.run.conditions) or _scatters(query.metric, one.row),
    )


def _scatters(metric: str, row: Measurement) -> bool:
    if metric != "cpu_seconds_per_gb":
        return row.noisy
    return row.n >= NOISY_MINIMUM_TRIES and (row.cpu_seconds_per_gb_spread or 0) > NOISY_SPREAD


def compare_in_python(query: ComparisonQuery) -> Comparison:
    """Compute a comparison as the application does, but ignore changes to `openssl speed`."""
    votes, hosts, no_block_size = votes_in_python(query)
    without = {vote.host_id for vote in votes} - {
        vote.host_id for vote in votes if vote.value is not None
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
        hosts=len({vote.host_id for vote in votes if vote.value is not None}),
        no_baseline=len(without),
        no_block_size=no_block_size,
        split_by=query.split_by,
        relative_to=reference,
        matched=query.matched,
    )


def groups_of(votes: Iterable[Vote], hosts: Mapping[GroupKey, int]) -> list[Group]:
    """Group and summarise the results. `hosts`: number of hosts in each group."""
    valued = defaultdict[GroupKey, list[Vote]](list)
    for vote in votes:
        if vote.value is not None:
            valued[vote.group_key, vote.split_key].append(vote)
    return [_group(members, hosts[key]) for key, members in valued.items()]


def _group(votes: list[Vote], hosts: int) -> Group:
    of_cipher: defaultdict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        of_cipher[vote.cipher].append(vote)
    factors = {
        cipher: sorted(result.uncertainty for result in results if result.uncertainty is not None)
        for cipher, results in of_cipher.items()
    }
    families = {
        cipher: tuple(sorted({result.family for result in results if result.family}))
        for cipher, results in of_cipher.items()
    }
    doubtful = {
        cipher: sum(result.doubtful for result in results)
        for cipher, results in of_cipher.items()
        if len(results) <= FEW_VOTES
    }
    return Group(
        key=votes[0].group_key,
        label=min(vote.group_label for vote in votes),
        split_key=votes[0].split_key,
        split_label=votes[0].split_label,
        hosts=hosts,
        values={
            cipher: summarise_group(
                [result.value for result in results if result.value is not None]
            )
            for cipher, results in of_cipher.items()
        },
        sources=tuple(sorted({vote.source for vote in votes})),
        uncertainty={cipher: percentile(known, 0.5) for cipher, known in factors.items() if known},
        families={cipher: names for cipher, names in families.items() if names},
        doubtful={cipher: count for cipher, count in doubtful.items() if count},
    )


def percentile(ordered: Sequence[float], fraction: float) -> float:
    """Interpolate linearly between two sorted values, like PostgreSQL's `percentile_cont`."""
    below = int(fraction * (len(ordered) - 1))
    above = min(below + 1, len(ordered) - 1)
    return interpolated(len(ordered), fraction, ordered[below], ordered[above])


def interval_rank(n: int) -> int:
    """Return the rank k of the limits of a 95 % confidence interval of the median.

    The interval extends from the k-th smallest to the k-th largest of n results. k is 0 if there
    are too few results.
    """
    return math.floor((n + 1) / 2 - 0.98 * math.sqrt(n))


def summarise_group(votes: Sequence[float]) -> GroupSummary:
    ordered = sorted(votes)
    rank = interval_rank(len(ordered))
    return GroupSummary(
        median=percentile(ordered, 0.5),
        q1=percentile(ordered, 0.25),
        q3=percentile(ordered, 0.75),
        minimum=ordered[0],
        maximum=ordered[-1],
        n=len(ordered),
        low=ordered[rank - 1] if rank else None,
        high=ordered[-rank] if rank else None,
    )


def matched_votes(votes: list[Vote]) -> list[Vote]:
    """Return the results of hosts that have results for the same cipher in every group.

    The group "unknown" is ignored. With a split, all results must be in the same part of the split.
    """
    valued = [vote for vote in votes if vote.value is not None and vote.group_key != UNKNOWN_KEY]
    groups = {vote.group_key for vote in valued}
    found: defaultdict[tuple[int, str, str], set[str]] = defaultdict(set)
    for vote in valued:
        found[vote.host_id, vote.cipher, vote.split_key].add(vote.group_key)
    return [vote for vote in valued if found[vote.host_id, vote.cipher, vote.split_key] == groups]


def own_ratios(groups: list[Group], votes: list[Vote], reference: str) -> list[Group]:
    """Add ratios to each group.

    A ratio is the result of a host divided by the result of the same host in the reference group.
    """
    values = {
        (vote.group_key, vote.split_key, vote.host_id, vote.cipher): vote.value for vote in votes
    }
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


def without_tool_changes(comparison: Comparison) -> Comparison:
    groups = tuple(
        replace(
            group,
            ratios={
                name: ratio._replace(tool_changed=False) for name, ratio in group.ratios.items()
            },
        )
        for group in comparison.groups
    )
    return replace(comparison, groups=groups)


def counted_runs() -> list[Run]:
    environments = (f"environment__{field}" for field in (*DIMENSIONS, *OF_LIBRARIES.values()))
    return list(
        Run.objects.filter(status="ready", hidden=False)
        .select_related("host", *environments)
        .prefetch_related("measurements__series", "measurements__negotiated", "baseline_levels")
    )


def counted_results(query: ComparisonQuery) -> Iterator[Counted]:
    """Yield the results of all runs that pass the filters, for any cipher and any block size."""
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
    """Return whether a run is in the period of a query and passes the filters except `without`."""
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
    """Return the key and the label of a run for a filter or a grouping, such as "cpu"."""
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
    return value_of(query.group_by, query.tool, run)


def split_of(query: ComparisonQuery, run: Run) -> tuple[str, str]:
    return value_of(query.split_by, query.tool, run) if query.split_by else ("", "")


def _value(query: ComparisonQuery, one: Counted) -> tuple[float | None, float | None, str]:
    """Return the `value`, `uncertainty` and `family` of a `Vote`."""
    run, row, metric = one.run, one.row, query.metric
    value = row.cpu_seconds_per_gb if metric == "cpu_seconds_per_gb" else row.median
    divisor: float | None = 1.0
    speed: SpeedIndex | None = None
    if metric.startswith("vs_"):
        family = metric.removeprefix("vs_")
        own = run.baseline_levels.all()
        levels = {level.family: level.level for level in own if level.tool == query.tool}
        divisor = levels.get(family)
    elif metric == "normalised":
        rows = [(other.series.configuration(), other.median) for other in run.measurements.all()]
        measured = [MeasuredSeries(series, median) for series, median in rows if median]
        speed = speed_of_run(query.tool, measured)
        divisor = speed.index if speed else None
    uncertainty = speed.uncertainty if speed else None
    only = speed.families[0] if speed and len(speed.families) == 1 else ""
    if value is None or divisor is None:
        return None, uncertainty, only
    return value / divisor, uncertainty, only
