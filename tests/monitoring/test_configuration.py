"""Checks of the configuration against how requests really arrive, and of what lies on the disk."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from monitoring.checks import configuration, machine, servers
from monitoring.checks.finding import ok
from store.redis_client import quick_redis
from telemetry.counting import send_now
from telemetry.signs_of_life import SEEN
from tests.notifications.receivers import mailbox

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_has_arrived() -> Iterator[None]:
    send_now()
    quick_redis().delete(SEEN)
    yield
    send_now()
    quick_redis().delete(SEEN)


@pytest.mark.parametrize(
    ("proxies", "arrived", "state", "found"),
    (
        (1, [], "ok", "no request within an hour"),
        (1, [("203.0.113.9", "https")], "ok", "fits the requests"),
        (1, [("", "https")], "wrong", "clients can choose their address"),
        (2, [("203.0.113.9", "https")], "wrong", "CIPHERMARK_PROXIES is 2"),
        (1, [("203.0.113.9, 10.0.0.7", "https")], "warning", "has 2 addresses"),
        (0, [("203.0.113.9", "https")], "warning", "all clients share its limit"),
        (1, [("203.0.113.9", "https"), ("", "https")], "warning", "some requests have 0"),
        (1, [("203.0.113.9", "http")], "wrong", "leads to itself for ever"),
    ),
)
def test_forwarded_headers_are_compared_with_the_settings(
    settings: Settings,
    proxies: int,
    arrived: list[tuple[str, str]],
    state: str,
    found: str,
) -> None:
    settings.CIPHERMARK_PROXIES, settings.SECURE_SSL_REDIRECT = proxies, True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    Client().get("/healthz")  # a probe comes past the proxies, and says nothing of them
    for addresses, protocol in arrived:
        headers = {"x-forwarded-for": addresses} if addresses else {}
        Client().get("/api/schemas/run-1.json", headers={**headers, "x-forwarded-proto": protocol})
    send_now()
    finding = configuration.proxies()
    assert (finding.state, found in finding.found) == (state, True), finding
    assert bool(finding.to_do) == (state != "ok")


def test_the_mail_server_is_tried_and_sent_nothing(settings: Settings) -> None:
    assert configuration.email().found == "CIPHERMARK_EMAIL_URL is not set: no mail is sent"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    with mailbox() as box:
        settings.EMAIL_PORT = box.port
        assert configuration.email() == ok(f"127.0.0.1:{box.port} takes our mail")
    assert box.mails == []
    assert configuration.email().state == "wrong"


@pytest.mark.parametrize(("ahead", "state"), ((0, "ok"), (5, "warning"), (-90, "wrong")))
def test_a_clock_that_is_not_the_databases(
    monkeypatch: pytest.MonkeyPatch, ahead: float, state: str
) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + ahead)
    finding = servers.clock()
    assert finding.state == state
    assert ("behind" in finding.found) == (ahead < 0) or not ahead


@pytest.mark.parametrize(
    ("days", "state", "old"),
    ((1, "ok", "24 hours"), (3, "warning", "3 days"), (9, "wrong", "9 days")),
)
def test_the_age_of_the_newest_backup(
    settings: Settings, tmp_path: Path, days: int, state: str, old: str
) -> None:
    for age in (days, days + 1):
        path = tmp_path / f"ciphermark-{age}.dump"
        path.touch()
        os.utime(path, (time.time() - age * 86400,) * 2)
    settings.BACKUPS_DIR = tmp_path
    finding = machine.backups()
    assert finding.state == state
    assert f"is {old} old" in finding.found
