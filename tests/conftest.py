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


# Folders with long tests. If these tests started last, one worker would finish long after the
# other workers.
LONGEST_FIRST = ("browser", "agent", "end_to_end", "launch")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    # Generated examples repeat the same lines, and measuring coverage would double the time.
    for item in items:
        if item.get_closest_marker("hypothesis"):
            item.add_marker("no_cover")
    yield  # pytest-django reorders tests before
    items.sort(key=lambda item: _place(item.path.parent.name))


def _place(folder: str) -> int:
    return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    # All requirements of tests must be installed, so fail a test that is skipped.
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
    return report


SSHD_PLACES = ("/usr/sbin", "/usr/local/sbin", "/sbin", "/opt/homebrew/sbin")


class ApiClient(Client):
    def __init__(self, token: str) -> None:
        super().__init__(headers={"authorization": f"Bearer {token}"})

    def upload(self, document: Any, **extra: Any) -> Any:
        body = document if isinstance(document, (bytes, str)) else json.dumps(document)
        return self.post("/api/v1/runs/", body, content_type="application/json", **extra)


def csv_rows(answer: Any) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.getvalue()
    text = answer.getvalue().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


# Timeout of Redis in seconds. The application's 0.25 s is too short for a busy host.
LONG = 9.0


@pytest.fixture(scope="session", autouse=True)
def a_busy_machine_is_not_waited_for_less() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signs_of_life, "PATIENCE", LONG)
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    with django_db_blocker.unblock():
        let_audit_log_be_emptied()


def let_audit_log_be_emptied() -> None:
    # Tests with real transactions empty every table at the end.
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE accounts_auditentry DISABLE TRIGGER audit_is_never_emptied")


def signed_in(name: str, role: str = "") -> Client:
    person = User.objects.create_user(name)
    person.groups.set(Group.objects.filter(name=role))
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def member(db: None) -> Client:
    return signed_in("alice")


@pytest.fixture
def editor(db: None) -> Client:
    return signed_in("edith", "editor")


@pytest.fixture
def administrator(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def uploader(db: None) -> ApiClient:
    return ApiClient(create_token("agent", "upload"))


@pytest.fixture
def reader(db: None) -> ApiClient:
    return ApiClient(create_token("report", "read"))


def accepted(document: dict[str, Any], source: str = "agent") -> Run:
    return create_run(json.dumps(document).encode(), document, source=source).run


@pytest.fixture
def store_run(db: None) -> StoreRun:
    """Return a function that stores and processes a run document."""

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
    """Return the rows of the published results for each table, in the text format of COPY."""
    with django_db_blocker.unblock(), transaction.atomic():
        before = _rows_by_table()
        load_published()
        after = _rows_by_table()
        transaction.set_rollback(True)
    return {name: new for name in after if (new := sorted(after[name] - before[name]))}


def _rows_by_table() -> dict[str, set[bytes]]:
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
    # Tests with real transactions load the data set: earlier tests of this kind emptied the tables.
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
    # sshd reads a configuration only with a host key, an account and a directory.
    monkeypatch.setattr(ssh_server, "become_subreaper", lambda: False)
    with PrivateServer(ssh, sshd) as private:
        private.prepare()
        yield private


@contextmanager
def clickhouse(folder: Path) -> Iterator[str]:
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
    with clickhouse(tmp_path / "house") as url:
        yield url


@pytest.fixture(scope="session")
def clickhouse_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A process can have only one engine.
    return tmp_path_factory.mktemp("clickhouse")


# Timeout for an element to appear. Playwright's default of 5 s is too short for shared hosts,
# which are sometimes slow.
PATIENCE_MS = 60_000


@pytest.fixture(scope="session")
def chromium() -> Iterator["Browser"]:
    from playwright.sync_api import expect, sync_playwright  # a slow import that few tests need

    path = os.environ.get("CHROMIUM_PATH", "/usr/bin/chromium")
    assert Path(path).exists(), f"There is no Chromium at {path}: install it, or set CHROMIUM_PATH."
    expect.set_options(timeout=PATIENCE_MS)
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()
