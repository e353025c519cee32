import subprocess
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import AT_REST, OpenPage
from tests.browser.open_to_all import assert_accessible
from tests.live_site import LiveSite


def make(page: Page, name: str) -> None:
    page.get_by_label("Name (for example, the host name)").fill(name)
    page.get_by_role("button", name="Create token").click()
    expect(page.locator("#agent-command")).to_contain_text("cmk_")
    page.wait_for_function(AT_REST)


def test_the_line_that_the_page_shows_sets_a_host_up(
    open_page: OpenPage, site: LiveSite, signed_in: dict[str, Any], tmp_path: Path
) -> None:
    page = open_page("/tokens/", **signed_in)
    make(page, "the-nas")
    line = page.locator("#agent-command").text_content() or ""
    quick = " --tools openssl --ciphers rc4 --tries 1 --seconds 0.2 --name the-nas --wait 0"
    home = {"HOME": str(tmp_path), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    done = subprocess.run(
        ["/bin/sh", "-c", line.strip() + quick],
        cwd=tmp_path,
        env=home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"uploaded: {site.url}/runs/" in done.stdout
    page.goto("/tokens/")
    expect(page.get_by_role("row", name="the-nas").get_by_text("valid")).to_be_visible()
    assert "cmk_" not in page.content()


def test_a_page_with_a_new_token_is_open_to_all_and_revokes_it_by_a_button(
    open_page: OpenPage, signed_in: dict[str, Any]
) -> None:
    page = open_page("/tokens/", width=390, bypass_csp=True, **signed_in)
    make(page, "lost laptop")
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto("/")
    page.get_by_role("link", name="Tokens").click()
    page.get_by_role("link", name="Revoke lost laptop").click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("row", name="lost laptop").get_by_text("revoked")).to_be_visible()
