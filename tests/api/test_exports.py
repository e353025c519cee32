"""GET /api/v1/exports/comparison.csv"""

from typing import Any

import pytest

from tests.conftest import ApiClient, StoreRun, csv_rows
from tests.sample_documents import run_document

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


def test_commas_quotes_and_umlauts_survive(reader: ApiClient, store_run: StoreRun) -> None:
    name = 'Büro, "oben"'
    store_run(run_document(host={"name": name}))
    (row,) = rows(reader, group_by="host")
    assert row["group"] == name
