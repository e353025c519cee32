import re
from html import unescape
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client

from tests.cases import each
from tests.conftest import StoreRun, csv_rows
from tests.pages.conftest import page
from tests.sample_documents import openssl_measurement, run_document


def downloads(html: str) -> dict[str, str]:
    menu = re.search(
        r'<details class="menu no-print" id="downloads-menu">.*?</details>', html, re.S
    )
    assert menu
    return {
        label: unescape(address)
        for address, label in re.findall(r'<li><a href="([^"]+)"[^>]*>([^<]+)</a>', menu[0])
    }


@pytest.mark.usefixtures("published")
def test_each_file_of_a_page_can_be_had_under_its_name(member: Client) -> None:
    html = page(member, "/", group_by="os", sort="best", top="50", q="a", scale="log")
    named = {}
    for label, address in downloads(html).items():
        answer = member.get(address)
        assert answer.getvalue(), label
        name = answer.headers.get("Content-Disposition", "").partition('filename="')[2]
        named[label] = re.sub(r"-20\d\d-\d\d-\d\d", "", name.rstrip('"'))
    assert named == {
        "Excel workbook": "ciphermark-comparison-ssh-throughput-by-os.xlsx",
        "This table": "ciphermark-comparison-ssh-throughput-by-os.csv",
        "This table for Excel": "ciphermark-comparison-ssh-throughput-by-os.csv",
        "This view as JSON": "",
        "Measurements": "ciphermark-ssh-measurements.csv",
        "Measurements for Excel": "ciphermark-ssh-measurements.csv",
    }


@each(
    "query",
    (
        {"group_by": "os", "split_by": "os"},
        {"group_by": "host", "matched": "1"},
        {"relative_to": "nobody"},
        {"sort": "sideways", "top": "many"},
    ),
)
@pytest.mark.usefixtures("published")
def test_what_the_page_does_not_apply_is_not_asked_of_its_files(
    editor: Client, query: dict[str, Any]
) -> None:
    html = page(editor, "/", **query)
    for label, address in downloads(html).items():
        answer = editor.get(address)
        assert (answer.status_code, bool(answer.getvalue())) == (200, True), label
    (view,) = re.findall(r'/shares/\?view=([^"]*)"', html)
    fields = {"name": "x", "view": unquote(unescape(view)), "expires_days": "7"}
    assert editor.post("/shares/", fields).status_code == 200


def test_the_files_have_the_block_size_and_ciphers_of_the_page(
    member: Client, store_run: StoreRun
) -> None:
    measured = [openssl_measurement("aes-128-gcm", 1e9, block_size=size) for size in (16, 8192)]
    store_run(
        run_document(*measured, openssl_measurement("camellia-128-cbc", 5e8, block_size=8192))
    )
    files = downloads(page(member, "/", tool="openssl", cipher="aes-128-gcm"))
    for label in ("This table", "Measurements"):
        (row,) = csv_rows(member.get(files[label]))
        assert (row["cipher"], row["block_size_bytes"]) == ("aes-128-gcm", "8192")


def test_lists_hosts_and_runs_have_their_measurements(member: Client, store_run: StoreRun) -> None:
    run = store_run(run_document(host={"name": "a & b"}))
    store_run(run_document(host={"name": "other"}))
    assert run.host is not None
    views: tuple[tuple[str, dict[str, Any]], ...] = (
        (f"/runs/{run.run_id}/", {}),
        (f"/hosts/{run.host.pk}/", {}),
        ("/runs/", {"q": "a & b"}),
        ("/runs/", {"host": run.host.slug, "source": "agent"}),
    )
    for address, query in views:
        files = downloads(page(member, address, **query))
        (row,) = csv_rows(member.get(files["Measurements"]))
        assert row["host"] == "a & b"
        assert member.get(files["Excel workbook"]).getvalue().startswith(b"PK")
