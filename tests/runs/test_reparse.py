"""Imported texts are read again after a parser was mended."""

from dataclasses import replace
from io import StringIO
from unittest.mock import patch

import pytest
from django.core.management import call_command

from parsers.read_text import HowToRead, read_text
from parsers.types import Reading
from runs.importing import ImportRequest, store_import
from runs.models import Measurement, Run
from runs.processing import process_run

TEXT = b"aes128-ctr: 104.167 MB/s\n3des-cbc: 20.5 MB/s\n"


@pytest.fixture
def run(db: None) -> Run:
    (stored,) = store_import(ImportRequest(TEXT, HowToRead())).runs
    process_run(stored.pk)
    stored.refresh_from_db()
    return stored


def reparse(*arguments: str) -> str:
    said = StringIO()
    call_command("reparse_runs", *arguments, stdout=said)
    return said.getvalue()


def median(run: Run, cipher: str) -> float | None:
    return Measurement.objects.get(run=run, cipher=cipher).median


def test_a_text_that_these_parsers_read_is_left_alone(run: Run) -> None:
    assert "0 texts read again" in reparse()
    assert "1 texts read again; runs: 1 unchanged" in reparse("--all")


def test_a_mended_parser_changes_its_runs_and_no_others(run: Run) -> None:
    with patch("runs.importing.read_text", _older_reader):
        (old,) = store_import(ImportRequest(TEXT + b"\n", HowToRead())).runs
        process_run(old.pk)
    assert median(old, "3des-cbc") == 41e6
    Run.objects.filter(pk=old.pk).update(parser_version=0, hidden=True)
    assert "runs: 0 unchanged, 1 changed, 0 added, 0 removed" in reparse()
    old.refresh_from_db()
    assert median(old, "3des-cbc") == 20.5e6
    assert old.hidden
    assert old.status == Run.Status.READY
    assert "0 texts read again" in reparse()


def _older_reader(text: str, how: HowToRead) -> Reading:
    """A reader with a fault: every rate twice what it is."""
    reading = read_text(text, how)
    doubled = [
        replace(
            section,
            figures=tuple(
                replace(figure, bytes_per_second=2 * (figure.bytes_per_second or 0))
                for figure in section.figures
            ),
        )
        for section in reading.sections
    ]
    return replace(reading, sections=tuple(doubled))
