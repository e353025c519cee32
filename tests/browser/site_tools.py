import json
import os
import signal
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page

from tests.live_site import LiveSite


def upload(site: LiveSite, document: Mapping[str, Any], token: str) -> str:
    request = urllib.request.Request(
        f"{site.url}/api/v1/runs/",
        json.dumps(document).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return str(json.load(answer)["run_id"])


def processed(site: LiveSite, run_id: str) -> dict[str, Any]:
    run = site.wait_until_ready(run_id)
    assert run["status"] == "ready", run["rejection"]
    return run


@contextmanager
def worker_paused(site: LiveSite) -> Iterator[None]:
    os.killpg(site.worker.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(site.worker.pid, signal.SIGCONT)


@contextmanager
def moments_last(page: Page) -> Iterator[None]:
    # Some messages disappear after two seconds, so delay all timers.
    page.evaluate(
        """() => { window.put = [setTimeout];
                   window.setTimeout = (call) => put.push(call); }"""
    )
    yield
    page.evaluate("() => { [window.setTimeout] = put; put.slice(1).forEach(call => call()); }")
