"""What every page owes all its readers: no fault that axe knows, no sideways scrolling."""

from typing import Any

from playwright.sync_api import Page

from tests.live_site import PROJECT

AXE = PROJECT / "frontend/node_modules/axe-core/axe.min.js"
COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""The dark theme has other colours, and nothing else that is other."""

WIDTHS = (320, 768, 2560)
"""The page was opened at 1280."""

# A chart follows its box in the next frame.
NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))"

VIOLATIONS = """async options => {
    const found = await axe.run({ ...options, resultTypes: ["violations"] });
    return Object.fromEntries(found.violations.map(
        rule => [rule.id, rule.nodes.slice(0, 3).map(node => node.target)]));
}"""
"""What passes is most of what axe finds: it stays in the browser."""

FITS = "width => document.documentElement.scrollWidth <= width"
ENDS_WITH_FOOTER = """() => {
  document.querySelectorAll("details.menu").forEach(one => { one.open = false; });
  const parts = [...document.body.children].map((one) => one.getBoundingClientRect().bottom);
  const end = Math.max(...parts);
  return document.documentElement.scrollHeight <= Math.max(innerHeight, end + scrollY + 100);
}"""
"""Nothing that is scrolled inside, or that nobody sees, makes the page longer."""


def assert_open_to_all(page: Page) -> None:
    """Check light and dark colours at every width, including folded parts.

    The page must have been opened with `bypass_csp`, because its policy blocks the checker.
    """
    unfold(page)
    assert_accessible(page)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(NEXT_FRAME)
        page.wait_for_function(FITS, arg=width)  # a busy machine's next frame may be a late one
    page.wait_for_function(ENDS_WITH_FOOTER)


def assert_accessible(page: Page) -> None:
    """Check the page in its current state, in light and dark colours."""
    page.add_script_tag(path=AXE)
    assert violations(page) == []
    # Colours that are still on their way to the dark ones would be judged.
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert violations(page, *COLOUR_RULES) == []


def unfold(page: Page) -> None:
    """Open everything that can be opened, so that it is judged too."""
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")


def violations(page: Page, *rules: str) -> list[tuple[str, list[str]]]:
    """Return the broken rules, each with the first elements that break it."""
    options = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    found: dict[str, list[Any]] = page.evaluate(VIOLATIONS, options)
    return [(rule, list(map(str, targets))) for rule, targets in found.items()]
