from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.open_to_all import assert_open_to_all
from tests.browser.site_tools import processed, upload
from tests.histories import run_of_day, with_openssl
from tests.launch.tools import within
from tests.live_site import LiveSite
from tests.sample_documents import openssl_measurement, ssh_measurement

OLD, NEW = "OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 3.0.11 19 Sep 2023"
HOSTILE = "<b>slower</b> \u202eright to left\u202c " + "W" * 120
NAMES = ("upgraded-1", "upgraded-2", HOSTILE)
TAG = {"fleet": "upgraded"}
LIST = "/changes/?tag=fleet:upgraded"


@pytest.fixture(scope="session")
def upgraded(site: LiveSite) -> int:
    token = site.token("upload")
    runs = []
    for name in NAMES:
        for day in range(8):
            slow = day > 4
            document = run_of_day(
                day,
                openssl_measurement("aes-128-gcm", 4e9 * (0.8 if slow else 1)),
                openssl_measurement("aes-256-gcm", 3e9 * (0.8 if slow else 1)),
                ssh_measurement("3des-cbc", 2e7 * (1.3 if slow else 1)),
                host={"name": name},
                tags=TAG,
                environment=with_openssl(NEW if slow else OLD),
            )
            runs.append(upload(site, document, token))
    ids = [int(processed(site, run)["host_id"]) for run in runs]
    address = "/api/v1/changes/?tag=fleet:upgraded&direction=slower&direction=faster"
    assert within(
        60, lambda: [result["hosts"] for result in site.get(address)["results"]] == [3, 3]
    )
    return ids[0]


# Whether an editor opens the URL and therefore sees forms
STATES = {
    LIST: True,
    f"{LIST}&kind=verdict": False,
    "/changes/?kind=none": False,
    "/hosts/{}/": True,
}


@pytest.mark.parametrize("address", STATES)
def test_every_state_is_open_to_all(open_state: OpenPage, upgraded: int, address: str) -> None:
    expected = "the server responded with a status of 400" if "none" in address else ""
    page = open_state(address.format(upgraded), expected=expected, is_signed_in=STATES[address])
    assert_open_to_all(page)


def entry_of(page: Page, heading: str) -> Locator:
    # Host names may contain the heading, so look only in badges.
    return page.locator(".fleet-change").filter(
        has=page.locator("h2 > .badge").get_by_text(heading, exact=True)
    )


def test_the_change_of_three_hosts_is_one_entry_that_leads_to_its_evidence(
    open_page: OpenPage, upgraded: int
) -> None:
    page = open_page(LIST, width=390)
    entry = entry_of(page, "Slower")
    expect(entry).to_have_count(1)
    expect(entry).to_contain_text("OpenSSL 1.1.1w → 3.0.11")
    expect(entry.get_by_role("link", name="3 hosts", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    entry.locator("summary", has_text="Evidence").click()
    entry.get_by_role("link", name="openssl aes-gcm").first.click()
    page.wait_for_url("**/hosts/*/?series=openssl*")
    expect(page.locator("#history-title")).to_be_in_viewport()


def test_an_editor_acknowledges_a_change_without_leaving_the_list(
    open_page: OpenPage, upgraded: int, signed_in: dict[str, Any]
) -> None:
    page = open_page(LIST, **signed_in)
    entry = entry_of(page, "Slower")
    entry.locator("summary", has_text="Edit status or note").click()
    entry.get_by_label("Status").select_option("acknowledged")
    entry.get_by_label("Note").fill("the upgrade of spring")
    page.evaluate("window.stayed = true")
    entry.get_by_role("button", name="Save").click()
    expect(entry).to_contain_text("the upgrade of spring")
    expect(page.locator("#announcer")).to_have_text("Saved.")
    expect(entry.locator("h2 > .badge").last).to_have_text("acknowledged")
    assert page.evaluate("window.stayed")
    assert page.url.endswith(LIST)


def test_a_note_is_added_and_drawn_in_the_history(
    open_page: OpenPage, upgraded: int, signed_in: dict[str, Any]
) -> None:
    page = open_page(f"/hosts/{upgraded}/", **signed_in)
    expect(page.locator("#open-changes")).to_contain_text("Slower")
    page.get_by_label("Note", exact=True).fill("BIOS update")
    page.get_by_label("Date (default: today)").fill("2025-03-04")
    page.get_by_role("button", name="Add note").click()
    expect(page.locator("#notes")).to_contain_text("BIOS update")
    expect(page.locator("figure[data-history]")).to_have_attribute("data-drawn", "8")
    page.locator("figure[data-history] canvas").focus()
    page.keyboard.press("End")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(page.locator("#history-reading")).to_contain_text("Note, 2025-03-04: BIOS update")
    page.get_by_role("link", name="Delete note").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Note deleted.")).to_be_visible()
    expect(page.locator("#notes .notes")).to_have_count(0)
