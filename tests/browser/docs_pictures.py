"""Create the images of docs/how-to: `python -m tests.browser.docs_pictures`.

Each image shows the results of the example text in the same document.
"""

import os
import re
import sys
import urllib.request
from pathlib import Path
from urllib.parse import quote

import django

DOCS = Path(__file__).parents[2] / "docs"

CIPHERS = "&cipher=".join(("", "3des-cbc", "blowfish-cbc", "arcfour", "aes128-ctr", "aes256-ctr"))
MODERN = "&cipher=aes128-gcm@openssh.com&cipher=chacha20-poly1305@openssh.com"
# Query strings of the import and of the comparison in the image, by page
VIEWS = {
    "hidden-aes": ("host=proxmox-guest&unit=MiB", f"group_by=host{CIPHERS}{MODERN}"),
    "nas": ("host=desktop", "group_by=host&target_kind=remote"),
    "two-systems": ("", "group_by=os_version"),
    "platforms": ("", f"group_by=host&metric=vs_3des{CIPHERS}"),
}

PANEL = 'section[aria-label="Chart"]'


def pasted(name: str) -> str:
    page = (DOCS / "how-to" / f"{name}.md").read_text("utf-8")
    (text,) = re.findall(r"```text paste\n(.*?)```", page, re.S)
    return str(text)


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    from tests.browser.screenshot import take
    from tests.live_site import live_site

    with live_site("browser") as site:
        token = site.token("upload")
        for name, (how, view) in VIEWS.items():
            request = urllib.request.Request(
                f"{site.url}/api/v1/imports/?{how}",
                pasted(name).encode(),
                {"Authorization": f"Bearer {token}", "Content-Type": "text/plain"},
            )
            with urllib.request.urlopen(request) as answer:
                runs = re.findall(r'"run_id":\s*"([^"]+)"', answer.read().decode())
            hosts = {site.wait_until_ready(run)["host"] for run in runs}
            address = "&host=".join((f"{site.url}/?{view}", *map(quote, sorted(hosts))))
            take(address, str(DOCS / "pictures" / f"{name}.png"), 1100, selector=PANEL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
