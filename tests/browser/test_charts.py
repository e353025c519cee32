"""The kinds of charts in the hands of their reader, each against the table below it."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.open_to_all import assert_accessible
from tests.browser.site_tools import processed, upload
from tests.live_site import PROJECT, LiveSite
from tests.sample_documents import (
    environment,
    openssl_measurement,
    run_document,
    ssh_measurement,
)

GCM = "aes128-gcm@openssh.com"
SIZES = (16, 1024, 16384)
HOSTILE = '"><script>alert(1)</script> \u202eright to left\u202c 🚀 & ' + "W" * 100
SET = "tag=set:charts"
ADDRESSES = {
    "bars": f"/?{SET}",
    "box": f"/?{SET}&chart=box",
    "heatmap": f"/?{SET}&chart=heatmap&scale=log",
    "lines": f"/?{SET}&tool=openssl&chart=lines&scale=log",
    "scatter": f"/?{SET}&chart=scatter&links=1",
}
CELLS = {
    "bars": "tr[data-cipher] td[data-value]",
    "box": "tr[data-cipher] td[data-value]",
    "heatmap": "td[data-value]",
    "lines": "td[data-value]",
    "scatter": "td[data-ssh]",
}


@pytest.fixture(scope="session")
def machines(site: LiveSite) -> None:
    """Three machines of two CPUs measured with both tools; one's names are hostile."""
    token = site.token("upload")
    runs = [
        upload(
            site,
            run_document(
                ssh_measurement(GCM, 4e8 * factor),
                ssh_measurement("3des-cbc", 3e7 * factor),
                *(
                    openssl_measurement("aes-128-gcm", 2e5 * size * factor, block_size=size)
                    for size in SIZES
                ),
                openssl_measurement("des-ede3-cbc", 3.1e7 * factor),
                host={"name": name},
                environment=environment(model=model),
                tags={"set": "charts"},
            ),
            token,
        )
        for name, model, factor in (
            ("quick", "AMD EPYC 7763", 2.0),
            ("plain", "AMD EPYC 7763", 1.0),
            (HOSTILE, HOSTILE, 0.5),
        )
    ]
    for run_id in runs:
        processed(site, run_id)


def drawn_marks(page: Page) -> int:
    figure = page.locator("figure[data-chart]")
    expect(figure).to_have_attribute("data-drawn", re.compile(r"\d+"))
    return int(figure.get_attribute("data-drawn") or 0)


def read_by_keyboard(page: Page) -> list[str]:
    """What the chart says of each of its figures when the right arrow walks over them."""
    canvas = page.locator("figure canvas")
    canvas.focus()
    said: list[str] = []
    for _ in range(drawn_marks(page)):
        canvas.press("ArrowRight")
        said.append(page.locator("#chart-reading").text_content() or "")
    return said


def shown_figures(page: Page, kind: str) -> list[str]:
    """The table's figures as they are written, without what stands below them."""
    found: list[str] = page.locator(CELLS[kind]).evaluate_all(
        """cells => cells.map(cell =>
            (cell.querySelector(".figure > span") ?? cell.firstChild).textContent.trim())"""
    )
    return found


@pytest.mark.usefixtures("machines")
@pytest.mark.parametrize("kind", ADDRESSES)
def test_chart_table_and_pictures_say_the_same(
    open_page: OpenPage, site: LiveSite, kind: str
) -> None:
    page = open_page(ADDRESSES[kind], dark=True)
    assert_chart_and_table_say_the_same(page, kind)
    assert_pictures_carry_title_source_and_date(page, site, kind)


def assert_chart_and_table_say_the_same(page: Page, kind: str) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    read = read_by_keyboard(page)
    figures = shown_figures(page, kind)
    assert len(read) == len(figures) == drawn_marks(page)
    for words, figure in zip(read, figures, strict=True):
        assert re.search(rf"(^|[ ;]){re.escape(figure)}([,;]|$)", words), (words, figure)
    assert any(HOSTILE[:20] in words for words in read)


@pytest.mark.usefixtures("machines")
def test_kinds_are_chosen_in_place_and_back_leads_back(open_page: OpenPage) -> None:
    page = open_page(f"/?{SET}&tool=openssl")
    page.evaluate("window.sameDocument = true")
    for label, kind in (("Heat map", "heatmap"), ("Block sizes", "lines"), ("Box plot", "box")):
        page.get_by_role("radio", name=label).check()
        expect(page).to_have_url(re.compile(f"chart={kind}"))
        expect(page.get_by_role("radio", name=label)).to_be_checked()
        expect(page.locator("figure canvas")).to_have_attribute(
            "aria-label", re.compile("OpenSSL throughput by CPU")
        )
    page.go_back()
    expect(page.get_by_role("radio", name="Block sizes")).to_be_checked()
    page.go_back()
    expect(page.get_by_role("radio", name="Heat map")).to_be_checked()
    page.go_forward()
    expect(page.get_by_role("radio", name="Block sizes")).to_be_checked()
    assert drawn_marks(page) == len(shown_figures(page, "lines"))
    assert page.evaluate("window.sameDocument") is True


@pytest.mark.usefixtures("machines")
def test_a_chart_zooms_by_keyboard_and_comes_back(open_page: OpenPage) -> None:
    page = open_page(ADDRESSES["scatter"], reduced_motion="reduce")
    canvas = page.locator("figure canvas")
    picture = "canvas => canvas.toDataURL()"
    canvas.focus()
    expect(page.get_by_role("button", name="Reset zoom")).to_be_hidden()
    canvas.press("+")
    expect(page.get_by_role("button", name="Reset zoom")).to_be_visible()
    expect(page).to_have_url(re.compile(r"#chart-view=x:\d+:\d+,y:\d+:\d+$"))
    zoomed = canvas.evaluate(picture)
    canvas.press("0")
    expect(page.get_by_role("button", name="Reset zoom")).to_be_hidden()
    assert canvas.evaluate(picture) != zoomed
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Reset zoom").press("Enter")
    expect(canvas).to_be_focused()


@pytest.mark.usefixtures("machines")
def test_a_link_and_the_way_back_show_the_zoomed_chart(open_page: OpenPage) -> None:
    page = open_page(ADDRESSES["lines"])
    page.locator("figure canvas").press("+")
    expect(page).to_have_url(re.compile(r"#chart-view=(x|y\w*):"))
    reset = page.get_by_role("button", name="Reset zoom")
    again = open_page(page.url)
    expect(again.get_by_role("button", name="Reset zoom")).to_be_visible()
    assert canvas_picture(again) == canvas_picture(page)
    page.get_by_label("Metric").select_option("cpu_seconds_per_gb")
    expect(reset).to_be_hidden()
    assert "#" not in page.url
    page.go_back()
    expect(reset).to_be_visible()
    assert canvas_picture(again) == canvas_picture(page)
    reset.click()
    expect(page).not_to_have_url(re.compile("#"))


@pytest.mark.usefixtures("machines")
def test_dragging_zooms_and_opens_no_menu(open_page: OpenPage) -> None:
    page = open_page(ADDRESSES["bars"])
    reset = page.get_by_role("button", name="Reset zoom")
    page.get_by_role("button", name="Zoom in").click()  # zooming is loaded when it is wanted
    reset.click()
    expect(reset).to_be_hidden()
    box = page.locator("figure canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + 420, box["y"] + 90, steps=5)
    page.mouse.up()
    expect(reset).to_be_visible()
    expect(page).to_have_url(re.compile(r"#chart-view=x:\d+:\d+$"))
    expect(page.locator(".mark-menu")).to_have_count(0)
    reset.click()
    expect(reset).to_be_hidden()


@pytest.mark.usefixtures("machines")
def test_a_point_leads_to_its_host(open_page: OpenPage) -> None:
    page = open_page(ADDRESSES["scatter"])
    page.locator("figure canvas").press("ArrowRight")
    page.locator("figure canvas").press("Enter")
    page.get_by_role("link", name="Page of this host").click()
    expect(page).to_have_url(re.compile(r"/hosts/\d+/"))


@pytest.mark.usefixtures("machines")
def test_a_mark_has_a_menu_by_keyboard(open_page: OpenPage) -> None:
    page = open_page(ADDRESSES["bars"], bypass_csp=True)
    page.evaluate("window.sameDocument = true")
    canvas, menu = page.locator("figure canvas"), page.locator(".mark-menu")
    canvas.focus()
    canvas.press("Enter")
    expect(menu).to_have_count(0)
    canvas.press("ArrowRight")
    with_tooltip = canvas.evaluate("canvas => canvas.toDataURL()")
    canvas.press("Enter")
    expect(menu.get_by_role("link", name="Only this group")).to_be_focused()
    without = canvas.evaluate("canvas => canvas.toDataURL()")
    assert without != with_tooltip
    assert_accessible(page)
    page.keyboard.press("ArrowDown")
    expect(menu.get_by_role("link", name="Hosts of this group")).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    expect(canvas).to_be_focused()
    assert canvas.evaluate("canvas => canvas.toDataURL()") != without
    canvas.press("Enter")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("cpu="))
    expect(page.locator("tbody[data-group]")).to_have_count(1)
    expect(page.locator("figure canvas")).to_be_focused()
    assert page.evaluate("window.sameDocument") is True


@pytest.mark.usefixtures("machines")
@pytest.mark.parametrize("kind", ("bars", "heatmap"))
def test_a_click_on_a_mark_or_heading_opens_its_menu(open_page: OpenPage, kind: str) -> None:
    page = open_page(ADDRESSES[kind], width=390)
    canvas, menu = page.locator("figure canvas"), page.locator(".mark-menu")
    at = page.evaluate(MARKS_AT, kind)
    canvas.click(position=at["mark"])
    expect(menu.get_by_role("link", name="Only this group")).to_be_focused()
    expect(menu.get_by_role("link", name="Only this cipher")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.mouse.click(2, 2)
    expect(menu).to_have_count(0)
    canvas.click(position=at["heading"])
    expect(menu.get_by_role("link", name="Only this cipher")).to_have_count(0)
    menu.get_by_role("link", name="Take as reference").click()
    expect(page.get_by_role("radio", name="Relative")).to_be_checked()
    expect(menu).to_have_count(0)
    page.locator("figure canvas[aria-label*=differences]").click(position={"x": 200, "y": 64})
    expect(menu.get_by_role("link", name="Leave it out")).to_be_visible()


MARKS_AT = """kind => {
    const {width} = document.querySelector("figure canvas").getBoundingClientRect();
    if (kind === "heatmap") return {mark: {x: width - 20, y: 52}, heading: {x: 20, y: 52}};
    return {mark: {x: width / 2, y: 66}, heading: {x: 30, y: 46}};
}"""
"""Where the first figure and the first label of a group are."""


def canvas_picture(page: Page) -> str:
    """What is drawn, with no mark selected and none under the pointer."""
    page.mouse.move(0, 0)
    page.locator("figure canvas").press("Escape")
    picture: str = page.locator("figure canvas").evaluate("canvas => canvas.toDataURL()")
    return picture


def assert_pictures_carry_title_source_and_date(page: Page, site: LiveSite, kind: str) -> None:
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG of the chart").click()
    assert re.fullmatch(r"ciphermark-[a-z0-9-]+\.svg", download.value.suggested_filename)
    text = download.value.path().read_text("utf-8")
    tree = ElementTree.fromstring(text)  # noqa: S314 - a file of our own making
    said = [one.text or "" for one in tree.iter("{http://www.w3.org/2000/svg}text")]
    title = page.locator(".chart-title, h1").last.text_content()
    assert said.count(title or "no title") == 1
    date = page.evaluate(
        "JSON.parse(document.getElementById('chart-view').textContent).picture.date"
    )
    assert download.value.suggested_filename.endswith(f"-{date}.svg")
    assert kind == "heatmap" or "3des-cbc" in said or "des-ede3-cbc" in said
    assert any(re.match("(Bar|Box|Point|The stronger)", one) for one in said)
    host = site.url.removeprefix("http://")
    assert f"Figures: agent · Ciphermark at {host} · {date}" in said
    assert {one.tag.rpartition("}")[2] for one in tree.iter()}.isdisjoint(
        {"script", "image", "style", "a", "foreignObject"}
    )
    assert set(re.findall(r"https?://[^\"']+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not re.search("[\u202a-\u202e]", text)
    assert kind == "heatmap" or any("GB/s" in one or "MB/s" in one for one in said)

    with page.expect_download() as download:
        page.get_by_role("button", name="PNG of the chart").click()
    png = download.value.path().read_bytes()
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20]) == 2400


def test_two_hundred_groups_are_scrolled_inside(open_page: OpenPage, fleet: None) -> None:
    page = open_page("/?tool=openssl&tag=fleet:big&top=all")
    assert drawn_marks(page) == 600
    box = page.locator(".chart-box")
    assert box.evaluate("box => box.clientHeight") < 1200
    assert box.evaluate("box => box.scrollHeight") > 15_000
    canvas = page.locator("figure canvas")
    canvas.focus()
    canvas.press("End")
    expect(page.locator("#chart-reading")).to_contain_text("model 199")
    assert box.evaluate("box => box.scrollTop") > 14_000
    assert canvas.evaluate("canvas => canvas.height / devicePixelRatio") < 1200
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert canvas.evaluate("canvas => canvas.clientHeight") > 15_000
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert canvas.evaluate("canvas => canvas.clientHeight") < 1200


def test_many_groups_are_several_pictures(open_page: OpenPage, fleet: None) -> None:
    page = open_page("/?tool=openssl&tag=fleet:big&top=50")
    names: list[str] = []
    page.on("download", lambda one: names.append(one.suggested_filename))
    page.get_by_role("button", name="SVG of the chart (2 files)").click()
    for _ in range(100):
        if len(names) > 1:
            break
        page.wait_for_timeout(200)
    assert [name.partition("-by-cpu-")[2][10:] for name in names] == ["-1-of-2.svg", "-2-of-2.svg"]


def test_the_theme_is_chosen_kept_and_followed_by_charts(open_page: OpenPage) -> None:
    page = open_page("/?source=published", bypass_csp=True)
    background = "getComputedStyle(document.body).backgroundColor"
    picture = "canvas => canvas.toDataURL()"
    light, drawn = page.evaluate(background), page.locator("figure canvas").evaluate(picture)
    page.get_by_role("radio", name="System").focus()
    page.keyboard.press("ArrowLeft")  # round the end
    expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    page.wait_for_function(f"light => {background} !== light", arg=light)
    assert page.locator("figure canvas").evaluate(picture) != drawn
    assert_accessible(page)
    page.goto("/runs/")
    assert page.evaluate(background) != light
    expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    page.emulate_media(media="print")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    page.emulate_media(media="screen", color_scheme="dark")
    page.get_by_role("radio", name="Light").check()
    page.wait_for_function(f"light => {background} === light", arg=light)


def test_a_chart_that_cannot_be_loaded_says_so(open_page: OpenPage) -> None:
    page = open_page("/method/", expected="Failed to")
    page.route("**/assets/charts-*.js", lambda route: route.abort())
    page.goto("/?source=published")
    expect(page.get_by_text("The chart could not be loaded")).to_be_visible()
    expect(page.locator("#comparison-table")).to_be_visible()


def test_what_is_loaded_later_does_not_run_the_entry_again() -> None:
    """Django serves the entry under a name with a hash: to a browser another file."""
    for chunk in Path(PROJECT / "frontend/dist/assets").glob("*-*.js"):
        assert "main.js" not in chunk.read_text("utf-8"), chunk.name
