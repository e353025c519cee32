"""An exception in a parser loses no text and no figure of another parser, and is no 500."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from access.tokens import create_token
from pages.upload.receiving import pack
from store.models import AuditEntry, ImportedText, Run
from tests.api.test_imports import LOOP, TABLE, send
from tests.conftest import ApiClient
from tests.pages.conftest import page, text_of

FRAGMENT = {"X-Ciphermark-Fragment": "1"}
BOTH = TABLE + LOOP
REPORT = f"sbc-bench v0.9.8 Acme Board\n\ntinymembench v0.4.9\n{TABLE}"
EVERYTHING = "parsers.read_text.numbered_lines"
OPENSSL = "parsers.read_text.read_openssl_speed"
SSH = "parsers.read_text.read_ssh_text"
SBC_BENCH = "parsers.read_text.read_sbc_bench"
DOCUMENTS = "ingest.arrival.importing.run_documents"
UNIT_TITLE = "The 'numbers' are in 1000s of bytes per second processed."


@contextmanager
def raising(*parsers: str) -> Iterator[None]:
    """These functions fail as faulty code does."""
    patches = [patch(one, side_effect=IndexError("list index out of range")) for one in parsers]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def codes(answer: Any) -> list[str]:
    return [one["code"] for one in answer["warnings"]]


CASES: tuple[tuple[str, str, list[str]], ...] = (
    (EVERYTHING, BOTH, []),
    (OPENSSL, TABLE, []),
    (OPENSSL, BOTH, ["aes128-ctr", "3des-cbc"]),
    (SSH, LOOP, []),
    (SSH, BOTH, ["aes-128-cbc"] * 6),
    # Other parsers would take the review of a report for figures of their own.
    (SBC_BENCH, REPORT, []),
    (DOCUMENTS, BOTH, []),
)


@pytest.mark.parametrize(("parser", "text", "kept"), CASES)
def test_whatever_a_parser_raises_the_text_is_stored_and_what_was_not_read_is_said(
    uploader: ApiClient,
    caplog: pytest.LogCaptureFixture,
    parser: str,
    text: str,
    kept: list[str],
) -> None:
    with raising(parser):
        preview = send(uploader, text, expect=200, preview=1)
        assert not ImportedText.objects.exists()
        answer = send(uploader, text)
        again = send(uploader, text, expect=200)
    stored = ImportedText.objects.get()
    assert bytes(stored.body) == text.encode()
    assert answer["import_id"] == again["import_id"] == str(stored.import_id)
    assert len(answer["runs"]) == stored.runs.count() == bool(kept)
    assert codes(answer).count("parser_failed") == 1
    found = [one["cipher"] for document in preview["documents"] for one in document["measurements"]]
    assert found == kept
    assert preview["unrecognised"] == answer["unrecognised"]
    if parser != DOCUMENTS and not kept:
        listed = {one["line"] for one in answer["unrecognised"]}
        for number, line in enumerate(text.split("\n"), 1):
            # What a title says of units is understood without the parser that failed.
            assert number in listed or not line.strip() or line == UNIT_TITLE
    logged = [one.getMessage() for one in caplog.records if one.name == "ingest.arrival.importing"]
    assert len(logged) == 3, "the preview, the import, and the import sent again"
    for message in logged:
        assert str(stored.import_id) in message
        assert "list index out of range" in message


def test_with_every_parser_failing_nothing_is_lost(uploader: ApiClient) -> None:
    with raising(OPENSSL, SSH, SBC_BENCH):
        answer = send(uploader, BOTH, host="nas")
    assert answer["runs"] == []
    assert "run_id" not in answer
    assert answer["unrecognised_count"] == len(BOTH.splitlines())
    assert reparse() == "1 text read again; runs: 0 unchanged, 0 changed, 2 added, 0 removed.\n"
    assert {run.host_name for run in Run.objects.all()} == {"nas"}
    assert {run.status for run in Run.objects.all()} == {"ready"}
    assert reparse().startswith("0 texts read again")


def test_a_text_sent_again_after_the_repair_becomes_runs(uploader: ApiClient) -> None:
    with raising(SSH):
        send(uploader, LOOP)
    answer = send(uploader, LOOP)
    assert ImportedText.objects.get().runs.count() == len(answer["runs"]) == 1
    assert reparse().startswith("0 texts read again")
    Run.objects.all().delete()
    assert "0 added" in reparse("--all"), "what somebody deleted stays deleted"


def test_without_a_failure_a_text_without_figures_is_refused_as_ever(uploader: ApiClient) -> None:
    with raising(SSH):
        send(uploader, "nothing to see here\n", format="openssl-speed", expect=400)
    assert not ImportedText.objects.exists()


def reparse(*arguments: str) -> str:
    said = StringIO()
    call_command("reparse_runs", *arguments, stdout=said)
    return said.getvalue()


def failing_reparse(*arguments: str) -> tuple[str, str]:
    said, faults = StringIO(), StringIO()
    with pytest.raises(CommandError, match="could not be read again"):
        call_command("reparse_runs", *arguments, stdout=said, stderr=faults)
    return said.getvalue(), faults.getvalue()


def test_reparsing_leaves_what_it_cannot_read_as_it_is_and_goes_on(uploader: ApiClient) -> None:
    first, second = send(uploader, BOTH), send(uploader, TABLE)
    with raising(SSH):
        said, faults = failing_reparse("--all")
    assert said == "0 texts read again; runs: 0 unchanged, 0 changed, 0 added, 0 removed.\n"
    assert [line.split()[1] for line in faults.splitlines()] == [
        f"{first['import_id']}:",
        f"{second['import_id']}:",
    ]
    assert Run.objects.count() == len(first["runs"]) + len(second["runs"])
    ImportedText.objects.update(parser_version=1)
    ImportedText.objects.filter(import_id=first["import_id"]).update(body=b"\x7fELF")
    said, faults = failing_reparse()
    assert said.startswith("1 text read again; runs: 1 unchanged")
    assert (
        faults
        == f"Text {first['import_id']}: This is a program, not a text. Send what it prints.\n"
    )


def test_a_text_of_which_a_parser_failed_is_read_again_until_it_is_read(
    uploader: ApiClient,
) -> None:
    with raising(OPENSSL):
        send(uploader, BOTH)
        _, faults = failing_reparse()
    assert "parser of openssl-speed failed" in faults
    assert reparse() == "1 text read again; runs: 1 unchanged, 0 changed, 1 added, 0 removed.\n"


def test_what_is_read_later_obeys_the_token_that_brought_it(db: None) -> None:
    bound = ApiClient(create_token("attic", "upload", host_name="attic"))
    with raising(SSH):
        send(bound, LOOP, host="cellar")
    _, faults = failing_reparse()
    assert "cellar" in faults
    assert not Run.objects.exists()


@pytest.mark.parametrize(("parser", "text", "kept"), CASES)
def test_on_the_page_the_text_is_shown_and_can_be_saved(
    editor: Client, parser: str, text: str, kept: list[str]
) -> None:
    with raising(parser):
        card = editor.post("/upload/", {"text": text}, headers=FRAGMENT)
        fields = {"packed": pack(text.encode()), "host-0": "attic"}
        saved = editor.post("/upload/save/", fields, headers=FRAGMENT)
        led = editor.post("/upload/save/", fields)
    assert card.status_code == saved.status_code == 200
    html = card.content.decode()
    assert 'data-card="ready"' in html
    assert "through a fault of this program" in text_of(html)
    assert bytes(ImportedText.objects.get().body) == text.encode()
    assert AuditEntry.objects.count() == 1
    assert Run.objects.count() == bool(kept)
    said = text_of(saved.content.decode())
    assert ("Stored as 1 run." if kept else "The text is stored.") in said
    assert "saved before" in text_of(page(editor, led["Location"]))
