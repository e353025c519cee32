import re
from typing import Any
from unittest import mock

import pytest
from django.apps import apps
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.audit import COMMAND
from compare import tasks
from compare.clickhouse import Step, follow
from compare.engine import analytics
from compare.question import GROUPINGS
from runs.editing import set_hidden
from runs.models import Run
from runs.published import load_published
from runs.recompute import delete_runs
from runs.signals import runs_changed
from tests.conftest import StoreRun
from tests.launch.tools import free_port
from tests.sample_documents import environment, run_document, ssh_measurement

pytestmark = pytest.mark.django_db(transaction=True)


def run_of(name: str, rate: float, **changes: Any) -> dict[str, Any]:
    figures = (ssh_measurement("aes128-ctr", rate), ssh_measurement("3des-cbc", rate / 7))
    return run_document(*figures, host={"name": name}, **changes)


METRICS = ("throughput", "normalised", "vs_3des", "cpu_seconds_per_gb")

ADDRESSES = (
    *(
        f"/api/v1/comparison/?group_by={group}&metric={metric}&tool={tool}"
        for group in (*GROUPINGS, "tag:rack")
        for metric in METRICS
        for tool in ("ssh", "openssl")
    ),
    "/api/v1/comparison/?group_by=tag:it's&split_by=os",
    "/?tag=it's:%5Ca'%0A",
    "/?" + "&".join(f"tag=k{number}:v" for number in range(60)),
    "/api/v1/comparison/?group_by=cpu",
    "/api/v1/comparison/?group_by=os&metric=vs_3des",
    "/api/v1/comparison/?group_by=openssl_series&split_by=cpu_vendor&tool=openssl",
    "/api/v1/comparison/?group_by=openssl_series&matched=1&relative_to=3.0&tool=openssl",
    "/api/v1/comparison/?group_by=host&relative_to=host:box-1",
    "/api/v1/comparison/?group_by=tag:rack&tag=rack:1&tag=rack:2",
    "/api/v1/comparison/?source=published&disturbed=no&since=2014-01-01",
    "/api/v1/recommendation/?client=box-1&server=box-2",
    "/api/v1/recommendation/?tag=rack:1&source=agent",
    "/api/v1/exports/comparison.csv?group_by=cpu",
    "/api/v1/exports/measurements.csv?host=box-1",
    "/",
    "/?group_by=cpu&cpu_vendor=intel&tag=rack:1",
    "/?group_by=openssl_series&matched=1",
    "/?group_by=host&sort=best",
)

_OF_A_REQUEST = re.compile(rb'nonce="[^"]*"|csrf[^>]*|[0-9]{2}(:|%3A)[0-9]{2}((:|%3A)[0-9.]+)?')


def answers() -> dict[str, tuple[int, bytes]]:
    client = Client()
    found = {}
    for address in ADDRESSES:
        answer = client.get(address)
        found[address] = answer.status_code, _OF_A_REQUEST.sub(b"", answer.getvalue())
    return found


def test_every_page_and_file_is_that_of_the_copy_in_each_process(
    store_run: StoreRun,
    settings: Settings,
    request: pytest.FixtureRequest,
) -> None:
    settings.CIPHERMARK_PUBLIC = True
    load_published()
    for number in range(8):
        facts = environment()
        facts["openssl"]["version"] = ("OpenSSL 3.0.19 27 Jan 2026", "OpenSSL 1.1.1w")[number % 2]
        store_run(
            run_of(
                f"box-{number % 5}",
                1e8 + 3e6 * number,
                environment=facts,
                tags={"rack": str(number % 3), "it's": "\\a'\n"},
            )
        )
    expected = answers()
    assert sum(status != 200 for status, _ in expected.values()) <= len(ADDRESSES) // 20
    request.getfixturevalue("clickhouse")
    follow()
    found = answers()
    for address in ADDRESSES:
        assert found[address] == expected[address], address


def test_processing_and_edits_have_clickhouse_follow_once_they_are_committed(
    clickhouse: None, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.delete(tasks.QUEUED)
    queued = mock.Mock()
    monkeypatch.setattr(tasks.follow_in_clickhouse, "apply_async", queued)
    apps.get_app_config("compare").ready()

    def counted() -> Any:
        with analytics() as session:
            return session("SELECT id FROM run ORDER BY id", {})

    try:
        with transaction.atomic():
            first = store_run(run_of("box-1", 1e8))
            queued.assert_not_called()
        second = store_run(run_of("box-2", 2e8))
        queued.assert_called_once()  # one task is enough for both
        tasks.follow_in_clickhouse()
        assert counted() == [(first.pk,), (second.pk,)]
        set_hidden(first.pk, True, COMMAND)
        assert queued.call_count == 2
        tasks.follow_in_clickhouse()
        assert counted() == [(second.pk,)]
    finally:
        runs_changed.disconnect(dispatch_uid="compare.follow_soon")


def test_a_step_that_was_cut_off_is_made_again(
    clickhouse: None, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = store_run(run_of("box-1", 1e8))
    follow()
    Run.objects.filter(pk=run.pk).update(tags={"rack": "7"})
    with monkeypatch.context() as patched:
        patched.setattr(Step, "finish", mock.Mock(side_effect=SystemExit))
        with pytest.raises(SystemExit):
            follow()
    delete_runs([run])
    store_run(run_of("box-2", 2e8))
    follow()
    with analytics() as session:
        for table in ("run", "result", "level", "speed_index"):
            key = "id" if table == "run" else "run"
            rows = session(f"SELECT DISTINCT {key} FROM {table}", {})  # noqa: S608 - names of ours
            assert rows == [(Run.objects.get().pk,)], table


def test_pages_say_that_clickhouse_is_away(settings: Settings, store_run: StoreRun) -> None:
    settings.CIPHERMARK_PUBLIC = True
    store_run(run_of("box-1", 1e8))
    settings.CIPHERMARK_ANALYTICS_URL = f"clickhouse://127.0.0.1:{free_port()}/default"
    client = Client(raise_request_exception=False)
    page = client.get("/?group_by=os")
    assert page.status_code == 503
    assert b"ClickHouse is not reachable" in page.content
    answer = client.get("/api/v1/comparison/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert client.get("/runs/").status_code == 200  # runs come from PostgreSQL


def test_the_command_says_in_a_sentence_that_clickhouse_is_away(
    db: None, settings: Settings
) -> None:
    settings.CIPHERMARK_ANALYTICS_URL = f"clickhouse://127.0.0.1:{free_port()}/default"
    with pytest.raises(CommandError, match=r"ClickHouse is not reachable\.$"):
        call_command("analytics", "--rebuild")


def test_a_database_that_is_not_there_is_one_sentence(
    clickhouse_server: str, settings: Settings, store_run: StoreRun
) -> None:
    store_run(run_of("box-1", 1e8))
    settings.CIPHERMARK_ANALYTICS_URL = clickhouse_server.replace("/default", "/elsewhere")
    settings.CIPHERMARK_PUBLIC = True
    page = Client(raise_request_exception=False).get("/?group_by=os")
    assert page.status_code == 503
    assert b"ClickHouse rejected the query; see the log" in page.content
