"""Behind pgbouncer: all of a site on pooled sessions, its web server on pooled transactions."""

import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from psycopg.conninfo import conninfo_to_dict

from config.embedded.accounts import server_account
from tests.launch.tools import free_port, within
from tests.live_site import (
    READY_WITHIN,
    LiveSite,
    database_of,
    live_site,
    web_server,
)
from tests.sample_documents import run_document, ssh_measurement

CONFIGURATION = """
[databases]
* = host={host} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
max_prepared_statements = 100
"""

PREPARES = (1, 22)
"""From this version on, pgbouncer knows statements that are prepared between transactions, and how
the driver forgets them."""

UPLOADS = 12


def version() -> tuple[int, ...]:
    """That of pgbouncer; nothing where there is none."""
    program = shutil.which("pgbouncer")
    if program is None:
        return ()
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    assert found, said
    return tuple(map(int, found.groups()))


@contextmanager
def pooler(folder: Path, mode: str, size: int) -> Iterator[str]:
    """A pgbouncer with so many connections to the embedded server; its address."""
    server, port = conninfo_to_dict(settings.DATABASE_URL), free_port()
    text = CONFIGURATION.format(**server, port=port, mode=mode, size=size)
    program = shutil.which("pgbouncer")
    assert program, "this test needs pgbouncer: install it (`make test` brings one)"
    if version() < PREPARES:
        text = text.replace("max_prepared_statements = 100\n", "")
    (folder / "pgbouncer.ini").write_text(text)
    with (folder / "pgbouncer.log").open("wb") as log, (folder / "pgbouncer.ini").open() as given:
        process = subprocess.Popen(
            [program, "/dev/stdin"],  # it is not root, and may not enter the tests' folders
            stdin=given,
            stdout=log,
            stderr=log,
            **server_account().switch,
        )
    try:
        address = f"postgresql://{server['user']}@127.0.0.1:{port}"
        answers = partial(answered, f"{address}/postgres")
        assert within(READY_WITHIN, answers), (folder / "pgbouncer.log").read_text()
        yield address
    finally:
        process.terminate()
        process.wait(20)


def answered(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def call(url: str, method: str = "GET", body: Any = None, **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(
        url,
        None if body is None else json.dumps(body).encode(),
        {"Content-Type": "application/json", **headers},
        method=method,
    )
    with urllib.request.urlopen(request, timeout=READY_WITHIN) as answer:
        return answer.status, answer.read()


def use(site: LiveSite) -> None:
    """Uploads at once and twice, pages, a file of each kind, an edit that is read at once."""
    bearer = {"Authorization": f"Bearer {site.token('upload')}"}
    documents = [
        run_document(ssh_measurement("aes128-ctr", 1e8 + number), host={"name": f"box-{number}"})
        for number in range(UPLOADS)
    ]

    def upload(document: dict[str, Any]) -> int:
        return call(f"{site.url}/api/v1/runs/", "POST", document, **bearer)[0]

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(upload, documents)) == {202}
        assert set(threads.map(upload, documents)) <= {200, 202}
    for document in documents:
        assert site.wait_until_ready(document["run_id"])["status"] == "ready"
    compared = site.get("/api/v1/comparison/?group_by=host&cipher=aes128-ctr")["groups"]
    found = {group["label"]: group["values"]["aes128-ctr"]["median"] for group in compared}
    assert {one: found.get(one) for one in (f"box-{n}" for n in range(UPLOADS))} == {
        f"box-{number}": 1e8 + number for number in range(UPLOADS)
    }
    (box,) = (one["id"] for one in site.get("/api/v1/hosts/?q=box-7")["results"])
    reader = {"Authorization": f"Bearer {site.token('read')}"}
    for path in ("/", "/hosts/", "/runs/", "/changes/", f"/hosts/{box}/", "/recommend/"):
        assert call(site.url + path)[0] == 200
    for file in ("measurements.csv", "comparison.xlsx", "changes.csv", "hosts.csv"):
        assert call(f"{site.url}/api/v1/exports/{file}", **reader)[1]
    cookies = f"sessionid={site.session_key()}; csrftoken={'c' * 32}"
    signed_in = {"Cookie": cookies, "X-CSRFToken": "c" * 32}
    for name in ("renamed", "renamed-again"):
        call(f"{site.url}/api/v1/hosts/{box}/", "PATCH", {"name": name}, **signed_in)
        assert site.get(f"/api/v1/hosts/{box}/")["name"] == name


MODES = ("session", "transaction") if version() >= PREPARES else ("session",)

LOCKS = """
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@pytest.mark.parametrize("mode", MODES)
def test_a_site_works_through_a_pooler(mode: str, tmp_path: Path) -> None:
    """Worker and commands alone go past one of transactions, which has fewer connections here than
    there are threads; nothing of a session stays behind."""
    with ExitStack() as stack:
        address = stack.enter_context(pooler(tmp_path, mode, 20 if mode == "session" else 2))
        pooled = {"DATABASE_URL": f"{address}/{database_of('poolers')}"}
        if mode == "session":
            use(stack.enter_context(live_site("poolers", **pooled)))
            return
        site = stack.enter_context(live_site("poolers"))
        with web_server("pooled", {**site.environment, **pooled}) as url:
            use(replace(site, url=url))
        direct = stack.enter_context(psycopg.connect(site.environment["DATABASE_URL"]))
        # The worker may still be at something.
        assert within(READY_WITHIN, lambda: direct.execute(LOCKS).fetchone() == (0,))
