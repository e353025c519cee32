from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.conftest import PATIENCE_MS
from tests.end_to_end.conftest import PATH
from tests.live_site import LiveSite
from tests.oidc_provider import CLIENT_SECRET, Provider


@pytest.fixture
def page(provider: Provider, chromium: Browser) -> Iterator[Page]:
    opened = chromium.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    opened.set_default_navigation_timeout(PATIENCE_MS)
    # Block the external style sheet of the provider's page.
    opened.route(lambda url: not url.startswith("http://127.0.0.1:"), lambda one: one.abort())
    faults: list[str] = []
    opened.on("console", lambda said: faults.extend(_faults(said, provider)))
    yield opened
    opened.close()
    assert faults == []


def _faults(said: ConsoleMessage, provider: Provider) -> list[str]:
    where = said.location["url"]
    is_ours = where.startswith("http://127.0.0.1:") and not where.startswith(provider.url)
    return [said.text] if said.type == "error" and is_ours and "of 403" not in said.text else []


def test_somebody_signs_in_and_out_and_neither_code_nor_secret_is_in_the_log(
    below_path: LiveSite, page: Page
) -> None:
    wanted = f"{below_path.url}/tokens/?q=a"
    page.goto(wanted)
    page.get_by_role("link", name="Sign in with 127.0.0.1").click()
    page.get_by_placeholder("sub").fill("u-1")
    page.get_by_role("button", name="Authorize").click()
    page.wait_for_url(wanted)
    assert {cookie.get("path") for cookie in page.context.cookies()} >= {f"{PATH}/"}
    page.locator("#account-menu > summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.goto(wanted)
    page.get_by_role("link", name="Sign in with 127.0.0.1").click()
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("127.0.0.1 rejected the sign-in (access_denied).")).to_be_visible()
    written = (Path(below_path.environment["CIPHERMARK_DATA_DIR"]) / "web.log").read_text()
    assert "/accounts/oidc/callback/?code=[secret]&state=" in written
    assert CLIENT_SECRET not in written
