"""Runs uploaded over HTTP, a real worker, a real receiver: one change, one message."""

import json
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.histories import FIRST_DAY, run_of_day
from tests.live_site import READY_WITHIN, LiveSite
from tests.notifications.receivers import Receiver, receiver
from tests.sample_documents import openssl_measurement

MAKE = """
from access.audit import COMMAND
from notifications.channels import Rule, make_channel
make_channel("end to end", "webhook", "{url}", Rule(hosts=["told"]), by=COMMAND)
"""
DROP = "NotificationChannel.objects.filter(name='end to end').delete()"

QUIET = 6
"""Seconds: a sweep and more, after which a second message would be there."""


def upload(site: LiveSite, token: str, document: dict[str, Any]) -> None:
    """Send a run, and wait until the worker has processed it."""
    request = urllib.request.Request(
        f"{site.url}/api/v1/runs/",
        json.dumps(document).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
    )
    urllib.request.urlopen(request, timeout=READY_WITHIN).close()
    assert site.wait_until_ready(document["run_id"])["status"] == "ready"


def wait_for(hook: Receiver) -> None:
    """Until something has been received."""
    deadline = time.monotonic() + READY_WITHIN
    while not hook.received:
        assert time.monotonic() < deadline, "no message"
        time.sleep(0.2)


def test_a_host_that_became_slower_is_one_message(site: LiveSite) -> None:
    first = (datetime.now(UTC) - FIRST_DAY - timedelta(days=9)).days
    token = site.token("upload")
    with receiver() as hook:
        site.manage("shell", "--no-imports", "-c", MAKE.format(url=hook.url))
        for day in range(8):  # the third slow run confirms it
            rate = (4e9 if day < 5 else 2e9) * (1 + 0.002 * (day % 3))
            series = openssl_measurement("aes-128-gcm", rate)
            upload(site, token, run_of_day(first + day, series, host={"name": "told"}))
        wait_for(hook)
        time.sleep(QUIET)
        site.manage("shell", "-c", DROP)
    (request,) = hook.received
    (entry,) = request.json()["entries"]
    assert entry["title"] == "told: slower"
    assert any(fact.startswith("openssl aes-gcm: 50% slower") for fact in entry["facts"])
