"""Imported texts are read again after a parser was mended."""

import threading
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.db import connection

from documents.run_document import parse_run_document
from ingest.arrival.importing import ImportRequest, store_import
from ingest.processing.run_processing import process_run
from parsers.read_text import HowToRead, read_text
from parsers.run_documents import Corrections
from parsers.types import Reading, Section
from store.models import ImportedText, Measurement, Run

TEXT = b"aes128-ctr: 104.167 MB/s\n3des-cbc: 20.5 MB/s\n"
VERSIONS = ("0.9.8y", "1.0.0", "1.1.0", "3.0.1")
FOUR = "".join(
    f"OpenSSL {version} 1 Jan 2020\n"
    "type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes\n"
    f"aes-128-cbc      {number}01234.00k   {number}02345.00k   {number}04567.00k"
    f"   {number}05678.00k   {number}06000.00k\n"
    for number, version in enumerate(VERSIONS, start=1)
).encode()

Change = Callable[[Section], Section | None]


def stored(body: bytes, *corrections: Corrections) -> tuple[Run, ...]:
    runs = store_import(ImportRequest(body, HowToRead(), corrections)).runs
    for run in runs:
        process_run(run.pk)
        run.refresh_from_db()
    return runs


def stored_by(reader: Change, body: bytes, *corrections: Corrections) -> tuple[Run, ...]:
    """Stored by a parser of an older version, which made this of each section."""

    def read(text: str, how: HowToRead) -> Reading:
        reading = read_text(text, how)
        sections = [reader(section) for section in reading.sections]
        return replace(reading, sections=tuple(section for section in sections if section))

    with patch("ingest.arrival.importing.read_text", read):
        runs = stored(body, *corrections)
    Run.objects.update(parser_version=0)
    ImportedText.objects.update(parser_version=0)
    return runs


def doubled(section: Section) -> Section:
    figures = tuple(
        figure._replace(bytes_per_second=2 * (figure.bytes_per_second or 0))
        for figure in section.figures
    )
    return replace(section, figures=figures)


def reparse(*arguments: str) -> str:
    said = StringIO()
    call_command("reparse_runs", *arguments, stdout=said)
    return said.getvalue()


def median(run: Run, cipher: str) -> float | None:
    return Measurement.objects.get(run=run, series__cipher=cipher).median


def versions(**filters: Any) -> list[str]:
    runs = Run.objects.filter(**filters).select_related("environment__openssl").order_by("id")
    return [run.environment.openssl.label for run in runs if run.environment]


@pytest.mark.django_db
def test_a_text_that_these_parsers_read_is_left_alone() -> None:
    stored(TEXT)
    assert "0 texts read again" in reparse()
    assert "1 text read again; runs: 1 unchanged" in reparse("--all")


@pytest.mark.django_db
def test_a_mended_parser_changes_its_runs_and_no_others() -> None:
    (old,) = stored_by(doubled, TEXT)
    assert median(old, "3des-cbc") == 41e6
    Run.objects.filter(pk=old.pk).update(hidden=True)
    assert "runs: 0 unchanged, 1 changed, 0 added, 0 removed" in reparse()
    old.refresh_from_db()
    assert median(old, "3des-cbc") == 20.5e6
    assert old.hidden
    assert old.status == Run.Status.READY
    assert "0 texts read again" in reparse()


@pytest.mark.django_db
def test_a_section_that_is_lost_moves_no_hidden_mark_and_no_correction() -> None:
    """An older parser took the first table for one of its own; the mended one does not."""
    names = [Corrections(host=f"host of {version}") for version in VERSIONS]
    runs = stored(FOUR, *names)
    Run.objects.filter(pk=runs[1].pk).update(hidden=True)
    ImportedText.objects.update(parser_version=0)

    def mended(text: str, how: HowToRead) -> Reading:
        reading = read_text(text, how)
        return replace(reading, sections=reading.sections[1:])

    with patch("ingest.arrival.importing.read_text", mended):
        assert "3 unchanged, 0 changed, 0 added, 1 removed" in reparse()
    assert versions(hidden=True) == ["OpenSSL 1.0.0"]
    assert versions() == ["OpenSSL 1.0.0", "OpenSSL 1.1.0", "OpenSSL 3.0.1"]
    hosts = Run.objects.order_by("id").values_list("host_name", flat=True)
    assert list(hosts) == [f"host of {version}" for version in VERSIONS[1:]]


@pytest.mark.django_db
def test_a_section_that_is_found_becomes_a_run() -> None:
    stored_by(lambda section: section if section.line > 1 else None, FOUR)
    assert len(versions()) == 3
    assert "3 unchanged, 0 changed, 1 added, 0 removed" in reparse()
    assert sorted(versions()) == [f"OpenSSL {version}" for version in VERSIONS]


@pytest.mark.django_db
def test_a_run_that_somebody_deleted_stays_deleted_until_its_text_is_imported_again() -> None:
    (run,) = stored(TEXT)
    run.delete()
    assert "0 unchanged, 0 changed, 0 added, 0 removed" in reparse("--all")
    again = store_import(ImportRequest(TEXT, HowToRead()))
    assert again.created
    assert [one.run_id for one in again.runs] == [run.run_id]


@pytest.mark.django_db(transaction=True)
def test_a_worker_in_the_middle_of_the_old_document_disturbs_nothing() -> None:
    (run,) = stored_by(doubled, TEXT)
    processing_now, go_on = threading.Event(), threading.Event()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.ACCEPTED)
    Measurement.objects.all().delete()
    run.baseline_levels.all().delete()
    run.speed_indices.all().delete()
    parse = parse_run_document

    def slowly(*arguments: Any, **named: Any) -> Any:
        processing_now.set()
        go_on.wait(60)
        return parse(*arguments, **named)

    def work() -> None:
        with patch("ingest.processing.run_processing.parse_run_document", slowly):
            process_run(run.pk)
        connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    assert processing_now.wait(60)
    threading.Timer(0.5, go_on.set).start()
    assert "1 changed" in reparse()
    worker.join(60)
    run.refresh_from_db()
    assert run.status == Run.Status.READY
    assert median(run, "3des-cbc") == 20.5e6
