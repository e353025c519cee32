"""A client generated from the OpenAPI document calls every operation and can save every file."""

import importlib
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.test import Client
from django.utils import timezone

from access.tokens import create_token
from ingest.arrival.importing import ImportRequest, store_import
from store.models import FleetChange, Note
from tests.conftest import StoreRun
from tests.sample_documents import run_document, ssh_measurement

PACKAGE = "generated_client"
CSRF = "c" * 32


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the package that openapi-python-client makes; any warning is a failure."""
    folder = tmp_path_factory.mktemp("client")
    document, config = folder / "openapi.json", folder / "config.json"
    call_command("spectacular", "--format", "openapi-json", "--file", str(document))
    config.write_text(json.dumps({"post_hooks": []}))
    tool = (sys.executable, "-W", "ignore", "-m", "openapi_python_client", "generate")
    options = ("--meta", "none", "--path", document, "--config", config)
    made = subprocess.run(
        [*tool, *options, "--output-path", folder / PACKAGE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    # The one type that it cannot send; it sends the text as bytes instead.
    warned = made.stdout.count("WARNING") - made.stdout.count("Unsupported content type text/plain")
    assert warned == 0, made.stdout
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield folder / PACKAGE


@pytest.fixture
def client(generated: Path, db: None) -> Iterator[Any]:
    """The generated client, signed in as an administrator."""
    # As Django's own test client does: the connection has the test's transaction.
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    browser = Client()
    browser.force_login(User.objects.create_superuser("root"))
    session = browser.cookies["sessionid"].value
    yield importlib.import_module(PACKAGE).Client(
        base_url="http://testserver",
        cookies={"sessionid": session, "csrftoken": CSRF},
        headers={"X-CSRFToken": CSRF},
        raise_on_unexpected_status=True,
        httpx_args={"transport": httpx.WSGITransport(get_wsgi_application())},
    )
    for signal in signals:
        signal.connect(close_old_connections)


UPLOADS = ("imports_create", "runs_upload")


@pytest.fixture
def uploading(client: Any) -> Any:
    """The same client with an upload token, as a program has it."""
    token = create_token("program", "upload")
    return importlib.import_module(PACKAGE).AuthenticatedClient(
        base_url="http://testserver",
        token=token,
        raise_on_unexpected_status=True,
        httpx_args={"transport": httpx.WSGITransport(get_wsgi_application())},
    )


def operations(folder: Path) -> dict[str, ModuleType]:
    """Name of each generated operation -> its module."""
    return {
        path.stem: importlib.import_module(f"{PACKAGE}.api.{path.parent.name}.{path.stem}")
        for path in (folder / "api").glob("*/*.py")
        if path.stem != "__init__"
    }


def model(name: str, content: dict[str, Any]) -> Any:
    """An instance of a generated class."""
    return getattr(importlib.import_module(f"{PACKAGE}.models"), name).from_dict(content)


def test_every_operation_is_generated(generated: Path) -> None:
    document = json.loads((generated.parent / "openapi.json").read_text())
    described = {
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
    }
    assert set(operations(generated)) == described
    bodies = [
        operation["requestBody"]
        for methods in document["paths"].values()
        for operation in methods.values()
        if "requestBody" in operation
    ]
    assert all(body["required"] for body in bodies)


@pytest.fixture
def arguments(client: Any, store_run: StoreRun) -> dict[str, dict[str, Any]]:
    """What each operation that needs something is called with, all of it stored."""
    measured = ssh_measurement("3des-cbc", 2e7), ssh_measurement("aes128-ctr", 1e8)
    host = store_run(run_document(*measured, host={"name": "a"})).host
    other = store_run(run_document(*measured, host={"name": "b", "machine_id": None}))
    for name in ("original", "clone", "original"):
        clone = store_run(run_document(*measured, host={"name": name, "machine_id": "c" * 64}))
    assert host is not None
    text = store_import(ImportRequest(b"aes128-ctr: 104 MB/s\n")).runs[0]
    file = importlib.import_module(f"{PACKAGE}.types").File
    tool = importlib.import_module(f"{PACKAGE}.models").TrendsTool
    run, one_host = {"run_id": other.run_id}, {"host_id": host.slug}
    when = timezone.now()
    change = FleetChange.objects.create(
        kind="silent", direction="silent", first_at=when, last_at=when
    )
    note = Note.objects.create(host=host, text="BIOS update", at=when, made_by="edith")
    return {
        "changes_read": {"change_id": change.pk},
        "changes_decide": {
            "change_id": change.pk,
            "body": model("PatchedDecision", {"status": "ignored"}),
        },
        "notes_make": {"body": model("NewNote", {"text": "x", "host": host.slug})},
        "notes_remove": {"note_id": note.pk},
        "hosts_read": one_host,
        "hosts_change": {**one_host, "body": model("PatchedHostChange", {"name": "new"})},
        "hosts_merge": {**one_host, "body": model("Merge", {"other": other.host_id})},
        "hosts_split": {"host_id": clone.host_id, "body": model("Split", {"name": "clone"})},
        "imports_create": {"body": file(payload=io.BytesIO(b"aes256-ctr: 99 MB/s\n"))},
        "recommendation": {"host": [host.slug]},
        "runs_read": run,
        "runs_document": run,
        "runs_change": {**run, "body": model("PatchedRunChange", {"hidden": False})},
        "runs_remove": run,
        "runs_text": {"run_id": text.run_id},
        "runs_upload": {"body": model("RunsUploadCiphermarkRunDocumentVersion1", run_document())},
        "shares_make": {"body": model("ShareRequest", {"query": "group_by=os", "name": "x"})},
        "trends": {"host": host.slug, "cipher": "aes128-ctr", "tool": tool.SSH},
    }


def test_every_operation_is_callable(
    generated: Path, client: Any, uploading: Any, arguments: dict[str, dict[str, Any]]
) -> None:
    called = operations(generated)
    for name in called:
        with transaction.atomic():
            caller = uploading if name in UPLOADS else client
            answer = called[name].sync_detailed(client=caller, **arguments.get(name, {}))
            transaction.set_rollback(True)
        assert answer.status_code < 300, (name, answer.content)
        assert answer.parsed is not None or answer.status_code == 204, name


@pytest.mark.parametrize(
    ("name", "first"),
    (
        ("comparison_csv", b"group,"),
        ("measurements_csv", b"run_id,"),
        ("comparison_xlsx", b"PK"),
        ("measurements_xlsx", b"PK"),
        ("runs_text", b"aes128-ctr: 104 MB/s\n"),
    ),
)
def test_every_file_can_be_saved(
    generated: Path,
    client: Any,
    arguments: dict[str, dict[str, Any]],
    tmp_path: Path,
    name: str,
    first: bytes,
) -> None:
    answer = operations(generated)[name].sync_detailed(client=client, **arguments.get(name, {}))
    saved = tmp_path / name
    saved.write_bytes(answer.parsed.payload.read())
    assert saved.read_bytes() == answer.content
    assert answer.content.startswith(first)
