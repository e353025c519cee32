from typing import Any

import pytest
from django.test import Client

from config.urls import api
from core.api_view import ApiView
from tests.cases import each
from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import run_document, ssh_measurement

READING = (
    "/api/v1/comparison/",
    "/api/v1/exports/comparison.csv",
    "/api/v1/exports/comparison.xlsx",
    "/api/v1/exports/measurements.csv",
    "/api/v1/exports/measurements.xlsx",
    "/api/v1/runs/",
    "/api/v1/hosts/",
    "/api/v1/trends/?host=nas&tool=ssh&cipher=aes128-ctr",
    "/api/v1/recommendation/?host=nas",
)


def faults(response: Any) -> dict[str, tuple[str, str]]:
    assert response.status_code == 400, response.content
    return {error["attr"]: (error["code"], error["detail"]) for error in response.json()["errors"]}


@each("path", READING)
def test_a_misspelt_filter_is_no_answer_about_everything(reader: ApiClient, path: str) -> None:
    said = faults(reader.get(f"{path}{'&' if '?' in path else '?'}opnssl=openssl-3-0-19"))
    assert list(said) == ["opnssl"]
    code, sentence = said["opnssl"]
    assert code == "unknown_parameter"
    assert sentence.startswith("Unknown parameter 'opnssl'; ")
    assert ("openssl" in sentence) or path.startswith(("/api/v1/hosts/", "/api/v1/trends/"))


def test_every_fault_is_named_at_once(reader: ApiClient) -> None:
    asked = (
        "opnssl=1&tool=shh&tool=ssh&metric=sped&threads=0&since=soon&cpu=a%00b&cipher=aes128-gmc"
    )
    said = faults(reader.get(f"/api/v1/comparison/?{asked}"))
    assert list(said) == ["cpu", "since", "metric", "threads", "tool", "cipher", "opnssl"]


@each("path", ("comparison/?tool=ssh&tool=openssl", "runs/?since=2025-01-01&since=2026-01-01"))
def test_a_parameter_of_one_value_may_be_given_once(reader: ApiClient, path: str) -> None:
    name = path.partition("?")[2].partition("=")[0]
    said = faults(reader.get(f"/api/v1/{path}"))
    assert said == {name: ("invalid", "Use this parameter only once.")}


def test_what_lists_and_frameworks_send_is_taken(reader: ApiClient) -> None:
    assert reader.get("/api/v1/runs/?format=json&page_size=1").status_code == 200
    assert reader.get("/api/v1/hosts/?cursor=&page_size=").status_code == 200
    assert reader.head("/api/v1/comparison/?cipher=").status_code == 200
    assert reader.head("/api/v1/comparison/?ciper=x").status_code == 400


def test_a_run_is_not_lost_for_what_a_relay_put_into_its_address(uploader: ApiClient) -> None:
    response = uploader.post(
        "/api/v1/runs/?relay=7", run_document(), content_type="application/json"
    )
    assert response.status_code == 202


def test_every_operation_of_the_api_knows_its_parameters() -> None:
    # A view with another base class would ignore misspelt filters.
    others = ("openapi", "docs", "no-such-address")
    views: list[Any] = [
        getattr(pattern.callback, "cls", None) for pattern in api if pattern.name not in others
    ]
    assert len(views) > 20
    assert [view for view in views if not issubclass(view, ApiView)] == []


@pytest.mark.parametrize("page", ("/", "/runs/", "/hosts/", "/recommend/"))
def test_pages_pass_over_what_mails_add_and_name_a_misspelt_filter(
    admin_client: Client, store_run: StoreRun, page: str
) -> None:
    store_run(run_document())
    mail = admin_client.get(f"{page}?utm_source=mail&utm_medium=x&fbclid=y")
    assert mail.status_code == 200
    assert "does not know" not in mail.content.decode()
    near = admin_client.get(f"{page}?hots=nas&utm_source=mail&find-openssl=3")
    assert near.status_code == 200
    text = near.content.decode()
    assert "<code>hots</code>" in text
    assert "?utm_source=mail&amp;find-openssl=3&amp;host=nas" in text


MEANT = "Unknown cipher 'aes128-gmc'; did you mean aes128-gcm@openssh.com?"


def test_a_cipher_that_nobody_knows_is_named_with_the_one_that_was_meant(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(run_document(ssh_measurement("aes128-gcm@openssh.com", 1e8)))
    for path in (
        "comparison/?",
        "exports/comparison.xlsx?",
    ):
        said = faults(reader.get(f"/api/v1/{path}cipher=aes128-gmc"))
        assert list(said) == ["cipher"], path
        assert said["cipher"][1] == MEANT, path
    # A known cipher without results gives an empty response.
    assert reader.get("/api/v1/comparison/?cipher=aes256-ctr").json()["groups"] == []
