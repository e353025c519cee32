import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from core import probes


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
    monkeypatch.setattr(probes, "readiness", probes.Readiness())
    monkeypatch.setitem(probes.PARTS, "worker", lambda: True)
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["ciphers.example.org"], True
    for name in ("10.0.0.7:8000", "[fd00::7]:8000", "", "not a host name"):
        answer = Client().get(address, headers={"host": name})
        assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store"), name
    stranger = {"host": "10.0.0.7", "x-forwarded-proto": "https"}
    settings.SECURE_SSL_REDIRECT = False
    assert Client().get("/accounts/login/", headers=stranger).status_code == 400
