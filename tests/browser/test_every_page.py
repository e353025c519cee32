import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.browser.conftest import OpenPage
from tests.browser.open_to_all import NEXT_FRAME, assert_open_to_all
from tests.live_site import PROJECT, LiveSite
from tests.sample_documents import run_document

JAVASCRIPT_LIMIT_KB = 110
CIPHERS = "cipher=aes128-gcm@openssh.com&cipher=cast128-cbc"

STATES = {
    "compare": "/",
    "overfull": "/?tool=openssl&tag=fleet:big&top=50",
    "searched filters": "/?tool=openssl&tag=fleet:big&find-cpu=1&more=host&page=3&group_by=host",
    "no such group": "/?source=published&q=nothing+like+it",
    "normalised": "/?source=published&metric=normalised&group_by=os",
    "matrix": "/?tool=openssl&scale=log&tag=fleet:big&top=50",
    "relative": "/?group_by=os&source=published&relative_to=fedora",
    "split": "/?group_by=cpu_vendor&split_by=os&source=published",
    "matched, nobody": "/?tool=openssl&group_by=openssl&source=published&matched=1",
    "nothing fits": f"/?cpu=no-such-cpu&{CIPHERS}",
    "no baseline": "/?metric=vs_blowfish&os=debian-gnu-linux",
    "misspelt filter": "/?source=published&hots=nas",
    "refused": "/?tool=gpg",
    "hosts found": "/hosts/?q=fleet&ordering=name&verdict=hardware&verdict=unknown",
    "hosts refused": "/hosts/?verdict=none",
    "no hosts": "/hosts/?q=nothing+like+it",
    "runs found": "/runs/?q=fleet+0",
    "side by side, one": "/hosts/diff/?host=nobody",
    "no runs": "/runs/?source=import",
    "method": "/method/",
    "documentation": "/docs/",
    "documentation, tables": "/docs/api/",
    "documentation, picture": "/docs/how-to/hidden-aes/",
    "sign in": "/accounts/login/?next=/runs/",
    "not found": "/nowhere/",
    "recommend": "/recommend/",
    "recommend a host": "/recommend/?host=bench-under-test&policy=everything",
    "recommend a pair": "/recommend/?client=bench-under-test&server=bench-under-test&link=10GbE",
    "recommend for a group": "/recommend/?source=agent&policy=everything",
    "recommend to nobody": "/recommend/?for=group&tag=no:where",
    "recommend refused": "/recommend/?client=bench-under-test",
    "tokens": "/tokens/",
    "notifications": "/notifications/",
    "shares": "/shares/?view=tool%3Dssh%26group_by%3Dos",
    "share ended": "/shares/no-such-secret/",
    "audit": "/audit/",
    "hidden runs": "/runs/hidden/",
    "upload": "/upload/",
}
# Pages that ask for confirmation of a change
EDITED = ("hide a run", "rename a host", "merge a host", "merge two hosts")
SIGNED_IN = (
    "compare",
    "tokens",
    "notifications",
    "upload",
    "shares",
    "audit",
    "hidden runs",
    *EDITED,
)
AWAY = """
from accounts.audit import COMMAND
from runs.editing import remove_run
from runs.models import Run
for key in Run.objects.filter(host_name__in=names).values_list("pk", flat=True):
    remove_run(key, COMMAND)
"""
REFUSED = (
    "refused",
    "hosts refused",
    "side by side, one",
    "not found",
    "recommend refused",
    "share ended",
)


CLONES = ("clone <script>alert(1)</script>", "clone " + "W" * 190)


def clones(site: LiveSite) -> str:
    found = site.get("/api/v1/hosts/?page_size=200")["results"]
    return next(str(host["id"]) for host in found if host["name"] in CLONES)


@pytest.fixture(scope="module")
def cloned(site: LiveSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    lines = tmp_path_factory.mktemp("clones") / "runs.ndjson"
    runs = [run_document(host={"name": name, "machine_id": "c" * 64}) for name in CLONES]
    lines.write_text("\n".join(map(json.dumps, runs)))
    site.manage("load_runs", str(lines))
    yield
    site.manage("shell", "--no-imports", "-c", f"names = {CLONES!r}\n{AWAY}")


def address(state: str, site: LiveSite, run_id: str) -> str:
    return STATES.get(state) or addresses(site, run_id)[state]


@cache
def addresses(site: LiveSite, run_id: str) -> dict[str, str]:
    run = site.get(f"/api/v1/runs/{run_id}/")
    published = site.get("/api/v1/runs/?source=published")["results"][0]
    cloned = clones(site)
    hosts = [result["host"] for result in site.get("/api/v1/hosts/?page_size=4")["results"]]
    runs = [result["run_id"] for result in site.get("/api/v1/runs/?page_size=2")["results"]]
    return {
        "hosts side by side": f"/hosts/diff/?{urlencode({'host': hosts}, doseq=True)}",
        "runs side by side": f"/runs/diff/?{urlencode({'run': [*runs, run_id]}, doseq=True)}",
        "run": f"/runs/{run_id}/",
        "host": f"/hosts/{run['host_id']}/",
        "published run": f"/runs/{published['run_id']}/",
        "share": site.share(),
        "hide a run": f"/runs/{run_id}/hide/",
        "rename a host": f"/hosts/{run['host_id']}/rename/",
        "clones": f"/hosts/{cloned}/",
        "merge a host": f"/hosts/{run['host_id']}/merge/",
        "merge two hosts": f"/hosts/{run['host_id']}/merge/{published['host_id']}/",
    }


SIDES = ("hosts side by side", "runs side by side")
ALL = (*STATES, "run", "host", "clones", "published run", "share", *SIDES, *EDITED)


@pytest.mark.usefixtures("fleet", "cloned")
@pytest.mark.parametrize("state", ALL)
def test_every_state_is_open_to_all(
    open_state: OpenPage, site: LiveSite, measured_run: str, state: str
) -> None:
    page = open_state(
        address(state, site, measured_run),
        expected="the server responded with a status of 40" if state in REFUSED else "",
        is_signed_in=state in SIGNED_IN,
    )
    assert_open_to_all(page)


def test_the_first_page_carries_little_javascript(open_page: OpenPage) -> None:
    # Browsers receive gzipped scripts.
    page = open_page("/?source=published")
    loaded = page.evaluate(
        """() => performance.getEntriesByType("resource").map(one => one.name)
                 .filter(name => name.endsWith(".js"))"""
    )
    assets = PROJECT / "frontend/dist/assets"
    names = [re.sub(r"(\.[0-9a-f]{12})?\.js$", ".js", name.rpartition("/")[2]) for name in loaded]
    assert {"main.js"} < set(names)
    sizes = {name: len(gzip.compress((assets / name).read_bytes(), 9)) for name in names}
    assert sum(sizes.values()) <= JAVASCRIPT_LIMIT_KB * 1000, sizes


def test_paper_gets_the_results_in_light_colours(open_page: OpenPage) -> None:
    page = open_page("/?source=published", dark=True)
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#compare-form").is_visible() is False
    assert page.locator("#comparison-table").is_visible() is True
    pieces = page.locator(".chart-paper canvas")
    assert pieces.count() == page.locator("#comparison-table tbody tr").count() > 1
    assert pieces.last.is_visible()
    assert pieces.last.evaluate("one => getComputedStyle(one).breakInside") == "avoid"
    assert page.locator("#chart-canvas").is_visible() is False
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert pieces.count() == 0


@pytest.mark.parametrize("is_signed_in", (False, True))
def test_nothing_in_the_head_of_a_page_lies_on_anything_else(
    open_page: OpenPage, signed_in: dict[str, Any], is_signed_in: bool
) -> None:
    page = open_page("/method/", **(signed_in if is_signed_in else {}))
    for width in (320, 390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(NEXT_FRAME)
        links = page.locator(".site-header a:visible, .site-header button:visible").all()
        boxes = [box for link in links if (box := link.bounding_box())]
        rows = sorted((round(box["y"] / 20), box["x"], box["width"]) for box in boxes)
        for (row, left, wide), (next_row, next_left, _) in pairwise(rows):
            assert row != next_row or left + wide <= next_left + 1


def test_a_table_wider_than_the_phone_is_scrolled_by_keyboard(open_page: OpenPage) -> None:
    page = open_page("/hosts/", width=390, bypass_csp=True)
    listed = page.get_by_role("group", name="List of hosts")
    listed.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.table-box').scrollLeft > 0")
    shades = listed.evaluate("box => getComputedStyle(box).backgroundAttachment")
    assert shades.split(", ") == ["local", "local", "scroll", "scroll"]
