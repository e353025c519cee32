from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import duckdb
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection, transaction
from django.db.models import F
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from accounts.audit import COMMAND
from cipherspeed.group_view import CIPHER_SORT, GroupView, InView, in_view
from compare import clickhouse, engine
from compare.comparison import compare, compare_in_view
from compare.engine import ENGINE, analytics
from compare.question import ComparisonQuery
from core.outage import AnalyticsUnavailable
from hosts.editing import merge_hosts
from runs.editing import set_hidden
from runs.models import Environment, Host, Run
from runs.recompute import delete_runs
from tests.compare.comparison_reference import compare_in_python, without_tool_changes
from tests.conftest import StoreRun
from tests.random_fleets import SSH, documents, fleets, queries, sources
from tests.sample_documents import run_document, ssh_measurement

EXAMPLES = examples(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


VIEWS = (
    GroupView(top=1, page=2),
    GroupView("best", top=2),
    GroupView(f"{CIPHER_SORT}{SSH[0]}", search="B", top=1),
)


def agree(asked: list[ComparisonQuery]) -> None:
    if settings.CIPHERMARK_ANALYTICS_URL:
        clickhouse.follow()
    for query in asked:
        whole = compare(query)
        assert without_tool_changes(whole) == compare_in_python(query), query
        if query.group_by == "host":
            for view in VIEWS:
                agree_in_view(query, view, in_view(whole, view))


def agree_in_view(query: ComparisonQuery, view: GroupView, expected: InView) -> None:
    shown = compare_in_view(query, view)
    assert replace(shown, comparison=expected.comparison) == expected, (query, view)
    without_groups = (replace(side.comparison, groups=()) for side in (shown, expected))
    assert next(without_groups) == next(without_groups), (query, view)


def hide(run: Run) -> None:
    set_hidden(run.pk, not run.hidden, COMMAND)


def forget_date(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(started_at=None)
    Host.objects.filter(runs=run).refresh_latest_run()


def merge(run: Run) -> None:
    assert run.host_id is not None
    hosts = Host.objects.exclude(pk=run.host_id).order_by("pk")
    other = hosts.filter(published=False).first()
    if other is not None:
        merge_hosts(run.host_id, other.pk, COMMAND)


def tag(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(tags={"rack": "b"})


CHANGES: dict[str, Callable[[Run], None]] = {
    "hide": hide,
    "tag": tag,
    "delete": lambda run: delete_runs([run]),
    "undated": forget_date,
    "merge": merge,
}


def change(data: st.DataObject, store_run: StoreRun) -> None:
    runs = list(Run.objects.filter(source__in=("agent", "import")).order_by("pk"))
    what = data.draw(st.sampled_from(("add", *CHANGES) if runs else ("add",)))
    if what == "add":
        store_run(data.draw(documents()), data.draw(sources))
    else:
        CHANGES[what](data.draw(st.sampled_from(runs)))


@pytest.fixture
def emptied(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    # Compact the analytics copy often.
    monkeypatch.setattr("compare.engine.PACK_AFTER", 2)


@EXAMPLES
@given(fleet=fleets, asked=st.lists(queries(), min_size=4, max_size=10), data=st.data())
def test_comparisons_are_those_of_the_definition_after_every_committed_change(
    emptied: None,
    store_run: StoreRun,
    fleet: list[Any],
    asked: list[ComparisonQuery],
    data: st.DataObject,
) -> None:
    agree_through_changes(store_run, fleet, asked, data)


@examples(EXAMPLES, max_examples=3)  # a query takes 0.1 s in the tests' ClickHouse
@given(fleet=fleets, asked=st.lists(queries(), min_size=3, max_size=6), data=st.data())
def test_so_are_those_that_clickhouse_answers(
    emptied: None,
    clickhouse: object,
    store_run: StoreRun,
    fleet: list[Any],
    asked: list[ComparisonQuery],
    data: st.DataObject,
) -> None:
    agree_through_changes(store_run, fleet, asked, data)


def agree_through_changes(
    store_run: StoreRun, fleet: list[Any], asked: list[ComparisonQuery], data: st.DataObject
) -> None:
    for document, source in fleet:
        store_run(document, source)
    Run.objects.filter(source="import").update(started_at=None)
    agree(asked)
    for _ in range(3):
        change(data, store_run)
        agree(asked)
    Run.objects.all().delete()
    Host.objects.all().delete()
    agree([ComparisonQuery()])


def ctr(rate: float, name: str) -> dict[str, Any]:
    return run_document(ssh_measurement("aes128-ctr", rate), host={"name": name})


def rates(**asked: Any) -> dict[str, float]:
    groups = compare(ComparisonQuery(group_by="host", **asked)).groups
    return {group.key: value.median for group in groups for value in group.values.values()}


def test_transactions_that_commit_in_another_order_are_all_seen(
    emptied: None, store_run: StoreRun
) -> None:
    first, second = store_run(ctr(1e8, "a")), store_run(ctr(2e8, "b"))
    assert sorted(rates().values(), key=str) == [1e8, 2e8]
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("UPDATE runs_run SET hidden = true WHERE id = %s", [first.pk])
        Run.objects.filter(pk=second.pk).update(hidden=True)  # starts later, commits earlier
        assert list(rates().values()) == [1e8]
        cursor.execute("COMMIT")
    other.close()
    assert rates() == {}


def test_a_transaction_sees_its_own_changes_and_others_do_not(
    emptied: None, store_run: StoreRun
) -> None:
    store_run(ctr(1e8, "a"))
    with transaction.atomic():
        store_run(ctr(2e8, "b"))
        assert sorted(rates().values()) == [1e8, 2e8]
        transaction.set_rollback(True)
    assert list(rates().values()) == [1e8]


def spoil(run: Run) -> None:
    # No trigger logs this change, so only a new copy contains the change.
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runs_measurement SET median = 5e8 WHERE run_id = %s", [run.pk])


def restore() -> None:
    # Restoring a backup recreates the log of changes.
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE restored (LIKE runs_change INCLUDING ALL)")
        cursor.execute("DROP TABLE runs_change")
        cursor.execute("ALTER TABLE restored RENAME TO runs_change")


def change_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MOST_CHANGES", 0)
    Run.objects.update(tags={"rack": "c"})


def fail() -> None:
    with pytest.raises(AnalyticsUnavailable), analytics():
        raise duckdb.FatalException("the database is invalid")


def idle() -> None:
    ENGINE.prepare().result().followed_at = 0


@pytest.mark.parametrize(
    ("failure", "raised"),
    (
        (OperationalError("gone"), OperationalError),
        (duckdb.OutOfMemoryException("full"), AnalyticsUnavailable),
    ),
)
def test_what_a_copy_could_not_follow_is_not_lost_when_its_log_is_forgotten(
    emptied: None,
    store_run: StoreRun,
    monkeypatch: pytest.MonkeyPatch,
    failure: Exception,
    raised: type[Exception],
) -> None:
    run = store_run(ctr(1e8, "a"))
    assert list(rates().values()) == [1e8]
    copy = ENGINE.prepare().result()
    copy.followed_at -= 20 * 3600
    spoil(run)
    Run.objects.update(tags={"rack": "c"})
    with monkeypatch.context() as patched:
        patched.setattr(engine.Copy, "read_again", Mock(side_effect=failure))
        with pytest.raises(raised):
            rates()
    copy.followed_at -= 10 * 3600
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM runs_change")
    assert list(rates().values()) == [5e8]


@pytest.mark.parametrize(
    "happen",
    (
        lambda _: call_command("analytics", "--rebuild"),
        lambda _: Environment.objects.update(fingerprint=F("fingerprint")),
        lambda _: restore(),
        lambda _: fail(),
        change_much,
        lambda _: idle(),
    ),
)
def test_everything_is_read_anew_after_what_no_run_tells(
    emptied: None,
    store_run: StoreRun,
    monkeypatch: pytest.MonkeyPatch,
    happen: Callable[[pytest.MonkeyPatch], None],
) -> None:
    run = store_run(ctr(1e8, "a"))
    assert list(rates().values()) == [1e8]
    spoil(run)
    assert list(rates().values()) == [1e8]
    happen(monkeypatch)
    assert list(rates().values()) == [5e8]


def test_a_start_while_the_database_was_away_is_made_good(
    emptied: None, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_run(ctr(1e8, "a"))
    ENGINE.forget()

    def away() -> None:
        raise OperationalError("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr(engine, "read_all", away)
        assert ENGINE.prepare().exception(30)
    assert list(rates().values()) == [1e8]


def test_a_question_that_needs_too_much_memory_is_refused_alone(
    emptied: None, store_run: StoreRun, settings: Settings
) -> None:
    settings.CIPHERMARK_ANALYTICS_MEMORY = "50MB"
    ENGINE.forget()
    store_run(ctr(1e8, "a"))
    greedy = "SELECT list(repeat('x', 100) || range) FROM range(1000000)"
    with pytest.raises(AnalyticsUnavailable, match="needs more memory"), analytics() as session:
        session(greedy, {})
    assert list(rates().values()) == [1e8]
    ENGINE.forget()


def test_questions_change_no_setting_and_read_no_file(emptied: None, store_run: StoreRun) -> None:
    store_run(ctr(1e8, "a"))
    for statement in (
        "SELECT * FROM read_text('/etc/hostname')",
        "COPY run TO '/tmp/stolen.csv'",
        "ATTACH '/tmp/stolen.db'",
        "INSTALL httpfs",
        "SET threads = 64",
    ):
        with (
            pytest.raises(Exception, match=r"(?i)permission|configuration"),
            analytics() as session,
        ):
            session(statement, {})


def test_runs_of_the_same_series_that_negotiated_otherwise_each_keep_their_vote(
    emptied: None, store_run: StoreRun
) -> None:
    asked = ComparisonQuery(mac="hmac-sha1")
    for day, (mac, rate) in enumerate((("hmac-sha1", 1e8), ("hmac-sha1", 2e8), ("hmac-md5", 3e8))):
        negotiated = {"cipher": "aes128-ctr", "mac": mac, "kex": "x", "compression": "none"}
        document = run_document(ssh_measurement("aes128-ctr", rate, negotiated=negotiated))
        store_run({**document, "started_at": f"2025-11-0{day + 1}T00:00:00Z"})
    assert list(rates(mac="hmac-sha1").values()) == [2e8]
    agree([asked, ComparisonQuery()])
