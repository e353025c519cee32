"""The upload page in the hands of people: paste, drop, correct, save, find it again."""

import json
import re
from base64 import b64encode
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.open_to_all import assert_open_to_all, unfold, violations
from tests.browser.site_tools import processed
from tests.live_site import LiveSite
from tests.sample_documents import run_document

SPEED = """\
numbers of the attic server
OpenSSL 1.1.1n  15 Mar 2022
The 'numbers' are in 1000s of bytes per second processed.
type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes  16384 bytes
aes-128-cbc     211000.10k   311000.20k   411000.30k   511000.40k   613000.50k   617000.60k
des-ede3-cbc     21000.10k    22000.20k    23000.30k    24000.40k    24500.50k         0.00
that is all
"""
LIST = "ssh ciphers\naes128-ctr: 101.5 MB/s\n3des-cbc: 22.25 MB/s\n"
BAD = b"\x1f\x8b\x08" + b"\x00" * 60
EVIL = "<img src=x onerror=alert(1)>.txt"

DROP_HERE = """(target, files) => {
  const transfer = new DataTransfer();
  for (const [name, base64] of files) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], name));
  }
  for (const type of ["dragover", "drop"]) {
    const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
    target.dispatchEvent(new DragEvent(type, options));
  }
}"""
PASTE = """(field, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  field.value = text;
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
}"""


def base64(body: bytes) -> str:
    return b64encode(body).decode()


def payload(name: str, body: str | bytes) -> FilePayload:
    data = body.encode() if isinstance(body, str) else body
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def choose(page: Page, *files: FilePayload) -> None:
    page.get_by_label("Drop files here").set_input_files(files)
    expect(page.locator("#upload-status")).to_have_text(re.compile(r"texts? read"))


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("article", name=name)


def test_pasted_figures_are_corrected_saved_and_found_on_the_page_of_their_run(
    open_page: OpenPage, site: LiveSite, signed_in: dict[str, Any]
) -> None:
    page = open_page("/upload/", **signed_in)
    page.get_by_role("textbox", name="Paste").fill(SPEED)
    page.get_by_role("button", name="Preview").click()
    pasted = card(page, "Pasted text")
    expect(pasted).to_contain_text("11 figures for 1 run")
    expect(pasted.get_by_role("heading", name="Pasted text")).to_be_focused()
    expect(pasted.locator(".line.unrecognised")).to_have_text(
        [re.compile("1.*not recognised: numbers of"), re.compile("7.*not recognised: that is all")]
    )
    pasted.get_by_label("Host").fill("attic")
    pasted.get_by_label("CPU").fill("Intel Xeon E5-2690")
    pasted.get_by_role("button", name="Save").click()
    expect(pasted).to_contain_text("Stored as 1 run.")
    expect(pasted.get_by_role("heading", name="Pasted text")).to_be_focused()
    expect(page.get_by_role("textbox", name="Paste")).to_have_value("")
    pasted.get_by_role("link", name="attic").click()
    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}/$"))
    processed(site, page.url.rstrip("/").rsplit("/", 1)[-1])
    expect(page.locator("h1")).to_contain_text("attic")
    expect(page.get_by_role("table").first).to_contain_text("617 MB/s")
    expect(page.get_by_text("Intel Xeon E5-2690").first).to_be_visible()


@pytest.mark.parametrize("scripts", (True, False), ids=("with scripts", "without"))
def test_a_machine_without_a_name_is_asked_for_one(
    open_page: OpenPage, signed_in: dict[str, Any], scripts: bool
) -> None:
    page = open_page("/upload/", java_script_enabled=scripts, expected="400", **signed_in)
    page.set_viewport_size({"width": 390, "height": 600})
    page.get_by_label("Drop files here").set_input_files([payload("nameless.txt", LIST)])
    if not scripts:
        page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Save nameless.txt").click()
    host = card(page, "nameless.txt").get_by_label("Host")
    expect(host).to_be_focused()
    expect(host).to_be_in_viewport()
    expect(host).to_have_accessible_description(re.compile("Name the machine that was measured"))
    expect(page.get_by_text("Name the machine that was measured")).to_be_in_viewport()
    host.fill("boathouse")
    host.press("Enter")
    expect(page.get_by_role("link", name="boathouse")).to_be_visible()


def test_what_is_pasted_is_read_at_once(open_page: OpenPage, signed_in: dict[str, Any]) -> None:
    page = open_page("/upload/", **signed_in)
    page.get_by_role("textbox", name="Paste").evaluate(PASTE, LIST)
    expect(card(page, "Pasted text")).to_contain_text("2 figures for 1 run")
    page.get_by_role("textbox", name="Paste").evaluate(PASTE, SPEED)
    expect(card(page, "Pasted text")).to_contain_text("11 figures for 1 run")
    expect(page.get_by_role("article")).to_have_count(1)


def test_many_dropped_files_are_read_past_a_bad_one_and_saved_together(
    open_page: OpenPage, site: LiveSite, signed_in: dict[str, Any]
) -> None:
    page = open_page("/upload/", expected="400", **signed_in)
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    document = json.dumps(run_document(host={"name": "dropped"}))
    texts = [("a.txt", SPEED), (EVIL, LIST), ("b.json", document)]
    files = [(name, body.encode()) for name, body in texts]
    files[1:1] = [("backup.gz", BAD), ("huge.log", b"x" * (4 * 2**20 + 1))]
    page.locator("#drop").evaluate(DROP_HERE, [[name, base64(body)] for name, body in files])
    expect(page.locator("#upload-status")).to_have_text("3 texts read, 2 could not be.")
    shown = page.get_by_role("article").locator("h2").all_text_contents()
    assert shown == ["a.txt", "backup.gz", "huge.log", EVIL, "b.json"]
    expect(card(page, "backup.gz")).to_contain_text("This is a gzip archive")
    expect(page.get_by_text("This has 4.0 MiB; 4 are read at most.")).to_be_visible()
    page.get_by_role("button", name="Save all 3").click()
    expect(page.locator("#upload-status")).to_have_text("1 text saved, 2 could not be.")
    expect(card(page, "a.txt").get_by_label("Host")).to_be_focused()
    for name in ("a.txt", EVIL):
        card(page, name).get_by_label("Host").fill("dropped")
    page.get_by_role("button", name="Save all 2").click()
    expect(page.locator("#upload-status")).to_have_text("2 texts saved.")
    expect(page.locator("#upload-status")).to_be_focused()
    expect(page.locator("[data-card=saved]")).to_have_count(3)
    expect(page.get_by_role("button", name="Save all")).to_be_hidden()
    runs = page.locator("[data-card=saved] a").evaluate_all("all => all.map(one => one.href)")
    for address in runs:
        processed(site, address.rstrip("/").rsplit("/", 1)[-1])


def test_reading_many_files_can_be_cancelled(
    open_page: OpenPage, signed_in: dict[str, Any]
) -> None:
    page = open_page("/upload/", **signed_in)
    held: list[Route] = []
    seventh = "7.txt"
    page.route(
        "**/upload/",
        lambda route: held.append(route) if seventh in said(route) else route.continue_(),
    )
    page.get_by_label("Drop files here").set_input_files(
        [payload(f"{number}.txt", LIST) for number in range(1, 21)]
    )
    expect(page.locator("#upload-status")).to_have_text("6 of 20 read")
    while not held:
        page.wait_for_timeout(10)
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "6")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#upload-status")).to_have_text("Cancelled: 6 texts read.")
    expect(page.locator("#upload-status")).to_be_focused()
    expect(page.get_by_role("article")).to_have_count(6)
    expect(page.get_by_role("button", name="Save all 6")).to_be_visible()
    held[0].abort()


def said(route: Route) -> str:
    """What a request carries, as far as it is letters."""
    return (route.request.post_data_buffer or b"").decode("latin-1")


def test_a_card_is_read_again_with_an_answer_and_put_away(
    open_page: OpenPage, signed_in: dict[str, Any]
) -> None:
    page = open_page("/upload/", **signed_in)
    choose(page, payload("list.txt", LIST))
    listed = card(page, "list.txt")
    expect(listed).to_contain_text("102 MB/s")
    listed.get_by_label("Host").fill("cellar")
    listed.get_by_text("Parse options").click()
    listed.get_by_label("MB means").select_option("MiB")
    listed.get_by_role("button", name="Read again").click()
    expect(listed).to_contain_text("106 MB/s")
    expect(listed.get_by_label("Host")).to_have_value("cellar")
    listed.get_by_role("button", name="Discard").click()
    expect(listed).to_have_count(0)
    expect(page.get_by_role("textbox", name="Paste")).to_be_focused()


def test_a_card_survives_a_server_that_cannot_be_reached(
    open_page: OpenPage, signed_in: dict[str, Any]
) -> None:
    page = open_page("/upload/", expected="net::ERR", **signed_in)
    choose(page, payload("list.txt", LIST))
    listed = card(page, "list.txt")
    listed.get_by_label("Host").fill("cellar")
    page.route("**/upload/save/", lambda route: route.abort())
    listed.get_by_role("button", name="Save").click()
    expect(listed).to_contain_text("The server cannot be reached")
    expect(listed.get_by_label("Host")).to_have_value("cellar")
    page.unroute("**/upload/save/")
    listed.get_by_role("button", name="Save").click()
    expect(listed).to_contain_text("cellar")
    expect(listed).to_contain_text(re.compile("saved"))


def test_who_was_signed_out_meanwhile_is_told(
    open_page: OpenPage, signed_in: dict[str, Any]
) -> None:
    page = open_page("/upload/", **signed_in)
    page.context.clear_cookies(name="sessionid")
    choose(page, payload("list.txt", LIST))
    expect(page.locator("[data-card=bad]")).to_contain_text("You are signed out.")


def test_it_works_without_scripts(
    open_page: OpenPage, site: LiveSite, signed_in: dict[str, Any]
) -> None:
    page = open_page("/upload/", java_script_enabled=False, **signed_in)
    page.get_by_label("Drop files here").set_input_files(
        [payload("plain.txt", SPEED), payload("bad.gz", BAD)]
    )
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("This is a gzip archive")).to_be_visible()
    page.get_by_label("Host").fill("no scripts here")
    page.get_by_role("button", name="Save plain.txt").click()
    expect(page).to_have_url(re.compile(r"/upload/\?saved="))
    page.get_by_role("link", name="no scripts here").click()
    expect(page.locator("h1")).to_contain_text("no scripts here")


def filled(page: Page) -> None:
    """Every kind of card at once."""
    choose(
        page,
        payload("speed.txt", SPEED + SPEED.replace("1.1.1n", "3.0.9").replace("211000", "9")),
        payload("list.txt", LIST + LIST.partition("\n")[2] * 200),
        payload("run.json", json.dumps(run_document())),
        payload("bad.json", json.dumps(run_document(measurements=[{"tool": "gpg"}]))),
        payload("letter.txt", "Nothing of interest.\n"),
        payload(EVIL + "w" * 200, BAD),
        payload("saved.txt", LIST + "\n"),
    )
    unfold(page)
    card(page, "saved.txt").get_by_label("Host").fill("attic")
    card(page, "saved.txt").get_by_role("button", name="Save").click()
    expect(page.locator("[data-card=saved]")).to_be_visible()
    card(page, "list.txt").get_by_role("button", name="Save").click()
    expect(page.get_by_text("Name the machine that was measured")).to_be_visible()
    unfold(page)


def test_every_kind_of_card_is_open_to_all(open_page: OpenPage, signed_in: dict[str, Any]) -> None:
    options = {"bypass_csp": True, "reduced_motion": "reduce", **signed_in}
    page = open_page("/upload/", expected="400", **options)
    filled(page)
    assert_open_to_all(page)
    page.set_viewport_size({"width": 390, "height": 900})
    assert violations(page) == []


def test_the_number_of_a_line_leads_to_it(open_page: OpenPage, signed_in: dict[str, Any]) -> None:
    page = open_page("/upload/", **signed_in)
    choose(page, payload("speed.txt", "\n" * 80 + SPEED))
    card(page, "speed.txt").get_by_role("link", name="85", exact=True).click()
    line = page.locator(".upload-text .line:target")
    expect(line).to_contain_text("aes-128-cbc")
    expect(line).to_be_in_viewport()
