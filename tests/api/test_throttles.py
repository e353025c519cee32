"""Requests a minute of one token and one address; Redis down lets everybody in."""

import logging

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from access import request_counts
from access.client_address import client_address, network_of
from access.tokens import create_token
from tests.conftest import ApiClient
from tests.sample_documents import run_document

pytestmark = pytest.mark.usefixtures("nobody_counted")


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands in the middle of a minute."""
    monkeypatch.setattr("access.request_counts.time.time", lambda: 1_800_000_030.0)


@pytest.mark.usefixtures("still")
def test_one_too_many_of_a_token_is_told_when_to_come_back(
    uploader: ApiClient, settings: Settings
) -> None:
    settings.CIPHERMARK_TOKEN_RATE = 2
    document = run_document()
    assert [uploader.upload(document).status_code for _ in range(3)] == [202, 200, 429]
    refused = uploader.upload(document)
    assert refused["Retry-After"] == "31"
    assert refused.json()["type"] == "client_error"
    assert refused.json()["errors"][0]["code"] == "throttled"
    other = ApiClient(create_token("another", "upload"))
    assert other.upload(document).status_code == 200


@pytest.mark.django_db
@pytest.mark.usefixtures("still")
def test_one_too_many_of_an_address_gets_a_page_or_an_error(settings: Settings) -> None:
    settings.CIPHERMARK_PUBLIC, settings.CIPHERMARK_ADDRESS_RATE = True, 2
    client = Client(REMOTE_ADDR="192.0.2.7")
    assert [client.get("/method/").status_code for _ in range(3)] == [200, 200, 429]
    page = client.get("/method/")
    assert page["Retry-After"] == "31"
    assert "Too many requests" in page.content.decode()
    assert client.get("/api/v1/hosts/").json()["errors"][0]["code"] == "throttled"
    assert client.get("/healthz").status_code == 200
    assert Client(REMOTE_ADDR="192.0.2.8").get("/method/").status_code == 200


@pytest.mark.django_db
@pytest.mark.usefixtures("still")
def test_guessing_tokens_is_slowed_down_too(settings: Settings) -> None:
    settings.CIPHERMARK_ADDRESS_RATE = 1
    guess = {"headers": {"authorization": "Bearer cmk_nothing"}, "REMOTE_ADDR": "192.0.2.9"}
    answers = [Client().get("/api/v1/runs/", **guess).status_code for _ in range(2)]  # type: ignore[arg-type]
    assert answers == [401, 429]


def test_without_redis_everybody_is_let_in_with_one_line_in_the_log(
    reader: ApiClient, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL, settings.CIPHERMARK_TOKEN_RATE = "redis://127.0.0.1:1/0", 1
    with caplog.at_level(logging.WARNING, "access.request_counts"):
        answers = [reader.get("/api/v1/runs/").status_code for _ in range(5)]
    assert answers == [200] * 5
    assert [one.message for one in caplog.records if "not counted" in one.message].__len__() == 1
    request_counts._outage.until = 0.0


@pytest.mark.parametrize(
    ("proxies", "forwarded", "direct", "found"),
    (
        (0, "203.0.113.5", "192.0.2.1", "192.0.2.1"),
        (1, "203.0.113.5", "10.0.0.1", "203.0.113.5"),
        (1, "1.2.3.4, 203.0.113.5", "10.0.0.1", "203.0.113.5"),
        (2, "1.2.3.4, 203.0.113.5, 10.0.0.2", "10.0.0.1", "203.0.113.5"),
        (1, "<script>", "10.0.0.1", "10.0.0.1"),
        (1, "", "10.0.0.1", "10.0.0.1"),
        (1, "2001:db8::1", "10.0.0.1", "2001:db8::1"),
        (0, "", "", "127.0.0.1"),
    ),
)
def test_the_address_is_the_one_that_our_own_proxy_saw(
    settings: Settings, proxies: int, forwarded: str, direct: str, found: str
) -> None:
    settings.CIPHERMARK_PROXIES = proxies
    request = Client().get("/healthz").wsgi_request
    request.META |= {"HTTP_X_FORWARDED_FOR": forwarded, "REMOTE_ADDR": direct}
    assert client_address(request) == found


def test_a_customer_has_a_whole_ipv6_network() -> None:
    assert network_of("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64"
    assert network_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert network_of("192.0.2.1") == "192.0.2.1"
