from typing import Any

from playwright.sync_api import Page

from tests.live_site import PROJECT

AXE = PROJECT / "frontend/node_modules/axe-core/axe.min.js"
# The dark theme differs only in colours.
COLOUR_RULES = ("color-contrast", "link-in-text-block")

# Pages are opened at 1280 px, so these widths come in addition.
WIDTHS = (320, 768, 2560)

# A chart adjusts to its box in the next frame.
NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))"

# Most of axe's results are passed rules, so return only violations.
VIOLATIONS = """async options => {
    const found = await axe.run({ ...options, resultTypes: ["violations"] });
    return Object.fromEntries(found.violations.map(
        rule => [rule.id, rule.nodes.slice(0, 3).map(node => node.target)]));
}"""

FITS = "width => document.documentElement.scrollWidth <= width"
# No inner scroll area or hidden element may make the page longer.
ENDS_WITH_FOOTER = """() => {
  document.querySelectorAll("details.menu").forEach(one => { one.open = false; });
  const parts = [...document.body.children].map((one) => one.getBoundingClientRect().bottom);
  const end = Math.max(...parts);
  return document.documentElement.scrollHeight <= Math.max(innerHeight, end + scrollY + 100);
}"""


def assert_open_to_all(page: Page) -> None:
    """Open all <details> elements. Check the accessibility, and the layout at every width.

    The page must be opened with `bypass_csp`, because the Content-Security-Policy blocks axe.
    """
    unfold(page)
    assert_accessible(page)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(NEXT_FRAME)
        page.wait_for_function(FITS, arg=width)  # the next frame may be late on a busy host
    page.wait_for_function(ENDS_WITH_FOOTER)


def assert_accessible(page: Page) -> None:
    page.wait_for_load_state()
    page.add_script_tag(path=AXE)
    assert violations(page) == []
    # Disable transitions, because axe would check colours before they are dark.
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert violations(page, *COLOUR_RULES) == []


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")


def violations(page: Page, *rules: str) -> list[tuple[str, list[str]]]:
    options = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    found: dict[str, list[Any]] = page.evaluate(VIOLATIONS, options)
    return [(rule, list(map(str, targets))) for rule, targets in found.items()]
