"""A backup has the documents that lie in object storage, and a restore needs none to bring them."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from config.embedded.postgres import Postgres
from ingest.tasks import move_documents
from store.backups import moved as section
from store.backups.manifest import read_manifest
from store.models import Run, RunDocument
from store.run_documents import document_bytes
from tests.conftest import Bucket, StoreRun
from tests.launch.tools import PROJECT, free_port, private_folder
from tests.sample_documents import openssl_measurement, run_document

MOVED = 5


@pytest.fixture(scope="module")
def empty_server() -> Iterator[str]:
    """The URL of a database on another server that has just been made."""
    with private_folder() as folder:
        server = Postgres(folder / "other")
        (folder / "other").mkdir()
        yield server.ensure_running()
        server.stop()


@pytest.fixture
def bodies(
    transactional_db: None, bucket: Bucket, store_run: StoreRun, settings: Settings
) -> dict[int, bytes]:
    """The documents of a site by run, of which most were moved, and one twice."""
    settings.CIPHERMARK_DOCUMENTS_DAYS = 30
    runs = [
        store_run(run_document(openssl_measurement("aes-128-gcm", 4e9), host={"name": f"ä{place}"}))
        for place in range(MOVED + 2)
    ]
    RunDocument.objects.filter(pk=runs[1].pk).update(body=runs[0].document.body)
    early = timezone.now() - timedelta(days=31)
    Run.objects.filter(pk__in=[run.pk for run in runs[:MOVED]]).update(received_at=early)
    return {one.pk: document_bytes(one) for one in RunDocument.objects.all()}


def restored(url: str, *arguments: str, given: bytes | None = None) -> str:
    """What `restore` says, on a site that knows no object storage."""
    done = subprocess.run(
        [sys.executable, "manage.py", "restore", *arguments, "--replace"],
        cwd=PROJECT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": url},
        input=given,
        capture_output=True,
        check=False,
    )
    return (done.stdout + done.stderr).decode()


def documents_at(url: str) -> dict[int, bytes]:
    with psycopg.connect(url) as server:
        statement = "SELECT run_id, body FROM runs_rundocument WHERE moved_id IS NULL"
        return dict(server.execute(statement).fetchall())


def test_every_document_is_in_it_and_comes_back_without_the_bucket(
    bodies: dict[int, bytes],
    bucket: Bucket,
    empty_server: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call_command("backup", str(tmp_path / "before.dump"), verbosity=0)
    move_documents()
    assert RunDocument.objects.filter(body=None).count() == MOVED
    monkeypatch.setattr(section, "BATCH", 2)
    path = tmp_path / "site.dump"
    call_command("backup", str(path), verbosity=0)
    before, after = read_manifest(tmp_path / "before.dump"), read_manifest(path)
    assert (before.rows, before.sha256) == (after.rows, after.sha256)
    call_command("backup", str(path), verify=True, verbosity=0)
    bucket.remove(*bucket.names())
    for arguments, given in (((str(path),), None), (("-",), path.read_bytes())):
        assert "Restored from" in restored(empty_server, *arguments, given=given)
        assert documents_at(empty_server) == bodies
        with psycopg.connect(empty_server) as server:
            assert server.execute("SELECT * FROM runs_moveddocument").fetchall() == []
    assert "Restored from" in restored(empty_server, str(tmp_path / "before.dump"))
    assert documents_at(empty_server) == bodies
    call_command("backup", str(path), verify=True, verbosity=0)


def test_a_large_backup_is_read_to_its_end(
    bodies: dict[int, bytes], empty_server: str, tmp_path: Path
) -> None:
    """Documents of more bytes than any buffer, none of which can be packed."""
    large = {
        pk: b'{"environment": {}, "x": "%b"}' % os.urandom(700_000).hex().encode()
        for pk in list(bodies)[:MOVED]
    }
    for pk, body in large.items():
        RunDocument.objects.filter(pk=pk).update(body=body)
    move_documents()
    path = tmp_path / "site.dump"
    call_command("backup", str(path), verbosity=0)
    assert path.stat().st_size > 2_000_000
    for arguments, given in (((str(path),), None), (("-",), path.read_bytes())):
        restored(empty_server, *arguments, given=given)
        assert documents_at(empty_server) == {**bodies, **large}


def test_without_the_bucket_there_is_no_backup(
    bodies: dict[int, bytes], bucket: Bucket, tmp_path: Path
) -> None:
    move_documents()
    bucket.on_machine("web", bucket.url.replace(bucket.server, f"http://127.0.0.1:{free_port()}"))
    with pytest.raises(CommandError, match=r"^There is no backup: .*endpoint"):
        call_command("backup", str(tmp_path / "site.dump"))
    bucket.on_machine("web")
    bucket.remove(bucket.names()[0])
    with pytest.raises(CommandError, match=r"^There is no backup: The document of run .* object"):
        call_command("backup", str(tmp_path / "site.dump"))
    bucket.on_machine("web", "")
    with pytest.raises(CommandError, match=r"CIPHERMARK_STORAGE_URL is not set"):
        call_command("backup", str(tmp_path / "site.dump"))
    assert list(tmp_path.glob("*.dump*")) == []


def test_documents_that_are_damaged_change_nothing(
    bodies: dict[int, bytes], empty_server: str, tmp_path: Path
) -> None:
    move_documents()
    path = tmp_path / "site.dump"
    call_command("backup", str(path), verbosity=0)
    assert "Restored from" in restored(empty_server, str(path))
    Run.objects.all().delete()
    whole = path.read_bytes()
    at = whole.index(section.MARK)
    first, end = at + len(section.MARK), whole.rindex(b"\n{")
    damaged = bytearray(whole)
    damaged[first + 60] ^= 1
    for content, words in (
        (bytes(damaged), "is damaged: a document is damaged"),
        (whole[: first + 100] + whole[end:], "is damaged: a document is damaged"),
        (whole[: end - 40], "is damaged: a document is damaged"),
        (whole[:at] + whole[end:], "is damaged: documents are missing"),
    ):
        path.write_bytes(content)
        assert f"Nothing was changed: {path} {words}" in restored(empty_server, str(path))
        assert documents_at(empty_server) == bodies


def test_an_object_storage_that_takes_a_question_and_never_answers_is_told_soon(
    bodies: dict[int, bytes], bucket: Bucket, tmp_path: Path
) -> None:
    move_documents()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        bucket.on_machine("web", bucket.url.replace(bucket.server, address))
        began = time.monotonic()
        with pytest.raises(CommandError, match="There is no backup: Read timeout"):
            call_command("backup", str(tmp_path / "site.dump"))
        with pytest.raises(CommandError, match="0 documents moved, then no more: Read timeout"):
            call_command("move_documents")
        assert time.monotonic() - began < 30
    assert list(tmp_path.glob("site.dump*")) == []
