"""A site with a streaming standby: it is read, own writes are seen, and nothing hangs on it."""

import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from store.data_version import CHANGE
from tests.end_to_end.test_doctor import doctor
from tests.launch.tools import within
from tests.live_site import READY_WITHIN, LiveSite, database_of, live_site
from tests.sample_documents import run_document, ssh_measurement
from tests.standby import Standby, standby_of

TOKEN = "for-prometheus-alone"
RUNS, SERIES = 40, 150
"""Their rows fill more than the buffers between two servers. Many runs of few series would take the
processing many times as long.
"""
MOST_UPLOADS = 60
"""On a busy machine a standby is late at times, and then not read for a while."""


@pytest.fixture(scope="module")
def standby() -> Iterator[Standby]:
    with standby_of(database_of("replica")) as made:
        yield made


@pytest.fixture(scope="module")
def site(standby: Standby) -> Iterator[LiveSite]:
    variables = {"DATABASE_REPLICA_URL": standby.url, "CIPHERMARK_METRICS_TOKEN": TOKEN}
    with live_site("replica", **variables) as running:
        yield running


@pytest.fixture(autouse=True)
def is_read(site: LiveSite, standby: Standby) -> None:
    """Each test begins with a standby that is read."""
    until_it_is_read(site, standby)


def until_it_is_read(site: LiveSite, standby: Standby) -> None:
    def reads() -> bool:
        return "runs_run" in said_while(standby, lambda: page(site, "/runs/"))

    assert within(READY_WITHIN, reads)


def said_while(standby: Standby, act: Callable[[], Any]) -> str:
    """What the standby was asked meanwhile."""
    before = len(standby.said)
    act()
    return standby.said[before:]


def page(site: LiveSite, path: str, body: Any = None, method: str = "GET", **headers: str) -> str:
    content = None if body is None else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(site.url + path, content, sent, method=method)
    with urllib.request.urlopen(request, timeout=READY_WITHIN) as answer:
        text: str = answer.read().decode()
        return text


def signed_in(site: LiveSite) -> dict[str, str]:
    cookies = f"sessionid={site.session_key()}; csrftoken={'c' * 32}"
    return {"Cookie": cookies, "X-CSRFToken": "c" * 32}


def upload(site: LiveSite, name: str) -> str:
    """The id of a run of a new host, once it is processed."""
    document = run_document(ssh_measurement("aes128-ctr", 1e8), host={"name": name})
    bearer = {"Authorization": f"Bearer {site.token('upload')}"}
    answer = json.loads(page(site, "/api/v1/runs/", document, "POST", **bearer))
    run_id: str = site.wait_until_ready(answer["run_id"])["run_id"]
    return run_id


def exported(site: LiveSite, form: str) -> bytes:
    """A file of all measurements, made by the worker."""
    reader = {"Authorization": f"Bearer {site.token('read')}"}
    made = f"/api/v1/exports/jobs/?kind=measurements&format={form}"
    job = json.loads(page(site, made, method="POST", **reader))
    path = job["url"].removeprefix(site.url)
    ended = ("ready", "failed")
    assert within(READY_WITHIN, lambda: json.loads(page(site, path, **reader))["status"] in ended)
    found = json.loads(page(site, path, **reader))
    assert found["status"] == "ready", found
    request = urllib.request.Request(f"{site.url}{path}file", headers=reader)
    with urllib.request.urlopen(request, timeout=READY_WITHIN) as answer:
        content: bytes = answer.read()
        return content


def test_lists_files_backups_and_copies_are_read_from_the_standby(
    site: LiveSite, standby: Standby, tmp_path: Path
) -> None:
    upload(site, "read-there")
    person = signed_in(site)

    def is_read_there(path: str, table: str) -> bool:
        said = said_while(standby, lambda: page(site, path, **person))
        return f'FROM "{table}"' in said or table in said

    for path, table in (
        *(("/runs/", "runs_run"), ("/hosts/", "runs_host"), ("/changes/", "runs_fleetchange")),
        *(("/audit/", "runs_auditentry"), ("/runs/hidden/", "runs_run")),
        *(("/api/v1/runs/", "runs_run"), ("/api/v1/hosts/", "runs_host")),
        *(("/api/v1/changes/", "runs_fleetchange"), ("/api/v1/notes/", "runs_note")),
        *(("/api/v1/exports/hosts.csv", "runs_host"), ("/api/v1/exports/measurements.csv", "COPY")),
        *(("/api/v1/exports/changes.csv", "runs_fleetchangemember"),),
    ):
        assert within(READY_WITHIN, lambda: is_read_there(path, table)), path  # noqa: B023
    for form in ("csv", "xlsx"):
        assert "COPY" in said_while(standby, lambda: exported(site, form))  # noqa: B023
    backup = str(tmp_path / "site.dump")
    assert "COPY public.runs_run " in said_while(standby, lambda: site.manage("backup", backup))
    assert "whole" in site.manage("backup", backup, "--verify")
    rebuilt = said_while(standby, lambda: site.manage("analytics", "--rebuild"))
    assert "runs_measurement" in rebuilt
    assert "is what PostgreSQL has" in site.manage("analytics", "--check")


def test_own_writes_are_seen_at_once_while_the_standby_stands_still(
    site: LiveSite, standby: Standby
) -> None:
    upload(site, "still")
    (host,) = (one["id"] for one in site.get("/api/v1/hosts/?q=still")["results"])
    person = signed_in(site)
    with standby.held():
        for number in range(3):
            name = f"still-{number}"
            page(site, f"/api/v1/hosts/{host}/", {"name": name}, "PATCH", **person)
            assert name in page(site, "/hosts/?q=still")
            assert [one["name"] for one in site.get("/api/v1/hosts/?q=still")["results"]] == [name]
            run_id = upload(site, f"arrived-{number}")
            assert run_id in page(site, "/runs/")
            assert site.get("/api/v1/runs/")["results"][0]["run_id"] == run_id
            assert run_id in page(site, "/api/v1/exports/measurements.csv", **person)
        ready = site.get("/readyz")
        assert ready["database"] == "ok"
        assert within(READY_WITHIN, lambda: site.get("/readyz")["replica"] == "behind")
        assert site.get("/readyz")["replica_lag_seconds"] > 0
        _, _, checks = doctor(site)
        assert checks["replica"]["state"] == "warning"
        assert "lists are read from the primary" in checks["replica"]["found"]
    assert within(READY_WITHIN, lambda: site.get("/readyz")["replica_lag_seconds"] == 0)
    assert site.get("/readyz")["replica"] == "ok"


def test_what_is_written_while_the_standby_follows_is_in_the_next_list(
    site: LiveSite, standby: Standby
) -> None:
    read_there = 0
    for number in range(MOST_UPLOADS):
        name = f"followed-{number}"
        upload(site, name)

        def look(name: str = name) -> None:
            assert name in page(site, f"/hosts/?q={name}")

        read_there += 'FROM "runs_host"' in said_while(standby, look)
        if read_there == 10:
            return
        until_it_is_read(site, standby)
    pytest.fail(f"the standby answered {read_there} of {MOST_UPLOADS} lists")


def test_a_standby_that_is_killed_is_missed_by_nobody(site: LiveSite, standby: Standby) -> None:
    usual = min(seconds(site, "/hosts/") for _ in range(5))
    standby.kill()
    try:
        taken = []
        for number in range(5):
            run_id = upload(site, f"without-{number}")
            assert run_id in page(site, "/runs/")
            taken.append(seconds(site, "/hosts/"))
        assert min(taken) < usual + 1
        assert sorted(taken)[2] < usual + 1, taken
        assert site.get("/readyz")["replica"] == "unusable"
        _, _, checks = doctor(site)
        assert checks["replica"]["state"] == "warning"
        assert "cannot be reached" in checks["replica"]["found"]
        metrics = page(site, "/metrics", Authorization=f"Bearer {TOKEN}")
        assert 'ciphermark_up{part="replica"} 0.0' in metrics
        assert "\nciphermark_replica_lag_seconds" not in metrics
    finally:
        standby.start()
    assert within(READY_WITHIN, lambda: site.get("/readyz")["replica"] == "ok")
    metrics = page(site, "/metrics", Authorization=f"Bearer {TOKEN}")
    assert 'ciphermark_up{part="replica"} 1.0' in metrics
    assert "\nciphermark_replica_lag_seconds" in metrics
    _, _, checks = doctor(site)
    assert checks["replica"]["state"] == "ok", checks["replica"]


def seconds(site: LiveSite, path: str) -> float:
    begun = time.monotonic()
    page(site, path)
    return time.monotonic() - begun


def test_a_standby_that_hangs_holds_nobody_up_for_long(site: LiveSite, standby: Standby) -> None:
    with standby.hung():
        begun = time.monotonic()
        for path in ("/hosts/", "/runs/", "/api/v1/runs/", "/hosts/"):
            page(site, path)
        assert time.monotonic() - begun < 30, "each of them has waited"
        assert site.get("/readyz")["replica"] == "unusable"


KILLED_IN_THE_MIDDLE = """
import os, signal, time
import psutil
from django.db import connections
from reports import export_jobs
from store import replica
from store.models import ExportJob

first, shown = [], export_jobs._Pulse.show
def show(self, done):
    if done and not first:
        first.append(done)
        assert connections["replica"].connection is not None, "read from the standby"
        server = psutil.Process({pid})
        for one in (server, *server.children(recursive=True)):
            one.kill()
    shown(self, done)
export_jobs._Pulse.show = show
job = ExportJob.objects.create(
    kind="measurements", format="{form}", query="", site="http://testserver", person=None
)
export_jobs.make(job.pk)
job.refresh_from_db()
from reports.export_files import local_path
print(job.status, job.failure, job.rows_total, first[0], local_path(job))
"""


@pytest.fixture(scope="module")
def many_runs(site: LiveSite, tmp_path_factory: pytest.TempPathFactory) -> None:
    rates = [ssh_measurement(f"made-up-{number}", 1e8) for number in range(SERIES)]
    path = tmp_path_factory.mktemp("many") / "runs.ndjson"
    with path.open("w") as file:
        for number in range(RUNS):
            document = run_document(*rates, host={"name": f"many-{number}"})
            file.write(json.dumps(document) + "\n")
    site.manage("load_runs", str(path), "--jobs", "1")


@pytest.mark.usefixtures("many_runs")
@pytest.mark.parametrize("form", ("csv", "xlsx"))
def test_a_file_is_whole_though_the_standby_is_killed_while_it_is_made(
    site: LiveSite, standby: Standby, form: str
) -> None:
    program = KILLED_IN_THE_MIDDLE.format(pid=standby.process_id, form=form)
    try:
        said = site.manage("shell", "--no-imports", "-c", program)
    finally:
        standby.start()
    status, *_, total, seen, path = said.split()
    assert status == "ready", said
    assert int(seen) < int(total), "it died in the middle"
    if form == "csv":
        lines = Path(path).read_text().splitlines()
        assert len(lines) == int(total) + 1
        assert len(set(lines)) == len(lines)


FAILS_THERE = """
import psycopg
from django.conf import settings
from django.db import connection
from store.replica import BACKGROUND_SECONDS, by_replica
from store.statements import one_moment
asked = []

def ended(cursor):
    cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

def cancelled(cursor):
    with psycopg.connect(settings.DATABASE_URL) as primary:
        primary.execute("LOCK TABLE runs_note IN ACCESS EXCLUSIVE MODE")
    cursor.execute("SELECT pg_sleep(600)")

@by_replica(BACKGROUND_SECONDS)
def read():
    with one_moment(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_is_in_recovery(), count(*) FROM runs_note")
        asked.append(cursor.fetchone()[0])
        if asked[-1]:
            {how}(cursor)
        cursor.execute("SELECT 7")
        return cursor.fetchone()[0]

print(read(), asked)
"""


@pytest.mark.parametrize("how", ("ended", "cancelled"))
def test_a_question_that_the_standby_breaks_off_is_asked_again(
    site: LiveSite, standby: Standby, how: str
) -> None:
    program = FAILS_THERE.format(how=how)
    with standby.set("max_standby_streaming_delay", "0"):
        assert site.manage("shell", "--no-imports", "-c", program).strip() == "7 [True, False]"


def test_a_copy_built_on_the_standby_has_what_is_committed_afterwards(
    site: LiveSite, standby: Standby
) -> None:
    run_id = upload(site, "late")
    hide = "UPDATE runs_run SET hidden = %s WHERE run_id = %s"
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        connection.execute(hide, (True, run_id))
        connection.commit()
        connection.execute(hide, (False, run_id))
        said = said_while(standby, lambda: site.manage("analytics", "--rebuild"))
        assert "runs_measurement" in said
        hosts = site.get("/api/v1/comparison/?group_by=host&cipher=aes128-ctr")["groups"]
        assert "late" not in {one["label"] for one in hosts}
        connection.execute(CHANGE)
        connection.commit()
    assert "is what PostgreSQL has" in site.manage("analytics", "--check")
    hosts = site.get("/api/v1/comparison/?group_by=host&cipher=aes128-ctr")["groups"]
    assert "late" in {one["label"] for one in hosts}


def test_a_standby_that_was_promoted_is_not_read(site: LiveSite, standby: Standby) -> None:
    """The last test here: it follows nobody from now on."""
    standby.promote()
    run_id = upload(site, "after")
    assert "runs_run" not in said_while(standby, lambda: page(site, "/runs/"))
    assert run_id in page(site, "/runs/")
    assert site.get("/readyz")["replica"] == "unusable"
    _, _, checks = doctor(site)
    assert "promoted" in checks["replica"]["found"]
