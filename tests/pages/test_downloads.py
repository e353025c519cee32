"""The files that a page offers are those of what it shows."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from tests.conftest import StoreRun, csv_rows
from tests.histories import with_openssl
from tests.pages.conftest import page
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement


def downloads(html: str) -> dict[str, str]:
    """Label -> address of the menu's entries."""
    menu = re.search(
        r'<details class="menu no-print" id="downloads-menu">.*?</details>', html, re.S
    )
    assert menu
    return {
        label: unescape(address)
        for address, label in re.findall(r'<li><a href="([^"]+)"[^>]*>([^<]+)</a>', menu[0])
    }


def rows(client: Client, address: str) -> list[dict[str, str]]:
    return csv_rows(client.get(address))


@pytest.mark.usefixtures("published")
def test_each_file_of_a_page_has_a_name_of_its_own(member: Client) -> None:
    html = page(member, "/", group_by="os")
    files = downloads(html)
    labels = ("Excel workbook", "This table", "This table for Excel", "Measurements behind it")
    named = []
    for label in labels:
        answer = member.get(files[label])
        assert answer.getvalue()
        named.append(re.sub(r"-20\d\d-\d\d-\d\d", "", answer["Content-Disposition"]))
    assert [one.partition('filename="')[2].rstrip('"') for one in named] == [
        "ciphermark-comparison-ssh-throughput-by-os.xlsx",
        "ciphermark-comparison-ssh-throughput-by-os.csv",
        "ciphermark-comparison-ssh-throughput-by-os-for-excel.csv",
        "ciphermark-ssh-measurements.csv",
    ]
    # The JSON is the answer of the API, which is no file by itself.
    assert re.search(r'download="ciphermark-comparison-ssh-throughput-by-os-[\d-]+\.json"', html)


@pytest.mark.parametrize(
    ("query", "expected"),
    (
        ({"group_by": "openssl_series"}, ["1.1.1", "3.0"]),
        ({"group_by": "openssl_series", "relative_to": "1.1.1"}, ["1.1.1", "3.0"]),
        ({"group_by": "cpu_vendor", "split_by": "openssl_series"}, ["1.1.1", "3.0"]),
        ({"group_by": "cpu"}, ["3.0"]),
    ),
)
def test_behind_each_group_are_its_own_votes(
    member: Client, store_run: StoreRun, query: dict[str, Any], expected: list[str]
) -> None:
    for day, library in ((20, "OpenSSL 1.1.1w"), (21, "OpenSSL 3.0.19")):
        store_run(
            run_document(
                openssl_measurement("aes-128-gcm", 1e9),
                openssl_measurement("aes-128-gcm", 5e8, block_size=16),
                ssh_measurement("aes128-ctr", 9e8),
                environment=with_openssl(library),
                started_at=f"2025-11-{day}T06:00:00Z",
            )
        )
    files = downloads(page(member, "/", tool="openssl", **query))
    behind = rows(member, files["Measurements behind it"])
    assert sorted(row["openssl_series"] for row in behind) == expected
    assert {float(row["throughput_bytes_per_second"]) for row in behind} == {1e9}


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
        (row,) = rows(member, files["Measurements"])
        assert row["host"] == "a & b"
        assert member.get(files["Excel workbook"]).getvalue().startswith(b"PK")
