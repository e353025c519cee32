import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.open_to_all import NEXT_FRAME


def test_a_choice_applies_at_once_and_keeps_the_focus(open_page: OpenPage) -> None:
    page = open_page("/?source=published")
    page.evaluate("window.sameDocument = true")
    page.get_by_label("Compare by").focus()
    page.get_by_label("Compare by").select_option("os")
    expect(page.locator("h1")).to_have_text("SSH throughput by operating system")
    assert "group_by=os" in page.url
    assert "source=published" in page.url
    expect(page.get_by_label("Compare by")).to_be_focused()
    expect(page.locator("#announcer")).to_contain_text("groups")
    assert page.evaluate("window.sameDocument") is True
    assert page.title() == "SSH throughput by operating system · Ciphermark"


def test_another_benchmark_drops_what_belongs_to_the_first(open_page: OpenPage) -> None:
    page = open_page("/?source=published&cipher=aes128-ctr&method=pipeline&group_by=os")
    page.get_by_label("Benchmark").select_option("openssl")
    expect(page.locator("h1")).to_have_text("OpenSSL throughput by operating system")
    assert set(parse_qs(urlsplit(page.url).query, keep_blank_values=True)) == {
        *("tool", "group_by", "source", "metric"),
    }


@pytest.mark.usefixtures("measured_run")
def test_the_first_bars_are_in_sight_and_raw_and_normalised_a_click_apart(
    open_page: OpenPage,
) -> None:
    page = open_page("/")
    first_group = 26 + 30 + 2 * 18  # axis, heading, and two bars with their results
    for width, height, lowest in ((1280, 800, 800 - first_group), (390, 844, 500)):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(NEXT_FRAME)
        box = page.locator("figure.chart").bounding_box()
        assert box
        assert box["y"] < lowest, width
    page.get_by_role("link", name="Normalised").click()
    expect(page.locator("h1")).to_have_text("SSH normalised throughput by CPU")
    expect(page.locator("#metric-explained")).to_contain_text("arcfour, Blowfish or 3DES")
    page.get_by_role("link", name="Raw").click()
    expect(page.locator("h1")).to_have_text("SSH throughput by CPU")


def test_back_and_forward_restore_the_view(open_page: OpenPage) -> None:
    page = open_page("/?source=published")
    page.locator("#fold-options > summary").click()
    page.get_by_label("Metric", exact=True).select_option("vs_3des")
    expect(page.locator("h1")).to_have_text("SSH ratio to 3DES by CPU")
    page.get_by_label("Axis").select_option("log")
    expect(page).to_have_url(re.compile("scale=log"))
    expect(page.get_by_label("Axis")).to_have_value("log")
    page.go_back()
    expect(page.get_by_label("Axis")).to_have_value("")
    page.go_back()
    expect(page.locator("h1")).to_have_text("SSH throughput by CPU")
    page.go_forward()
    expect(page.locator("h1")).to_have_text("SSH ratio to 3DES by CPU")


def test_a_filter_narrows_and_its_chip_widens_again(open_page: OpenPage) -> None:
    page = open_page("/?source=published&group_by=os")
    groups = page.locator("tr[data-group]").count()
    page.locator("#fold-filters > summary").click()
    page.locator("#facet-cpu summary").click()
    page.get_by_label("Intel Core i7-2635QM").check()
    expect(page.locator("tr[data-group]")).to_have_count(2)
    page.get_by_role("link", name=re.compile("CPU: Intel Core i7-2635QM")).click()
    expect(page.locator("tr[data-group]")).to_have_count(groups)


def test_everything_reads_without_javascript(open_page: OpenPage) -> None:
    page = open_page("/?source=published&group_by=os", java_script_enabled=False)
    expect(page.locator("#comparison-table")).to_be_visible()
    expect(page.locator("noscript p", has_text="needs JavaScript")).to_be_visible()
    page.get_by_label("Compare by").select_option("cpu")
    page.locator("noscript button").click()
    expect(page.locator("h1")).to_have_text("SSH throughput by CPU")
    assert "source=published" in page.url
