"""POST imports/: previewed, stored once, processed, and refused with a reason."""

import gzip
import json
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from documents.validation import validate_run_document
from ingest.processing.run_processing import process_run
from parsers.received_text import MAX_BYTES, MAX_LINES
from store.models import ImportedText, Measurement, Run
from store.run_documents import document_bytes
from tests.cases import each
from tests.conftest import ApiClient

TABLE = """\
OpenSSL 3.0.13 30 Jan 2024 (Library: OpenSSL 3.0.13 30 Jan 2024)
built on: Tue Jan 30 12:00:00 2024 UTC
options: bn(64,64)
compiler: gcc -O2
CPUINFO: OPENSSL_ia32cap=0xfeda32235f8bffff:0x405f46f1bf2fb9
The 'numbers' are in 1000s of bytes per second processed.
type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes  16384 bytes
AES-128-CBC     901234.56k  1301234.56k  1401234.56k  1421234.56k  1431234.56k  1441234.56k
"""
LOOP = "aes128-ctr: 104.167 MB/s\n3des-cbc: 20.5 MB/s\n"


def send(client: Client, text: str | bytes, expect: int = 202, **query: Any) -> Any:
    extra = {name: query.pop(name) for name in ("content_type", "headers") if name in query}
    response = client.post(
        "/api/v1/imports/",
        text if isinstance(text, bytes) else text.encode(),
        content_type=extra.get("content_type", "text/plain"),
        headers=extra.get("headers"),
        query_params=query,
    )
    assert response.status_code == expect, response.content
    return response.json()


def test_a_preview_says_what_is_understood_and_stores_nothing(uploader: ApiClient) -> None:
    answer = send(uploader, "Hello there\n" + TABLE, expect=200, preview=1)
    assert answer["format"] == "openssl-speed"
    (document,) = answer["documents"]
    assert document["environment"]["openssl"]["version_text"].startswith("OpenSSL 3.0.13")
    rates = {
        one["block_size"]: one["samples"][0]["bytes_per_second"] for one in document["measurements"]
    }
    assert rates[16384] == 1441234560.0
    assert len(rates) == 6
    assert answer["unrecognised"] == [{"line": 1, "text": "Hello there"}]
    assert not ImportedText.objects.exists()
    assert not Run.objects.exists()


def test_a_previewed_document_is_a_run_document_but_for_its_rates(uploader: ApiClient) -> None:
    (document,) = send(uploader, TABLE, expect=200, preview=1)["documents"]
    for measurement in document["measurements"]:
        for sample in measurement["samples"]:
            sample.update(bytes=int(sample.pop("bytes_per_second")), seconds=1.0)
    assert validate_run_document(document) == []


def test_an_import_is_stored_verbatim_and_becomes_a_run(uploader: ApiClient) -> None:
    answer = send(uploader, TABLE)
    assert answer["status"] == "accepted"
    assert answer["url"].endswith(f"/api/v1/runs/{answer['run_id']}/")
    assert [run["run_id"] for run in answer["runs"]] == [answer["run_id"]]
    run = Run.objects.get(run_id=UUID(answer["run_id"]))
    assert run.imported_text is not None
    assert bytes(run.imported_text.body) == TABLE.encode()
    assert process_run(run.pk) == Run.Status.READY
    run.refresh_from_db()
    assert run.source == "import"
    assert run.started_at is None  # the text does not say when
    row = Measurement.objects.get(run=run, series__block_size=16384)
    assert (row.series.cipher, row.median, row.n) == ("aes-128-cbc", 1441234560.0, 1)


def test_the_text_of_a_run_can_be_had_exactly_as_it_came(
    uploader: ApiClient, reader: ApiClient
) -> None:
    body = "\ufeff> Größe\r\n".encode() + LOOP.encode()
    run_id = send(uploader, body)["run_id"]
    response = reader.get(f"/api/v1/runs/{run_id}/text/")
    assert response.content == body
    assert response["Content-Disposition"].startswith("attachment")
    assert uploader.get(f"/api/v1/runs/{run_id}/text/").status_code == 403


def test_a_run_of_an_agent_has_no_text(reader: ApiClient, published: None) -> None:
    run = Run.objects.first()
    assert run is not None
    assert reader.get(f"/api/v1/runs/{run.run_id}/text/").status_code == 404


def test_the_same_text_again_is_not_counted_twice(uploader: ApiClient) -> None:
    first = send(uploader, LOOP)
    again = send(uploader, LOOP, expect=200)
    assert again["runs"] == first["runs"]
    assert Run.objects.count() == ImportedText.objects.count() == 1
    other = send(uploader, LOOP, host="nas")
    assert other["run_id"] != first["run_id"]


def test_what_the_reader_says_of_the_machine_counts(uploader: ApiClient) -> None:
    facts = {"host": "nas", "cpu": "Intel Atom D525", "os": "Debian 7", "openssl": "OpenSSL 1.0.1e"}
    answer = send(uploader, TABLE, expect=200, preview=1, **facts)
    (document,) = answer["documents"]
    assert document["host"]["name"] == "nas"
    assert document["environment"]["cpu"]["model"] == "Intel Atom D525"
    assert document["environment"]["os"] == {"name": "Debian GNU/Linux", "version": "7"}
    assert document["environment"]["openssl"]["version_text"] == "OpenSSL 1.0.1e"


def test_what_mb_means_can_be_said(uploader: ApiClient) -> None:
    def rate(**query: Any) -> float:
        answer = send(uploader, LOOP, expect=200, preview=1, **query)
        document = answer["documents"][0]
        (row,) = [one for one in document["measurements"] if one["cipher"] == "aes128-ctr"]
        return float(row["samples"][0]["bytes_per_second"])

    assert rate() == rate(unit="MB") == 104.167e6
    assert rate(unit="MiB") == pytest.approx(104.167 * 2**20)


def test_a_time_needs_the_bytes_that_were_sent(uploader: ApiClient) -> None:
    command = "$ time ssh -c aes128-ctr localhost 'cat > /dev/null' < file\n"
    text = command + "real\t0m2.500s\nuser\t0m1.000s\nsys\t0m0.500s\n"
    assert send(uploader, text, expect=200, preview=1)["documents"] == []
    (document,) = send(uploader, text, expect=200, preview=1, bytes=1_000_000_000)["documents"]
    (sample,) = document["measurements"][0]["samples"]
    assert (sample["bytes"], sample["seconds"]) == (1_000_000_000, 2.5)


def test_a_transfer_that_names_no_cipher_can_be_given_one(uploader: ApiClient) -> None:
    text = "104857600 bytes (105 MB) copied, 0.5 s, 210 MB/s\n"
    silent = send(uploader, text, expect=200, preview=1)
    assert silent["documents"] == []
    assert "no_cipher" in {one["code"] for one in silent["warnings"]}
    answer = send(uploader, text, expect=200, preview=1, cipher="aes256-ctr")
    assert answer["format"] == "dd"
    (measurement,) = answer["documents"][0]["measurements"]
    assert measurement["cipher"] == "aes256-ctr"
    assert measurement["samples"] == [{"line": 1, "bytes": 104857600, "seconds": 0.5}]


def test_texts_without_a_machine_are_not_taken_for_one_machine(uploader: ApiClient) -> None:
    names = {
        send(uploader, text, expect=200, preview=1)["documents"][0]["host"]["name"]
        for text in (LOOP, LOOP + "aes256-ctr: 90 MB/s\n")
    }
    assert len(names) == 2
    assert all(name.startswith("import-") for name in names)


def test_a_figure_that_cannot_be_true_is_kept_out_of_statistics(uploader: ApiClient) -> None:
    text = (
        "Doing aes-128-cbc for 3s on 8192 size blocks: 54000 aes-128-cbc's in 0.02s\n"
        "type           8192 bytes\n"
        "aes-128-cbc   22118400.00k\n"
    )
    answer = send(uploader, text)
    assert "implausible" in {one["code"] for one in answer["warnings"]}
    run = Run.objects.get(run_id=UUID(answer["run_id"]))
    process_run(run.pk)
    row = Measurement.objects.get(run=run)
    assert row.implausible
    assert row.median is None
    assert json.loads(document_bytes(run.document))["measurements"][0]["samples"][0]["implausible"]


def test_a_text_without_figures_is_refused_and_previewed_as_such(uploader: ApiClient) -> None:
    assert send(uploader, "nothing to see here", expect=200, preview=1)["documents"] == []
    answer = send(uploader, "nothing to see here", expect=400)
    (error,) = answer["errors"]
    assert error["code"] == "no_figures"
    assert not ImportedText.objects.exists()


@pytest.mark.parametrize(
    ("body", "status", "words"),
    (
        (gzip.compress(TABLE.encode()), 400, "a gzip archive"),
        (b"x" * (MAX_BYTES + 1), 413, "at most"),
        (b"\n" * (MAX_LINES + 1), 413, "lines"),
    ),
    ids=("gzip", "large", "many lines"),
)
def test_what_is_no_text_is_refused_with_the_reason(
    uploader: ApiClient, body: bytes, status: int, words: str
) -> None:
    answer = send(uploader, body, expect=status)
    assert words in answer["errors"][0]["detail"]
    assert not ImportedText.objects.exists()


@each(
    ("name", "value"),
    (
        ("format", "speed"),
        ("unit", "mb"),
        ("bytes", "-1"),
        ("bytes", "1e9"),
        ("preview", "yes"),
        ("host", "x" * 161),
        ("cpu", "a\x07b"),
        ("hots", "nas"),
    ),
)
def test_a_bad_parameter_is_named(uploader: ApiClient, name: str, value: str) -> None:
    answer = send(uploader, LOOP, expect=400, **{name: value})
    assert answer["errors"][0]["attr"] == name


def test_an_old_encoding_is_read_and_said(uploader: ApiClient) -> None:
    latin = "Größe: mégaoctets\n".encode("latin-1") + LOOP.encode()
    answer = send(uploader, latin, expect=200, preview=1)
    assert len(answer["documents"][0]["measurements"]) == 2
    assert "encoding" in {one["code"] for one in answer["warnings"]}


def test_a_compressed_request_is_unpacked(uploader: ApiClient) -> None:
    send(uploader, gzip.compress(LOOP.encode()), headers={"content-encoding": "gzip"})
    assert bytes(ImportedText.objects.get().body) == LOOP.encode()


def test_another_content_type_is_told_what_to_send(uploader: ApiClient) -> None:
    form = "application/x-www-form-urlencoded"
    answer = send(uploader, LOOP, expect=415, content_type=form)
    assert "text/plain" in answer["errors"][0]["detail"]


def test_the_answer_of_a_long_text_is_bounded(uploader: ApiClient) -> None:
    answer = send(uploader, "neither here nor there\n" * 5_000, expect=200, preview=1)
    assert answer["unrecognised_count"] == 5_000
    assert len(answer["unrecognised"]) == 1_000
    assert len(json.dumps(answer)) < 200_000


@pytest.mark.parametrize("number", ("0" * 29 + "1" + "9" * 400, "0", str(2**61), "٣"))
def test_an_absurd_number_of_bytes_is_a_400(uploader: ApiClient, number: str) -> None:
    answer = send(uploader, LOOP, expect=400, preview=1, bytes=number)
    assert answer["errors"][0]["attr"] == "bytes"


def test_a_board_with_a_wrong_clock_is_no_reason_to_reject_its_report(uploader: ApiClient) -> None:
    report = (
        "sbc-bench v0.9.8 Acme Board (Thu, 01 Jan 2099 10:00:00 +0100)\n\n"
        "OpenSSL 3.0.11, built on 19 Sep 2023 (Library: OpenSSL 3.0.11 19 Sep 2023)\n"
        "type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes\n"
        "aes-128-cbc     101125.50k   283286.23k   503031.38k   623456.00k   663456.00k\n"
    )
    answer = send(uploader, report)
    run = Run.objects.get(run_id=UUID(answer["run_id"]))
    assert process_run(run.pk) == Run.Status.READY
    run.refresh_from_db()
    assert run.started_at is None
