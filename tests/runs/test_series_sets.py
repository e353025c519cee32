"""What one machine measured in several runs, of which later ones replace a part of the earlier."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from runs.derived import refresh_hosts
from runs.models import Run
from runs.queries.comparison import compare, resolve_block_size
from runs.queries.coverage import coverage
from runs.queries.facets import facets
from runs.queries.selection import ComparisonQuery
from tests.conftest import StoreRun
from tests.histories import FIRST_DAY, run_of_day
from tests.sample_documents import openssl_measurement

GCM, CTR = "aes-128-gcm", "aes-128-ctr"


@pytest.fixture
def ran(store_run: StoreRun) -> Any:
    """Stores a run of some day with results of (cipher, block size), judged as is said."""

    def store(day: int, verdict: str, *measured: tuple[str, int], **changes: Any) -> Run:
        series = [openssl_measurement(cipher, 1e9, block_size=size) for cipher, size in measured]
        run = store_run(run_of_day(day, *series, **changes))
        Run.objects.filter(pk=run.pk).update(acceleration=verdict)
        return run

    return store


def verdicts(since: int | None = None, until: int | None = None) -> dict[str, int]:
    """The verdicts that openssl's results of these days can be filtered by, with counts."""
    query = ComparisonQuery(tool="openssl", since=moment(since), until=moment(until))
    (facet,) = (one for one in facets(query) if one.name == "verdict")
    return {option.key: option.count for option in facet.options}


def moment(day: int | None) -> datetime | None:
    return None if day is None else FIRST_DAY + timedelta(days=day)


def test_a_run_counts_until_each_of_its_series_was_measured_again(ran: Any) -> None:
    ran(0, "hardware", (GCM, 1024), (CTR, 1024))
    ran(1, "masked", (GCM, 1024))
    ran(2, "software", (GCM, 1024), (CTR, 1024), (CTR, 16384))
    assert verdicts(until=0) == {"hardware": 1}
    assert verdicts(until=1) == {"hardware": 1, "masked": 1}
    assert verdicts(until=2) == verdicts(since=0) == verdicts() == {"software": 1}
    assert verdicts(since=1, until=1) == {"masked": 1}
    assert verdicts(since=3) == {}


def test_a_hidden_run_replaces_nothing(ran: Any) -> None:
    ran(0, "hardware", (GCM, 1024), (CTR, 1024))
    Run.objects.filter(pk=ran(1, "masked", (GCM, 1024), (CTR, 1024)).pk).update(hidden=True)
    assert verdicts(until=1) == {"hardware": 1}


def test_block_sizes_are_those_of_latest_results(ran: Any) -> None:
    ran(0, "hardware", (GCM, 1024), (GCM, 16384))
    ran(1, "software", (GCM, 1024), (GCM, 16384), (CTR, 1024))
    ran(0, "hardware", (GCM, 1024), host={"name": "rack"})
    query = ComparisonQuery(tool="openssl", group_by="acceleration")
    assert resolve_block_size(query).block_size == 1024


def test_runs_that_an_older_worker_derived_count_as_all_others(ran: Any) -> None:
    ran(0, "hardware", (GCM, 1024), (CTR, 1024))
    run = ran(1, "masked", (GCM, 16384))
    query = ComparisonQuery(tool="openssl", until=moment(1), group_by="acceleration")
    known = verdicts(until=1), coverage(query), compare(query)
    Run.objects.update(series_set=None)
    assert (verdicts(until=1), coverage(query), compare(query)) == known
    assert verdicts() == {"hardware": 1, "masked": 1}
    refresh_hosts([run.host_id])
    assert verdicts() == {"hardware": 1, "masked": 1}
