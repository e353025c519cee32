"""The compare page in the hands of its reader."""

import re

from playwright.sync_api import Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.test_first_light import table


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


def test_back_and_forward_restore_the_view(open_page: OpenPage) -> None:
    page = open_page("/?source=published")
    page.get_by_label("Metric").select_option("vs_3des")
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


def test_a_link_reproduces_the_view(open_page: OpenPage) -> None:
    page = open_page("/?source=published", reduced_motion="reduce")
    page.get_by_label("Compare by").select_option("os")
    expect(page.locator("h1")).to_have_text("SSH throughput by operating system")
    page.get_by_label("Sort").select_option("best")
    expect(page).to_have_url(re.compile("sort=best"))
    expect(page.locator("#results")).to_have_attribute("aria-busy", "false")
    again = open_page(page.url, reduced_motion="reduce")
    assert list(table(again).items()) == list(table(page).items())
    picture = "() => document.querySelector('figure canvas').toDataURL()"
    page.mouse.move(0, 0)
    assert again.evaluate(picture) == page.evaluate(picture)


def test_ciphers_can_all_be_chosen_or_none_and_then_one(open_page: OpenPage) -> None:
    page = open_page("/?source=published")
    usual = len({cipher for _, cipher in table(page)})
    page.get_by_role("link", name="All", exact=True).click()
    expect(page.locator("tr[data-cipher='blowfish-cbc']").first).to_be_visible()
    assert len({cipher for _, cipher in table(page)}) > usual
    page.get_by_role("button", name="None").click()
    expect(page.locator("input[name=cipher]:checked")).to_have_count(0)
    page.locator("input[name=cipher][value=arcfour]").check()
    expect(page.locator("input[name=cipher]:checked")).to_have_count(1)
    expect(page.locator("tr[data-cipher='3des-cbc']")).to_have_count(0)
    expect(page.locator("#results")).to_have_attribute("aria-busy", "false")
    assert {cipher for _, cipher in table(page)} == {"arcfour"}
    page.get_by_role("link", name="Default set").click()
    expect(page.locator("tr[data-cipher='3des-cbc']").first).to_be_visible()


def test_a_slow_answer_is_waited_for_behind_a_skeleton_of_the_same_size(
    open_page: OpenPage,
) -> None:
    page = open_page("/?source=published")
    held: list[Route] = []
    page.route(re.compile("group_by=os"), lambda route: held.append(route))
    height = page.evaluate("document.documentElement.scrollHeight")
    chart = page.locator("#chart-scroll").bounding_box()
    page.evaluate(
        """() => {
            let asked = 0;
            document.addEventListener("change", () => { asked = performance.now(); }, true);
            new MutationObserver(() => {
                if (!window.waited && document.querySelector(".skeleton"))
                    window.waited = performance.now() - asked;
            }).observe(document.body, { childList: true, subtree: true });
        }"""
    )
    page.get_by_label("Compare by").select_option("os")
    skeleton = page.locator(".skeleton")
    expect(skeleton).to_be_visible()
    expect(page.locator("#results")).to_have_attribute("aria-busy", "true")
    assert skeleton.bounding_box() == chart
    assert page.evaluate("document.documentElement.scrollHeight") == height
    moves = "one => getComputedStyle(one, '::before').animationName"
    assert skeleton.evaluate(moves) == "skeleton"
    page.emulate_media(reduced_motion="reduce")
    assert skeleton.evaluate(moves) == "none"
    # A quiet machine needs 140 ms; those that run the tests are shared.
    assert 115 <= page.evaluate("window.waited") < 1000
    held[0].continue_()
    expect(page.locator("h1")).to_have_text("SSH throughput by operating system")
    expect(skeleton).to_have_count(0)


def test_a_filter_narrows_and_its_chip_widens_again(open_page: OpenPage) -> None:
    page = open_page("/?source=published&group_by=os")
    groups = page.locator("tbody[data-group]").count()
    page.locator("#facet-cpu summary").click()
    page.get_by_label("Intel Core i7-2635QM").check()
    expect(page.locator("tbody[data-group]")).to_have_count(2)
    page.get_by_role("link", name=re.compile("CPU Intel Core i7-2635QM")).click()
    expect(page.locator("tbody[data-group]")).to_have_count(groups)


def test_changing_the_tool_forgets_ciphers_of_the_other(open_page: OpenPage) -> None:
    page = open_page("/?source=published&cipher=3des-cbc&sort=cipher:3des-cbc")
    page.get_by_label("Benchmark").select_option("openssl")
    expect(page.locator("h1")).to_have_text("OpenSSL throughput by CPU")
    assert "3des-cbc" not in page.url
    assert table(page)


def test_everything_reads_without_javascript(open_page: OpenPage) -> None:
    page = open_page("/?source=published&group_by=os", java_script_enabled=False)
    expect(page.locator("#comparison-table")).to_be_visible()
    expect(page.locator("#comparison-table svg.bar").first).to_be_visible()
    expect(page.locator("noscript p", has_text="needs JavaScript")).to_be_visible()
    page.get_by_label("Compare by").select_option("cpu")
    page.locator("noscript button").click()
    expect(page.locator("h1")).to_have_text("SSH throughput by CPU")
    assert "source=published" in page.url


def test_two_hundred_groups_stay_usable(open_page: OpenPage, fleet: None) -> None:
    page = open_page("/?tool=openssl&tag=fleet:big&sort=best")
    expect(page.get_by_text("20 of 200 groups shown.")).to_be_visible()
    page.get_by_role("link", name="Show all 200").click()
    expect(page.locator("tbody[data-group]")).to_have_count(200)
    drawn = page.locator("figure[data-chart]")
    expect(drawn).to_have_attribute("data-drawn", "600")
    fits = "canvas => canvas.width * canvas.height <= 16777216"
    assert page.locator("figure[data-chart] canvas").evaluate(fits) is True


def test_the_chart_follows_theme_and_width(open_page: OpenPage) -> None:
    page = open_page("/?source=published")
    picture = "canvas => canvas.toDataURL()"
    canvas = page.locator("figure[data-chart] canvas")
    light = canvas.evaluate(picture)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("before => document.querySelector('canvas').toDataURL() !== before",
                           arg=light)  # fmt: skip
    page.set_viewport_size({"width": 390, "height": 900})
    page.wait_for_function("document.querySelector('canvas').clientWidth < 390")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
