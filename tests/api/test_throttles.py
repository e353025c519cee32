from collections.abc import Callable
from uuid import uuid4

import pytest
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework.throttling import SimpleRateThrottle

from accounts.tokens import create_token
from core.middleware import client_address
from tests.conftest import ApiClient
from tests.sample_documents import run_document

SetRates = Callable[..., None]


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> SetRates:
    # New cache keys reset the counters.
    counts = f"throttle_{uuid4().hex}_%(scope)s_%(ident)s"
    monkeypatch.setattr(SimpleRateThrottle, "cache_format", counts)

    def set_rates(**rates: str) -> None:
        monkeypatch.setattr(
            SimpleRateThrottle, "THROTTLE_RATES", {"token": None, "address": None, **rates}
        )

    return set_rates


def test_one_too_many_of_a_token_is_told_when_to_come_back(
    uploader: ApiClient, rates: SetRates
) -> None:
    rates(token="2/min")
    document = run_document()
    assert [uploader.upload(document).status_code for _ in range(3)] == [202, 200, 429]
    refused = uploader.upload(document)
    assert 0 < int(refused["Retry-After"]) <= 60
    assert refused.json()["type"] == "client_error"
    assert refused.json()["errors"][0]["code"] == "throttled"
    other = ApiClient(create_token("another", "upload"))
    assert other.upload(document).status_code == 200


@pytest.mark.django_db
def test_requests_without_a_token_are_counted_by_address(
    settings: Settings, rates: SetRates
) -> None:
    rates(address="2/min")
    settings.CIPHERMARK_PUBLIC = True
    client = Client(REMOTE_ADDR="192.0.2.7")
    answers = [client.get("/api/v1/ciphers/").status_code for _ in range(3)]
    assert answers == [200, 200, 429]
    assert client.get("/method/").status_code == 200
    assert Client(REMOTE_ADDR="192.0.2.8").get("/api/v1/ciphers/").status_code == 200


def test_without_redis_everybody_is_let_in(
    reader: ApiClient, settings: Settings, rates: SetRates
) -> None:
    rates(token="1/min")
    nowhere = {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {"default": nowhere}
    assert [reader.get("/api/v1/ciphers/").status_code for _ in range(3)] == [200] * 3


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
