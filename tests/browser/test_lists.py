"""Filters and lists in the hands of their reader; what is under way shows itself."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.site_tools import moments_last, processed, upload, worker_paused
from tests.browser.test_first_light import table
from tests.histories import with_openssl
from tests.live_site import LiveSite
from tests.pages.test_upload_page import LIST
from tests.sample_documents import environment, openssl_measurement, run_document

BIG = "/?tool=openssl&tag=fleet:big"


def groups(page: Page) -> list[str]:
    labels = page.locator("tbody[data-group] th[scope=rowgroup] bdi").all_text_contents()
    return [label[:20] for label in labels]


def test_a_value_is_searched_in_a_filter_chosen_and_shared(
    open_page: OpenPage, fleet: None
) -> None:
    page = open_page(BIG)
    page.locator("#facet-cpu > summary").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Search the values of CPU").press_sequentially("model 12")
    expect(page.locator("#more-cpu")).to_have_text("2 more")
    expect(page.get_by_label("Search the values of CPU")).to_be_focused()
    page.locator("#more-cpu").click()
    expect(page.locator("#choices-cpu label")).to_have_count(10)
    page.get_by_label("model 129").check()
    expect(page.locator("#summary")).to_contain_text("1 group, 1 host")
    assert groups(page) == ["model 129"]
    assert table(open_page(page.url)) == table(page)
    page.go_back()
    expect(page.get_by_label("model 129")).not_to_be_checked()
    page.go_forward()
    expect(page.get_by_label("model 129")).to_be_checked()


def test_groups_are_searched_by_name_and_turned_page_by_page(
    open_page: OpenPage, fleet: None
) -> None:
    page = open_page(BIG)
    page.locator("#groups-later").press("Enter")
    expect(page.get_by_text("Groups 21 to 40 of 200 shown.")).to_be_visible()
    assert groups(page)[0] == "model 020"
    page.get_by_label("Search groups").fill("MODEL 19")
    expect(page.get_by_text("10 of 200 groups with “MODEL 19”")).to_be_visible()
    assert groups(page)[0] == "model 190"
    page.get_by_label("Search groups").fill("nothing like it")
    page.get_by_role("link", name="Show all groups").click()
    expect(page.get_by_label("Search groups")).to_have_value("")
    assert len(groups(page)) == 20


def test_the_way_back_from_another_page_finds_the_view_and_its_controls(
    open_page: OpenPage, fleet: None
) -> None:
    page = open_page(BIG)
    page.get_by_label("Compare by").select_option("tag:fleet")
    expect(page.locator("h1")).to_have_text("OpenSSL throughput by Tag “fleet”")
    page.get_by_role("link", name="Hosts", exact=True).click()
    expect(page.locator("h1")).to_have_text("Hosts")
    page.go_back()
    expect(page.locator("h1")).to_have_text("OpenSSL throughput by Tag “fleet”")
    expect(page.get_by_label("Compare by")).to_have_value("tag:fleet")


def test_the_link_of_a_view_is_copied(open_page: OpenPage, fleet: None) -> None:
    page = open_page(BIG, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_label("Compare by").select_option("os")
    expect(page.locator("h1")).to_have_text("OpenSSL throughput by operating system")
    with moments_last(page):
        page.get_by_role("button", name="Copy link").click()
        expect(page.locator("#copy-link")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


@pytest.fixture(scope="session")
def two_releases(site: LiveSite, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Six hosts of each of two OpenSSL series, enough for an interval: their view."""
    documents = [
        run_document(
            openssl_measurement("aes-128-gcm", 4e9 * slower * (1 + number / 10)),
            host={"name": f"release {version} {number}"},
            environment=with_openssl(version),
            tags={"set": "releases"},
        )
        for version, slower in (("OpenSSL 1.1.1w", 1), ("OpenSSL 3.0.11", 0.97))
        for number in range(6)
    ]
    lines = tmp_path_factory.mktemp("releases") / "runs.ndjson"
    lines.write_text("\n".join(json.dumps(one) for one in documents))
    site.manage("load_runs", str(lines), "--jobs", "1")
    return "/?tool=openssl&tag=set:releases&group_by=openssl_series&relative_to=1.1.1"


def test_a_copied_table_has_differences_apart_from_their_intervals(
    open_page: OpenPage, two_releases: str
) -> None:
    page = open_page(two_releases, permissions=["clipboard-read", "clipboard-write"])
    opener = page.locator("#copy-menu summary")
    difference = page.locator("td.ratio [data-low]").first
    copied = {}
    for form in ("TSV", "Markdown"):
        opener.click()
        with moments_last(page):
            page.get_by_role("button", name=form).click()
            expect(opener).to_have_text("Copied")
        expect(opener).to_have_text("Copy table")
        expect(page.get_by_role("button", name=form)).to_be_hidden()
        copied[form] = page.evaluate("navigator.clipboard.readText()")
    bounds = [difference.get_attribute(f"data-{one}") or "" for one in ("ratio", "low", "high")]
    assert "\t".join(bounds) in copied["TSV"]
    assert len({line.count("\t") for line in copied["TSV"].split("\n")}) == 1
    interval = page.locator("td.ratio [data-low] + .small").first
    said = f"{difference.text_content()} ({interval.text_content()}, within the noise)"
    assert said in copied["Markdown"]


def test_differences_are_seen_whole_on_a_phone(open_page: OpenPage, two_releases: str) -> None:
    page = open_page(two_releases, width=390)
    page.locator("#comparison-table caption").scroll_into_view_if_needed()
    box = page.locator("td.ratio .badge").first.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390


def test_the_navigation_shows_on_a_phone_that_it_goes_on(open_page: OpenPage) -> None:
    page = open_page("/runs/", width=390)
    box = page.get_by_role("link", name="Sign in").bounding_box()
    assert box is not None
    assert box["x"] < 380, "it would seem to end before"


def test_hosts_are_found_sorted_and_turned_page_by_page(open_page: OpenPage, fleet: None) -> None:
    page = open_page("/hosts/")
    page.get_by_label("Name").press_sequentially("fleet 1")
    expect(page.locator("#summary")).to_contain_text("111 hosts found")
    expect(page.get_by_label("Name")).to_be_focused()
    page.locator("#sort-name").click()
    names = page.locator("tbody th a")
    expect(names.first).to_have_text("fleet 1 ")
    page.locator("#pager-older").click()
    expect(page).to_have_url(re.compile("before="))
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
    expect(page.locator("h1")).to_have_text("Two hosts side by side")
    page.go_back()
    expect(page.locator("[data-ticked]")).to_have_text("2 ticked.")
    page.get_by_role("button", name="Clear").click()
    for number in (112, 107, 131):
        page.get_by_label("Name").fill(f"fleet {number}")
        page.get_by_role("checkbox", name=f"Compare fleet {number}").focus()
        page.keyboard.press("Space")
    expect(page.locator("[data-ticked]")).to_have_text("3 ticked.")
    page.get_by_label("Name").fill("fleet 112")
    expect(page.get_by_role("checkbox", name="Compare fleet 112")).to_be_checked()
    button.press("Enter")
    expect(page.locator("h1")).to_have_text("3 hosts side by side")
    expect(page.locator(".page-head p").last).to_contain_text("Each compared with fleet 112")
    page.get_by_role("link", name=re.compile("Use as baseline.*fleet 131")).click()
    expect(page.locator(".page-head p").last).to_contain_text("Each compared with fleet 131")


def test_runs_are_compared_side_by_side_without_javascript(
    open_page: OpenPage, fleet: None
) -> None:
    page = open_page("/runs/?q=fleet", java_script_enabled=False)
    for box in page.get_by_role("checkbox").all()[:3]:
        box.check()
    page.get_by_role("button", name="Compare side by side").click()
    expect(page.locator("h1")).to_have_text("3 runs side by side")


def test_long_names_leave_every_column_of_the_hosts_in_sight(
    open_page: OpenPage, site: LiveSite
) -> None:
    document = run_document(
        openssl_measurement("aes-128-gcm", 1e9),
        host={"name": "Machine with long names"},
        environment={
            **environment(model="Intel(R) Xeon(R) Platinum 8488C Processor @ 2.40GHz"),
            "os": {"name": "Red Hat Enterprise Linux CoreOS 418.94.202501221327-0 (Plow)"},
        },
    )
    processed(site, upload(site, document, site.token("upload")))
    page = open_page("/hosts/?q=Machine+with+long+names")
    assert page.locator("tbody th").count() == 1
    hidden = page.locator("#results .table-box").evaluate(
        "one => one.scrollWidth - one.clientWidth"
    )
    assert hidden <= 0


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
    expect(page.locator("#announcer")).to_have_text("The run of late is ready.")
    assert page.evaluate("window.sameDocument") is True


def test_a_saved_text_tells_when_its_run_is_ready(
    open_page: OpenPage, site: LiveSite, signed_in: dict[str, Any]
) -> None:
    page = open_page("/upload/", **signed_in)
    with worker_paused(site):
        page.get_by_role("textbox", name="Paste").fill(LIST)
        page.get_by_role("button", name="Preview").click()
        page.get_by_label("Host").fill("list-saved")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".upload-runs")).to_contain_text("accepted")
    expect(page.locator(".upload-runs")).to_contain_text("ready")


def test_a_heading_sorts_the_hosts_and_keeps_the_focus(open_page: OpenPage, fleet: None) -> None:
    page = open_page("/hosts/?q=fleet")
    heading = page.get_by_role("columnheader", name="Host")
    for direction in ("ascending", "descending"):
        page.locator("#sort-name").focus()
        page.keyboard.press("Enter")
        expect(heading).to_have_attribute("aria-sort", direction)
        expect(page.locator("#sort-name")).to_be_focused()
    page.get_by_label("unknown").check()
    expect(page).to_have_url(re.compile("verdict=unknown"))
    expect(heading).to_have_attribute("aria-sort", "descending")
