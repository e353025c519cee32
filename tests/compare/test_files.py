import csv
import io
import json
from typing import Any

import pytest
from django.db import OperationalError
from hypothesis import given
from hypothesis import strategies as st

from accounts.audit import COMMAND
from compare import files
from compare.files import CsvLines
from runs.editing import set_hidden
from runs.models import Measurement
from tests.cases import each
from tests.conftest import ApiClient, StoreRun, csv_rows
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

COMPARISON = "/api/v1/exports/comparison.csv"
MEASUREMENTS = "/api/v1/exports/measurements.csv"

AWKWARD = 'Büro, "oben"; links\r\nunten \\N \\. 日本 🔐'

texts = st.text(alphabet=list("=+-@,;\t\r\n\"'a1 "), max_size=12)


def rows(reader: ApiClient, url: str = MEASUREMENTS, **query: Any) -> list[dict[str, str]]:
    return csv_rows(reader.get(url, query))


def cells(line: str, separator: str) -> list[str]:
    reader = csv.reader(io.StringIO(line, newline=""), delimiter=separator)
    return [cell for row in reader for cell in row]


@given(st.lists(texts, min_size=2))
def test_no_separator_brings_out_a_formula_and_only_apostrophes_are_added(
    values: list[str],
) -> None:
    for written in (CsvLines(), CsvLines(excel=True)):
        line = written.line(values)
        for separator in (",", ";", "\t"):
            assert not [cell for cell in cells(line, separator) if cell.startswith(tuple("=+-@"))]
        read = [cell.replace("'", "") for cell in cells(line, written.delimiter)]
        assert read == [value.replace("'", "") for value in values]


def test_plain_texts_and_numbers_stay_as_they_are() -> None:
    values = ("AMD EPYC 9R14", "gcc -O3 -Wall", "a=b", 1.5, None, True, "Wa, x")
    assert CsvLines().line(values) == 'AMD EPYC 9R14,gcc -O3 -Wall,a=b,1.5,,true,"Wa, x"\r\n'


@pytest.mark.usefixtures("published")
@each(
    ("metric", "value"),
    (
        ("throughput", "throughput_bytes_per_second"),
        ("normalised", "normalised_bytes_per_second"),
        ("vs_arcfour", "vs_arcfour_ratio"),
    ),
)
def test_the_numbers_of_a_comparison_are_the_apis_to_the_last_digit(
    reader: ApiClient, metric: str, value: str
) -> None:
    query = {"tool": "ssh", "group_by": "os_version", "metric": metric}
    answer = reader.get("/api/v1/comparison/", query).json()
    names = {"median": "", "q1": "_q1", "q3": "_q3", "min": "_min", "max": "_max"}
    read_back = {
        (row["group_key"], row["cipher"]): {
            **{name: float(row[value + ending]) for name, ending in names.items()},
            "n": int(row["n"]),
        }
        for row in rows(reader, COMPARISON, **query)
    }
    assert read_back
    assert read_back == {
        (group["key"], cipher): figure
        for group in answer["groups"]
        for cipher, figure in group["values"].items()
    }


def test_a_comparison_without_a_figure_is_a_header(reader: ApiClient) -> None:
    body = reader.get(COMPARISON).getvalue().decode()
    assert body == "group,cipher,throughput_bytes_per_second\r\n"


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
            measurement
            for measurement in run["measurements"]
            if (
                measurement["tool"],
                measurement["cipher"],
                measurement["method"],
                measurement["mac"] or "",
            )
            == (row["tool"], row["cipher"], row["method"], row["mac"])
        ]
        for column, name in (
            ("throughput_bytes_per_second", "median"),
            ("normalised_bytes_per_second", "normalised"),
        ):
            figure = float(row[column]) if row[column] else None
            assert figure in [row[name] for row in same], (row["run_id"], row["cipher"], column)


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
    (row,) = rows(reader, COMPARISON, group_by="host")
    assert row["group"] == AWKWARD
    body = reader.get(MEASUREMENTS, {"excel": "1"}).getvalue().decode("utf-8")
    assert body.startswith("\ufeffrun_id;host;")
    (excel,) = csv.DictReader(io.StringIO(body, newline=""), delimiter=";")
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
        ({"run_id": str(mine.run_id)}, 3),
        ({"tag": "rack:c3", "tool": "openssl"}, 2),
        ({"block_size": "16"}, 1),
        ({"cipher": ["3des-cbc", "aes128-ctr"]}, 2),
        ({"q": "100%"}, 3),
        ({"q": str(other.run_id)[:8]}, 1),
        ({"since": "2030-01-01"}, 0),
        ({"mac": "hmac-sha1"}, 0),
    ):
        assert len(rows(reader, **query)) == expected, query
    set_hidden(other.pk, True, COMMAND)
    assert len(rows(reader)) == 3


@each(
    ("query", "attr"),
    (
        ({"run_id": "1"}, "run_id"),
        ({"excel": "perhaps"}, "excel"),
        ({"tool": "gpg"}, "tool"),
        ({"latest": "1"}, "latest"),
    ),
)
def test_what_cannot_be_is_a_400_that_names_it(
    reader: ApiClient, query: dict[str, str], attr: str
) -> None:
    response = reader.get(MEASUREMENTS, query)
    assert response.status_code == 400
    assert response.json()["errors"][0]["attr"] == attr


def test_a_file_that_breaks_off_does_not_end_as_if_it_were_whole(
    reader: ApiClient, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The error reaches the web server, which closes the connection without the last chunk.
    store_run(run_document())
    response = reader.get(MEASUREMENTS)

    def fail(runs: object) -> None:
        raise OperationalError

    monkeypatch.setattr(files, "run_facts", fail)
    with pytest.raises(OperationalError):
        response.getvalue()


def test_whoever_accepts_csv_alone_gets_it(reader: ApiClient) -> None:
    assert reader.get(COMPARISON, headers={"accept": "text/csv"}).status_code == 200
