import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Request,
)

from tests.browser.site_tools import processed
from tests.conftest import PATIENCE_MS
from tests.live_site import PROJECT, LiveSite, live_site
from tests.sample_documents import environment, openssl_measurement, run_document

FLEET = 200
MEASURED = ("aes128-gcm@openssh.com", "3des-cbc", "aes-128-gcm", "des-ede3-cbc")

# The page's script has run and has drawn the charts. Waiting for an idle network would take half
# a second longer, or 90 seconds in all these tests.
AT_REST = """() =>
    (!document.querySelector("script[type=module]")
        || document.readyState === "complete")
    && [...document.querySelectorAll("figure[data-chart], figure[data-history]")]
        .every(one => one.dataset.drawn || "fault" in one.dataset)"""

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def site() -> Iterator[LiveSite]:
    assert (PROJECT / "frontend/dist/assets/main.js").exists(), (
        "The frontend is not built: run `npm ci && npm run build` in frontend/."
    )
    with live_site("browser") as running:
        yield running


class Contexts:
    """Reuse browser contexts, because a new context is slow. Clear a context after each use.

    Each context always has one blank page. A second page then opens in a third of the time that a
    page in a new context takes.
    """

    def __init__(self, chromium: Browser, url: str) -> None:
        self._chromium, self._url = chromium, url
        self._returned = defaultdict[str, list[BrowserContext]](list)

    @contextmanager
    def page(self, cookies: Sequence[Any] = (), **options: Any) -> Iterator[Page]:
        """Open a page in a clean context. `options`: options of Playwright's `new_context`."""
        alike = self._returned[repr(options)]
        context = alike.pop() if alike else self._new(options)
        context.add_cookies(cookies)
        yield context.new_page()
        for page in context.pages[1:]:
            page.close()
        self._empty(context)
        alike.append(context)

    def _new(self, options: dict[str, Any]) -> BrowserContext:
        context = self._chromium.new_context(base_url=self._url, **options)
        context.set_default_timeout(PATIENCE_MS)
        context.new_page()
        return context

    def _empty(self, context: BrowserContext) -> None:
        context.clear_cookies()
        session = context.new_cdp_session(context.pages[0])
        stored = {"origin": self._url, "storageTypes": "all"}
        session.send("Storage.clearDataForOrigin", stored)
        session.send("Network.clearBrowserCache")
        session.detach()


@pytest.fixture(scope="session")
def contexts(chromium: Browser, site: LiveSite) -> Contexts:
    return Contexts(chromium, site.url)


@pytest.fixture
def open_page(contexts: Contexts, site: LiveSite) -> Iterator[OpenPage]:
    """Return a function that opens a URL in a clean browser context.

    The test fails after a console error, an exception, a violation of the Content-Security-Policy,
    or a request to another host. Errors that contain the text `expected` are allowed.
    """
    faults: list[str] = []
    tolerated: list[str] = []
    with ExitStack() as stack:

        def open_address(
            path: str,
            width: int = 1280,
            dark: bool = False,
            expected: str = "",
            cookies: Sequence[Any] = (),
            **options: Any,
        ) -> Page:
            page = stack.enter_context(contexts.page(cookies, **options))
            _watch(page, site, faults)
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme="dark" if dark else "light")
            if expected:
                tolerated.append(expected)
            page.goto(path)
            if options.get("java_script_enabled", True):
                _come_to_rest(page)
            return page

        yield open_address
    assert [fault for fault in faults if not any(known in fault for known in tolerated)] == []


def _watch(page: Page, site: LiveSite, faults: list[str]) -> None:
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.extend(_foreign(request, site)))


def _come_to_rest(page: Page) -> None:
    page.wait_for_function(AT_REST)


# A page, and the errors of the page so far
LastingPage = tuple[Page, list[str]]


@pytest.fixture(scope="session")
def lasting_pages(
    contexts: Contexts, site: LiveSite, signed_in: dict[str, Any]
) -> Iterator[dict[bool, LastingPage]]:
    with ExitStack() as stack:
        pages = dict[bool, LastingPage]()
        for is_signed_in in (False, True):
            cookies = signed_in["cookies"] if is_signed_in else ()
            page, faults = stack.enter_context(contexts.page(cookies, bypass_csp=True)), list[str]()
            _watch(page, site, faults)
            pages[is_signed_in] = page, faults
        yield pages


@pytest.fixture
def open_state(lasting_pages: dict[bool, LastingPage]) -> Iterator[OpenPage]:
    # A new browser for each state would take longer than the checks of the state.
    tolerated: list[str] = []
    for _, faults in lasting_pages.values():
        faults.clear()

    def open_address(path: str, expected: str = "", is_signed_in: bool = False) -> Page:
        page, _ = lasting_pages[is_signed_in]
        if expected:
            tolerated.append(expected)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.goto(path)
        _come_to_rest(page)
        return page

    yield open_address
    found = [fault for _, faults in lasting_pages.values() for fault in faults]
    assert [message for message in found if not any(known in message for known in tolerated)] == []


def _foreign(request: Request, site: LiveSite) -> list[str]:
    own = (f"{site.url}/", "data:", "blob:")
    return [] if request.url.startswith(own) else [f"request to {request.url}"]


@pytest.fixture(scope="session")
def signed_in(site: LiveSite) -> dict[str, Any]:
    cookie = {"name": "sessionid", "value": site.session_key(), "url": site.url}
    return {"cookies": [cookie]}


@pytest.fixture(scope="session")
def measured_run(site: LiveSite, sshd: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Measure this host with the real agent. Return the ID of the uploaded run."""
    token_file = tmp_path_factory.mktemp("agent") / "token"
    token_file.touch(mode=0o600)
    token_file.write_text(site.token("upload"))
    done = subprocess.run(
        [
            sys.executable, PROJECT / "agent/ciphermark_agent", "run", "--quick",
            "--name", "bench-under-test", "--server", site.url, "--token-file", token_file,
            "--ciphers", ",".join(MEASURED), "--tries", "1", "--seconds", "0.3", "--sshd", sshd,
            "--progress", "none",
        ],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.search(r"uploaded: \S+/runs/(\S+)/", done.stdout)
    assert said, done.stdout + done.stderr
    detail = processed(site, said[1])
    measured = {row["cipher"] for row in detail["measurements"]}
    assert measured == set(MEASURED), f"{done.stdout}{done.stderr}{detail['skipped']}"
    return said[1]


@pytest.fixture(scope="session")
def fleet(site: LiveSite, tmp_path_factory: pytest.TempPathFactory) -> None:
    lines = tmp_path_factory.mktemp("fleet") / "runs.ndjson"
    lines.write_text("\n".join(json.dumps(_fleet_document(number)) for number in range(FLEET)))
    # Uploading them one by one would take ten times as long.
    site.manage("load_runs", str(lines))


def _fleet_document(number: int) -> dict[str, Any]:
    model = f"CPU model {number:03}"
    if number == 0:
        model = "A<script>alert(1)</script> \u202eright to left\u202c 🚀 " + "W" * 120
    return run_document(
        *(
            openssl_measurement(cipher, (index + 1) * 1e8 * (1 + number % 17))
            for index, cipher in enumerate(("aes-128-gcm", "aes-256-gcm", "des-ede3-cbc"))
        ),
        host={"name": f"fleet {number} " + ("n" * 180 if number == 0 else "")},
        environment=environment(model=model),
        tags={"fleet": "big", **({"named": f"{model[:60]}<b>{'w' * 130}"} if number == 0 else {})},
    )
