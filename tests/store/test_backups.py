"""A site in a file and back: row by row the same, all or nothing, over nothing by mistake."""

import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from psycopg import sql

from access.audit import COMMAND, Subject, record
from access.tokens import create_token
from config.embedded.postgres import Postgres
from store.backups.manifest import read_manifest
from store.backups.restoring import what_was_brought
from store.models import ApiToken, ImportedText, ReferenceProfile, Run, Share
from tests.conftest import StoreRun
from tests.launch.tools import PROJECT, private_folder, within
from tests.live_site import url_of
from tests.sample_documents import openssl_measurement, run_document

Rows = dict[str, list[str]]


@pytest.fixture(scope="module")
def empty_server() -> Iterator[str]:
    """The URL of a database on another server that has just been made."""
    with private_folder() as folder:
        server = Postgres(folder / "other")
        (folder / "other").mkdir()
        yield server.ensure_running()
        server.stop()


@pytest.fixture
def site(transactional_db: None, store_run: StoreRun) -> None:
    """A site with all kinds of rows."""
    store_run(run_document())
    store_run(run_document(openssl_measurement("aes-128-gcm", 4e9), host={"name": "Größe \t\\."}))
    store_run(run_document(finished_at="2020-01-01T00:00:00Z"))
    User.objects.create_superuser("root")
    create_token("agent", "upload")


@pytest.fixture
def backup(site: None, tmp_path: Path) -> Path:
    """The file of that site."""
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
        preexec_fn=_write_no_file,
    )


def _write_no_file() -> None:
    """A restore lets the backup run through: /tmp may be small."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def contents(server: "psycopg.Connection[tuple[str, ...]]") -> Rows:
    """Every row of every table as text, and where the sequences stand."""
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
    done = restored(empty_server, str(backup))
    assert done.returncode == 0, done.stderr
    expected = contents_here()
    assert len(expected["runs_run"]) == 3
    with psycopg.connect(empty_server) as server:
        assert contents(server) == expected
    refused = restored(empty_server, str(backup))
    assert refused.returncode == 1
    assert "is not empty, it has runs, API tokens, users" in refused.stderr
    assert restored(empty_server, str(backup), "--replace").returncode == 0
    with psycopg.connect(empty_server) as server:
        assert contents(server) == expected


def test_marks_of_a_newer_server_are_left_behind(
    site: None, tmp_path: Path, empty_server: str
) -> None:
    """PostgreSQL 15.20 marks each column for itself; an older pg_dump takes that for an option."""
    mark = "UPDATE pg_attribute SET attoptions = %s WHERE attrelid = 'runs_run'::regclass"
    with connection.cursor() as cursor:
        cursor.execute("SET allow_system_table_mods = on")
        cursor.execute(f"{mark} AND attnum > 0", [["pg_attver=415636080"]])
        try:
            call_command("backup", str(tmp_path / "marked.dump"), verbosity=0)
        finally:
            cursor.execute(mark, [None])
            cursor.execute("RESET allow_system_table_mods")
    done = restored(empty_server, str(tmp_path / "marked.dump"), "--replace")
    assert done.returncode == 0, done.stderr
    with psycopg.connect(empty_server) as server:
        assert contents(server) == contents_here()


def test_a_site_that_is_running_is_not_replaced(backup: Path, empty_server: str) -> None:
    other = psycopg.connect(empty_server, application_name="psql")
    with psycopg.connect(empty_server) as one, other:
        before = contents(one)
        one.commit()  # as a web server between two requests: connected, without a lock
        refused = restored(empty_server, str(backup), "--replace")
        assert refused.returncode == 1
        assert "Nothing was changed: 2 other connections have this database open" in refused.stderr
        assert re.search(r"\(a program of \w+[^,]*, psql of \w+", refused.stderr)
        assert "stop every web server, worker and beat first" in refused.stderr
        assert contents(one) == before
    assert restored(empty_server, str(backup), "--replace").returncode == 0


def test_published_figures_the_first_profile_and_roles_are_not_in_the_way(db: None) -> None:
    call_command("load_published", verbosity=0)
    assert Run.objects.exists()
    assert Group.objects.exists()
    assert ReferenceProfile.objects.exists()
    assert what_was_brought() == []


BROUGHT: dict[str, Callable[[], object]] = {
    "an uploaded run": lambda: Run.objects.create(run_id=uuid4(), source="agent", host_name="a"),
    "a person": lambda: User.objects.create_user("ada"),
    "a token": lambda: ApiToken.objects.create(name="a", scope="upload", digest="a"),
    "a text": lambda: ImportedText.objects.create(
        import_id=uuid4(), asked={}, sections=[], parser_version=1, received_at=timezone.now()
    ),
    "a profile": lambda: ReferenceProfile.objects.create(name="ours", levels={}, made_from="a"),
    "a link": lambda: Share.objects.create(name="a", query="", expires_at=timezone.now()),
    "a group": lambda: Group.objects.create(name="auditors"),
    "a change": lambda: record(COMMAND, "token.create", Subject("token", 1, "a")),
}


def test_whatever_a_fresh_start_does_not_bring_is_in_the_way(db: None) -> None:
    call_command("load_published", verbosity=0)
    for name, brought in BROUGHT.items():
        with transaction.atomic():
            brought()
            assert what_was_brought(), name
            transaction.set_rollback(True)
        assert what_was_brought() == [], name


def test_a_damaged_file_changes_nothing(backup: Path, tmp_path: Path) -> None:
    before = contents_here()
    damaged = tmp_path / "damaged.dump"
    whole = backup.read_bytes()
    for text in (b"", b"no dump", whole[: len(whole) // 2], whole[: whole.rindex(b"\n{") - 200]):
        damaged.write_bytes(text)
        with pytest.raises(CommandError, match=r"Nothing was changed: .*damaged\.dump is damaged"):
            call_command("restore", str(damaged), replace=True)
    assert contents_here() == before


def test_a_backup_is_verified_in_a_database_that_goes_again(backup: Path) -> None:
    Run.objects.all().delete()  # the backup is compared with itself, not with today's site
    before = contents_here()
    said = StringIO()
    call_command("backup", str(backup), verify=True, stdout=said)
    assert re.search(
        r"site\.dump: whole\. [1-9]\d{0,2}(,\d{3})* rows in \d+ tables", said.getvalue()
    )
    assert contents_here() == before
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_database WHERE datname LIKE '%%_verify'")
        assert cursor.fetchone() == (0,)


def test_a_backup_that_does_not_bring_what_it_says_is_not_whole(backup: Path) -> None:
    whole = backup.read_bytes()
    sha256 = read_manifest(backup).sha256["runs_rundocument"]
    for old, new, said in (
        (b'"runs_run": 3', b'"runs_run": 4', "runs_run has 3 rows instead of 4 rows"),
        (sha256.encode(), b"0" * 64, "the bytes in runs_rundocument are others"),
        (whole[whole.rindex(b"\n{") :], b"", "does not end with a list of what is in it"),
    ):
        assert old in whole
        backup.write_bytes(whole.replace(old, new))
        with pytest.raises(CommandError, match=said):
            call_command("backup", str(backup), verify=True)


def test_old_backups_go_once_the_new_one_is_there_and_no_other_file_does(
    site: None, tmp_path: Path
) -> None:
    older = [tmp_path / f"ciphermark-2026010{day}T023000Z.dump" for day in (1, 2, 3)]
    others = [tmp_path / "ciphermark-before-update.dump", tmp_path / f"{older[0].name}.gpg"]
    for path in (*older, *others):
        path.write_bytes(b"")
    call_command("backup", str(tmp_path), keep=2, verbosity=0)
    (new,) = set(tmp_path.iterdir()) - {*older, *others}
    assert set(tmp_path.iterdir()) == {older[2], new, *others}
    call_command("backup", str(tmp_path), verify=True, verbosity=0)  # the latest of a folder
    with pytest.raises(CommandError, match="for a folder"):
        call_command("backup", str(tmp_path / "x.dump"), keep=2)


def test_a_backup_that_is_ended_leaves_nothing_and_nobody_behind(
    site: None, tmp_path: Path
) -> None:
    url = url_of(connection.settings_dict["NAME"])
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE django_session IN ACCESS EXCLUSIVE MODE")
        begun = subprocess.Popen(
            [sys.executable, "manage.py", "backup", tmp_path / "site.dump"],
            cwd=PROJECT,
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": url},
        )
        try:
            assert within(20, lambda: dumps_that_wait() == 1)
            assert len(list(tmp_path.iterdir())) == 1
            begun.terminate()
            assert within(20, lambda: begun.poll() is not None)
            assert within(20, lambda: dumps_that_wait() == 0)
        finally:
            begun.kill()
    assert begun.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def dumps_that_wait() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE application_name = 'pg_dump' AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchone()[0])


def test_a_backup_of_a_newer_version_is_refused(site: None, tmp_path: Path) -> None:
    MigrationRecorder(connection).record_applied("runs", "9999_later")
    path = tmp_path / "newer.dump"
    try:
        call_command("backup", str(path), verbosity=0)
    finally:
        MigrationRecorder(connection).record_unapplied("runs", "9999_later")
    with pytest.raises(CommandError, match=r"newer version of this program .*runs\.9999_later"):
        call_command("restore", str(path), replace=True)


def test_a_backup_is_never_written_over_another(backup: Path) -> None:
    with pytest.raises(CommandError, match="exists already"):
        call_command("backup", str(backup))
    with pytest.raises(CommandError, match="cannot be written: No such file"):
        call_command("backup", str(backup.parent / "nowhere" / "x.dump"))
    assert list(backup.parent.glob("*.part")) == []


def test_sessions_are_no_part_of_a_backup(site: None, tmp_path: Path) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_session VALUES ('stolen-session-key', 'x', now() + '1 day')"
        )
    path = tmp_path / "site.dump"
    call_command("backup", str(path), verbosity=0)
    script = subprocess.run(
        [sys.executable, "-c", SHOWN, str(path)],
        cwd=PROJECT / "backend",
        capture_output=True,
        check=True,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
    ).stdout
    assert b"COPY public.runs_run " in script
    assert b"stolen-session-key" not in script


SHOWN = """
import subprocess, sys, django
django.setup()
from store.backups.programs import find_program
subprocess.run([find_program("pg_restore"), "--file=-", sys.argv[1]], check=True)
"""


def test_without_a_fitting_program_the_answer_says_what_to_install(
    db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("store.backups.programs._candidates", lambda name: [])
    with pytest.raises(CommandError, match=r"there is none.*postgresql-client-18"):
        call_command("backup", str(tmp_path / "x.dump"))
    monkeypatch.setattr("store.backups.programs._candidates", lambda name: [Path("/bin/pg_dump")])
    monkeypatch.setattr("store.backups.programs._version", lambda program: 15)
    with pytest.raises(CommandError, match="/bin/pg_dump is version 15"):
        call_command("backup", str(tmp_path / "x.dump"))
