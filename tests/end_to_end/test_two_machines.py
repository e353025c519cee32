"""A site on two machines that share PostgreSQL, its standby, Redis, object storage, and no folder.

Whatever is done through either machine is seen through the other at once; one that dies loses
nothing that was acknowledged.
"""

import http.client
import json
import os
import shutil
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import boto3
import psutil
import psycopg
import pytest

from tests.conftest import Bucket, clickhouse
from tests.launch.tools import within
from tests.live_site import READY_WITHIN, LiveSite, database_of, live_site, machine
from tests.sample_documents import run_document, ssh_measurement
from tests.standby import Standby, standby_of

UPLOADS = 40
KEY = "one-secret-key-for-all-machines-of-the-site-0123456789"


@pytest.fixture(scope="module")
def standby() -> Iterator[Standby]:
    """That of their database."""
    with standby_of(database_of("two_machines")) as made:
        yield made


@pytest.fixture(scope="module", params=["duckdb", "clickhouse"])
def machines(
    request: pytest.FixtureRequest,
    s3_server: str,
    standby: Standby,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[LiveSite, LiveSite]]:
    """Both of them, each with folders of its own; and a copy of its own, or one that they share."""
    folder = tmp_path_factory.mktemp("machines")
    keys = {"aws_access_key_id": Bucket.KEY, "aws_secret_access_key": Bucket.SECRET}
    s3 = boto3.client("s3", endpoint_url=s3_server, region_name="us-east-1", **keys)
    s3.create_bucket(Bucket=request.param)
    shared = {
        "CIPHERMARK_SECRET_KEY": KEY,
        "CIPHERMARK_STORAGE_URL": f"s3://{request.param}/a?endpoint={s3_server}&region=us-east-1",
        "CIPHERMARK_STORAGE_KEY": Bucket.KEY,
        "CIPHERMARK_STORAGE_SECRET": Bucket.SECRET,
        "DATABASE_REPLICA_URL": standby.url,
        "CIPHERMARK_DOCUMENTS_DAYS": "1",
    }
    with ExitStack() as stack:
        asked = "duckdb:"
        if request.param == "clickhouse":
            asked = stack.enter_context(clickhouse(folder / "house"))
        shared["CIPHERMARK_ANALYTICS_URL"] = asked
        first = stack.enter_context(live_site("two_machines", **shared))
        static = Path(first.environment["CIPHERMARK_DATA_DIR"]) / "static"
        shutil.copytree(static, folder / "static")
        beside = {**first.environment, "CIPHERMARK_DATA_DIR": str(folder)}
        yield first, stack.enter_context(machine(beside))


def call(site: LiveSite, path: str, method: str = "GET", body: Any = None, **headers: str) -> Any:
    """The JSON that answers, or the bytes of a file."""
    content = None if body is None else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(site.url + path, content, sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=READY_WITHIN) as answer:
            found = answer.read()
            is_json = answer.headers["Content-Type"] == "application/json"
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {path}: {error.code} {error.read()!r}") from error
    return json.loads(found) if is_json else found


def signed_in(site: LiveSite) -> dict[str, str]:
    """As an administrator who signed in on this machine."""
    cookies = f"sessionid={site.session_key()}; csrftoken={'c' * 32}"
    return {"Cookie": cookies, "X-CSRFToken": "c" * 32}


def test_what_is_done_on_one_is_seen_on_the_other(machines: tuple[LiveSite, LiveSite]) -> None:
    first, second = machines
    bearer = {"Authorization": f"Bearer {first.token('upload')}"}
    reader = {"Authorization": f"Bearer {second.token('read')}"}
    for place, (here, there) in enumerate(((first, second), (second, first))):
        document = run_document(ssh_measurement("aes128-ctr", 1e8), host={"name": f"old-{place}"})
        call(here, "/api/v1/runs/", "POST", document, **bearer)
        assert there.wait_until_ready(document["run_id"])["status"] == "ready"
        labels = [one["label"] for one in there.get("/api/v1/comparison/?group_by=host")["groups"]]
        assert f"old-{place}" in labels
        (host,) = (one["id"] for one in there.get(f"/api/v1/hosts/?q=old-{place}")["results"])
        person = signed_in(there)
        for name, at in ((f"new-{place}", here), (f"newer-{place}", there)):
            call(at, f"/api/v1/hosts/{host}/", "PATCH", {"name": name}, **person)
            assert all(one.get(f"/api/v1/hosts/{host}/")["name"] == name for one in machines)
        view = {"name": "both", "query": "group_by=host", "expires_days": 1}
        share = call(here, "/api/v1/shares/", "POST", view, **person)
        assert f"newer-{place}".encode() in call(there, share["url"].removeprefix(here.url))
        job = call(
            here, f"/api/v1/exports/jobs/?kind=measurements&host=newer-{place}", "POST", **reader
        )
        assert within(READY_WITHIN, lambda: call(there, job["url"])["status"] == "ready")  # noqa: B023
        files = {call(one, f"{job['url']}file", **reader) for one in machines}
        assert len(files) == 1
        assert document["run_id"].encode() in files.pop()
    first.manage("analytics", "--snapshot")
    assert "The copy is what PostgreSQL has." in second.manage("analytics", "--check")


OLD = """
from datetime import timedelta
from django.utils import timezone
from ingest.tasks import move_documents
from store.models import Run
Run.objects.update(received_at=timezone.now() - timedelta(days=2))
move_documents.delay()
"""
MOVED = """
SELECT d.body IS NULL FROM runs_rundocument d JOIN runs_run r ON r.id = d.run_id WHERE r.run_id = %s
"""


def test_documents_that_a_worker_moved_both_read(machines: tuple[LiveSite, LiveSite]) -> None:
    first, second = machines
    bearer = {"Authorization": f"Bearer {first.token('upload')}"}
    reader = {"Authorization": f"Bearer {second.token('read')}"}
    document = run_document(ssh_measurement("aes128-ctr", 1e8))
    call(first, "/api/v1/runs/", "POST", document, **bearer)
    address = f"/api/v1/runs/{document['run_id']}/"
    before = second.wait_until_ready(document["run_id"])["measurements"]
    first.manage("shell", "--no-imports", "-c", OLD)
    with psycopg.connect(first.environment["DATABASE_URL"], autocommit=True) as database:
        moved = partial(database.execute, MOVED, [document["run_id"]])
        assert within(READY_WITHIN, lambda: moved().fetchone() == (True,))
    for site in machines:
        assert call(site, f"{address}document/", **reader) == document
        assert call(site, address, **reader)["measurements"] == before
    assert call(second, "/api/v1/runs/", "POST", document, **bearer)["run_id"] == document["run_id"]


def test_a_machine_and_a_standby_that_die_lose_nothing(
    machines: tuple[LiveSite, LiveSite], standby: Standby
) -> None:
    """The last test of both: one machine is not started again."""
    first, second = machines
    bearer = {"Authorization": f"Bearer {first.token('upload')}"}
    documents = [
        run_document(ssh_measurement("aes128-ctr", 1e8 + number), host={"name": f"box-{number}"})
        for number in range(UPLOADS)
    ]
    tried = cycle(machines)

    def upload(place: int) -> str:
        if place == UPLOADS // 2:
            die(first)
            standby.kill()
        while True:
            try:
                answer = call(next(tried), "/api/v1/runs/", "POST", documents[place], **bearer)
                return str(answer["run_id"])
            except (OSError, http.client.HTTPException):  # as an agent does, to the other one
                continue

    with ThreadPoolExecutor(4) as threads:
        taken = set(threads.map(upload, range(UPLOADS)))
    assert taken == {one["run_id"] for one in documents}
    for run_id in taken:
        assert second.wait_until_ready(run_id)["status"] == "ready"
    groups = second.get("/api/v1/comparison/?group_by=host&cipher=aes128-ctr")["groups"]
    found = {one["label"]: one["values"]["aes128-ctr"]["median"] for one in groups}
    expected = {f"box-{number}": 1e8 + number for number in range(UPLOADS)}
    assert {name: found.get(name) for name in expected} == expected
    listed = second.get(f"/api/v1/runs/?page_size={2 * UPLOADS}")["results"]
    assert taken <= {one["run_id"] for one in listed}
    standby.start()


def die(site: LiveSite) -> None:
    """Web server and worker at once, without a word."""
    folder = site.environment["CIPHERMARK_DATA_DIR"]
    os.killpg(site.worker.pid, signal.SIGKILL)
    for process in psutil.process_iter():
        try:
            ours = process.environ().get("CIPHERMARK_DATA_DIR") == folder
            if ours and "gunicorn" in " ".join(process.cmdline()):
                process.kill()
        except psutil.Error:
            continue
