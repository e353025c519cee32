"""Downloads of every view, the list of files."""

import re
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from openpyxl import load_workbook
from pytest_django.fixtures import Settings

from reports.export_jobs import make
from store.models import ExportJob
from tests.conftest import StoreRun, csv_rows
from tests.histories import with_openssl
from tests.pages.conftest import page, table_values, text_of
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement


@pytest.fixture(autouse=True)
def folder(exports_folder: Path) -> None:
    """Files go where nobody else's are."""


def downloads(html: str) -> dict[str, str]:
    """Label -> address of the menu's entries."""
    menu = re.search(
        r'<details class="menu no-print" id="downloads-menu">.*?</details>', html, re.S
    )
    assert menu
    return {
        label: unescape(address)
        for address, label in re.findall(r'<li><a href="([^"]+)">([^<]+)</a>', menu[0])
    }


def rows(client: Client, address: str) -> list[dict[str, str]]:
    return csv_rows(client.get(address, follow=True))


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("query", ({}, {"metric": "normalised", "group_by": "os", "sort": "best"}))
def test_the_files_of_a_comparison_have_the_numbers_of_its_table(
    member: Client, query: dict[str, Any]
) -> None:
    html = page(member, "/", **query, top="all")
    files = downloads(html)
    value = "normalised_bytes_per_second" if query else "throughput_bytes_per_second"
    found: dict[str, dict[str, float]] = {}
    for row in rows(member, files["This table"]):
        found.setdefault(row["group_key"], {})[row["cipher"]] = float(row[value])
    assert found == table_values(html)


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
                environment=with_openssl(library),
                started_at=f"2025-11-{day}T06:00:00Z",
            )
        )
    files = downloads(page(member, "/", tool="openssl", **query))
    for name in ("Measurements behind it", "Single tries behind it"):
        found = sorted(row["openssl"] for row in rows(member, files[name]))
        assert [
            one.split()[1][: len(key)] for one, key in zip(found, expected, strict=True)
        ] == expected


def test_behind_a_comparison_are_its_votes_and_their_tries(
    member: Client, store_run: StoreRun
) -> None:
    for rate, day in ((1e8, 20), (2e8, 21)):
        store_run(
            run_document(
                ssh_measurement("aes128-ctr", rate, rate, rate),
                ssh_measurement("aes128-ctr", 9e8, method="steady"),
                ssh_measurement("aes128-ctr", 8e8, mac="hmac-sha1"),
                openssl_measurement("aes-128-gcm", 1e9),
                openssl_measurement("aes-128-gcm", 5e8, block_size=16),
                started_at=f"2025-11-{day}T06:00:00Z",
            )
        )
    for tool, expected, tries in (("ssh", 2e8, 3), ("openssl", 1e9, 1)):
        files = downloads(page(member, "/", tool=tool))
        (row,) = rows(member, files["Measurements behind it"])
        assert float(row["throughput_bytes_per_second"]) == expected
        assert len(rows(member, files["Single tries behind it"])) == tries


def test_files_of_a_view_that_is_searched_have_what_it_found(
    member: Client, store_run: StoreRun
) -> None:
    for host, rate in (("web-1", 1e8), ("web-2", 3e8), ("nas", 2e8)):
        store_run(run_document(ssh_measurement("aes128-ctr", rate), host={"name": host}))
    query: dict[str, Any] = {"group_by": "host", "q": "WEB", "sort": "best"}
    files = downloads(page(member, "/", **query))
    assert [row["group"] for row in rows(member, files["This table"])] == ["web-2", "web-1"]
    behind = rows(member, files["Measurements behind it"])
    assert sorted(row["host"] for row in behind) == ["web-1", "web-2"]
    assert len(rows(member, files["Single tries behind it"])) == 2
    book = load_workbook(BytesIO(member.get(files["Excel workbook"], follow=True).getvalue()))
    assert [row[0] for row in book["Chart data"].values] == ["group", "web-2", "web-1"]
    assert "Filter: group" in [row[0] for row in book["Method"].values]


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
        assert len(rows(member, files["Single tries"])) == 3
        workbook = member.get(files["Excel workbook"], follow=True)
        assert workbook.getvalue().startswith(b"PK")


@pytest.fixture
def large(store_run: StoreRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of two rows is a large one."""
    store_run(run_document(ssh_measurement("a", 1e8), ssh_measurement("b", 1e8)))
    monkeypatch.setattr("reports.exporting.AT_ONCE_ROWS", 1)


@pytest.mark.usefixtures("large")
def test_a_large_file_is_offered_made_shown_and_deleted(member: Client) -> None:
    query: dict[str, Any] = {"kind": "measurements", "format": "xlsx", "tool": "ssh"}
    offer = page(member, "/exports/download/", **query)
    assert "This is a large file" in offer
    assert ExportJob.objects.count() == 0
    (question,) = re.findall(r'name="question" value="([^"]*)"', offer)
    member.post("/exports/", {"question": unescape(question)})
    job = ExportJob.objects.get()
    waiting = page(member, "/exports/")
    assert "data-pending" in waiting
    assert "Cancel" in waiting
    make(job.pk)
    ready = page(member, "/exports/")
    assert f"/api/v1/exports/jobs/{job.job_id}/file" in ready
    assert "data-pending" not in ready
    assert member.get(f"/api/v1/exports/jobs/{job.job_id}/file").getvalue().startswith(b"PK")
    member.post(f"/exports/{job.job_id}/delete/")
    assert "No files yet" in text_of(page(member, "/exports/"))


@pytest.mark.usefixtures("large")
def test_a_visitor_of_a_public_site_finds_their_own_files(settings: Settings) -> None:
    settings.CIPHERMARK_PUBLIC = True
    visitor, other = Client(), Client()
    visitor.post("/exports/", {"question": "kind=measurements&format=csv"})
    assert str(ExportJob.objects.get().job_id) in page(visitor, "/exports/")
    assert str(ExportJob.objects.get().job_id) not in page(other, "/exports/")


@pytest.mark.parametrize("query", ({"kind": "x"}, {"kind": "samples", "format": "xlsx"}, {}))
def test_a_file_that_is_none_is_refused_in_words(member: Client, query: dict[str, Any]) -> None:
    assert "There is no such file" in page(member, "/exports/download/", expect=400, **query)


def test_too_many_files_at_once_are_refused_in_words(member: Client) -> None:
    for number in range(4):
        answer = member.post("/exports/", {"question": f"kind=measurements&host=h{number}"})
    assert answer.status_code == 400
    assert "wait for one, or cancel one" in answer.content.decode()
    refused = member.post("/exports/", {"question": "kind=measurements&tool=gpg"})
    assert refused.status_code == 400
