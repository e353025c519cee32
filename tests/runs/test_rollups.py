"""One comparison in three ways: by rollups, by one statement, and in plain Python."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.comparison import UNITS, Comparison, build_comparison
from runs import rollups
from runs.derived import delete_runs, refresh_hosts, set_hidden
from runs.models import Measurement, Rollup, RollupSlot, Run
from runs.queries.block_size import common_block_size
from runs.queries.comparison import (
    compare,
    compare_directly,
    machines,
    profile_of,
    resolve_block_size,
    votes,
)
from runs.queries.coverage import coverage
from runs.queries.export_rows import count_rows
from runs.queries.export_selection import InGroups, votes_of, votes_statement
from runs.queries.facets import facets, facets_directly
from runs.queries.machine_results import class_series
from runs.queries.pivot import pivot_lines
from runs.queries.selection import GROUPINGS, ComparisonQuery, group_members, grouping
from runs.queries.statements import fetch_rows
from runs.rollups import allowing_lag
from tests.conftest import StoreRun
from tests.sample_documents import (
    environment,
    openssl_measurement,
    run_document,
    ssh_measurement,
)

SSH = ("aes128-ctr", "chacha20-poly1305@openssh.com", "3des-cbc", "arcfour")
OPENSSL = ("aes-128-gcm", "des-ede3-cbc")
BLOCK_SIZES = (1024, 16384)
START = datetime(2025, 11, 1, tzinfo=UTC)
MIDDLE = START + timedelta(days=5)

TAGS: tuple[dict[str, str], ...] = (
    {},
    {"rack": "1"},
    {"rack": "2"},
    {"rack": "1", "env": "test"},
    {"rack": "2", "env": "live"},
    {"rack": "1", "env": "live"},
)

LIBRARIES = ("OpenSSL 3.0.19 27 Jan 2026", "OpenSSL 1.0.2zl  1 Aug 2024")
"""Of the openssl program and of ssh, which may use another one, or not say so."""

TWO_RACKS = ("rack:1", "env:live", "rack:2")

rates = st.integers(1, 40).map(lambda number: number * 2.5e7)


@st.composite
def ssh_series(draw: st.DrawFn) -> dict[str, Any]:
    """A series of ssh: of plain ones mostly, with CPU time or without."""
    made = ssh_measurement(
        draw(st.sampled_from(SSH)),
        draw(rates),
        pinned=draw(st.booleans()),
        mac=draw(st.sampled_from((None, None, None, "hmac-sha1"))),
    )
    if draw(st.booleans()):
        seconds = draw(st.integers(1, 9)) / 10
        for sample in made["samples"]:
            sample.update(client_cpu_seconds=seconds, server_cpu_seconds=1.0)
    return made


openssl_series = st.builds(
    lambda cipher, rate, block: openssl_measurement(cipher, rate, block_size=block),
    st.sampled_from(OPENSSL),
    rates,
    st.sampled_from(BLOCK_SIZES),
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A run of one of few hosts and environments, at one of few moments."""
    series = draw(st.lists(st.one_of(ssh_series(), openssl_series), min_size=1, max_size=5))
    once = {repr({**one, "samples": None}): one for one in series}
    started = START + timedelta(days=draw(st.integers(0, 9)))
    stated = environment(model=draw(st.sampled_from(("AMD EPYC 9R14", "Intel Xeon E5-2680"))))
    stated["openssl"]["version_text"] = draw(st.sampled_from(LIBRARIES))
    stated["openssh"]["library"] = draw(st.sampled_from((None, *LIBRARIES)))
    return run_document(
        *once.values(),
        host={"name": draw(st.sampled_from("abc"))},
        tags=draw(st.sampled_from(TAGS)),
        environment=stated,
        started_at=started.isoformat(),
        finished_at=(started + timedelta(minutes=5)).isoformat(),
    )


fleets = st.lists(
    st.tuples(documents(), st.sampled_from(("agent", "agent", "import"))), min_size=1, max_size=7
)


@st.composite
def queries(draw: st.DrawFn) -> ComparisonQuery:
    """A question of either tool, of any metric, grouping and subset of ciphers, filtered or not."""
    tool = draw(st.sampled_from(("ssh", "openssl")))
    filters = {
        "source": ("agent",),
        "cpu": ("amd-epyc-9r14",),
        "tag": draw(st.sampled_from((("rack:1",), ("rack:1", "env:live"), TWO_RACKS))),
        "host": ("a", "b"),
        "openssl": ("openssl-1.0.2zl",),
        "openssl_series": ("3.0",),
        "verdict": ("unknown",),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(filters)), max_size=2, unique=True))
    return ComparisonQuery(
        tool=tool,
        group_by=draw(st.sampled_from((*GROUPINGS, "tag:rack"))),
        metric=draw(st.sampled_from(sorted(UNITS))),
        ciphers=tuple(
            draw(st.lists(st.sampled_from(SSH if tool == "ssh" else OPENSSL), unique=True))
        ),
        mac=draw(st.sampled_from((None, None, "hmac-sha1"))) if tool == "ssh" else None,
        filters={name: filters[name] for name in chosen},
        since=draw(st.sampled_from((None, None, MIDDLE))),
        until=draw(st.sampled_from((None, None, MIDDLE))),
    )


def in_python(query: ComparisonQuery) -> Comparison:
    """The reference: each vote brought, and compared by `analysis`."""
    query = replace(query, block_size=by_statement(query))
    profile = profile_of(query)
    return build_comparison(
        votes(query, profile),
        machines(query),
        tool=query.tool,
        group_by=query.group_by,
        metric=query.metric,
        profile=profile.name if profile else None,
    )


def by_statement(query: ComparisonQuery) -> int | None:
    if query.tool != "openssl":
        return None
    return common_block_size(query, class_series(query).choice(query))


def by_votes(query: ComparisonQuery) -> int | None:
    """The largest of the block sizes at which most groups have votes."""
    groups = {
        block: {one.group_key for one in votes(replace(query, block_size=block), None)}
        for block in BLOCK_SIZES
    }
    measured = [block for block in groups if groups[block]]
    return max(measured, key=lambda block: (len(groups[block]), block), default=None)


def failed_tags(query: ComparisonQuery, tags: Mapping[str, str]) -> set[str]:
    """The keys of which the query wants some value that is not there; each as "tag:KEY"."""
    wanted: dict[str, set[str]] = {}
    for one in query.filters.get("tag", ()):
        key, _, value = one.partition(":")
        wanted.setdefault(key, set()).add(value)
    return {f"tag:{key}" for key, values in wanted.items() if tags.get(key) not in values}


def library(run: Run, tool: str) -> str:
    """The release that a run's figures of this tool were measured with, by its document."""
    stated = json.loads(bytes(run.document.body))["environment"]
    program = stated["openssl"]["version_text"]
    text = (stated["openssh"]["library"] or program) if tool == "ssh" else program
    return "openssl-1.0.2zl" if "1.0.2zl" in text else "openssl-3.0.19"


SERIES = {"openssl-1.0.2zl": "1.0.2", "openssl-3.0.19": "3.0"}


def surroundings(run: Run, tool: str) -> Any:
    """What is one environment to a tool: to ssh it is the CPU and its library that differ here."""
    assert run.environment is not None
    as_ssh = (run.environment.cpu.key, library(run, "ssh"))
    return as_ssh if tool == "ssh" else run.environment_id


def reference_votes(query: ComparisonQuery) -> list[tuple[Any, ...]]:
    """Host, group, cipher and median of each vote, by the definition over all runs."""
    best: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    runs = Run.objects.filter(status="ready", hidden=False).select_related(
        "environment__cpu", "document"
    )
    for run in runs:
        if query.since and (not run.started_at or run.started_at < query.since):
            continue
        if query.until and (not run.started_at or run.started_at > query.until):
            continue
        if "source" in query.filters and run.source not in query.filters["source"]:
            continue
        assert run.environment is not None
        if "cpu" in query.filters and run.environment.cpu.key not in query.filters["cpu"]:
            continue
        own = library(run, query.tool)
        if own not in query.filters.get("openssl", (own,)):
            continue
        if SERIES[own] not in query.filters.get("openssl_series", (SERIES[own],)):
            continue
        if failed_tags(query, run.tags):
            continue
        for row in run.measurements.select_related("series"):
            series = row.series
            wanted = (series.tool, series.mac) == (query.tool, query.mac or "")
            if not wanted or row.median is None or series.method not in ("pipeline", ""):
                continue
            if query.ciphers and series.cipher not in query.ciphers:
                continue
            if query.block_size is not None and series.block_size != query.block_size:
                continue
            key = (run.host_id, surroundings(run, query.tool), series.cipher)
            order = (run.started_at, run.pk, not series.pinned, -series.pk, row.median)
            best[key] = max(best.get(key, (order, "")), (order, library(run, query.tool)))
    return sorted(
        (host, own, cipher, order[-1]) for (host, _, cipher), (order, own) in best.items()
    )


@pytest.mark.django_db
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(fleet=fleets, asked=st.lists(queries(), min_size=4, max_size=10), data=st.data())
def test_rollups_equal_the_statement_and_plain_python(
    store_run: StoreRun, fleet: list[Any], asked: list[ComparisonQuery], data: st.DataObject
) -> None:
    with transaction.atomic():
        runs = [store_run(document, source) for document, source in fleet]
        agree(asked)
        change = data.draw(st.sampled_from(("hide", "delete", "refresh", "add")))
        run = data.draw(st.sampled_from(runs))
        if change == "hide":
            set_hidden(run, True)
        elif change == "delete":
            delete_runs([run])
        elif change == "refresh":
            refresh_hosts([one.host_id for one in runs if one.host_id])
        else:
            store_run(data.draw(documents()))
        agree(asked)
        transaction.set_rollback(True)


def agree(asked: list[ComparisonQuery]) -> None:
    """All ways of answering say the same, to the last bit."""
    for query in asked:
        direct = compare_directly(query)
        assert compare(query) == direct
        assert without_doubts(direct) == in_python(query)
        assert resolve_block_size(query).block_size == by_statement(query)
        if query.tool == "openssl" and not grouping(query.group_by, query.tool).of_run:
            assert by_statement(query) == by_votes(replace(query, metric="throughput"))
        at_block = replace(query, metric="throughput", block_size=by_statement(query))
        if "verdict" not in query.filters and "host" not in query.filters:
            found = votes(replace(at_block, group_by="openssl"), None)
            said = [(one.host_id, one.group_key, one.cipher, one.value) for one in found]
            assert sorted(said) == reference_votes(at_block)
        assert facets(query) == facets_directly(query)
        assert counted(query) == counted_in_python(query)
        counts_agree(at_block)
        files_agree(at_block)


def without_doubts(comparison: Comparison) -> Comparison:
    """As votes in Python have it, which do not say how their figures came about."""
    groups = tuple(replace(group, doubtful={}) for group in comparison.groups)
    return replace(comparison, groups=groups)


def counts_agree(query: ComparisonQuery) -> None:
    """What the page says of machines is what their votes say."""
    every, covered = votes(replace(query, ciphers=(), metric="throughput"), None), coverage(query)
    if query.tool == "ssh":
        counted = {one.cipher: one.machines for one in covered.ciphers}
        for cipher in SSH:
            assert counted.get(cipher, 0) == sum(one.cipher == cipher for one in every)
    pairs = {(one.host_id, one.environment_id) for one in votes(query, None)}
    assert covered.machines(query) == len(pairs)
    if query.block_size is not None:
        assert query.block_size in covered.block_sizes


Counted = dict[tuple[str, str], int]
"""(filter, value) -> machines."""

COUNTED = ("cpu", "openssl", "openssl_series", "host", "source", "verdict", "tag")


def counted(query: ComparisonQuery) -> Counted:
    return {
        (facet.name, option.key): option.count
        for facet in facets(query)
        if facet.name in COUNTED
        for option in facet.options
    }


def counted_in_python(query: ComparisonQuery) -> Counted:
    """The same by the definition, over all runs: under all filters but the one that is counted."""
    latest: dict[tuple[Any, ...], dict[int, tuple[Any, ...]]] = {}
    for run in Run.objects.filter(status="ready", hidden=False).select_related(
        "environment__cpu", "host", "document"
    ):
        assert run.environment is not None
        assert run.host is not None
        assert run.started_at is not None
        if query.until and run.started_at > query.until:
            continue
        tags = tuple(run.tags.items())
        own = library(run, query.tool)
        facts = (run.environment.cpu.key, own, run.host.slug, run.source, tags)
        pair = (run.host_id, surroundings(run, query.tool))
        machine = (run.environment_id, pair, facts)
        results = run.measurements.filter(series__tool=query.tool, median__isnull=False)
        for series in results.values_list("series_id", flat=True):
            found = latest.setdefault(machine, {})
            mine = (run.started_at, run.pk, run.acceleration)
            found[series] = max(found.get(series, mine), mine)
    pairs: dict[tuple[str, str], set[Any]] = {}
    for (_, pair, facts), results_of in latest.items():
        verdicts = {
            verdict
            for started, _, verdict in results_of.values()
            if not query.since or started >= query.since
        }
        if not verdicts:
            continue
        cpu, own, slug, source, tags = facts
        values = {"cpu": {cpu}, "host": {slug}, "source": {source}, "verdict": verdicts}
        values |= {"openssl": {own}, "openssl_series": {SERIES[own]}}
        failed = {
            name
            for name, asked in query.filters.items()
            if name != "tag" and values[name].isdisjoint(asked)
        } | failed_tags(query, dict(tags))
        values |= {f"tag:{key}": {f"{key}:{value}"} for key, value in tags}
        for name, found_values in values.items():
            if failed <= {name}:
                for value in found_values:
                    place = (name.partition(":")[0], value)
                    pairs.setdefault(place, set()).add(pair)
    return {place: len(found) for place, found in pairs.items()}


def files_agree(query: ComparisonQuery) -> None:
    """Behind a comparison's file are its votes, all or those of one of its groups."""
    every = votes(query, None)
    keys = sorted({one.group_key for one in every})
    for groups in (None, keys[:1]):
        chosen = votes_of(query)
        if groups is not None:
            members = InGroups(query.group_by, tuple(group_members(query.group_by, groups)))
            chosen = replace(chosen, groups=members)
        expected = sorted(
            (one.host_id, one.cipher, one.value)
            for one in every
            if groups is None or one.group_key in groups
        )
        statement = votes_statement(chosen)
        found = [
            Measurement.objects.select_related("series", "run").get(run_id=run, series_id=series)
            for run, numbers in fetch_rows(statement.sql, statement.parameters)
            for series in numbers
        ]
        assert expected == sorted((one.run.host_id, one.series.cipher, one.median) for one in found)
        assert count_rows(chosen) == len(expected)
        _, lines = pivot_lines(query, chosen.groups, ("cpu", "openssl"))
        cells = [value for line in lines for value in line[3:] if value is not None]
        assert sorted(cells) == sorted(one[-1] for one in expected if one[-1] is not None)


def gcm(rate: float, name: str = "a") -> dict[str, Any]:
    return run_document(ssh_measurement("aes128-ctr", rate), host={"name": name})


def made_slowly() -> datetime:
    """As if the rollups had taken long, a while ago; returns when."""
    before = timezone.now() - timedelta(hours=1)
    Rollup.objects.update(seconds=10, as_of=before)
    return before


def median(query: ComparisonQuery) -> float:
    (group,) = compare(query).groups
    return group.values["aes128-ctr"].median


@pytest.mark.django_db
def test_a_slow_rollup_lags_only_where_that_is_allowed_and_says_since_when(
    store_run: StoreRun,
) -> None:
    query = ComparisonQuery()
    store_run(gcm(1e8))
    assert median(query) == 1e8
    before = made_slowly()
    store_run(gcm(3e8, "b"))
    with mock.patch("celery.app.base.Celery.send_task") as asked:
        for _ in range(3):
            with allowing_lag() as lag:
                assert median(query) == 1e8
            assert lag.as_of == before
        (task,) = asked.call_args_list
    rollups.make_rollup(*task.args[1])
    with allowing_lag() as lag:
        assert median(query) == 2e8
    assert lag.as_of is None


@pytest.mark.django_db
def test_without_leave_to_lag_a_rollup_is_exact(store_run: StoreRun) -> None:
    store_run(gcm(1e8))
    assert median(ComparisonQuery()) == 1e8
    made_slowly()
    store_run(gcm(3e8, "b"))
    assert median(ComparisonQuery()) == 2e8


@pytest.mark.django_db
def test_where_no_worker_can_be_asked_the_reader_makes_it(store_run: StoreRun) -> None:
    store_run(gcm(1e8))
    assert median(ComparisonQuery()) == 1e8
    made_slowly()
    store_run(gcm(3e8, "b"))
    failing = mock.patch("celery.app.base.Celery.send_task", side_effect=OSError("gone"))
    with failing, allowing_lag() as lag:
        assert median(ComparisonQuery()) == 2e8
    assert lag.as_of is None


@pytest.mark.django_db
def test_while_changes_follow_each_other_what_is_made_quickly_is_exact_and_not_stored(
    store_run: StoreRun,
) -> None:
    store_run(gcm(1e8))
    assert median(ComparisonQuery()) == 1e8
    stored = Rollup.objects.get()
    store_run(gcm(3e8, "b"))
    with CaptureQueriesContext(connection) as asked:
        assert median(ComparisonQuery()) == 2e8
    assert not [one for one in asked if not one["sql"].lstrip().startswith(("SELECT", "WITH"))]
    Rollup.objects.update(as_of=stored.as_of - rollups.STORED_EVERY)
    assert median(ComparisonQuery()) == 2e8
    assert Rollup.objects.get().version != stored.version


@pytest.mark.django_db
def test_an_answer_makes_each_rollup_once(
    store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = ComparisonQuery(tool="openssl")

    def answer() -> None:
        coverage(query)
        compare(resolve_block_size(query))

    store_run(run_document(openssl_measurement("aes-128-gcm", 1e9)))
    answer()
    store_run(run_document(openssl_measurement("aes-128-gcm", 2e9), host={"name": "b"}))
    made: list[str] = []

    def counted(kind: str, make: rollups.Maker) -> rollups.Maker:
        def counting_one(question: rollups.Question) -> rollups.Made:
            made.append(kind)
            return make(question)

        return counting_one

    counting = {kind: counted(kind, make) for kind, make in rollups._makers.items()}
    monkeypatch.setattr(rollups, "_makers", counting)
    with allowing_lag():
        answer()
    assert sorted(made) == ["coverage", "groups"]


@pytest.mark.django_db
def test_rollups_of_long_ago_are_forgotten(store_run: StoreRun) -> None:
    store_run(gcm(1e8))
    compare(ComparisonQuery())
    rollups.forget_rollups()
    assert Rollup.objects.count() == 1
    Rollup.objects.update(as_of=START)
    rollups.forget_rollups()
    assert Rollup.objects.count() == 0


@pytest.mark.django_db
def test_a_damaged_rollup_is_made_anew(store_run: StoreRun) -> None:
    store_run(run_document(ssh_measurement("aes128-ctr", 1e8)))
    whole = compare(ComparisonQuery())
    RollupSlot.objects.all().delete()
    assert compare(ComparisonQuery()) == whole
