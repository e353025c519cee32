"""Test in a browser that no page executes code in the names of hosts, CPUs, tags or tokens.

The pages are opened without a Content-Security-Policy, so that injected code would run. Some pages
are also opened with the policy, which must block nothing.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OpenPage
from tests.browser.site_tools import processed, upload
from tests.live_site import LiveSite
from tests.sample_documents import environment, openssl_measurement, run_document, ssh_measurement

NAMES = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "</script></title></textarea></style><script>alert(3)</script>",
    "javascript:alert(4)//{{7*7}}${7*7}",
    "\u202eright to left\u2066 \U0001f680 <svg/onload=alert(5)>",
    "<iframe srcdoc='<script>parent.alert(6)</script>'>" + "W" * 500,
)

NOTICE = """
window.ran = [];
for (const name of ["alert", "confirm", "prompt"]) {
  window[name] = said => { window.ran.push(String(said)); };
}
addEventListener("securitypolicyviolation", event => window.ran.push(event.violatedDirective));
"""

# Elements that hostile names could create
GOT_IN = "img[src='x'], iframe, svg[onload], [onerror], [href^='javascript:'], script:not([src])"

FEW = 8

# Only scripts of this type have no URL. They contain the data of the page.
OWN_DATA = "application/json"

MADE = """
import json
from django.contrib.auth.models import User
from django.http import QueryDict
from accounts.audit import COMMAND
from compare.shares import make_share
from accounts.tokens import create_token
names = json.loads(NAMES)
root = User.objects.filter(username="root").first() or User.objects.create_superuser("root")
secrets = []
for name in names:
    create_token(name[:100], "read")
    query = QueryDict(mutable=True)
    query.update({"tool": "openssl", "group_by": "host", "tag": "hostile:yes", "q": name[:1]})
    share, secret = make_share(name[:100], query.urlencode(), 1, made_by=root, by=COMMAND)
    secrets.append(secret)
print(json.dumps(secrets))
"""

AWAY = """
from accounts.audit import COMMAND
from runs.editing import remove_run
from accounts.models import ApiToken
from runs.models import Run
from compare.models import Share
for key in Run.objects.filter(host_name__in=names).values_list("pk", flat=True):
    remove_run(key, COMMAND)
for model in (ApiToken, Share):
    model.objects.filter(name__in=[name[:100] for name in names]).delete()
"""


def document(name: str, number: int) -> dict[str, Any]:
    short = name[:200]
    facts = environment(model=name, vendor=name)
    facts["os"] = {"id": name, "name": name, "version": name, "kernel": name}
    facts["openssl"] = {"version_text": name, "platform": name, "compiler": name, "options": name}
    facts["openssh"] = {"client": name, "server": name, "default_cipher": name[:100]}
    facts["virtualization"] = name
    measured = [
        ssh_measurement(cipher, 1e8 * (number + 1), target={"kind": kind, "name": short})
        for cipher in ("aes128-ctr", "3des-cbc")
        for kind in ("loopback", "remote")
    ]
    measured += [
        openssl_measurement(cipher, 1e9 * (number + 1), block_size=size)
        for cipher in ("aes-128-gcm", "des-ede3-cbc")
        for size in (1024, 16384)
    ]
    return run_document(
        *measured,
        host={"name": short},
        agent={"name": name[:100], "version": name[:100]},
        tags={"hostile": "yes", "rack": short},
        environment=facts,
        conditions=[{"code": name[:50], "detail": name}],
        skipped=[{"tool": "ssh", "cipher": name[:100], "reason": name}],
    )


@pytest.fixture(scope="module")
def secrets(site: LiveSite) -> Iterator[list[str]]:
    token = site.token("upload")
    for run_id in [upload(site, document(name, at), token) for at, name in enumerate(NAMES)]:
        processed(site, run_id)
    made = site.manage("shell", "--no-imports", "-c", f"NAMES = {json.dumps(NAMES)!r}\n{MADE}")
    yield json.loads(made)
    known = f"names = {[name[:200] for name in NAMES] + list(NAMES)!r}\n"
    site.manage("shell", "--no-imports", "-c", known + AWAY)


COMPARE = "tag=hostile%3Ayes&top=all"
# Pages whose scripts read names, and some pages that show names. For the HTML of every URL, see
# tests/pages/test_hostile_strings.py.
PAGES = (
    *(f"/?tool=openssl&{COMPARE}&group_by={by}" for by in ("cpu", "host", "tag:rack", "openssh")),
    f"/?tool=openssl&{COMPARE}",
    f"/?{COMPARE}&group_by=os&find-cpu=%3Cscript%3E&more=host",
    f"/?{COMPARE}&q=%3Cscript%3Ealert(7)%3C%2Fscript%3E",
    "/?tool=%3Cscript%3Ealert(8)%3C/script%3E&cpu=javascript:alert(9)",
    *("/hosts/?q=%3Cscript%3E", "/runs/?tag=hostile%3Ayes", "/audit/"),
    f"/recommend/?for=group&{COMPARE}&policy=everything",
)


def addresses(site: LiveSite, secrets: list[str]) -> list[str]:
    runs = site.get("/api/v1/runs/?tag=hostile%3Ayes&page_size=200")["results"]
    ids = [run["run_id"] for run in runs]
    hosts = {run["host"]: site.get(f"/api/v1/runs/{run['run_id']}/")["host_id"] for run in runs}
    assert len(ids) == len(hosts) == len(NAMES)
    keys, numbers = list(hosts), list(hosts.values())
    return [
        *PAGES,
        f"/shares/{secrets[0]}/",
        f"/runs/{ids[0]}/",
        *(f"/hosts/{number}/" for number in numbers[::2]),
        f"/recommend/?client={keys[0]}&server={keys[1]}&policy=everything",
        f"/runs/{ids[0]}/diff/{ids[1]}/",
        f"/hosts/{numbers[0]}/diff/{numbers[1]}/",
        f"/hosts/{numbers[2]}/merge/",
    ]


def looked_at(page: Page, path: str) -> list[str]:
    """Open the folded parts of a page, and hover over charts and table cells.

    Return all injected code that the page executed, and all elements that markup in a name
    could have created.
    """
    answer = page.goto(path)
    assert answer is not None and answer.status in (200, 400), path  # noqa: PT018
    if page.locator("canvas").count():
        page.wait_for_load_state("networkidle")  # charts are drawn last
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    for canvas in page.locator("canvas").all()[:3]:
        _point_at(page, canvas)
    for row in page.locator("tbody th, tbody td").all()[:3]:
        row.hover(force=True)
    found: list[str] = page.evaluate(
        """([wanted, data]) => [...document.querySelectorAll(wanted)]
             .filter(one => one.type !== data).map(one => one.outerHTML.slice(0, 80))""",
        [GOT_IN, OWN_DATA],
    )
    return [*page.evaluate("window.ran"), *found]


def _point_at(page: Page, canvas: Any) -> None:
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box() or {"x": 0, "y": 0, "width": 0, "height": 0}
    for part in (0.3, 0.5, 0.7):
        page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * part)
    canvas.focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.keyboard.press("Escape")


@pytest.mark.parametrize("policy", (False, True), ids=("without policy", "with policy"))
def test_nothing_runs_on_any_page(
    open_page: OpenPage,
    site: LiveSite,
    secrets: list[str],
    signed_in: dict[str, Any],
    policy: bool,
) -> None:
    # These requests are blocked on purpose. /admin/ has no icon link, so browsers request one.
    refused = "the server responded with a status of 40"
    page = open_page("/method/", expected=refused, bypass_csp=not policy, **signed_in)
    page.add_init_script(NOTICE)
    missing: list[str] = []
    page.on("response", lambda got: missing.append(got.url) if got.status == 404 else None)
    seen = 0
    every = addresses(site, secrets)
    asked = every[:: len(every) // FEW] if policy else every
    for path in asked:
        assert looked_at(page, path) == [], path
        seen += bool(re.search(r"alert\(\d\)", page.locator("body").inner_text()))
    assert missing == []
    assert seen > len(asked) / 2, "the names are nowhere to be seen: this test tests nothing"


def test_what_is_pasted_runs_nothing(
    open_page: OpenPage, secrets: list[str], signed_in: dict[str, Any]
) -> None:
    page = open_page("/method/", bypass_csp=True, **signed_in)
    page.add_init_script(NOTICE)
    page.goto("/upload/")
    lines = [*NAMES, *(f"aes128-ctr: 104.167 MB/s {name}" for name in NAMES)]
    page.locator("textarea").fill("\n".join(lines))
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("104.167").first.wait_for()
    assert "alert(1)" in page.locator("body").inner_text()
    assert page.evaluate("window.ran") == []
