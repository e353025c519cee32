import csv
import io
import json
import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.site_tools import upload, worker_paused
from tests.live_site import LiveSite
from tests.sample_documents import openssl_measurement, run_document

GCM = "aes128-gcm@openssh.com"


def group_of_this_machine(page: Page, site: LiveSite) -> str:
    (group,) = site.get("/api/v1/comparison/?host=bench-under-test")["groups"]
    key = str(group["key"])
    expect(page.locator(f"tr[data-group='{key}'] .badge.here")).to_have_count(1)
    return key


def table(page: Page) -> dict[tuple[str, str], float]:
    rows: list[list[str]] = page.locator("td[data-cipher]").evaluate_all(
        "cells => cells.map(({ parentElement: row, dataset: cell }) =>"
        " [row.dataset.group, cell.cipher, cell.value])"
    )
    return {(group, cipher): float(value) for group, cipher, value in rows}


def bars_read_by_keyboard(page: Page) -> list[str]:
    expect(page.locator("figure[data-chart]")).to_have_attribute("data-drawn", re.compile(r"\d"))
    canvas = page.locator("figure[data-chart] canvas")
    canvas.focus()
    status = page.locator("figure[data-chart] [role=status]")
    said: list[str] = []
    for _ in range(500):
        canvas.press("ArrowDown")
        text = status.text_content() or ""
        if said and said[-1] == text:
            return said
        said.append(text)
    raise AssertionError("the chart has no end")


def test_this_machine_stands_in_chart_table_and_csv(
    open_page: OpenPage, site: LiveSite, measured_run: str
) -> None:
    page = open_page("/")
    run = site.get(f"/api/v1/runs/{measured_run}/")
    uploaded = {
        row["cipher"]: row["median"]
        for row in run["measurements"]
        if row["tool"] == "ssh" and row["method"] == "pipeline"
    }
    assert set(uploaded) == {GCM, "3des-cbc"}
    group, shown = group_of_this_machine(page, site), table(page)
    assert {cipher: shown[(group, cipher)] for cipher in uploaded} == uploaded

    label = page.locator(f"tr[data-group='{group}'] th[scope=row]").text_content() or ""
    row = page.locator(f"tr[data-group='{group}'] td[data-cipher='{GCM}']")
    bars = bars_read_by_keyboard(page)
    mine = [bar for bar in bars if f"; {GCM};" in bar and label.startswith(bar.split(";")[0])]
    figure = (row.text_content() or "").removesuffix(" low confidence")
    doubt = "" if figure == row.text_content() else "; low confidence (noisy or disturbed run)"
    assert mine == [f"{run['cpu']}; {GCM}; {figure}, 1 host{doubt}"]
    assert len(bars) == len(shown)

    page.locator("#downloads-menu-summary").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="This table", exact=True).click()
    exported = {
        (line["group_key"], line["cipher"]): float(line["throughput_bytes_per_second"])
        for line in csv.DictReader(io.StringIO(download.value.path().read_text("utf-8-sig")))
    }
    assert exported == shown
    with page.expect_download() as download:
        page.get_by_role("link", name="This view as JSON").click()
    assert download.value.suggested_filename.endswith(".json")
    assert json.loads(download.value.path().read_text())["groups"]


def test_a_run_being_processed_appears_without_reload(open_page: OpenPage, site: LiveSite) -> None:
    measurement = openssl_measurement("aes-128-gcm", 4e9, 4.1e9, 4.2e9)
    document = run_document(measurement, host={"name": "patient"})
    with worker_paused(site):
        run_id = upload(site, document, site.token("upload"))
        page = open_page(f"/runs/{run_id}/")
        page.evaluate("window.sameDocument = true")
        expect(page.get_by_text("This run is being processed")).to_be_visible()
    expect(page.get_by_role("heading", name="Measurements")).to_be_visible()
    expect(page.get_by_text("4.10 GB/s").first).to_be_visible()
    assert page.evaluate("window.sameDocument") is True


def test_the_way_from_the_chart_to_run_and_raw_document(
    open_page: OpenPage, site: LiveSite, measured_run: str
) -> None:
    page = open_page("/")
    group = group_of_this_machine(page, site)
    page.locator(f"tr[data-group='{group}']").get_by_role("link").first.click()
    page.locator(f"a[href='/runs/{measured_run}/']").first.click()
    expect(page.get_by_text(measured_run)).to_be_visible()
    page.locator("details.samples summary").first.click()
    expect(page.get_by_text(re.compile(r"\d+ bytes in [\d.]+ s")).first).to_be_visible()
    page.get_by_role("link", name="bench-under-test").first.click()
    expect(page.get_by_role("heading", name="bench-under-test")).to_be_visible()
