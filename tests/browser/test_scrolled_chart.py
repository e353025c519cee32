"""A chart of many groups that is scrolled in its box shows the bars that belong there."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OpenPage
from tests.browser.pixels import Colour, Pixels, alike, named_colour, screenshot

MANY = "/?tool=openssl&tag=fleet:big&group_by=host&top=100"
AXIS, HEADING, ROW = 26, 30, 18
"""CSS pixels of the axis, a group's heading and a bar's row (frontend/src/charts)."""

SCROLLED = (0.0, 0.37, 1.0)
AFTER_FRAMES = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 120)))"


@dataclass(frozen=True)
class Bar:
    """A bar of the chart: where its middle is, from the first row on, its value and its colour."""

    y: float
    value: float
    slot: str


def all_bars(view: dict[str, Any]) -> Iterator[Bar]:
    y = 0
    for group in view["comparison"]["groups"]:
        y += HEADING
        for cipher in view["comparison"]["ciphers"]:
            if cipher in group["values"]:
                yield Bar(y + ROW / 2, group["values"][cipher]["median"], view["colours"][cipher])
                y += ROW


def scroll_to(page: Page, part: float) -> float:
    """Scroll the rows to this part of their way; how many CSS pixels that is."""
    box = page.locator(".chart-box")
    box.evaluate(
        "(box, part) => { box.scrollTop = part * (box.scrollHeight - box.clientHeight); }", part
    )
    page.evaluate(AFTER_FRAMES)
    return float(box.evaluate("box => box.scrollTop"))


def last(pixels: Pixels, y: float, ends: tuple[float, float], colour: Colour) -> int:
    """Where the colour is seen last in a line: the end of a bar, or of the ring of one host."""
    line = pixels.row(y, *ends)
    return max(at for at, one in enumerate(line) if alike(one, colour))


def length(pixels: Pixels, y: float, ends: tuple[float, float], colour: Colour) -> int:
    """Pixels of the bar's colour in a line through it."""
    return sum(alike(one, colour) for one in pixels.row(y, *ends))


@pytest.mark.usefixtures("fleet")
@pytest.mark.parametrize(("width", "dark"), ((390, False), (1280, True)))
def test_the_rows_scrolled_to_are_seen(open_page: OpenPage, width: int, dark: bool) -> None:
    page = open_page(MANY, width=width, dark=dark)
    bars = list(all_bars(json.loads(page.locator("#chart-view").text_content() or "")))
    assert len(bars) == 300
    colours = {slot: named_colour(page, f"--cipher-{slot}") for slot in {bar.slot for bar in bars}}
    page.locator(".chart-box").evaluate("box => box.scrollIntoView({ block: 'start' })")
    for part in SCROLLED:
        top = scroll_to(page, part)
        box = page.locator(".chart-box").bounding_box()
        assert box is not None
        pixels = screenshot(page)
        middles = [(bar, box["y"] + AXIS + bar.y - top) for bar in bars]
        ends = (box["x"], box["x"] + box["width"])
        within = (box["y"] + AXIS + ROW, box["y"] + box["height"] - ROW)
        seen = [(bar, y) for bar, y in middles if within[0] < y < within[1]]
        assert len(seen) >= 15, part
        # Above the middle, where no ring of a single host covers the bar.
        lengths = [length(pixels, y - 4.5, ends, colours[bar.slot]) for bar, y in seen]
        longest = max(lengths)
        assert longest > 50, (part, lengths)
        per_value = longest / seen[lengths.index(longest)][0].value
        for (bar, _), long in zip(seen, lengths, strict=True):
            assert abs(long - per_value * bar.value) <= 8, (part, bar, lengths)


@pytest.mark.usefixtures("fleet")
@pytest.mark.parametrize(
    ("view", "width"),
    (
        ("", 390),
        ("&scale=log", 1280),
    ),
    ids=("linear", "log"),
)
def test_the_value_axis_stays_while_rows_are_scrolled(
    open_page: OpenPage, view: str, width: int
) -> None:
    page = open_page(MANY + view, width=width)
    bars = list(all_bars(json.loads(page.locator("#chart-view").text_content() or "")))
    colours = {slot: named_colour(page, f"--cipher-{slot}") for slot in {bar.slot for bar in bars}}
    page.locator(".chart-box").evaluate("box => box.scrollIntoView({ block: 'start' })")
    axes: set[tuple[Colour, ...]] = set()
    found: dict[float, set[int]] = {}
    for part in SCROLLED:
        top = scroll_to(page, part)
        box = page.locator(".chart-box").bounding_box()
        assert box is not None
        pixels = screenshot(page)
        ends = (box["x"], box["x"] + box["width"])
        # The axis' labels: the names of rows reach a little into its lower edge.
        lines = range(AXIS - ROW // 2)
        axes.add(tuple(one for y in lines for one in pixels.row(box["y"] + y, *ends)))
        for bar in bars:
            y = box["y"] + AXIS + bar.y - top
            if box["y"] + AXIS + ROW < y < box["y"] + box["height"] - ROW:
                end = last(pixels, y, ends, colours[bar.slot])
                found.setdefault(bar.value, set()).add(end)
    assert len(axes) == 1
    assert len(found) > 15
    for value, places in found.items():
        assert max(places) - min(places) <= 1, (value, places)
    # Other values end elsewhere: the highest and the lowest are far apart.
    assert max(found[max(found)]) - max(found[min(found)]) > width / 4
