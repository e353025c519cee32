import json
import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import AuditEntry
from runs.importing import ImportRequest, store_import
from runs.models import ImportedText, Run
from runs.processing import derive_run
from runs.received import MAX_BYTES
from runs.views.receiving import pack
from tests.cases import each
from tests.conftest import StoreRun
from tests.pages.conftest import link, page, table_values, text_of
from tests.sample_documents import run_document, ssh_measurement
from texts.documents import Corrections
from texts.types import Hints

SPEED = """\
my old server, before the move
OpenSSL 1.1.1w  11 Sep 2023
The 'numbers' are in 1000s of bytes per second processed.
type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes  16384 bytes
aes-128-cbc     201000.10k   301000.20k   401000.30k   501000.40k   601000.50k   611000.60k
des-ede3-cbc     21000.10k    22000.20k    23000.30k    24000.40k    24500.50k    24600.60k
and that was all
"""
BINARY = b"\x7fELF" + b"\x00" * 60
LIST = "aes128-ctr: 101.5 MB/s\n3des-cbc: 22.25 MB/s\n"
UNCERTAIN = (
    "fan@attic:~$ pv -L 5m big | ssh -c aes256-ctr nas 'cat > /dev/null'\naes256-ctr: 5 MB/s\n"
)
ENDS_BEFORE_IT_STARTS = run_document(finished_at="2020-01-01T00:00:00Z")
TWO = "fan@attic:~$ cat list\n" + LIST + "fan@cellar:~$ cat list\naes128-ctr: 44 MB/s\n"


def file(body: str | bytes, name: str = "speed.txt") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, body.encode() if isinstance(body, str) else body)


def preview(client: Client, expect: int = 200, **fields: Any) -> str:
    response = client.post("/upload/", fields)
    assert response.status_code == expect, response.content[:2000]
    return response.content.decode()


def fields_of(html: str) -> dict[str, Any]:
    form = html[html.index('id="preview-form"') :]
    sent: dict[str, Any] = {"save": "1"}
    for tag in re.findall(r"<input ([^>]*)>", form):
        found = dict(re.findall(r'([\w-]+)(?:="([^"]*)")?', tag))
        if "name" in found and (found["type"] != "checkbox" or "checked" in found):
            sent.setdefault(found["name"], []).append(unescape(found.get("value", "")))
    for name, options in re.findall(r'<select name="([^"]+)"[^>]*>(.*?)</select>', form, re.S):
        chosen = re.search(r'value="([^"]*)" selected', options)
        sent[name] = chosen[1] if chosen else ""
    return sent


def field(html: str, name: str, section: int = 0) -> str:
    names: list[str] = re.findall(rf'name="(\d+-[\d.]+-{name})"', html)
    return names[section]


def save(
    client: Client, html: str, changes: Mapping[str, Any] | None = None, expect: int = 302
) -> str:
    fields = fields_of(html)
    hosts = {name: "attic" for name in fields if name.endswith("-host") and fields[name] == [""]}
    response = client.post("/upload/save/", {**fields, **hosts, **(changes or {})})
    assert response.status_code == expect, response.content.decode()
    return page(client, response["Location"]) if expect == 302 else response.content.decode()


def samples() -> list[tuple[str, str, int]]:
    return [
        (document["host"]["name"], measurement["cipher"], sample["line"])
        for document in (json.loads(run.document.received) for run in Run.objects.all())
        for measurement in document["measurements"]
        for sample in measurement["samples"]
    ]


def test_a_form_of_another_site_stores_nothing(editor: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = editor.cookies
    assert strict.post("/upload/", {"text": LIST}).status_code == 403
    assert strict.post("/upload/save/", {"packed": pack(LIST.encode())}).status_code == 403
    assert not Run.objects.exists()


def test_each_row_stands_beside_its_line(editor: Client) -> None:
    html = preview(editor, text=f"{SPEED}{'x' * 500} aes128-ctr: 5 MB/s {'y' * 500}\n")
    said = text_of(html)
    assert "aes-128-cbc , line 5 16 B 201 MB/s 64 B 301 MB/s" in said
    assert "Line 5 aes-128-cbc 201000.10k 301000.20k" in said
    assert "Method: openssl speed" in said
    assert fields_of(html)["0-take"][0] == "5.0,5.1,5.2,5.3,5.4,5.5"
    assert "xx aes128-ctr: 5 MB/s yy" in html
    assert fields_of(html)[field(html, "openssl")][0].startswith("OpenSSL 1.1.1w")
    assert "Not recognised: 7" in said
    assert not Run.objects.exists()


def test_what_is_saved_is_the_text_and_what_was_selected(editor: Client) -> None:
    body = (SPEED.replace("\n", "\r\n") + "caf\xe9\r\n").encode("latin-1")
    html = preview(editor, files=file(body))
    first, _ = fields_of(html)["0-take"]
    changes = {"0-take": [first], field(html, "cpu"): "VIA C7", field(html, "os"): "NetBSD 9"}
    said = text_of(save(editor, html, {**changes, field(html, "openssl"): ""}))
    assert "Saved 6 results for 1 host attic" in said
    assert "accepted" in said
    assert set(samples()) == {("attic", "aes-128-cbc", 5)}
    stored, run = ImportedText.objects.get(), Run.objects.get()
    assert bytes(stored.body) == body
    assert stored.person == User.objects.get(username="edith")
    (entry,) = AuditEntry.objects.values_list("after", flat=True)
    assert [run["host_name"] for run in (entry or {})["runs"]] == ["attic"]
    facts = run.document.environment
    assert facts["cpu"]["model"] == "VIA C7"
    assert facts["os"] == {"name": "NetBSD", "version": "9"}
    assert facts["openssl"].get("version_text") is None


def test_results_to_another_machine_are_found_in_the_chart(editor: Client) -> None:
    text = "fan@attic:~$ dd if=/dev/zero bs=1M count=99 | ssh -c aes128-ctr cellar 'cat >/dev/null'"
    save(editor, preview(editor, text=f"{text}\n103809024 bytes copied, 1.5 s, 69.2 MB/s\n"))
    (run,) = Run.objects.all()
    derive_run(run.pk)
    chart = editor.get(f"/upload/?saved={run.run_id}", follow=True).content.decode()
    assert "Saved 1 result for 1 host: attic . Upload more" in text_of(chart)
    assert "69.2 MB/s" in text_of(chart)
    assert "Saved" not in page(editor, "/?saved=nothing")
    page(editor, "/upload/?saved=nothing", expect=404)


def test_a_saved_host_stays_first_when_its_filter_is_removed(
    editor: Client, store_run: StoreRun
) -> None:
    for number in range(21):
        store_run(run_document(ssh_measurement("aes128-ctr", 9e8), host={"name": f"h{number}"}))
    save(editor, html := preview(editor, text=LIST), {field(html, "host"): "attic"})
    run = Run.objects.get(source="import")
    derive_run(run.pk)
    chart = editor.get(f"/upload/?saved={run.run_id}", follow=True).content.decode()
    html = page(editor, "/" + link(chart, '<span><span class="muted">Host:</span>'))
    assert next(iter(table_values(html))) == "attic"
    assert "22 attic imported just saved, 1 host" in text_of(html)
    assert f'name="saved" value="{run.run_id}"' in html
    assert "saved" not in link(html, "Share")


def test_uncertain_results_are_taken_only_when_ticked(editor: Client) -> None:
    html = preview(editor, text=LIST + UNCERTAIN)
    assert "Not selected:" in text_of(html)
    assert len(fields_of(html)["0-take"]) == 2
    nothing = save(editor, html, {"0-take": []}, expect=400)
    assert "Select at least one result." in text_of(nothing)
    assert "0-take" not in fields_of(nothing)
    boxes = re.findall(r'name="0-take" value="([^"]+)"', html)
    assert len(boxes) == 3
    save(editor, html, {"0-take": boxes})
    assert ("attic", "aes256-ctr", 4) in samples()
    assert ImportedText.objects.get().asked["take"] == "all"


def test_a_host_is_required_only_for_what_is_selected(editor: Client) -> None:
    html = preview(editor, text=SPEED + "\n" + TWO)
    host = field(html, "host")
    for value in ("x" * 161, "left\u202eright", "a\x00b"):
        assert 'aria-invalid="true"' in save(editor, html, {host: value}, expect=400)
    html = save(editor, html, {host: "", field(html, "cpu", 1): "VIA C7"}, expect=400)
    assert "Nothing was saved. Correct the marked fields. " in text_of(html)
    (asked,) = re.findall(r'<input [^>]*aria-invalid="true"[^>]*>', html)
    assert f'name="{host}"' in asked
    assert " autofocus" in asked
    assert fields_of(html)[field(html, "cpu", 1)] == ["VIA C7"]
    assert not ImportedText.objects.exists()
    of_list = [box for box in fields_of(html)["0-take"] if "," not in box]
    save(editor, html, {host: "", "0-take": of_list})
    assert {host for host, *_ in samples()} == {"attic", "cellar"}


def test_where_nothing_is_found_the_text_can_be_corrected(editor: Client) -> None:
    html = preview(editor, text="the fast one: 101 MB/s <b>\n", unit="MiB")
    said = text_of(html)
    assert "No results found Closest matches: Line 1:" in said
    assert "the fast one: 101 MB/s &lt;b&gt;\n</textarea>" in html
    assert '<details class="fold" open><summary>Options' in html
    assert 'value="MiB" selected' in html


def test_a_stored_text_opens_with_its_answers(editor: Client) -> None:
    html = preview(editor, text=SPEED)
    _, last = fields_of(html)["0-take"]
    save(editor, html, {"0-take": [last], field(html, "cpu"): "VIA C7"})
    stored = ImportedText.objects.get()
    html = page(editor, f"/upload/?text={stored.import_id}")
    fields = fields_of(html)
    assert fields["0-take"] == [last]
    assert (fields[field(html, "host")], fields[field(html, "cpu")]) == (["attic"], ["VIA C7"])
    assert f'href="/runs/{Run.objects.get().run_id}/"' in html
    save(editor, html)
    assert Run.objects.count() == 1
    for unknown in ("nothing", "00000000-0000-0000-0000-000000000000"):
        page(editor, f"/upload/?text={unknown}", expect=404)
    request = ImportRequest(LIST.encode(), Hints(unit="MiB"), "all", {"": Corrections("den")})
    html = page(editor, f"/upload/?text={store_import(request).import_id}")
    assert fields_of(html)[field(html, "host")] == ["den"]
    assert 'value="MiB" selected' in html


def test_several_files_are_saved_together_or_not_at_all(editor: Client) -> None:
    facts = {"conditions": [{"code": "busy", "detail": "others used the CPU"}]}
    document = json.dumps(run_document(host={"name": "den"}, **facts), indent=3)
    files = [file(TWO, "list.txt"), file(BINARY, "ls"), file(document, "den.json")]
    html = preview(editor, files=files)
    said = text_of(html)
    assert "ls This is a binary file" in said
    assert "den.json Run document" in said
    assert "Conditions that may have affected the run: busy : others used the CPU Host den" in said
    other = json.dumps(run_document(run_id=json.loads(document)["run_id"], host={"name": "x"}))
    taken = preview(editor, files=file(other))
    assert "Saved 6 results for 3 hosts" in text_of(save(editor, html))
    run = Run.objects.get(source="agent")
    assert run.document.received == document.encode()
    assert "Another run has this run_id" in text_of(save(editor, taken, expect=409))
    html = preview(editor, files=[file(LIST), file(other)])
    assert f'href="/runs/{run.run_id}/"' in save(editor, html, expect=409)
    assert Run.objects.count() == 3
    save(editor, html, {"1-take": []})
    assert Run.objects.count() == 4


@each(
    ("body", "words"),
    (
        (BINARY, "This is a binary file"),
        (b"a" * (MAX_BYTES + 1), "Too large: 2.0 MiB. The limit is 2 MiB."),
        (b" \r\n \n", "The file is empty."),
        (
            b'{"schema": "ciphermark/run/1", "run_id": ',
            "Invalid JSON at line 1, column 42: value",
        ),
        (json.dumps(run_document(host={})).encode(), "host.name : This field is required."),
        (json.dumps(ENDS_BEFORE_IT_STARTS).encode(), "finished_at is before started_at"),
    ),
)
def test_a_bad_file_says_what_is_wrong_with_it(editor: Client, body: bytes, words: str) -> None:
    said = text_of(preview(editor, files=file(body, "odd.bin")))
    assert "odd.bin" in said
    assert words in said
