"""The pixels of a page as a reader sees them: of a screenshot, not of what a script believes."""

import base64
from dataclasses import dataclass

from playwright.sync_api import Page

Colour = tuple[int, int, int]

DECODE = """async png => {
    const bitmap = await createImageBitmap(await (await fetch(png)).blob());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    let text = "";
    for (let start = 0; start < data.length; start += 32768)
        text += String.fromCharCode(...data.subarray(start, start + 32768));
    return [bitmap.width, btoa(text)];
}"""

NAMED = """name => {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const colour = getComputedStyle(probe).color;
    probe.remove();
    return colour.match(/\\d+/g).slice(0, 3).map(Number);
}"""


@dataclass(frozen=True)
class Pixels:
    """An image; `rgba` has four bytes a pixel, row by row."""

    width: int
    rgba: bytes

    def row(self, y: float, left: float, right: float) -> list[Colour]:
        """The colours of a line from `left` up to `right`."""
        start, end = (4 * (round(y) * self.width + round(x)) for x in (left, right))
        line = self.rgba[start:end]
        return [(line[at], line[at + 1], line[at + 2]) for at in range(0, len(line), 4)]


def screenshot(page: Page) -> Pixels:
    """What the window shows now."""
    return decoded(page, page.screenshot())


def decoded(page: Page, png: bytes) -> Pixels:
    """The pixels of a PNG file, read by its browser's first page, which is blank and so without a
    policy.
    """
    reader = page.context.pages[0]
    width, text = reader.evaluate(DECODE, f"data:image/png;base64,{base64.b64encode(png).decode()}")
    return Pixels(width, base64.b64decode(text))


def named_colour(page: Page, name: str) -> Colour:
    """A custom property of the page's style as it is in force now."""
    red, green, blue = page.evaluate(NAMED, name)
    return red, green, blue


def alike(one: Colour, other: Colour, tolerance: int = 6) -> bool:
    """Whether two colours differ by no more than what blending at an edge makes."""
    return all(abs(a - b) <= tolerance for a, b in zip(one, other, strict=True))
