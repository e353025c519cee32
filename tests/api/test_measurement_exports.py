"""GET /api/v1/exports/measurements.csv: what the database writes, programs read."""

import csv
import io
import json
from typing import Any

import pytest
from django.http import QueryDict

from access.audit import COMMAND
from hosts.editing import set_hidden
from questions.parameters import MAX_LENGTH
from reports import export_rows
from reports.export_parameters import export_of
from reports.exporting import csv_chunks
from store.models import Measurement
from tests.cases import each
from tests.conftest import ApiClient, StoreRun, csv_rows
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

MEASUREMENTS_URL = "/api/v1/exports/measurements.csv"

AWKWARD = 'Büro, "oben"; links\r\nunten \\N \\. 日本 🔐'


def text(reader: ApiClient, url: str, **query: Any) -> str:
    response = reader.get(url, query)
    assert response.status_code == 200
    written: str = response.getvalue().decode("utf-8")
    return written


def rows(reader: ApiClient, url: str = MEASUREMENTS_URL, **query: Any) -> list[dict[str, str]]:
    return csv_rows(reader.get(url, query))


def test_a_row_says_what_the_run_says(reader: ApiClient, store_run: StoreRun) -> None:
    measured = ssh_measurement(
        "aes128-ctr",
        1e8,
        1.1e8,
        1.3e8,
        mac="hmac-sha2-256",
        negotiated={"cipher": "aes128-ctr", "mac": "hmac-sha2-256", "kex": "curve25519-sha256"},
    )
    run = store_run(run_document(measured))
    (row,) = rows(reader)
    (stored,) = run.measurements.all()
    assert row["run_id"] == str(run.run_id)
    assert row["run_url"] == f"http://testserver/runs/{run.run_id}/"
    assert (row["host"], row["host_key"]) == ("nas", "nas")
    assert (row["cpu"], row["openssl_series"]) == ("AMD EPYC 9R14", "3.0")
    assert row["started_at"] == "2025-11-21T06:48:10Z"
    assert (row["tool"], row["cipher"], row["method"]) == ("ssh", "aes128-ctr", "pipeline")
    assert (row["mac"], row["negotiated_kex"]) == ("hmac-sha2-256", "curve25519-sha256")
    assert (row["n"], row["pinned"], row["noisy"]) == ("3", "false", "true")
    assert json.loads(row["tags"]) == {"rack": "b2"}
    assert row["block_size_bytes"] == row["target"] == row["cpu_seconds_per_gb"] == ""
    figures = ("throughput", "minimum", "maximum")
    assert [float(row[f"{name}_bytes_per_second"]) for name in figures] == [1.1e8, 1e8, 1.3e8]
    assert float(row["spread"]) == stored.spread


@pytest.mark.usefixtures("published")
def test_the_figures_are_those_of_the_api_to_the_last_digit(reader: ApiClient) -> None:
    for row in rows(reader, tool="ssh"):
        run = reader.get(f"/api/v1/runs/{row['run_id']}/").json()
        same = [
            one
            for one in run["measurements"]
            if (one["tool"], one["cipher"], one["method"], one["mac"] or "")
            == (row["tool"], row["cipher"], row["method"], row["mac"])
        ]
        for column, name in (
            ("throughput_bytes_per_second", "median"),
            ("normalised_bytes_per_second", "normalised"),
        ):
            found = float(row[column]) if row[column] else None
            assert found in [one[name] for one in same], (row["run_id"], row["cipher"], column)


def test_awkward_text_and_any_number_come_back_as_they_were(
    reader: ApiClient, store_run: StoreRun
) -> None:
    rate = 123456789.123456
    sample = [{"bytes": 123456789, "seconds": 123456789 / rate}]
    store_run(run_document(ssh_measurement("aes128-ctr", samples=sample), host={"name": AWKWARD}))
    (stored,) = Measurement.objects.all()
    (row,) = rows(reader)
    assert row["host"] == AWKWARD
    assert float(row["throughput_bytes_per_second"]) == stored.median
    (excel,) = csv.DictReader(
        io.StringIO(text(reader, MEASUREMENTS_URL, excel="1"), newline=""), delimiter=";"
    )
    assert excel["host"] == AWKWARD
    number = excel["throughput_bytes_per_second"]
    assert float(number.replace(",", ".")) == stored.median
    assert "," in number


def test_filters_choose_as_they_do_elsewhere(reader: ApiClient, store_run: StoreRun) -> None:
    mine = store_run(
        run_document(
            ssh_measurement("aes128-ctr", 1e8),
            openssl_measurement("aes-128-gcm", 1e9),
            openssl_measurement("aes-128-gcm", 5e8, block_size=16),
            host={"name": "100% mine"},
            tags={"rack": "c3"},
        )
    )
    other = store_run(run_document(ssh_measurement("3des-cbc", 2e7), host={"name": "other"}))
    for query, expected in (
        ({"host": "other"}, 1),
        ({"run": str(mine.run_id)}, 3),
        ({"tag": "rack:c3", "tool": "openssl"}, 2),
        ({"block_size": "16"}, 1),
        ({"cipher": ["3des-cbc", "aes128-ctr"]}, 2),
        ({"q": "100%"}, 3),
        ({"q": "%"}, 3),
        ({"q": str(other.run_id)[:8]}, 1),
        ({"since": "2030-01-01"}, 0),
        ({"status": "rejected"}, 0),
        ({"mac": "hmac-sha1"}, 0),
    ):
        assert len(rows(reader, **query)) == expected, query
    set_hidden(other.pk, True, COMMAND)
    assert len(rows(reader)) == 3


def test_latest_leaves_what_votes_in_comparisons(reader: ApiClient, store_run: StoreRun) -> None:
    for rate, day in ((1e8, "2025-11-20"), (2e8, "2025-11-21")):
        store_run(run_document(ssh_measurement("aes128-ctr", rate), started_at=f"{day}T06:00:00Z"))
    assert len(rows(reader)) == 2
    (row,) = rows(reader, latest="1")
    assert float(row["throughput_bytes_per_second"]) == 2e8


def test_columns_can_be_chosen(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(run_document())
    (row,) = rows(reader, columns="cipher,n,host")
    assert list(row) == ["cipher", "n", "host"]
    assert list(row.values()) == ["aes128-gcm@openssh.com", "3", "nas"]
    assert rows(reader, columns="host") == [{"host": "nas"}]


@each(
    ("query", "attr"),
    (
        ({"columns": "host,password"}, "columns"),
        ({"run": "1"}, "run"),
        ({"excel": "perhaps"}, "excel"),
        ({"latest": "x"}, "latest"),
        ({"tool": "gpg"}, "tool"),
        ({"q": "x" * (MAX_LENGTH + 1)}, "q"),
    ),
)
def test_what_cannot_be_is_a_400_that_names_it(
    reader: ApiClient, query: dict[str, str], attr: str
) -> None:
    for url in (MEASUREMENTS_URL, "/api/v1/exports/measurements.xlsx"):
        response = reader.get(url, query)
        assert response.status_code == 400
        assert response.json()["errors"][0]["attr"] == attr


def test_the_first_line_is_there_before_the_database_is_asked(
    reader: ApiClient, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        store_run(run_document(host={"name": f"host-{number}"}))
    monkeypatch.setattr(export_rows, "CHUNK_BYTES", 1)
    chunks = csv_chunks(export_of("measurements", QueryDict(), "http://testserver"))
    assert next(chunks).startswith(b"run_id,")
    # The first row is here while the others are still to be read.
    assert next(chunks).count(b"\r\n") == 1
    assert b"".join(chunks).count(b"\r\n") == 2
