"""The value of a bar stands at the bar's end, also where a long whisker goes on behind it."""

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OpenPage
from tests.browser.pixels import Pixels, alike, named_colour, screenshot
from tests.browser.site_tools import processed, upload
from tests.live_site import LiveSite
from tests.sample_documents import environment, run_document, ssh_measurement

CIPHER = "aes128-gcm@openssh.com"
RATES = (60, 100, 130, 138, 300, 634, 700)
"""MB/s of the hosts of one group: median 138, upper quartile 467."""

SET = f"tag=set:labels&cipher={CIPHER}"
GAP = 8
"""CSS pixels between a bar and its value."""


@pytest.fixture(scope="session")
def scattered(site: LiveSite) -> None:
    """Hosts of one CPU whose rates are far apart."""
    token = site.token("upload")
    runs = [
        upload(
            site,
            run_document(
                ssh_measurement(CIPHER, rate * 1e6),
                host={"name": f"scattered-{rate}"},
                environment=environment(model="AMD EPYC 7763"),
                tags={"set": "labels"},
            ),
            token,
        )
        for rate in RATES
    ]
    for run_id in runs:
        processed(site, run_id)


def has_clear_gap(pixels: Pixels, left: float, right: float, y: float, page: Page) -> bool:
    """Whether the words of a value are apart: a whisker behind them would fill the blank."""
    surface, text = named_colour(page, "--surface"), named_colour(page, "--text")
    lines = [pixels.row(y + offset, left, right) for offset in range(-4, 5)]
    assert any(alike(one, text, 60) for line in lines for one in line), "there is no value"
    clear = [all(alike(one, surface, 12) for one in column) for column in zip(*lines, strict=True)]
    return "11" in "".join(str(int(one)) for one in clear).strip("1")


@pytest.mark.usefixtures("scattered")
@pytest.mark.parametrize(("width", "dark"), ((390, True), (1280, False)))
def test_a_value_stands_at_its_bar_on_the_screen(
    open_page: OpenPage, width: int, dark: bool
) -> None:
    page = open_page(f"/?{SET}", width=width, dark=dark)
    page.locator("figure canvas").scroll_into_view_if_needed()
    box = page.locator("figure canvas").bounding_box()
    assert box is not None
    pixels = screenshot(page)
    y = box["y"] + 26 + 30 + 9  # below the axis and the heading: the middle of the first row
    colour = named_colour(page, "--cipher-aes-gcm-1")
    line = pixels.row(y - 5, box["x"], box["x"] + box["width"])
    end = box["x"] + max(at for at, one in enumerate(line) if alike(one, colour))
    assert has_clear_gap(pixels, end + GAP - 1, end + GAP + 50, y, page)
