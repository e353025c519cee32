"""/healthz and /readyz: open to anybody, not counted, and of no use to load the site with."""

import json
import time
from collections.abc import Iterator
from threading import Event, Lock

import pytest
from django.test import Client, RequestFactory
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from api.http import operations


class Parts:
    """Parts of a site that count how often they are looked at."""

    def __init__(self) -> None:
        self.looks = 0
        self.well = True
        self.answers = Event()
        self.answers.set()
        self._counting = Lock()

    def look(self) -> bool:
        with self._counting:
            self.looks += 1
        self.answers.wait(600)
        return self.well


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Parts]:
    found = Parts()
    monkeypatch.setattr(operations, "_readiness", operations._Readiness())
    monkeypatch.setattr(operations, "PARTS", {"database": found.look})
    yield found
    found.answers.set()


@pytest.mark.django_db
def test_healthz_asks_nothing_of_anybody(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        response = Client().get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.django_db
@pytest.mark.parametrize("address", ("/healthz", "/readyz"))
def test_a_probe_by_ip_over_plain_http_is_answered(
    address: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "_readiness", operations._Readiness())
    monkeypatch.setitem(operations.PARTS, "worker", lambda: True)
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["ciphers.example.org"], True
    for name in ("10.0.0.7:8000", "[fd00::7]:8000", "", "not a host name"):
        answer = Client().get(address, headers={"host": name})
        assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store"), name
    stranger = {"host": "10.0.0.7", "x-forwarded-proto": "https"}
    settings.SECURE_SSL_REDIRECT = False
    assert Client().get("/accounts/login/", headers=stranger).status_code == 400


@pytest.mark.django_db
def test_a_sign_of_life_in_the_future_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "_readiness", operations._Readiness())
    monkeypatch.setattr(operations, "PARTS", {"clock": operations._clock})
    signs = {"beat": time.time() + 30}
    monkeypatch.setattr(operations, "last_seen", lambda: signs)
    assert operations.readyz(RequestFactory().get("/readyz")).status_code == 200
    monkeypatch.setattr(operations, "_readiness", operations._Readiness())
    signs["beat"] += 86400
    answer = operations.readyz(RequestFactory().get("/readyz"))
    assert (answer.status_code, json.loads(answer.content)) == (503, {"clock": "was ahead"})
