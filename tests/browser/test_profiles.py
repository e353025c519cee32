"""A reference profile as a person makes it: watched without a reload, then put to use."""

from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.open_to_all import assert_accessible
from tests.browser.site_tools import worker_paused
from tests.live_site import LiveSite


def test_its_progress_is_seen_without_a_reload(
    open_page: OpenPage, site: LiveSite, signed_in: dict[str, Any]
) -> None:
    page = open_page("/method/profiles/", width=390, bypass_csp=True, **signed_in)
    name = "fleet " + "w" * 80
    with worker_paused(site):
        page.locator("#fleet-name").fill(name)
        page.get_by_role("button", name="Make it from the fleet").click()
        card = page.get_by_role("region", name=name)
        expect(card.get_by_role("progressbar")).to_be_visible()
        assert_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator("#run-name").fill("being typed")
    expect(card.get_by_text("ready", exact=True)).to_be_visible()
    assert page.locator("#run-name").input_value() == "being typed"
    assert page.locator("#profile-list [data-pending]").count() == 0
    card.get_by_text("Retire it").click()
    card.get_by_role("button", name="Retire").click()
    expect(card.get_by_text("retired", exact=True)).to_be_visible()
