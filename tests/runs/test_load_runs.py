import gzip
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from runs.models import Run
from tests.histories import run_of_day
from tests.sample_documents import run_document, ssh_measurement


def line(document: Any) -> bytes:
    return json.dumps(document).encode() + b"\n"


@pytest.mark.django_db
def test_a_file_with_faults_loads_all_but_those(tmp_path: Path) -> None:
    good = [run_of_day(day, ssh_measurement("3des-cbc", 2e7)) for day in range(3)]
    plain, packed = tmp_path / "a.ndjson", tmp_path / "b.gz"
    plain.write_bytes(
        line(good[0])
        + b"\n{oops\n"
        + line({"run_id": 5})
        + line(run_document(finished_at="2020-01-01T00:00:00Z"))
        + line(good[0])
        + line({**good[0], "tags": {}})
        + b"x" * 5_000_000
        + b"\n"
        + line(good[1])
    )
    packed.write_bytes(gzip.compress(line(good[2])))
    said, summary = StringIO(), StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("load_runs", str(plain), str(packed), stdout=summary, stderr=said)
    assert ended.value.code == 1
    refused = said.getvalue().splitlines()
    assert [refusal.split(": ")[0] for refusal in refused] == [
        f"{plain}:{at}" for at in (3, 4, 5, 7, 8)
    ]
    for words, sentence in zip(
        (
            "property name enclosed in double quotes",
            "schema: This field is required",
            "finished_at is before started_at",
            "with different content",
            "exceeds 2097152 bytes",
        ),
        refused,
        strict=True,
    ):
        assert words in sentence
    assert "3 runs stored, 1 already stored, 5 lines rejected" in summary.getvalue()
    assert set(Run.objects.values_list("status", flat=True)) == {Run.Status.READY}
    call_command("load_runs", str(packed), stdout=summary)
    assert "0 runs stored, 1 already stored, 0 lines rejected" in summary.getvalue()
    assert Run.objects.count() == 3
