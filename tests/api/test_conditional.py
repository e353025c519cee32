"""Who has the present answer is told so; who takes gzip gets a tenth of the bytes."""

from typing import Any

import pytest
from django.test import Client

from ingest.edits.recompute import set_hidden
from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import run_document, ssh_measurement

COMPARISON = "/api/v1/comparison/"
CTR = "aes128-ctr"
BY_DATA = (
    COMPARISON,
    "/api/v1/exports/comparison.csv",
    "/api/v1/exports/comparison.xlsx",
    "/api/v1/exports/measurements.csv?excel=1",
)
RECOMMENDATION = "/api/v1/recommendation/?host=nas"
BY_BYTES = ("/api/v1/hosts/", "/api/v1/runs/", "/api/v1/ciphers/", "/api/v1/schema/run")


def ask(client: Client, path: str, **headers: str) -> Any:
    """The answer, read to its end; its files are closed, and the test's connection is not."""
    answer: Any = client.get(path, headers=headers)
    answer.body = answer.getvalue()
    for close in answer._resource_closers:
        close()
    return answer


def test_who_has_the_present_answer_gets_304(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(run_document(ssh_measurement(CTR, 1e8)))
    for path in (*BY_DATA, RECOMMENDATION, *BY_BYTES):
        first = ask(reader, path)
        assert first.status_code == 200, path
        assert first.body, path
        assert first["Cache-Control"] == "private, no-cache", path
        again = ask(reader, path, if_none_match=first["ETag"])
        assert (again.status_code, again.body) == (304, b""), path
        assert again["ETag"] == first["ETag"], path
        assert ask(reader, path, if_none_match='W/"another"').status_code == 200, path


def test_a_change_of_the_data_is_another_answer(reader: ApiClient, store_run: StoreRun) -> None:
    paths = (*BY_DATA, "/api/v1/hosts/", "/api/v1/runs/")
    known = {path: list[str]() for path in paths}

    def every_answer_is_new() -> None:
        for path, tags in known.items():
            answer = ask(reader, path, if_none_match=", ".join(tags))
            assert answer.status_code == 200, path
            assert answer["ETag"] not in tags, path
            tags.append(answer["ETag"])

    run = store_run(run_document(ssh_measurement(CTR, 1e8)))
    every_answer_is_new()
    store_run(run_document(ssh_measurement(CTR, 2e8), host={"name": "another"}))
    every_answer_is_new()
    set_hidden(run, True)
    every_answer_is_new()


@pytest.mark.django_db
@pytest.mark.parametrize("path", (COMPARISON, "/api/v1/hosts/"))
def test_nobody_learns_from_an_etag_what_may_not_be_read(
    reader: ApiClient, store_run: StoreRun, path: str
) -> None:
    store_run(run_document(ssh_measurement(CTR, 1e8)))
    etag = ask(reader, path)["ETag"]
    stranger = ask(Client(), path, if_none_match=etag)
    assert stranger.status_code == 401
    assert "ETag" not in stranger
