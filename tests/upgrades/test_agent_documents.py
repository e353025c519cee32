"""What agents of every version sent is accepted today, and its figures are those they measured."""

import gzip
import json
from pathlib import Path

import pytest

from ingest.processing.run_processing import process_run
from store.models import Run
from tests.conftest import ApiClient
from tests.upgrades.figures import measured, shown
from tests.upgrades.recording import FOLDER


@pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("agent-*.json.gz")), ids=lambda path: path.name.split(".json")[0]
)
def test_a_document_becomes_a_run(uploader: ApiClient, reader: ApiClient, path: Path) -> None:
    body = path.read_bytes()
    sent = json.loads(gzip.decompress(body))
    version = path.name.split("-")[1]
    assert sent["agent"]["version"] == version
    accepted = uploader.upload(body, headers={"content-encoding": "gzip"})
    assert accepted.status_code == 202, accepted.content
    process_run(Run.objects.get(run_id=sent["run_id"]).pk)
    address = f"/api/v1/runs/{sent['run_id']}/"
    run = reader.get(address).json()
    assert (run["status"], run["agent"]) == ("ready", f"ciphermark-agent {version}")
    assert run["tags"] == sent["tags"]
    assert [one["code"] for one in run["conditions"]] == [one["code"] for one in sent["conditions"]]
    assert reader.get(f"{address}document/").content == gzip.decompress(body)
    assert len(sent["measurements"]) == len(run["measurements"])
    assert shown(run) == pytest.approx(measured(sent))
