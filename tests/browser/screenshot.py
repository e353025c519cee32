"""Create the README's picture: `python -m tests.browser.screenshot URL FILE [WIDTH] [THEME]`."""

import os
import sys
from typing import Literal

from playwright.sync_api import sync_playwright

Scheme = Literal["light", "dark"]

HEIGHT = 860
SHARPNESS = 1.5
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--hide-scrollbars",
)


def take(
    url: str, file: str, width: int = 1280, scheme: Scheme = "light", selector: str = ""
) -> None:
    path = os.environ.get("CHROMIUM_PATH", "/usr/bin/chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        page = browser.new_page(
            viewport={"width": width, "height": HEIGHT},
            color_scheme=scheme,
            device_scale_factor=SHARPNESS,
        )
        page.goto(url)
        page.wait_for_load_state("networkidle")
        if selector:
            page.locator(selector).screenshot(path=file)
        else:
            page.screenshot(path=file)
        browser.close()


def main(arguments: list[str]) -> int:
    url, file, width, scheme = (*arguments, *("", "", "1280", "light")[len(arguments) :])[:4]
    if not (url and file and width.isdigit() and scheme in ("light", "dark")):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    take(url, file, int(width), "dark" if scheme == "dark" else "light")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
