"""Provide users, tokens and stored runs to all tests."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db import connection, transaction
from django.test import Client
from psycopg import sql
from pytest_django import DjangoDbBlocker

from accounts.tokens import create_token
from ciphermark_agent import ssh_server
from ciphermark_agent.ssh_server import PrivateServer
from core import signs_of_life
from runs.acceptance import create_run
from runs.models import Run
from runs.processing import derive_run
from runs.published import load_published
from tests.launch.tools import free_port, is_listening, within

if TYPE_CHECKING:
    from playwright.sync_api import Browser

StoreRun = Callable[..., Run]

# Use the same examples on every host, without a deadline, so that failures do not depend on
# chance or load. `pytest --hypothesis-profile=default` draws random examples,
# a hundred instead of forty.
hypothesis.settings.register_profile("few", hypothesis.settings.get_profile("ci"), max_examples=40)
hypothesis.settings.load_profile("few")


LONGEST_FIRST = ("browser", "agent", "end_to_end", "launch")
"""Folders with long tests. If these began last, one worker would finish long after the others."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Run the longest tests first, and exclude generated examples from the coverage.

    They execute the same lines repeatedly; measuring the coverage doubles their time.
    """
    for item in items:
        if item.get_closest_marker("hypothesis"):
            item.add_marker("no_cover")
    yield  # pytest-django reorders tests before
    items.sort(key=lambda item: _place(item.path.parent.name))


def _place(folder: str) -> int:
    return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail skipped tests, because everything that they require must be installed."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
    return report


SSHD_PLACES = ("/usr/sbin", "/usr/local/sbin", "/sbin", "/opt/homebrew/sbin")


class ApiClient(Client):
    """Send a token with every request of Django's client."""

    def __init__(self, token: str) -> None:
        super().__init__(headers={"authorization": f"Bearer {token}"})

    def upload(self, document: Any, **extra: Any) -> Any:
        """POST a run document."""
        body = document if isinstance(document, (bytes, str)) else json.dumps(document)
        return self.post("/api/v1/runs/", body, content_type="application/json", **extra)


def csv_rows(answer: Any) -> list[dict[str, str]]:
    """Return the rows of a CSV response by column name."""
    assert answer.status_code == 200, answer.getvalue()
    text = answer.getvalue().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


LONG = 9.0
"""Time in seconds that no response about a few runs exceeds. Tests of slow responses use it."""


@pytest.fixture(scope="session", autouse=True)
def a_busy_machine_is_not_waited_for_less() -> Iterator[None]:
    """Lengthen the application's short timeouts for busy hosts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signs_of_life, "PATIENCE", LONG)
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Create the database of the tests."""
    with django_db_blocker.unblock():
        let_audit_log_be_emptied()


def let_audit_log_be_emptied() -> None:
    """Let tests with real transactions empty every table at the end."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE accounts_auditentry DISABLE TRIGGER audit_is_never_emptied")


def signed_in(name: str, role: str = "") -> Client:
    """Sign in a browser as a new user."""
    person = User.objects.create_user(name)
    person.groups.set(Group.objects.filter(name=role))
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def member(db: None) -> Client:
    """Sign in a user without a role."""
    return signed_in("alice")


@pytest.fixture
def editor(db: None) -> Client:
    """Sign in a user who may upload, share and edit."""
    return signed_in("edith", "editor")


@pytest.fixture
def administrator(db: None) -> Client:
    """Sign in a user with all permissions."""
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def uploader(db: None) -> ApiClient:
    """Create a client with an upload token."""
    return ApiClient(create_token("agent", "upload"))


@pytest.fixture
def reader(db: None) -> ApiClient:
    """Create a client with a read token."""
    return ApiClient(create_token("report", "read"))


def accepted(document: dict[str, Any], source: str = "agent") -> Run:
    """Store the run of a document without processing it."""
    return create_run(json.dumps(document).encode(), document, source=source).run


@pytest.fixture
def store_run(db: None) -> StoreRun:
    """Store and process a document, like an upload and the worker."""

    def store(document: dict[str, Any], source: str = "agent") -> Run:
        run = accepted(document, source)
        derive_run(run.pk)
        run.refresh_from_db()
        return run

    return store


@pytest.fixture(scope="session")
def published_rows(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> dict[str, list[bytes]]:
    """Return the rows that the published data set adds to each table, as COPY prints them."""
    with django_db_blocker.unblock(), transaction.atomic():
        before = _rows_by_table()
        load_published()
        after = _rows_by_table()
        transaction.set_rollback(True)
    return {name: new for name in after if (new := sorted(after[name] - before[name]))}


def _rows_by_table() -> dict[str, set[bytes]]:
    """Return the rows of each model's table, as COPY prints them."""
    found = {}
    with connection.cursor() as cursor:
        for model in apps.get_app_config("runs").get_models():
            name = model._meta.db_table
            statement = sql.SQL("COPY {} TO STDOUT").format(sql.Identifier(name))
            with cursor.copy(statement) as copied:
                found[name] = set(b"".join(map(bytes, copied)).splitlines(keepends=True))
    return found


@pytest.fixture
def published(request: pytest.FixtureRequest, db: None) -> None:
    """Restore the published data set from a copy of its rows.

    Tests with real transactions load it, because other tests have emptied the tables.
    """
    marked = request.node.get_closest_marker("django_db")
    if "transactional_db" in request.fixturenames or (marked and marked.kwargs.get("transaction")):
        load_published()
        return
    rows = request.getfixturevalue("published_rows")
    with connection.cursor() as cursor:
        for name, lines in rows.items():
            statement = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(name))
            with cursor.copy(statement) as copy:
                copy.write(b"".join(lines))


@pytest.fixture(scope="session")
def sshd() -> str:
    """Find a real sshd, required by tests that measure or read configurations."""
    path = os.pathsep.join((os.environ.get("PATH", ""), *SSHD_PLACES))
    found = os.environ.get("CIPHERMARK_TEST_SSHD") or shutil.which("sshd", path=path)
    assert found, (
        "these tests need an sshd: install openssh-server, or give the path of one in "
        "CIPHERMARK_TEST_SSHD (`make test` does that)"
    )
    return found


@pytest.fixture(scope="session")
def ssh() -> str:
    found = shutil.which("ssh")
    assert found, "these tests need an ssh: install openssh-client"
    return found


@pytest.fixture
def server(sshd: str, ssh: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PrivateServer]:
    """Create a host key, account and directory so that this sshd can read a configuration."""
    monkeypatch.setattr(ssh_server, "become_subreaper", lambda: False)
    with PrivateServer(ssh, sshd) as private:
        private.prepare()
        yield private


@contextmanager
def clickhouse(folder: Path) -> Iterator[str]:
    """Start an empty ClickHouse in a folder and yield its URL."""
    port = free_port()
    command = (sys.executable, "-m", "tests.clickhouse_server", str(port), str(folder))
    with subprocess.Popen(command) as server:
        try:
            assert within(30, lambda: is_listening(port))
            yield f"clickhouse://127.0.0.1:{port}/default"
        finally:
            server.terminate()


@pytest.fixture
def clickhouse_server(tmp_path: Path) -> Iterator[str]:
    """Start a ClickHouse for this test only."""
    with clickhouse(tmp_path / "house") as url:
        yield url


@pytest.fixture(scope="session")
def clickhouse_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the only engine that a process can have."""
    return tmp_path_factory.mktemp("clickhouse")


PATIENCE_MS = 60_000
"""Timeout for an element to appear. The test hosts are shared and sometimes slow; Playwright's
default of 5 s is for idle hosts."""


@pytest.fixture(scope="session")
def chromium() -> Iterator["Browser"]:
    """Start this worker's browser: Debian's Chromium, or the one at CHROMIUM_PATH."""
    from playwright.sync_api import expect, sync_playwright  # a slow import that few tests need

    path = os.environ.get("CHROMIUM_PATH", "/usr/bin/chromium")
    assert Path(path).exists(), f"There is no Chromium at {path}: install it, or set CHROMIUM_PATH."
    expect.set_options(timeout=PATIENCE_MS)
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()
