"""Who may read what."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

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


@pytest.mark.django_db
@pytest.mark.parametrize("url", PRIVATE)
def test_reading_is_private_by_default(url: str) -> None:
    assert Client().get(url).status_code == 401


@pytest.mark.django_db
@pytest.mark.parametrize("url", PRIVATE)
def test_a_public_site_can_be_read_by_anybody(url: str, settings: Settings) -> None:
    settings.CIPHERMARK_PUBLIC = True
    assert Client().get(url).status_code == 200


@pytest.mark.parametrize("url", PRIVATE)
def test_a_read_token_reads(url: str, reader: ApiClient) -> None:
    assert reader.get(url).status_code == 200


@pytest.mark.parametrize("url", PRIVATE)
def test_an_upload_token_does_not_read(url: str, uploader: ApiClient) -> None:
    assert uploader.get(url).status_code == 403


@pytest.mark.django_db
@pytest.mark.parametrize("url", PRIVATE)
def test_a_signed_in_person_reads(url: str) -> None:
    browser = Client()
    browser.force_login(User.objects.create_user("ada"))
    assert browser.get(url).status_code == 200


@pytest.mark.parametrize("url", ("/", "/runs/", "/hosts/", "/report.html", *PRIVATE))
def test_no_cache_between_two_readers_keeps_an_answer(
    url: str, reader: ApiClient, settings: Settings
) -> None:
    for public in (False, True):
        settings.CIPHERMARK_PUBLIC = public
        for client in (reader, Client()):
            assert "private" in client.get(url)["Cache-Control"], (url, public)


@pytest.mark.django_db
def test_a_signed_in_person_does_not_upload_without_a_token() -> None:
    browser = Client()
    browser.force_login(User.objects.create_superuser("root"))
    response = browser.post("/api/v1/runs/", "{}", content_type="application/json")
    assert response.status_code == 403


@pytest.mark.django_db
@pytest.mark.parametrize("url", ("/healthz", "/agent.py", "/api/v1/schema/run"))
def test_probes_agent_and_schema_need_no_token(url: str) -> None:
    assert Client().get(url).status_code == 200


@pytest.mark.django_db
def test_no_address_below_api_is_answered_with_a_page() -> None:
    for path in ("nowhere", "v1/runs/%0A/", "v1/%0D%0Ax"):
        answer = Client().get(f"/api/{path}")
        assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
