"""GET /api/v1/exports/comparison.csv"""

import re
from typing import Any

import pytest

from tests.conftest import ApiClient, StoreRun, csv_rows
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

URL = "/api/v1/exports/comparison.csv"


def rows(reader: ApiClient, **query: Any) -> list[dict[str, str]]:
    return csv_rows(reader.get(URL, query))


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("metric", ("throughput", "normalised", "vs_arcfour"))
def test_the_files_numbers_are_the_comparisons_to_the_last_digit(
    reader: ApiClient, metric: str
) -> None:
    query = {"tool": "ssh", "group_by": "os_version", "metric": metric}
    answer = reader.get("/api/v1/comparison/", query).json()
    value = {
        "throughput": "throughput_bytes_per_second",
        "normalised": "normalised_bytes_per_second",
        "vs_arcfour": "vs_arcfour_ratio",
    }[metric]
    read_back = {
        (row["group_key"], row["cipher"]): (
            float(row[value]),
            float(row[f"{value}_q1"]),
            float(row[f"{value}_q3"]),
            float(row[f"{value}_min"]),
            float(row[f"{value}_max"]),
            int(row["n"]),
        )
        for row in rows(reader, **query)
    }
    assert read_back == {
        (group["key"], cipher): (
            one["median"],
            one["q1"],
            one["q3"],
            one["min"],
            one["max"],
            one["n"],
        )
        for group in answer["groups"]
        for cipher, one in group["values"].items()
    }
    assert read_back


def test_the_file_is_a_download_in_utf_8(reader: ApiClient) -> None:
    response = reader.get(URL, {"metric": "cpu_seconds_per_gb", "split_by": "openssl_series"})
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    name = "ciphermark-comparison-ssh-cpu-seconds-per-gb-by-cpu-openssl-series"
    assert re.search(rf'filename="{name}-20\d\d-\d\d-\d\d.csv"', response["Content-Disposition"])
    assert response.getvalue().endswith(b"\r\n")


def test_text_from_outside_never_becomes_a_formula(reader: ApiClient, store_run: StoreRun) -> None:
    texts = ("=1+1", "+1", "-1", "@SUM(A1)", "\tx", '=HYPERLINK("x")')
    for hostile in texts:
        measured = ssh_measurement("aes128-ctr", 1e8)
        store_run(run_document(measured, host={"name": f"of {hostile}"}, tags={"x": hostile}))
    found = {row["group"] for row in rows(reader, group_by="tag:x")}
    assert found == {f"'{hostile}" for hostile in texts}


def test_commas_quotes_and_umlauts_survive(reader: ApiClient, store_run: StoreRun) -> None:
    name = 'Büro, "oben"'
    store_run(run_document(host={"name": name}))
    (row,) = rows(reader, group_by="host")
    assert row["group"] == name


def test_the_file_says_what_was_asked(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(
        run_document(
            openssl_measurement("aes-128-gcm", 1e9),
            openssl_measurement("aes-128-gcm", 5e8, block_size=16),
        )
    )
    (row,) = rows(reader, tool="openssl", group_by="os")
    assert (row["block_size_bytes"], row["operation"], row["threads"]) == ("16384", "encrypt", "1")
    assert (row["tool"], row["group_by"], row["method"]) == ("openssl", "os", "")
    assert row["acceleration"] == "default"


@pytest.mark.usefixtures("published")
def test_the_comparison_itself_is_also_had_as_csv(reader: ApiClient) -> None:
    query = {"group_by": "os", "excel": "1"}
    written = reader.get("/api/v1/comparison/", {**query, "format": "csv"}).getvalue()
    assert written == reader.get(URL, query).getvalue()
    assert written.decode().startswith("\ufeffgroup;")
    assert reader.get("/api/v1/comparison/", {"format": "json"}).json()["tool"] == "ssh"
    assert reader.get("/api/v1/comparison/", {"format": "pdf"}).status_code == 400
