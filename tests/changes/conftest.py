from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from changes.detect import find_due
from changes.models import NotificationChannel
from changes.sending import due_channels, send_due
from tests.changes.receivers import Receiver, receiver
from tests.conftest import StoreRun
from tests.histories import FIRST_DAY, run_of_day, with_openssl
from tests.sample_documents import openssl_measurement, ssh_measurement

OLD, NEW = "OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 3.0.11 19 Sep 2023"
LATELY = (timezone.now() - FIRST_DAY).days - 10

Severity = NotificationChannel.Severity
Days = Callable[..., None]


@pytest.fixture
def hook(settings: Settings) -> Iterator[Receiver]:
    settings.CIPHERMARK_SITE_URL = "https://bench.example.org"
    with receiver() as running:
        yield running


@pytest.fixture
def days(store_run: StoreRun) -> Days:
    """Return a function that stores one run of a host per day.

    The first five runs have normal speed. In later runs, openssl is 20 % slower with AES.
    """

    def store(name: str = "nas", first: int = LATELY, count: int = 7, **changes: Any) -> None:
        for day in range(count):
            level, version = (1.0, OLD) if day < 5 else (0.8, NEW)
            series = [
                openssl_measurement("aes-128-gcm", 4e9 * level * (1 + 0.002 * (day % 3))),
                ssh_measurement("3des-cbc", 2e7),
            ]
            made = {"environment": with_openssl(version), "host": {"name": name}, **changes}
            store_run(run_of_day(first + day, *series, **made))
        while find_due():
            pass

    return store


def channel_to(address: str, **rule: Any) -> NotificationChannel:
    return NotificationChannel.objects.create(name="ops", address=address, **rule)


def send_all() -> None:
    for channel in due_channels():
        send_due(channel)


def let_time_pass() -> None:
    NotificationChannel.objects.update(next_at=None)
