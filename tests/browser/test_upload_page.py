import json
import re
from base64 import b64encode
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.open_to_all import assert_open_to_all, unfold, violations
from tests.pages.test_upload_page import LIST, SPEED, TWO, UNCERTAIN
from tests.sample_documents import run_document

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


def payload(name: str, body: str | bytes) -> FilePayload:
    data = body.encode() if isinstance(body, str) else body
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def previewed(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Paste").fill(text)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()


def test_pasted_results_are_selected_corrected_saved_and_found_in_the_chart(
    open_page: OpenPage, signed_in: dict[str, Any]
) -> None:
    page = open_page("/upload/", **signed_in)
    previewed(page, SPEED)
    save = page.get_by_role("button", name="Save")
    expect(save).to_have_text("Save 12 results")
    page.get_by_label("Select all").uncheck()
    expect(save).to_be_disabled()
    page.get_by_label("aes-128-cbc").check()
    expect(save).to_have_text("Save 6 results")
    assert page.get_by_label("Select all").evaluate("box => box.indeterminate")
    page.get_by_role("textbox", name="Host").fill("upload-attic")
    page.get_by_label("CPU").fill("Intel Xeon E5-2690")
    save.click()
    expect(page.get_by_role("heading", name="OpenSSL throughput by host")).to_be_visible()
    said = page.get_by_role("status").filter(has_text="Saved 6 results for 1 host")
    expect(page.get_by_role("table").first).to_contain_text("aes-128-cbc")
    expect(page.get_by_role("table").first).not_to_contain_text("des-ede3-cbc")
    said.get_by_role("link", name="upload-attic").click()
    expect(page.get_by_text("Intel Xeon E5-2690").first).to_be_visible()
    page.get_by_role("link", name="Why this verdict?").click()
    page.get_by_role("link", name=re.compile("in (the )?preview")).click()
    expect(page.get_by_label("aes-128-cbc")).to_be_checked()
    expect(page.get_by_label("des-ede3-cbc")).not_to_be_checked()
    expect(page.get_by_label("CPU")).to_have_value("Intel Xeon E5-2690")


def test_dropped_files_are_previewed_and_joined(
    open_page: OpenPage, signed_in: dict[str, Any]
) -> None:
    page = open_page("/upload/", **signed_in)
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    document = json.dumps(run_document(host={"name": "dropped"}))
    bad = b"\x1f\x8b\x08" + b"\x00" * 60
    files = [("a.gz", bad), (EVIL, TWO.encode()), ("b.json", document.encode())]
    encoded = [[name, b64encode(body).decode()] for name, body in files]
    page.locator("#drop").evaluate(DROP_HERE, encoded)
    expect(page.get_by_role("heading", level=2)).to_have_text(["a.gz", EVIL, "b.json"])
    expect(page.get_by_text("This is a binary file")).to_be_visible()
    second = page.get_by_role("region", name="Section 2")
    second.get_by_label("Same host as").select_option(index=1)
    expect(second.get_by_role("textbox", name="Host")).to_be_hidden()
    page.get_by_role("button", name="Save 6 results").click()
    expect(page.get_by_text("Saved 6 results for 2 hosts")).to_be_visible()


def test_a_save_that_fails_loses_nothing(open_page: OpenPage, signed_in: dict[str, Any]) -> None:
    page = open_page("/upload/", expected="net::ERR", **signed_in)
    previewed(page, LIST)
    page.get_by_role("textbox", name="Host").fill("cellar")
    page.route("**/upload/save/", lambda route: route.abort())
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#upload-status")).to_contain_text("Cannot reach the server.")
    page.unroute("**/upload/save/")
    cookies = page.context.cookies()
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#upload-status")).to_contain_text("You are signed out.")
    page.context.add_cookies(cookies)  # type: ignore[arg-type]
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved 2 results for 1 host")).to_be_visible()


def test_every_state_is_open_to_all(open_page: OpenPage, signed_in: dict[str, Any]) -> None:
    options = {"bypass_csp": True, "reduced_motion": "reduce", "expected": "400", **signed_in}
    page = open_page("/upload/", **options)
    page.get_by_role("textbox", name="Paste").fill(
        TWO + UNCERTAIN + SPEED + "no cipher: 5 MB/s\n" + "w" * 500
    )
    documents = [run_document(), run_document(measurements=[{"tool": "gpg"}])]
    files = [payload(EVIL + "w" * 200, json.dumps(document)) for document in documents]
    page.get_by_label("Drop files here").set_input_files([*files, payload("list", LIST * 250)])
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Enter a host name.").first).to_be_visible()
    assert_open_to_all(page)
    page.set_viewport_size({"width": 390, "height": 900})
    unfold(page)
    assert violations(page) == []
    page.get_by_role("button", name="Preview again").click()
    page.goto("/upload/")
    page.get_by_role("textbox", name="Paste").fill("no cipher: 5 MB/s\n")
    page.get_by_role("button", name="Preview").click()
    assert_open_to_all(page)
