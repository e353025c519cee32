"""The upload page: what is understood is shown, corrected and stored; what is not is said."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from html import unescape
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from ingest.processing.run_processing import process_run
from pages.upload.receiving import pack
from parsers.received_text import MAX_BYTES, MAX_LINES
from store.models import AuditEntry, ImportedText, Run
from store.run_documents import document_bytes, stated_environment
from tests.cases import each
from tests.conftest import ApiClient
from tests.pages.conftest import page, text_of
from tests.sample_documents import run_document

SPEED = """\
my old server, before the move
OpenSSL 1.1.1w  11 Sep 2023
built on: Mon Sep 11 09:00:00 2023 UTC
options:bn(64,64) rc4(16x,int) des(int) aes(partial)
The 'numbers' are in 1000s of bytes per second processed.
type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes  16384 bytes
aes-128-cbc     201000.10k   301000.20k   401000.30k   501000.40k   601000.50k   611000.60k
des-ede3-cbc     21000.10k    22000.20k    23000.30k    24000.40k    24500.50k    24600.60k
and that was all
"""
LIST = "ssh ciphers\naes128-ctr: 101.5 MB/s\n3des-cbc: 22.25 MB/s\n"
FRAGMENT = {"X-Ciphermark-Fragment": "1"}


def file(body: str | bytes, name: str = "speed.txt") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, body.encode() if isinstance(body, str) else body)


def preview(client: Client, expect: int = 200, **fields: Any) -> str:
    response = client.post("/upload/", fields, headers=FRAGMENT)
    assert response.status_code == expect, response.content[:2000]
    return response.content.decode()


def fields_of(html: str) -> dict[str, str]:
    """What the form of a card would send: its inputs and selects."""
    inputs = dict(re.findall(r'<input [^>]*?name="([^"]+)"[^>]*? value="([^"]*)"', html))
    found = {name: unescape(value) for name, value in inputs.items()}
    for name, options in re.findall(r'<select [^>]*name="([^"]+)">(.*?)</select>', html, re.S):
        chosen = re.search(r'value="([^"]*)" selected', options)
        found[name] = chosen[1] if chosen else ""
    return found


def named(fields: dict[str, str]) -> dict[str, str]:
    """With a name for every machine that the text does not name."""
    nameless = {name for name, value in fields.items() if name.startswith("host-") and not value}
    return fields | dict.fromkeys(nameless, "attic")


def save(
    client: Client, html: str, changes: Mapping[str, str] | None = None, expect: int = 200
) -> str:
    fields = {**named(fields_of(html)), **(changes or {})}
    response = client.post("/upload/save/", fields, headers=FRAGMENT)
    assert response.status_code == expect, response.content[:2000]
    return response.content.decode()


def stored() -> Run:
    """The one stored run, processed as the worker does it."""
    run = Run.objects.get()
    process_run(run.pk)
    run.refresh_from_db()
    return run


def test_uploading_is_for_people_who_may(client: Client, member: Client, editor: Client) -> None:
    assert client.get("/upload/")["Location"] == "/accounts/login/?next=/upload/"
    assert "This is not open to you" in text_of(page(member, "/upload/", expect=403))
    assert "Preview" in page(editor, "/upload/")


def test_a_form_of_another_site_stores_nothing(editor: Client) -> None:
    strict = Client(enforce_csrf_checks=True, headers={})
    strict.cookies = editor.cookies
    assert strict.post("/upload/", {"text": LIST}).status_code == 403
    assert strict.post("/upload/save/", {"packed": pack(LIST.encode())}).status_code == 403
    assert not Run.objects.exists()


def test_pasted_text_is_shown_as_figures_with_their_lines(editor: Client) -> None:
    html = preview(editor, text=SPEED)
    said = text_of(html)
    assert "Pasted text openssl speed 12 figures for 1 run 2 lines not recognised" in said
    assert "Cipher 16 B 64 B 256 B 1 KiB 8 KiB 16 KiB Line" in said
    assert "aes-128-cbc 201 MB/s 301 MB/s 401 MB/s 501 MB/s 601 MB/s 611 MB/s 7" in said
    assert fields_of(html)["openssl-0"].startswith("OpenSSL 1.1.1w")
    assert fields_of(html)["host-0"] == ""
    assert "Not recognised: line 1 , line 9" in said
    assert re.search(r'class="line unrecognised" id="card-1-line-9"', html)
    assert not Run.objects.exists()


def test_without_scripts_the_whole_page_answers(editor: Client) -> None:
    answer = editor.post("/upload/", {"text": LIST, "files": [file(SPEED), file(b"\x7fELF", "a")]})
    html = answer.content.decode()
    said = text_of(html)
    assert "<html" in html
    assert said.index("Pasted text List of ciphers") < said.index("speed.txt openssl speed")
    assert "a not read" in said
    assert "This is a program, not a text." in said
    assert html.count('data-card="ready"') == 2
    assert 'id="card-3"' in html


def test_what_was_shown_is_stored_with_the_corrections(editor: Client) -> None:
    html = preview(editor, files=file(SPEED))
    said = text_of(save(editor, html, {"host-0": "attic", "cpu-0": "VIA C7", "os-0": "NetBSD 9"}))
    assert "speed.txt saved" in said
    assert "Stored as 1 run." in said
    run = stored()
    assert (run.status, run.source, run.host_name) == ("ready", "import", "attic")
    assert run.imported_text is not None
    assert bytes(run.imported_text.body) == SPEED.encode()
    assert run.imported_text.person == User.objects.get(username="edith")
    shown = text_of(page(editor, f"/runs/{run.run_id}/"))
    assert "VIA C7" in shown
    assert run.environment is not None
    assert run.environment.os_version.label == "NetBSD 9"
    assert "OpenSSL 1.1.1w" in shown
    assert "611 MB/s" in shown


def test_the_same_text_is_stored_once(editor: Client) -> None:
    html = preview(editor, files=file(SPEED))
    save(editor, html, {"host-0": "attic"})
    again = text_of(save(editor, html, {"host-0": "attic"}))
    assert "saved before" in again
    assert "Nothing was added" in again
    assert Run.objects.count() == 1


def test_a_card_is_the_same_import_as_with_the_same_answers_through_the_api(
    editor: Client, uploader: ApiClient
) -> None:
    body = (SPEED + LIST).encode()
    answer = uploader.post("/api/v1/imports/?host=attic", body, content_type="text/plain")
    assert answer.status_code == 202, answer.content
    assert "saved before" in text_of(save(editor, preview(editor, files=file(body))))
    assert ImportedText.objects.count() == 1


def test_a_column_of_a_table_is_named_beside_its_run(editor: Client) -> None:
    rows = "| cipher | east | west (new) |\n|---|---|---|\n| 3des-cbc | 22.2 MB/s | 18.3 MB/s |\n"
    said = text_of(preview(editor, files=file(rows)))
    assert "Run 1 of 2 (east)" in said
    assert "Run 2 of 2 (west (new))" in said


def test_each_run_of_a_text_has_its_own_corrections(editor: Client) -> None:
    two = SPEED + SPEED.replace("1.1.1w  11 Sep", "1.0.2u  20 Dec").replace("201000", "101000")
    html = preview(editor, files=file(two))
    assert "Run 2 of 2" in text_of(html)
    save(editor, html, {"host-0": "east", "host-1": "west", "cpu-1": "AMD Geode LX"})
    east, west = Run.objects.order_by("id")
    assert (east.host_name, west.host_name) == ("east", "west")
    cpus = [stated_environment(run.document)["cpu"].get("model") for run in (west, east)]
    assert cpus == ["AMD Geode LX", None]


def test_an_emptied_field_means_not_known(editor: Client) -> None:
    save(editor, preview(editor, files=file(SPEED)), {"openssl-0": " "})
    assert "OpenSSL 1.1.1w" not in text_of(page(editor, f"/runs/{stored().run_id}/"))


def test_a_machine_without_a_name_is_asked_for_one_before_anything_is_stored(
    editor: Client,
) -> None:
    fields = fields_of(
        preview(editor, text=SPEED + SPEED.replace("1.1.1w", "1.0.2u").replace("201000", "199000"))
    )
    assert fields["host-0"] == fields["host-1"] == ""
    answer = editor.post("/upload/save/", fields | {"host-1": "attic", "cpu-0": "VIA C7"})
    assert answer.status_code == 400
    html = answer.content.decode()
    assert "Name the machine that was measured: its results are stored, found" in text_of(html)
    (asked,) = re.findall(r'<input [^>]*aria-invalid="true"[^>]*>', html)
    assert 'name="host-0"' in asked
    assert " autofocus" in asked
    assert fields_of(html)["host-1"] == "attic"
    assert fields_of(html)["cpu-0"] == "VIA C7"
    assert re.search(r'<details class="fold" open><summary>Figures and machine', html)
    assert not ImportedText.objects.exists()
    assert "saved" in text_of(save(editor, html, {"host-0": "cellar"}))
    assert {run.host_name for run in Run.objects.all()} == {"attic", "cellar"}


def test_a_machine_that_the_text_names_needs_no_other_name(editor: Client) -> None:
    html = preview(editor, text=SPEED.replace("my old server", "root@nas:~# openssl speed"))
    assert fields_of(html)["host-0"] == "nas"
    editor.post("/upload/save/", fields_of(html) | {"host-0": ""})
    assert Run.objects.get().host_name == "nas"


@pytest.mark.parametrize("value", ("x" * 161, "left\u202eright", "a\x00b"))
def test_a_correction_that_cannot_be_stored_is_told_at_its_field(
    editor: Client, value: str
) -> None:
    html = save(editor, preview(editor, text=SPEED), {"host-0": value}, expect=400)
    assert "At most 160 printable characters." in html
    assert 'aria-invalid="true"' in html
    assert not Run.objects.exists()


def test_saving_without_scripts_leads_to_an_address_that_shows_it(editor: Client) -> None:
    fields = named(fields_of(preview(editor, files=file(SPEED))))
    first = editor.post("/upload/save/", fields)
    assert first.status_code == 302
    said = text_of(page(editor, first["Location"]))
    assert "saved Dismiss this card Stored as 1 run." in said
    again = editor.post("/upload/save/", fields)
    assert "saved before" in text_of(page(editor, again["Location"]))
    assert "Preview" in page(editor, "/upload/?saved=nothing")


def test_a_run_document_is_stored_as_it_is(editor: Client) -> None:
    document = run_document(host={"name": "den"}, conditions=[])
    body = json.dumps(document, indent=3).encode()
    html = preview(editor, files=file(body, "den.json"))
    said = text_of(html)
    assert "den.json Run document 3 figures for 1 run" in said
    assert "AMD EPYC 9R14" in said
    assert "400 MB/s 410 MB/s 420 MB/s" in said
    assert "Conditions" not in said
    assert "saved" in save(editor, html)
    run = stored()
    assert (run.status, run.source, str(run.run_id)) == ("ready", "agent", document["run_id"])
    assert document_bytes(run.document) == body
    assert "saved before" in save(editor, html)
    other = json.dumps(document | {"tags": {}}).encode()
    said = text_of(save(editor, preview(editor, files=file(other)), expect=409))
    assert "Another run with this run_id is stored already" in said
    assert Run.objects.count() == 1


def test_what_a_run_says_against_itself_is_shown_before_it_is_saved(editor: Client) -> None:
    document = run_document(
        conditions=[{"code": "busy", "detail": "others used the CPU"}, {"code": "swapping"}],
        skipped=[{"tool": "ssh", "cipher": "3des-cbc", "reason": "this OpenSSH lacks it"}] * 50,
    )
    said = text_of(preview(editor, files=file(json.dumps(document).encode(), "den.json")))
    assert "2 conditions" in said
    assert "Conditions that may affect the run: busy : others used the CPU swapping" in said
    assert "Not measured: 50 ssh 3des-cbc: this OpenSSH lacks it" in said
    assert "… 50 in all" in said


def test_who_uploaded_what_is_on_record(editor: Client) -> None:
    document = run_document(host={"name": "den"})
    for body in (json.dumps(document), LIST):
        html = preview(editor, files=file(body))
        for _ in range(2):
            save(editor, html)
    first, second = AuditEntry.objects.order_by("id")
    assert (first.actor, first.action) == (second.actor, second.action) == ("edith", "run.upload")
    assert first.object_name == f"den, run {document['run_id']}"
    assert first.after == {"runs": [{"run_id": document["run_id"], "host_name": "den"}]}


@pytest.mark.parametrize(
    ("changes", "words"),
    (
        ({"measurements": []}, "measurements : "),
        ({"host": {}}, "host.name : This field is required."),
        ({"finished_at": "2020-01-01T00:00:00Z"}, "finished_at is before started_at"),
        ({"started_at": "yesterday", "host": {"name": ""}}, "started_at : "),
    ),
)
def test_each_fault_of_a_run_document_is_named(
    editor: Client, changes: dict[str, Any], words: str
) -> None:
    html = preview(editor, files=file(json.dumps(run_document(**changes)), "bad.json"))
    said = text_of(html)
    assert "bad.json not read" in said
    assert "This run document is not valid." in said
    assert words in said
    body = json.dumps(run_document(**changes)).encode()
    refused = editor.post("/upload/save/", {"packed": pack(body)}, headers=FRAGMENT)
    assert refused.status_code == 400
    assert words in text_of(refused.content.decode())


@each(
    ("body", "words"),
    (
        (b"\x1f\x8b\x08" + b"\x00" * 40, "gzip archive"),
        (b"\x01\x02\x03\x04" * 50, "This is a binary file"),
        (b"a" * (MAX_BYTES + 1), "This has 4.0 MiB; 4 are read at most."),
        (b"x\n" * MAX_LINES, f"{MAX_LINES + 1:,} lines"),
        (b" \r\n \n", "There is nothing in it."),
        (b"", "There is nothing in it."),
        (b'{"schema": "ciphermark/run/1", "run_id": ', "This is not JSON"),
        (b'{"schema": "ciphermark/run/1", "x": "' + b"y" * 2**21 + b'"}', "at most 2 MiB"),
        (b"nothing of interest here\n", "No cipher results found."),
    ),
)
def test_a_bad_file_says_what_is_wrong_with_it(editor: Client, body: bytes, words: str) -> None:
    html = preview(editor, files=file(body, "odd.bin"))
    said = text_of(html)
    assert "odd.bin" in said
    assert words in said
    assert 'data-card="bad"' in html
    if 0 < len(body) <= MAX_BYTES:
        refused = editor.post("/upload/save/", {"packed": pack(body)}, headers=FRAGMENT)
        assert refused.status_code == 400
    assert not ImportedText.objects.exists()


def test_a_text_that_needs_an_answer_is_read_again_with_it(editor: Client) -> None:
    text = (
        "$ time dd if=/dev/zero bs=1M count=256 | ssh -c aes128-ctr localhost 'cat > /dev/null'\n"
    )
    text += "\nreal    0m2.000s\nuser    0m1.000s\nsys     0m0.500s\n"
    fields = fields_of(preview(editor, files=file(LIST, "list.txt")))
    answer = editor.post("/upload/", fields | {"unit": "MiB", "host-0": "attic"}, headers=FRAGMENT)
    html = answer.content.decode()
    assert "106 MB/s" in text_of(html)
    assert fields_of(html)["host-0"] == "attic"
    assert fields_of(html)["unit"] == "MiB"
    save(editor, html)
    assert ImportedText.objects.get().asked["how"]["unit"] == "MiB"
    assert Run.objects.get().host_name == "attic"


@pytest.mark.parametrize(
    ("fields", "words"),
    (
        ({"bytes": "-1"}, "Bytes of each transfer: "),
        ({"bytes": "1" * 40}, "Bytes of each transfer: "),
        ({"unit": "MebiByte"}, "MB means: "),
        ({"format": "xml"}, "Format: "),
    ),
)
def test_an_answer_that_cannot_be_is_told(
    editor: Client, fields: dict[str, str], words: str
) -> None:
    assert words in text_of(preview(editor, expect=400, text=LIST, **fields))
    whole = editor.post("/upload/", {"text": LIST, **fields})
    assert whole.status_code == 400
    assert "Preview" in whole.content.decode()


def test_hostile_text_is_text(editor: Client) -> None:
    evil = "<script>alert(1)</script>"
    text = f"{evil} \x1b[2J \u202e\n\"'><img src=x>\n{SPEED}"
    name = '"><img src=x onerror=alert(1)>.txt'
    html = preview(editor, files=file(text, name))
    html += save(editor, html, {"host-0": "<b>bold</b>"})
    html += preview(editor, files=file(b"\x7fELF", name))
    assert "<script>alert" not in html
    assert "<img" not in html
    assert "<b>bold" not in html
    assert "\x1b" not in html
    assert "&lt;b&gt;bold&lt;/b&gt;" in html


def test_a_huge_text_gives_a_bounded_page(editor: Client) -> None:
    table = "".join(
        f"type          {size} bytes\naes-128-cbc   {size}000.10k\n" for size in range(16, 616)
    )
    noise = "some words that mean nothing\n" * (min(MAX_LINES, 100_000) - 2000)
    head = SPEED[: SPEED.index("type ")]
    html = preview(editor, files=file(head + table + noise))
    said = text_of(html)
    assert html.count('<span class="line ') <= 300
    assert html.count("<tr>") <= 402
    assert re.search(r"\d+ more rows of figures are not shown here; saving stores them too", said)
    assert re.search(r"Shown are 300 of \d+ lines. All of them were read.", said)
    assert len(html) < 1_000_000


def test_many_runs_of_one_text_are_bounded_and_all_stored(editor: Client) -> None:
    versions = "abcdefghijklmnopqrstuvw"
    text = "\n".join(
        SPEED.replace("1.1.1w", f"1.1.1{letter}").replace("201000", str(201000 + number))
        for number, letter in enumerate(versions)
    )
    html = preview(editor, files=file(text))
    assert f"Shown are the first 20 of {len(versions)} runs." in text_of(html)
    said = text_of(save(editor, html, {"host-0": "attic"}))
    assert f"Stored as {len(versions)} runs." in said
    assert "and 3 more" in said
    assert set(Run.objects.values_list("host_name", flat=True)) == {"attic"}
    Run.objects.all().delete()
    save(editor, html, {"host-0": "cellar"})
    names = Counter(Run.objects.values_list("host_name", flat=True))
    assert (names["cellar"], names["attic"]) == (1, 19)
    assert sum(name.startswith("import-") for name in names) == len(versions) - 20


def test_a_form_that_is_too_large_is_answered_in_words(editor: Client) -> None:
    pasted = editor.post("/upload/", {"text": LIST + "x" * 2_700_000})
    assert pasted.status_code == 413
    assert "save it to a file and choose the file instead." in text_of(pasted.content.decode())
    many = editor.post("/upload/", {"files": [file("x", f"{n}.txt") for n in range(101)]})
    assert many.status_code == 413
    assert "too many files" in text_of(many.content.decode())
    huge = editor.post("/upload/", {"files": file(b"x" * (65 * 2**20))})
    assert huge.status_code == 413
    assert "64 MiB in one go" in text_of(huge.content.decode())


def test_a_form_that_arrives_damaged_is_answered_in_words(editor: Client) -> None:
    answer = editor.post("/upload/", b"no boundary", content_type="multipart/form-data")
    assert answer.status_code == 400
    assert "The form arrived damaged" in text_of(answer.content.decode())


def test_a_text_that_does_not_compress_needs_a_script(editor: Client) -> None:
    noise = Random(1).randbytes(2_400_000).hex().encode()[: MAX_BYTES - 1000]
    html = preview(editor, files=file(SPEED.encode() + noise))
    assert "too varied to be saved without JavaScript" in html
    fields = named(fields_of(html))
    assert editor.post("/upload/save/", fields).status_code == 413
    packed = file(fields.pop("packed"), "packed")
    saved = editor.post("/upload/save/", {**fields, "packed": packed}, headers=FRAGMENT)
    assert "Stored as 1 run." in saved.content.decode()
    assert bytes(ImportedText.objects.get().body) == SPEED.encode() + noise


def test_files_beyond_the_room_of_a_form_are_named(editor: Client) -> None:
    full = b"x" * (MAX_BYTES - 1)
    html = editor.post("/upload/", {"files": [file(full, f"{n}.log") for n in range(5)]})
    said = text_of(html.content.decode())
    assert "4.log not read" in said
    assert "This was not read: one form takes 16 MiB of files." in said


def test_large_text_travels_through_the_form_unchanged(editor: Client) -> None:
    body = (SPEED.replace("\n", "\r\n") + (30 * "caf\xe9 " + "\r\n") * 20_000).encode("latin-1")
    assert 2_600_000 < len(body) < MAX_BYTES
    save(editor, preview(editor, files=file(body)))
    assert bytes(ImportedText.objects.get().body) == body


def test_a_damaged_card_stores_nothing(editor: Client) -> None:
    answer = editor.post("/upload/save/", {"packed": pack(SPEED.encode())[:-8]}, headers=FRAGMENT)
    assert answer.status_code == 400
    assert "The text arrived damaged. Choose the file again." in answer.content.decode()


def test_a_save_without_a_text_says_so(editor: Client) -> None:
    answer = editor.post("/upload/save/", {"name": "x"})
    assert answer.status_code == 400
    assert "There is no text in this form." in text_of(answer.content.decode())
    assert "There is nothing to read" in text_of(preview(editor, text=" "))
