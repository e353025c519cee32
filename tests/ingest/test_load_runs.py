"""manage.py load_runs: many saved run documents, whatever else is in the files."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from ingest.bulk import bulk_import
from results.hosts.latest import latest_results
from store.models import Host, Measurement, Run, RunSpeedIndex
from tests.conftest import StoreRun
from tests.histories import run_of_day
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement


def line(document: Any) -> bytes:
    return json.dumps(document).encode() + b"\n"


def lines(*documents: Any) -> list[bulk_import.Line]:
    return [
        bulk_import.Line("runs.ndjson", number, line(one))
        for number, one in enumerate(documents, 1)
    ]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db", "published")
def test_a_file_with_faults_loads_all_but_those(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = [run_of_day(day, ssh_measurement("3des-cbc", 2e7)) for day in range(3)]
    backwards = run_document(finished_at="2020-01-01T00:00:00Z")
    plain, packed = tmp_path / "a.ndjson", tmp_path / "b.gz"
    plain.write_bytes(
        line(good[0])
        + b"\n{oops\n"
        + line({"run_id": 5})
        + line(backwards)
        + line(good[0])
        + line({**good[0], "tags": {}})
        + b"x" * 3_000_000
        + b"\n"
        + line(good[1])
    )
    packed.write_bytes(gzip.compress(line(good[2])) + b"and no more gzip")
    refused = tmp_path / "refused.txt"
    files = [str(plain), str(packed), str(tmp_path / "none")]
    with pytest.raises(SystemExit) as ended:
        call_command("load_runs", *files, "--jobs", "2", "--refused", str(refused))
    assert ended.value.code == 1
    noted = refused.read_text()
    told = {f"{plain}:{number}" for number in (3, 4, 5, 7, 8)}
    told |= {f"{packed}:2", f"{tmp_path / 'none'}:1"}
    assert {":".join(one.split(":")[:2]) for one in noted.splitlines()} == told
    assert "finished_at is before started_at" in noted
    assert "schema: This field is required" in noted
    assert "larger than 2097152 bytes" in noted
    assert "with other content" in noted
    said = capsys.readouterr().err
    assert "3 runs stored, 1 known before, 7 lines refused" in said
    assert all(one in said for one in told)
    loaded = Run.objects.filter(source=Run.Source.AGENT)
    assert {run.status for run in loaded} == {Run.Status.READY}
    assert RunSpeedIndex.objects.filter(run__in=loaded).count() == 3
    (latest,) = latest_results(Host.objects.get(name="nas").pk)
    assert latest.run_id == max(loaded, key=lambda run: str(run.started_at)).run_id
    call_command("load_runs", str(_only(tmp_path, good)))
    assert "0 runs stored, 3 known before, 0 lines refused" in capsys.readouterr().err
    assert loaded.count() == 3


def _only(folder: Path, documents: list[dict[str, Any]]) -> Path:
    path = folder / "good.ndjson"
    path.write_bytes(b"".join(map(line, documents)))
    return path


def rows(run: Run) -> list[Any]:
    derived = Run.objects.values_list(
        *("status", "host__name", "environment", "tags", "started_at", "acceleration"),
        *("acceleration_evidence", "acceleration_factor", "derived_version", "agent_version"),
    )
    measured = Measurement.objects.filter(run=run).order_by("position")
    levels = run.baseline_levels.order_by("tool", "family").values_list("family", "level")
    indices = run.speed_indices.order_by("tool").values_list("index", "families")
    return [
        derived.get(pk=run.pk),
        [[value for name, value in row.items() if name != "run_id"] for row in measured.values()],
        list(levels),
        list(indices),
    ]


@pytest.mark.usefixtures("published")
def test_a_loaded_run_is_what_an_uploaded_one_would_be(store_run: StoreRun) -> None:
    measured = (
        ssh_measurement("arcfour", 1e8, 2e8, 1.5e8),
        openssl_measurement("aes-128-cbc", 600e6),
        {**openssl_measurement("aes-128-cbc", 300e6), "acceleration": "masked"},
        openssl_measurement("rc4", 9e12),
    )
    uploaded = store_run(run_document(*measured))
    document = run_document(*measured)
    assert bulk_import.load_lines(lines(document)).stored == 1
    assert rows(Run.objects.get(run_id=document["run_id"])) == rows(uploaded)
