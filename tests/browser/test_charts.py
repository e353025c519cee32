import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.open_to_all import assert_accessible
from tests.browser.site_tools import processed, upload
from tests.live_site import LiveSite
from tests.sample_documents import (
    environment,
    openssl_measurement,
    run_document,
    ssh_measurement,
)

GCM = "aes128-gcm@openssh.com"
SIZES = (16, 1024, 16384)
HOSTILE = '"><script>alert(1)</script> \u202eright to left\u202c 🚀 & ' + "W" * 100
COMPARE = "/?tag=set:charts"


@pytest.fixture(scope="session")
def machines(site: LiveSite) -> None:
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
    canvas = page.locator("figure canvas")
    canvas.focus()
    said: list[str] = []
    for _ in range(drawn_marks(page)):
        canvas.press("ArrowRight")
        said.append(page.locator("#chart-reading").text_content() or "")
    return said


@pytest.mark.usefixtures("machines")
def test_the_chart_says_what_its_table_says(open_page: OpenPage) -> None:
    page = open_page(COMPARE, dark=True)
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    read = read_by_keyboard(page)
    figures = page.locator("td[data-value]").evaluate_all(
        """cells => cells.map(cell =>
            (cell.querySelector(".figure > span") ?? cell.firstChild).textContent.trim())"""
    )
    assert len(read) == len(figures) == drawn_marks(page)
    for words, figure in zip(read, figures, strict=True):
        assert re.search(rf"(^|[ ;]){re.escape(figure)}([,;]|$)", words), (words, figure)
    assert any(HOSTILE[:20] in words for words in read)


def test_the_theme_is_chosen_kept_and_followed_by_charts(open_page: OpenPage) -> None:
    page = open_page("/?source=published", bypass_csp=True)
    background = "getComputedStyle(document.body).backgroundColor"
    picture = "canvas => canvas.toDataURL()"
    light, drawn = page.evaluate(background), page.locator("figure canvas").evaluate(picture)
    page.get_by_role("radio", name="System").focus()
    page.keyboard.press("ArrowLeft")  # beyond the end
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
