"""How long a reader waits for the next picture after a filter was changed, at 200 groups."""

import os
import re
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.bench.figures import Figure

ADDRESS = "/?group_by=host&top=all"
"""Of 10,000 hosts a page shows 200."""

ROUNDS = 15
LIMIT_MS = 100.0
SHORTEST_MS = 16.0
"""Chromium tells of no shorter interaction."""

OBSERVE = """
window.interactions = [];
new PerformanceObserver(list => {
  for (const one of list.getEntries()) {
    if (one.interactionId) window.interactions.push(one.duration);
  }
}).observe({type: "event", durationThreshold: 16});
"""


def measure(url: str) -> list["Figure"]:
    """Click one filter on and off; the figures are milliseconds by Chromium's Event Timing."""
    from playwright.sync_api import sync_playwright

    from tests.bench.figures import Figure, below

    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ["CHROME_PATH"], args=arguments
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(OBSERVE)
        page.goto(url + ADDRESS)
        page.wait_for_load_state("networkidle")
        page.locator("#facet-cpu_vendor summary").click()
        found = [_round(page) for _ in range(ROUNDS)]
        browser.close()
    said = " ".join(f"{one:.0f}" for one in found)
    name = "filter change at 200 groups: next paint"
    return [
        below(f"{name}, median", "ms", median(found), LIMIT_MS),
        Figure(f"{name}, slowest of {ROUNDS}", "ms", max(found), None, "", None, said),
    ]


def _round(page: "Page") -> float:
    """One click, and all that follows from it."""
    from playwright.sync_api import expect

    page.evaluate("window.interactions = []")
    with page.expect_response(re.compile("group_by=host")):
        page.locator("#choices-cpu_vendor .choice").first.click()
    expect(page.locator("#results")).to_have_attribute("aria-busy", "false", timeout=30_000)
    expect(page.locator("figure[data-chart]")).to_have_attribute("data-drawn", re.compile(r"\d+"))
    page.wait_for_timeout(300)
    durations: list[float] = page.evaluate("window.interactions")
    return max([SHORTEST_MS, *durations])
