import json
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from typing import Any

from changes.sending import DEADLINE, NO_END
from tests.changes.receivers import receiver
from tests.histories import FIRST_DAY, run_of_day
from tests.live_site import READY_WITHIN, LiveSite, notifier
from tests.sample_documents import openssl_measurement

MAKE = """
make = NotificationChannel.objects.create
make(name="slow", address="json://127.0.0.1:{port}/", kinds=["speed"])
make(name="quick", address="{url}", kinds=["speed"])
"""
DROP = "NotificationChannel.objects.all().delete()"
SHOW = """
row = Notification.objects.get(channel__name="slow")
print(row.state, row.attempts, row.error)
"""


def upload(site: LiveSite, token: str, document: dict[str, Any]) -> None:
    request = urllib.request.Request(
        f"{site.url}/api/v1/runs/",
        json.dumps(document).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
    )
    urllib.request.urlopen(request, timeout=READY_WITHIN).close()
    assert site.wait_until_ready(document["run_id"])["status"] == "ready"


@contextmanager
def endless_answer() -> Iterator[tuple[int, Event]]:
    """Run an HTTP server that sends one byte per second and never ends the response.

    Yield the port, and an event that is set as soon as a client connects.
    """
    asked, over = Event(), Event()

    def answer() -> None:
        with suppress(OSError):  # the client has disconnected
            connection, _ = server.accept()
            with connection:
                asked.set()
                connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while not over.wait(1):
                    connection.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=answer)
        thread.start()
        try:
            yield server.getsockname()[1], asked
        finally:
            over.set()
            socket.create_connection(server.getsockname()).close()  # if there was no request
            thread.join()


def test_a_receiver_that_never_ends_its_answer_delays_no_upload_and_no_other_channel(
    site: LiveSite,
) -> None:
    first = (datetime.now(UTC) - FIRST_DAY - timedelta(days=9)).days
    token = site.token("upload")
    with endless_answer() as (port, asked), receiver() as hook, notifier(site.environment):
        site.manage("shell", "-c", MAKE.format(port=port, url=hook.url))
        for day in range(8):  # the third slow run confirms it
            rate = (4e9 if day < 5 else 2e9) * (1 + 0.002 * (day % 3))
            series = openssl_measurement("aes-128-gcm", rate)
            upload(site, token, run_of_day(first + day, series, host={"name": "told"}))
        assert asked.wait(READY_WITHIN)
        began = time.monotonic()
        upload(site, token, run_of_day(first + 8, series, host={"name": "told"}))
        assert time.monotonic() - began < DEADLINE / 2
        while not hook.received:
            assert time.monotonic() < began + READY_WITHIN + DEADLINE, "no message"
            time.sleep(0.2)
        shown = site.manage("shell", "-c", SHOW).strip()
        site.manage("shell", "-c", DROP)
    assert shown.endswith(f"waiting 1 {NO_END}")
    (message,) = hook.received
    assert message["title"] == "Ciphermark: told: slower"
    assert "OpenSSL aes-gcm: 50 % slower" in message["message"]
