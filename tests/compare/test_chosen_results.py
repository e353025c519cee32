from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cipherspeed.percentile import Standing, standing
from cipherspeed.tool_changes import tool_changes
from compare.comparison import compare
from compare.engine import analytics
from compare.question import ComparisonQuery
from compare.standing import latest_results, standings
from compare.votes import voting
from runs.models import Host, Measurement, Run
from tests.compare.comparison_reference import Counted, counted_runs, votes_in_python
from tests.conftest import StoreRun
from tests.random_fleets import documents, fleets, queries

pytestmark = pytest.mark.django_db

EXAMPLES = settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@EXAMPLES
@given(fleet=fleets, asked=st.lists(queries(), min_size=2, max_size=3))
def test_behind_a_comparison_are_its_votes_all_or_those_of_a_group(
    store_run: StoreRun, fleet: list[Any], asked: list[ComparisonQuery]
) -> None:
    for document, source in fleet:
        store_run(document, source)
    with analytics():  # one snapshot, transferred once
        for query in asked:
            assert_its_votes_are_behind(replace(query.plain, metric="throughput"))


def assert_its_votes_are_behind(query: ComparisonQuery) -> None:
    every = votes_in_python(query).votes
    groups = compare(query).groups
    for part in (None, groups[:1]):
        chosen = {group.key for group in (groups if part is None else part)}
        expected = sorted(
            (vote.host_id, vote.cipher, vote.value or 0)
            for vote in every
            if vote.group_key in chosen
        )
        rows = [
            Measurement.objects.select_related("series", "run").get(run_id=run, series_id=series)
            for run, series in voting(query, part)
        ]
        assert expected == sorted(
            (row.run.host_id, row.series.cipher, row.median or 0) for row in rows
        )


def results_of(host: Host, runs: list[Run]) -> Iterator[Counted]:
    for run in runs:
        if run.host == host:
            yield from (Counted(run, row) for row in run.measurements.all() if row.median)


@EXAMPLES
@given(fleet=fleets)
def test_a_host_has_the_latest_result_of_every_series(
    store_run: StoreRun, fleet: list[Any]
) -> None:
    for document, source in fleet:
        store_run(document, source)
    Run.objects.filter(pk=Run.objects.values("pk")[:1]).update(started_at=None)
    runs = counted_runs()
    for host in Host.objects.filter(published=False):
        best: dict[int, Counted] = {}
        for result in results_of(host, runs):
            key = result.row.series_id
            best[key] = max(best.get(key, result), result, key=lambda found: found.order)
        expected = {
            (result.run.run_id, result.row.series.cipher, result.row.median)
            for result in best.values()
        }
        for results in (Measurement.objects.latest_of(host.pk).shown(), latest_results(host.pk)):
            assert {
                (result.run.run_id, result.series.cipher, result.median) for result in results
            } == expected
            assert len(results) == len(best)


def side(release: str, cipher: str) -> tuple[bool | None, ...]:
    return tuple(change.in_release(release) for change in tool_changes() if change.touches(cipher))


def standing_in_python(host: Host, result: Measurement, runs: list[Run]) -> Standing | None:
    mine = result.series
    best: dict[Host, Counted] = {}
    for other in Host.objects.exclude(pk=host.pk):
        for counted in results_of(other, runs):
            series = counted.row.series
            like = (series.tool, series.cipher, series.block_size) == (
                mine.tool,
                mine.cipher,
                mine.block_size,
            )
            assert counted.run.environment is not None
            release = counted.run.environment.openssl.label
            if not like or series.mac or series.method != mine.method:
                continue
            if mine.tool == "openssl" and side(release, mine.cipher) != side(
                result.openssl, mine.cipher
            ):
                continue
            best[other] = max(best.get(other, counted), counted, key=lambda found: found.order)
    own, others = result.median or 0, [result.row.median or 0 for result in best.values()]
    return standing(sum(other < own for other in others), others.count(own), len(others))


@EXAMPLES
@given(fleet=st.lists(documents(), min_size=3, max_size=8))
def test_a_host_stands_among_the_latest_results_of_all_others(
    store_run: StoreRun, fleet: list[Any]
) -> None:
    for document in fleet:
        store_run(document)
    runs = counted_runs()
    with analytics():
        for host in Host.objects.filter(published=False):
            latest = list(Measurement.objects.latest_of(host.pk).shown())
            found = standings(host.pk, latest)
            assert {entry.result.series.cipher for entry in found} == {
                result.series.cipher for result in latest if result.series.is_comparable
            }
            for entry in found:
                assert entry.standing == standing_in_python(host, entry.result, runs)
