import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.open_to_all import NEXT_FRAME
from tests.browser.site_tools import moments_last, upload, worker_paused
from tests.browser.test_first_light import table
from tests.live_site import LiveSite
from tests.sample_documents import openssl_measurement, run_document

BIG = "/?tool=openssl&tag=fleet:big"


def groups(page: Page) -> list[str]:
    labels = page.locator("tr[data-group] th[scope=row] bdi").all_text_contents()
    return [label[:20] for label in labels]


def test_a_value_is_searched_in_a_filter_chosen_and_shared(
    open_page: OpenPage, fleet: None
) -> None:
    page = open_page(BIG)
    page.locator("#fold-filters > summary").click()
    page.locator("#facet-cpu > summary").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Search by CPU").press_sequentially("model 12")
    expect(page.locator("#more-cpu")).to_have_text("2 more")
    expect(page.get_by_label("Search by CPU")).to_be_focused()
    page.locator("#more-cpu").click()
    expect(page.locator("#choices-cpu label")).to_have_count(10)
    page.get_by_label("model 129").check()
    expect(page.locator("#summary")).to_contain_text("OpenSSL results from 1 of")
    assert groups(page) == ["model 129"]
    assert table(open_page(page.url)) == table(page)
    page.go_back()
    expect(page.get_by_label("model 129")).not_to_be_checked()
    page.go_forward()
    expect(page.get_by_label("model 129")).to_be_checked()


def test_the_link_of_a_view_is_copied(open_page: OpenPage, fleet: None) -> None:
    page = open_page(BIG, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_label("Compare by").select_option("os")
    expect(page.locator("h1")).to_have_text("OpenSSL throughput by operating system")
    with moments_last(page):
        page.get_by_role("button", name="Copy link").click()
        expect(page.locator("#copy-link")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_hosts_are_found_sorted_and_turned_page_by_page(open_page: OpenPage, fleet: None) -> None:
    page = open_page("/hosts/")
    views = page.evaluate("history.length")
    page.get_by_label("Name").press_sequentially("fleet 1")
    expect(page.locator("#summary")).to_contain_text("111 hosts found")
    expect(page.get_by_label("Name")).to_be_focused()
    assert page.evaluate("history.length") == views
    page.locator("#sort-name").click()
    names = page.locator("tbody th a")
    expect(names.first).to_have_text("fleet 1 ")
    page.locator("#pager-older").click()
    expect(page).to_have_url(re.compile("cursor="))
    expect(names.first).not_to_have_text("fleet 1 ")
    page.go_back()
    expect(names.first).to_have_text("fleet 1 ")
    expect(open_page(page.url).locator("tbody th a").first).to_have_text("fleet 1 ")


def test_hosts_ticked_in_several_searches_are_compared_side_by_side(
    open_page: OpenPage, fleet: None
) -> None:
    page = open_page("/hosts/")
    button = page.get_by_role("button", name="Compare side by side")
    expect(button).to_be_disabled()
    colour = "one => getComputedStyle(one).backgroundColor"
    pale = button.evaluate(colour)
    for box in page.get_by_role("checkbox", name="Compare fleet").all()[:2]:
        box.check()
    expect(button).to_be_enabled()
    expect(button).not_to_have_css("background-color", pale)
    button.click()
    expect(page.locator("h1")).to_have_text("2 hosts side by side")
    page.go_back()
    expect(page.locator("[data-ticked]")).to_have_text("2 selected.")
    page.get_by_role("button", name="Clear").click()
    for number in (112, 107, 131):
        page.get_by_label("Name").fill(f"fleet {number}")
        page.get_by_role("checkbox", name=f"Compare fleet {number}").focus()
        page.keyboard.press("Space")
    expect(page.locator("[data-ticked]")).to_have_text("3 selected.")
    page.get_by_label("Name").fill("fleet 112")
    expect(page.get_by_role("checkbox", name="Compare fleet 112")).to_be_checked()
    button.press("Enter")
    expect(page.locator("h1")).to_have_text("3 hosts side by side")
    expect(page.locator(".page-head p").last).to_contain_text("is compared with fleet 112")
    page.get_by_role("link", name=re.compile("Use as reference.*fleet 131")).click()
    expect(page.locator(".page-head p").last).to_contain_text("is compared with fleet 131")


def test_a_page_in_the_background_asks_for_nothing(open_page: OpenPage) -> None:
    page = open_page("/runs/")
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.evaluate(NEXT_FRAME)
    assert asked == []
    page.evaluate("delete document.hidden")
    with page.expect_response("**/runs/"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_what_arrives_shows_in_the_list_and_becomes_ready(
    open_page: OpenPage, site: LiveSite
) -> None:
    page = open_page("/runs/")
    page.evaluate("window.sameDocument = true")
    with worker_paused(site):
        document = run_document(openssl_measurement("aes-128-gcm", 4e9), host={"name": "late"})
        upload(site, document, site.token("upload"))
        row = page.locator("tbody tr", has_text="late")
        expect(row).to_contain_text("accepted")
    expect(row).to_contain_text("ready")
    expect(row).to_contain_text("AMD EPYC 9R14")
    expect(page.locator("#announcer")).to_have_text("The run on late is ready.")
    assert page.evaluate("window.sameDocument") is True
