from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import AT_REST, OpenPage
from tests.browser.open_to_all import assert_accessible
from tests.browser.site_tools import moments_last, processed, upload
from tests.live_site import LiveSite
from tests.sample_documents import environment, run_document, ssh_measurement

GCM, CHACHA = "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com"


def box(host: str, gcm: float, chacha: float) -> dict[str, Any]:
    openssh = {"client": "OpenSSH_9.9p1", "server": "OpenSSH_9.9p1", "default_cipher": CHACHA}
    rates = {GCM: gcm, CHACHA: chacha, "aes128-ctr": 500e6}
    return run_document(
        *(
            ssh_measurement(cipher, rate, rate * 1.01, rate * 0.99)
            for cipher, rate in rates.items()
        ),
        host={"name": host},
        environment={**environment(), "openssh": openssh},
        tags={"ring": "fast"},
    )


@pytest.fixture(scope="module")
def fast_box(site: LiveSite) -> str:
    token = site.token("upload")
    for document in (box("Old box", 200e6, 300e6), box("Fast box", 600e6, 300e6)):
        processed(site, upload(site, document, token))
    return "Fast box"


def choose(page: Page, name: str) -> None:
    page.get_by_label("Host or client").fill(name)
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#headline")).to_be_visible()


def test_a_host_is_chosen_its_policy_changed_and_its_lines_copied(
    open_page: OpenPage, site: LiveSite, fast_box: str
) -> None:
    page = open_page("/", bypass_csp=True, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("link", name="Recommend", exact=True).click()
    choose(page, fast_box)
    assert "2.00 times as fast as" in (page.locator("#headline").text_content() or "")
    rows = page.locator("#order-table tbody tr")
    assert [row.get_attribute("data-cipher") for row in rows.all()] == [GCM, CHACHA]
    page.get_by_label("Policy").select_option("compatible")
    page.get_by_role("button", name="Show").click()
    expect(rows).to_have_count(3)
    page.wait_for_function(AT_REST)
    for block in ("ssh-config", "sshd-config"):
        button = page.locator(f"[data-copy={block}]")
        with moments_last(page):
            button.click()
            expect(button).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.endswith(f"Ciphers {GCM},{CHACHA},aes128-ctr")
        assert f"{site.url}/recommend/?policy=compatible&host=fast-box" in copied
    expect(page.locator("[data-copy]").first).to_have_text("Copy")
    assert_accessible(page)


@pytest.mark.usefixtures("fast_box")
def test_a_group_is_open_to_all(open_page: OpenPage) -> None:
    page = open_page("/recommend/?tag=ring:fast", width=320, bypass_csp=True)
    assert page.locator("#losses-table tbody tr").count() == 2
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
