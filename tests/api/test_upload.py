import gzip
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts.models import ApiToken
from accounts.tokens import create_token
from runs.agent import agent_release
from runs.models import Run
from tests.conftest import ApiClient
from tests.sample_documents import run_document

URL = "/api/v1/runs/"


def errors(response: Any) -> dict[str | None, tuple[str, str]]:
    return {error["attr"]: (error["code"], error["detail"]) for error in response.json()["errors"]}


def test_a_valid_document_is_stored_verbatim_and_accepted(
    uploader: ApiClient, reader: ApiClient
) -> None:
    document = run_document()
    body = json.dumps(document, indent=3)
    response = uploader.upload(body)
    assert response.status_code == 202
    answer = response.json()
    assert answer["run_id"] == document["run_id"]
    assert answer["status"] == "accepted"
    assert answer["url"] == f"http://testserver/api/v1/runs/{document['run_id']}/"
    stored = reader.get(f"{answer['url']}document/")
    assert stored.content == body.encode()
    assert stored["Content-Type"] == "application/json"


def test_the_same_document_again_is_not_counted_twice(uploader: ApiClient) -> None:
    document = run_document()
    assert uploader.upload(document).status_code == 202
    respelt = json.dumps(document, indent=2, sort_keys=True)
    again = uploader.upload(respelt)
    assert again.status_code == 200
    assert again.json()["run_id"] == document["run_id"]
    assert Run.objects.count() == 1


def test_other_content_under_a_known_run_id_is_a_conflict(uploader: ApiClient) -> None:
    document = run_document()
    uploader.upload(document)
    response = uploader.upload({**document, "tags": {"rack": "other"}})
    assert response.status_code == 409
    assert response.json()["errors"][0]["code"] == "conflict"
    stored = json.loads(Run.objects.get().document.received)
    assert stored["tags"] == {"rack": "b2"}


def test_gzip_is_accepted_and_stored_unpacked(uploader: ApiClient) -> None:
    body = json.dumps(run_document()).encode()
    response = uploader.upload(gzip.compress(body), headers={"content-encoding": "gzip"})
    assert response.status_code == 202
    assert Run.objects.get().document.received == body


def test_the_task_is_queued_once_and_after_the_commit(
    uploader: ApiClient, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    document = run_document()
    with django_capture_on_commit_callbacks() as callbacks:
        uploader.upload(document)
        uploader.upload(document)
    assert len(callbacks) == 1


def test_every_fault_of_a_bad_document_is_named(uploader: ApiClient) -> None:
    document = run_document()
    document["measurements"][0]["samples"][0]["seconds"] = -1
    del document["host"]
    response = uploader.upload(document)
    assert response.status_code == 400
    assert response.json()["type"] == "validation_error"
    named = errors(response)
    assert named["host"] == ("required", "This field is required.")
    assert named["measurements.0.samples.0.seconds"][0] == "exclusiveMinimum"
    assert not Run.objects.exists()


def dated(moment: datetime, **changes: Any) -> dict[str, Any]:
    text = moment.isoformat()
    return run_document(**{"started_at": text, "finished_at": text, **changes})


def test_a_document_of_a_clock_that_is_wrong_is_refused_at_once(uploader: ApiClient) -> None:
    now = timezone.now()
    assert uploader.upload(dated(now + timedelta(hours=23))).status_code == 202
    ahead, unset = now + timedelta(hours=25), datetime(1970, 1, 1, tzinfo=UTC)
    for moment, code in ((ahead, "future"), (unset, "past")):
        answer = uploader.upload(dated(moment))
        assert answer.status_code == 400
        found = errors(answer)
        assert {name: said[0] for name, said in found.items()} == {
            "started_at": code,
            "finished_at": code,
        }
        assert "Set the host's clock" in found["started_at"][1]
    answer = uploader.upload(run_document(finished_at="9999-12-31T23:59:59-01:00"))
    assert errors(answer)["finished_at"][0] == "date"
    assert Run.objects.count() == 1


def test_too_large_a_document_is_a_413(uploader: ApiClient) -> None:
    response = uploader.upload(run_document(padding="x" * settings.RUN_DOCUMENT_MAX_BYTES))
    assert response.status_code == 413
    assert response.json()["errors"][0]["code"] == "too_large"


def test_a_gzip_bomb_is_a_413(uploader: ApiClient) -> None:
    bomb = gzip.compress(b" " * 200_000_000, compresslevel=9)
    response = uploader.upload(bomb, headers={"content-encoding": "gzip"})
    assert response.status_code == 413


def test_other_content_types_and_encodings_are_a_415(uploader: ApiClient) -> None:
    assert uploader.post(URL, "x", content_type="text/plain").status_code == 415
    response = uploader.upload("{}", headers={"content-encoding": "br"})
    assert response.status_code == 415


@pytest.mark.parametrize(
    "header", (None, "Bearer", "Bearer wrong", "Bearer a b", "Bearer \u00e4", "Basic eDp5")
)
@pytest.mark.django_db
def test_a_missing_or_wrong_token_is_a_401(header: str | None) -> None:
    headers = {"authorization": header} if header else {}
    response = Client(headers=headers).post(URL, "{}", content_type="application/json")
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert response.json()["errors"][0]["detail"]


def test_an_expired_or_revoked_token_is_a_401(uploader: ApiClient) -> None:
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert uploader.upload(run_document()).status_code == 401
    ApiToken.objects.update(expires_at=None, revoked_at=timezone.now())
    assert uploader.upload(run_document()).status_code == 401


def test_using_a_token_is_noted_and_only_its_hash_is_stored(db: None) -> None:
    secret = create_token("rack", "upload", expires_days=1)
    assert ApiClient(secret).upload(run_document()).status_code == 202
    token = ApiToken.objects.get()
    assert token.last_used_at is not None
    assert secret not in str(list(ApiToken.objects.values()))
    assert Run.objects.get().token == token


@pytest.mark.django_db
def test_a_token_of_one_host_brings_no_other() -> None:
    bound = ApiClient(create_token("nas only", "upload", host_name="nas"))
    assert bound.upload(run_document(host={"name": "nas"})).status_code == 202
    refused = bound.upload(run_document(host={"name": "router"}))
    assert refused.status_code == 403
    said = refused.json()["errors"][0]["detail"]
    assert "restricted to the host “nas”" in said
    assert "“router”" in said
    text = "aes128-ctr: 104.167 MB/s\n"
    import_of = "/api/v1/imports/?host={}"
    answers = [
        bound.post(import_of.format(name), text, content_type="text/plain").status_code
        for name in ("router", "nas")
    ]
    assert answers == [403, 202]
    assert set(Run.objects.values_list("host_name", flat=True)) == {"nas"}


def test_the_answer_names_the_newer_agent_to_an_older_one_of_ours(uploader: ApiClient) -> None:
    def answered(**agent: str) -> Any:
        return uploader.upload(run_document(agent=agent)).json().get("newer_agent")

    current = agent_release().version
    assert answered(name="ciphermark-agent", version="0.9.10") == current
    assert answered(name="ciphermark-agent", version=current) is None
    assert answered(name="ciphermark-agent", version="99.10.0") is None
    assert answered(name="somebody's", version="0.9.10") is None
