import gzip
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from accounts.tokens import create_token
from runs.models import ImportedText, Measurement, Run
from runs.processing import derive_run
from tests.cases import each
from tests.conftest import ApiClient
from tests.sample_documents import run_document

TABLE = """\
OpenSSL 3.0.13 30 Jan 2024 (Library: OpenSSL 3.0.13 30 Jan 2024)
built on: Tue Jan 30 12:00:00 2024 UTC
The 'numbers' are in 1000s of bytes per second processed.
type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes  16384 bytes
AES-128-CBC     901234.56k  1301234.56k  1401234.56k  1421234.56k  1431234.56k  1441234.56k
"""
LOOP = "aes128-ctr: 104.167 MB/s\n3des-cbc: 20.5 MB/s\n"
# A rate above memory bandwidth is uncertain.
FAST = "aes256-ctr: 900 GB/s\n"


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


def preview(client: Client, text: str | bytes, **query: Any) -> Any:
    answer = send(client, text, expect=200, preview=1, **query)
    assert not ImportedText.objects.exists()
    return answer


def ciphers(answer: Any) -> list[str]:
    return [
        measurement["cipher"] for doc in answer["documents"] for measurement in doc["measurements"]
    ]


def samples_of(answer: Any) -> list[dict[str, Any]]:
    measured = (measurement for doc in answer["documents"] for measurement in doc["measurements"])
    return [sample for measurement in measured for sample in measurement["samples"]]


def error_of(client: Client, text: str | bytes, status: int, **query: Any) -> dict[str, Any]:
    (error,) = send(client, text, status, **query)["errors"]
    assert isinstance(error, dict)
    return error


def test_a_preview_says_what_is_understood(uploader: ApiClient) -> None:
    answer = preview(uploader, TABLE + "\n\nThat is all there is.\n")
    assert answer["format"] == "openssl-speed"
    assert ciphers(answer) == ["aes-128-cbc"] * 6
    assert samples_of(answer)[-1] == {"line": 5, "bytes_per_second": 1441234560.0}
    assert answer["unrecognised"] == [{"line": 8, "text": "That is all there is."}]
    assert (answer["uncertain"], answer["uncertain_count"]) == ([], 0)


def test_uncertain_results_are_listed_and_taken_on_request(uploader: ApiClient) -> None:
    certain, everything = (preview(uploader, LOOP + FAST, accept=a) for a in ("certain", "all"))
    assert ciphers(certain) == ["aes128-ctr", "3des-cbc"]
    (skipped,) = certain["uncertain"]
    assert (skipped["line"], skipped["cipher"]) == (3, "aes256-ctr")
    assert skipped["bytes_per_second"] == 900e9
    assert skipped["reason"]
    assert ciphers(everything) == ["aes128-ctr", "3des-cbc", "aes256-ctr"]
    assert everything["uncertain_count"] == 0
    assert send(uploader, LOOP + FAST)["uncertain"] == certain["uncertain"]
    detail = error_of(uploader, FAST, 400)["detail"]
    assert detail == "1 uncertain result was skipped. Send accept=all to import them."
    run = Run.objects.get(run_id=send(uploader, FAST, accept="all")["run_id"])
    derive_run(run.pk)
    row = Measurement.objects.get(run=run)
    assert (row.implausible, row.median) == (True, None)


def test_an_import_is_stored_verbatim_and_becomes_a_run(
    uploader: ApiClient, reader: ApiClient
) -> None:
    body = "\ufeff> Größe\r\n".encode() + TABLE.encode()
    answer = send(uploader, body)
    assert answer["status"] == "accepted"
    assert answer["url"].endswith(f"/api/v1/runs/{answer['run_id']}/")
    assert [run["run_id"] for run in answer["runs"]] == [answer["run_id"]]
    run = Run.objects.get(run_id=UUID(answer["run_id"]))
    assert derive_run(run.pk).status == Run.Status.READY
    run.refresh_from_db()
    assert (run.source, run.started_at) == ("import", None)
    row = Measurement.objects.get(run=run, series__block_size=16384)
    assert (row.series.cipher, row.median, row.n) == ("aes-128-cbc", 1441234560.0, 1)
    response = reader.get(f"/api/v1/runs/{run.run_id}/text/")
    assert response.content == body
    assert response["Content-Disposition"].startswith("attachment")
    assert uploader.get(f"/api/v1/runs/{run.run_id}/text/").status_code == 403
    agents = Run.objects.get(run_id=uploader.upload(run_document()).json()["run_id"])
    assert reader.get(f"/api/v1/runs/{agents.run_id}/text/").status_code == 404


def test_the_same_text_again_is_not_counted_twice(uploader: ApiClient) -> None:
    first = send(uploader, LOOP + FAST, host="nas")
    again = send(uploader, LOOP + FAST, expect=200, host="nas")
    assert (again["import_id"], again["runs"]) == (first["import_id"], first["runs"])
    assert Run.objects.count() == ImportedText.objects.count() == 1
    others = [send(uploader, LOOP + FAST), send(uploader, LOOP + FAST, accept="all")]
    assert len({first["run_id"], *(other["run_id"] for other in others)}) == 3
    Run.objects.all().delete()
    assert send(uploader, LOOP + FAST, host="nas")["runs"] == first["runs"]


@each(
    ("text", "query", "sample"),
    (
        (LOOP, {"unit": "MiB"}, {"line": 1, "bytes_per_second": 104.167 * 2**20}),
        (
            "$ time ssh -c aes128-ctr localhost 'cat > /dev/null' < file\n\nreal\t0m2.500s\n",
            {"bytes": 10**9},
            {"line": 3, "bytes": 10**9, "seconds": 2.5},
        ),
        (
            "104857600 bytes (105 MB) copied, 0.5 s, 210 MB/s\n",
            {"cipher": "aes128-ctr"},
            {"line": 1, "bytes": 104857600, "seconds": 0.5},
        ),
    ),
)
def test_hints_say_what_the_text_does_not(
    uploader: ApiClient, text: str, query: dict[str, Any], sample: dict[str, Any]
) -> None:
    assert sample not in samples_of(preview(uploader, text))
    answer = preview(uploader, text, **query)
    assert ciphers(answer)[0] == "aes128-ctr"
    assert samples_of(answer)[0] == pytest.approx(sample)


def test_a_reader_names_the_machine_of_sections_that_do_not(uploader: ApiClient) -> None:
    facts = {"host": "nas", "cpu": "Intel Atom D525", "os": "Debian 7", "openssl": "OpenSSL 1.0.1e"}
    (document,) = preview(uploader, TABLE, **facts)["documents"]
    assert document["host"]["name"] == "nas"
    assert document["environment"]["cpu"]["model"] == "Intel Atom D525"
    assert document["environment"]["os"] == {"name": "Debian GNU/Linux", "version": "7"}
    assert document["environment"]["openssl"]["version_text"].startswith("OpenSSL 3.0.13")
    bound = ApiClient(create_token("attic", "upload", host_name="attic"))
    send(bound, LOOP, expect=403, host="cellar")
    assert send(bound, LOOP, host="attic")["runs"]


@each(
    ("text", "words"),
    (
        ("nothing to see here\n", "No cipher results found."),
        ("Speeds:\n\n104857600 bytes (105 MB) copied, 0.5 s, 210 MB/s\n", "Line 3"),
    ),
)
def test_without_results_the_nearest_lines_are_named(
    uploader: ApiClient, text: str, words: str
) -> None:
    assert preview(uploader, text)["documents"] == []
    error = error_of(uploader, text, 400)
    assert error["code"] == "no_figures"
    assert words in error["detail"]
    assert not ImportedText.objects.exists()


@each(
    ("name", "value"),
    (
        *(("format", "speed"), ("unit", "mb"), ("preview", "yes"), ("accept", "some")),
        *(("bytes", "-1"), ("bytes", "1e9"), ("bytes", "0"), ("bytes", str(2**61))),
        *(("host", "x" * 161), ("cpu", "a\x07b"), ("hots", "nas")),
    ),
)
def test_a_bad_parameter_is_named(uploader: ApiClient, name: str, value: str) -> None:
    assert error_of(uploader, LOOP, 400, **{name: value})["attr"] == name


def test_requests_come_in_several_forms(uploader: ApiClient) -> None:
    answer = preview(uploader, "Größe: mégaoctets\n".encode("latin-1") + LOOP.encode())
    assert "encoding" in {remark["code"] for remark in answer["warnings"]}
    send(uploader, gzip.compress(LOOP.encode()), headers={"content-encoding": "gzip"})
    assert bytes(ImportedText.objects.get().body) == LOOP.encode()
    form = "application/x-www-form-urlencoded"
    assert "text/plain" in error_of(uploader, LOOP, 415, content_type=form)["detail"]


def test_a_rate_that_no_number_holds_is_listed_and_never_stored(uploader: ApiClient) -> None:
    text = LOOP + "aes256-ctr: 1e400 MB/s\naes192-ctr: 1e308 GB/s\n"
    answer = preview(uploader, text, accept="all")
    assert ciphers(answer) == ["aes128-ctr", "3des-cbc"]
    assert [remark["line"] for remark in answer["unrecognised"]] == [3, 4]
