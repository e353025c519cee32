import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from psycopg import sql

from accounts.tokens import create_token
from config.embedded.postgres import Postgres
from core import backups
from tests.conftest import StoreRun
from tests.launch.tools import PROJECT, private_folder
from tests.sample_documents import openssl_measurement, run_document

Rows = dict[str, list[str]]


@pytest.fixture(scope="module")
def empty_server() -> Iterator[str]:
    with private_folder() as folder:
        server = Postgres(folder / "other")
        (folder / "other").mkdir()
        yield server.ensure_running()
        server.stop()


@pytest.fixture
def site(transactional_db: None, store_run: StoreRun) -> None:
    store_run(run_document())
    store_run(run_document(openssl_measurement("aes-128-gcm", 4e9), host={"name": "Größe \t\\."}))
    store_run(run_document(finished_at="2020-01-01T00:00:00Z"))
    User.objects.create_superuser("root")
    create_token("agent", "upload")
    Session.objects.create(session_key="key", session_data="x", expire_date=timezone.now())


@pytest.fixture
def backup(site: None, tmp_path: Path) -> Path:
    path = tmp_path / "site.dump"
    call_command("backup", str(path), verbosity=0)
    return path


def restored(url: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", "restore", *arguments],
        cwd=PROJECT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )


def contents(server: "psycopg.Connection[tuple[str, ...]]") -> Rows:
    tables = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    found = {}
    for (name,) in tables.fetchall():
        query = sql.SQL("SELECT t::text FROM {} t ORDER BY 1").format(sql.Identifier(name))
        found[name] = [row[0] for row in server.execute(query).fetchall()]
    sequences = server.execute(
        "SELECT sequencename || ' ' || coalesce(last_value, 0) FROM pg_sequences ORDER BY 1"
    )
    return {**found, "sequences": [row[0] for row in sequences.fetchall()]}


def contents_here() -> Rows:
    parameters = connection.get_connection_params()
    names = ("host", "user", "password", "port", "dbname")
    chosen = {name: parameters[name] for name in names if parameters.get(name)}
    with psycopg.connect(**chosen) as server:
        return contents(server)


def test_an_empty_server_gets_every_row_back_and_then_refuses(
    backup: Path, empty_server: str
) -> None:
    assert backup.stat().st_mode & 0o777 == 0o600
    assert contents_here()["django_session"], "which would let somebody in"
    done = restored(empty_server, str(backup))
    assert done.returncode == 0, done.stderr
    expected = {**contents_here(), "django_session": []}
    assert len(expected["runs_run"]) == 3
    with psycopg.connect(empty_server) as server:
        assert contents(server) == expected
    refused = restored(empty_server, str(backup))
    assert refused.returncode == 1
    assert "The database contains runs" in refused.stderr
    with psycopg.connect(empty_server) as server:
        in_use = restored(empty_server, str(backup), "--replace")
        assert "The database was not changed: 1 other connections" in in_use.stderr
    assert restored(empty_server, str(backup), "--replace").returncode == 0
    with psycopg.connect(empty_server) as server:
        assert contents(server) == expected


def test_a_damaged_file_changes_nothing(backup: Path, empty_server: str, tmp_path: Path) -> None:
    with psycopg.connect(empty_server) as server:
        before = contents(server)
    damaged, whole = tmp_path / "damaged.dump", backup.read_bytes()
    damaged.write_bytes(whole[: len(whole) * 9 // 10])
    done = restored(empty_server, str(damaged), "--replace")
    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: The database was not changed: pg_restore: error")
    with psycopg.connect(empty_server) as server:
        assert contents(server) == before


def test_a_backup_is_verified_in_a_database_that_goes_again(
    site: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call_command("backup", str(tmp_path / "site.dump"), verify=True, verbosity=0)
    monkeypatch.setattr(backups, "DUMP", (*backups.DUMP, "--exclude-table-data=runs_rundocument"))
    with pytest.raises(CommandError, match="runs_rundocument has 0 rows instead of 3"):
        call_command("backup", str(tmp_path / "less.dump"), verify=True)
    assert [path.name for path in tmp_path.iterdir()] == ["site.dump"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_database WHERE datname LIKE '%%_verify'")
        assert cursor.fetchone() == (0,)


def test_old_backups_go_once_the_new_one_is_there_and_no_other_file_does(
    site: None, tmp_path: Path
) -> None:
    older = [tmp_path / f"ciphermark-2026010{day}T023000Z.dump" for day in (1, 2, 3)]
    others = [tmp_path / "before-update.dump", tmp_path / f"{older[0].name}.gpg"]
    for path in (*older, *others):
        path.write_bytes(b"")
    call_command("backup", str(tmp_path), keep=2, verbosity=0)
    (new,) = set(tmp_path.iterdir()) - {*older, *others}
    assert set(tmp_path.iterdir()) == {older[2], new, *others}
    with pytest.raises(CommandError, match="requires a folder"):
        call_command("backup", str(tmp_path / "x.dump"), keep=2)


def test_a_backup_is_never_written_over_another(backup: Path) -> None:
    with pytest.raises(CommandError, match="already exists"):
        call_command("backup", str(backup))
    with pytest.raises(CommandError, match="No such file"):
        call_command("backup", str(backup.parent / "nowhere" / "x.dump"))
    assert list(backup.parent.glob("*.part")) == []


def test_without_a_fitting_program_the_answer_says_what_to_install(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("core.backups.importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match=r"pg_dump of PostgreSQL 18 .*postgresql-client-18"):
        call_command("backup", str(tmp_path / "x.dump"))
