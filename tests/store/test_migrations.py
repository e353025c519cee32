"""A site with data goes back a version and forward again and answers what it answered before."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from access.audit import COMMAND
from ingest.edits import recompute
from ingest.edits.editing import rename_host
from ingest.edits.splitting import split_host
from store.models import Environment, Host, HostName, Run, RunDocument
from store.run_documents import document_bytes
from tests.chaos.answers import MEASUREMENTS, VERDICTS, comparisons, rows
from tests.chaos.documents import documents
from tests.conftest import StoreRun, accepted, let_audit_log_be_emptied
from tests.sample_documents import environment, run_document

FIRST = "0006_narrow_measurements"
"""Versions before it have never been anybody's."""

GROUPINGS = ("cpu", "acceleration", "host")
"""By a dimension, by a fact of the runs, by machine: each its own way to the figures."""


def versions() -> list[tuple[str, str]]:
    """The oldest migration of `runs` since then and the newest, each with the one before it.

    From the oldest the way leads over all of them, back and forward; those between do not change.
    """
    plan = MigrationLoader(None).graph.forwards_plan(leaf())
    names = [name for app, name in plan if app == "runs"]
    pairs = list(zip(names[1:], names, strict=False))
    since = pairs[[name for name, _ in pairs].index(FIRST) :]
    return since[:1] + since[-1:]


def leaf() -> tuple[str, str]:
    ((app, name),) = MigrationLoader(None).graph.leaf_nodes("runs")
    return app, name


@pytest.fixture
def site(transactional_db: None, store_run: StoreRun) -> Iterator[None]:
    """Runs that are ready, hidden, rejected and waiting; brought up to date at the end."""
    stored = [store_run(document) for document in documents(12, seed=5)]
    recompute.set_hidden(stored[0], True)
    store_run(run_document(finished_at="2020-01-01T00:00:00Z"))
    waiting = run_document()
    accepted(waiting)
    yield
    call_command("migrate", verbosity=0, interactive=False)
    let_audit_log_be_emptied()


def everything() -> tuple[object, ...]:
    kept = sorted(
        (str(document.run_id), document_bytes(document)) for document in RunDocument.objects.all()
    )
    statuses = sorted(Run.objects.values_list("run_id", "status", "hidden"))
    return rows(MEASUREMENTS), rows(VERDICTS), comparisons(GROUPINGS), kept, statuses


@pytest.mark.usefixtures("site")
def test_one_version_back_and_forward_again(settings: Any) -> None:
    settings.CIPHERMARK_PUBLIC = True
    known = everything()
    for name, before in versions():
        call_command("migrate", "runs", before, verbosity=0, interactive=False)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM django_migrations WHERE name = %s", [name])
            assert cursor.fetchone() == (0,), name
        call_command("migrate", verbosity=0, interactive=False)
        call_command("renew_runs", verbosity=0)
        assert everything() == known, name


@pytest.fixture
def renamed(site: None, store_run: StoreRun) -> Host:
    """A host of two names under one machine id, which an editor then gave a third."""
    for day, name in enumerate(("first", "second"), start=1):
        at = f"2026-01-0{day}T00:00:00Z"
        host = {"name": name, "machine_id": "e" * 64}
        run = store_run(run_document(host=host, started_at=at, finished_at=at))
    assert run.host is not None
    return rename_host(run.host.pk, "third", COMMAND)


NAMES = ("host__pk", "name", "slug", "renames", "same_machine")


def test_the_migration_finds_the_names_of_hosts(renamed: Host) -> None:
    known = sorted(HostName.objects.values_list(*NAMES))
    assert (renamed.pk, "first", "first", False, False) in known
    call_command("migrate", "runs", "0018", verbosity=0, interactive=False)
    HostName.objects.all().delete()
    call_command("migrate", verbosity=0, interactive=False)
    assert sorted(HostName.objects.values_list(*NAMES)) == known


def test_hosts_that_share_a_machine_id_survive_a_version_back(renamed: Host) -> None:
    new = split_host(renamed.pk, "first", COMMAND)
    runs = dict(Run.objects.filter(machine_id="e" * 64).values_list("run_id", "host"))
    assert set(runs.values()) == {renamed.pk, new.pk}
    call_command("migrate", "runs", "0017", verbosity=0, interactive=False)
    call_command("migrate", verbosity=0, interactive=False)
    assert {run_id: Run.objects.get(run_id=run_id).host_id for run_id in runs} == runs
    assert Host.objects.get(machine_id="e" * 64).pk == renamed.pk


def libraries() -> list[tuple[str | None, ...]]:
    """Of environments: their ssh's own library with its series, and which are one to ssh."""
    facts = ("fingerprint", "ssh_library__key", "ssh_library_series__key", "ssh_environment")
    return list(Environment.objects.order_by("fingerprint").values_list(*facts))


@pytest.mark.usefixtures("site")
def test_the_migration_finds_the_libraries_that_documents_state(store_run: StoreRun) -> None:
    stated = environment()
    stated["openssh"]["library"] = "LibreSSL 3.3.6"
    store_run(run_document(environment=stated))
    known = libraries()
    assert ("libressl-3.3.6", "libressl-3.3") in {one[1:3] for one in known}
    assert None not in {one[3] for one in known}
    call_command("migrate", "runs", "0019", verbosity=0, interactive=False)
    call_command("migrate", verbosity=0, interactive=False)
    assert libraries() == known


def test_the_models_have_their_migrations(db: None) -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
