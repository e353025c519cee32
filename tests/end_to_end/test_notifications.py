"""Runs uploaded over HTTP, a real worker, a real receiver: one change, one message."""

import time
from datetime import UTC, datetime, timedelta

from tests.end_to_end.test_clones import upload
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

QUIET = 12
"""Seconds: two sweeps and more, after which a second message would be there."""


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
        for day in range(7):
            rate = (4e9 if day < 5 else 2e9) * (1 + 0.002 * (day % 3))
            series = openssl_measurement("aes-128-gcm", rate)
            one = run_of_day(first + day, series, host={"name": "told"})
            upload(site, token, [one])
            assert site.wait_until_ready(one["run_id"])["status"] == "ready"
        wait_for(hook)
        time.sleep(QUIET)
        site.manage("shell", "-c", DROP)
    (request,) = hook.received
    (entry,) = request.json()["entries"]
    assert entry["title"] == "told: slower"
    assert any(fact.startswith("openssl aes-gcm: 50% slower") for fact in entry["facts"])
