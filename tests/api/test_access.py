from urllib.parse import unquote

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.cases import each
from tests.conftest import ApiClient

PRIVATE = (
    "/api/v1/runs/",
    "/api/v1/hosts/",
    "/api/v1/ciphers/",
    "/api/v1/comparison/",
    "/api/v1/exports/comparison.csv",
    "/api/v1/reference-profiles/",
    "/api/v1/openapi.json",
)


@each("url", ("/", "/runs/", "/hosts/", *PRIVATE))
def test_no_cache_between_two_readers_keeps_an_answer(
    url: str, reader: ApiClient, settings: Settings
) -> None:
    for public in (False, True):
        settings.CIPHERMARK_PUBLIC = public
        for client in (reader, Client()):
            assert "private" in client.get(url)["Cache-Control"], (url, public)


@pytest.mark.django_db
@each("method", ("get", "post", "delete"))
@each("path", ("nowhere", "v1/nonexistent/", "v1/runs/%0A/", "v1/%0D%0Ax"))
def test_no_address_below_api_is_answered_with_a_page(method: str, path: str) -> None:
    answer = getattr(Client(), method)(f"/api/{path}")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
    assert answer.json()["type"] == "client_error"
    assert f"/api/{unquote(path)}" in answer.json()["errors"][0]["detail"]
