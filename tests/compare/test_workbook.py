import io
import re
import zipfile
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart

from compare import api
from tests.cases import each
from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import environment, run_document, ssh_measurement
from tests.upgraded_fleet import AES, DES, HOSTS, upgraded_fleet

HOSTILE = (
    '=HYPERLINK("http://x","y") <b>&amp;</b> _x0041_ \x01\x0b\x1f\ufffe http://example.org !A1'
)
# openpyxl returns control characters escaped.
READ_BACK = HOSTILE.translate(
    {ord(character): f"_x{ord(character):04X}_" for character in "\x01\x0b\x1f\ufffe"}
)
MARKUP = "<r><t>rich & wrong</r>"


def body(reader: ApiClient, name: str, **query: Any) -> bytes:
    response = reader.get(f"/api/v1/exports/{name}", query)
    assert response.status_code == 200, response.content
    written: bytes = response.getvalue()
    return written


def opened(content: bytes) -> Workbook:
    return load_workbook(io.BytesIO(content))


def table(book: Workbook, sheet: str) -> list[dict[str, Any]]:
    rows = list(book[sheet].iter_rows(values_only=True))
    top = next(at for at, row in enumerate(rows) if row[1] is not None)  # below the title
    names, *values = rows[top:]
    keys = [re.sub(r" \((?!UTC).*\)$", "", str(name)) for name in names]
    return [dict(zip(keys, map(unescaped, row), strict=True)) for row in values]


def unescaped(value: Any) -> Any:
    # Spreadsheets unescape this value, but openpyxl does not.
    return value.replace("_x005F_", "_") if isinstance(value, str) else value


def charts_of(book: Workbook) -> list[Any]:
    charts: list[Any] = getattr(book["Comparison"], "_charts")  # noqa: B009 - it has no other name
    return charts


def title(chart: Any) -> str:
    return "".join(run.t for part in chart.title.tx.rich.p for run in part.r or ())


@pytest.mark.usefixtures("published")
def test_a_workbook_has_its_sheets_ready_to_be_read(reader: ApiClient) -> None:
    book = opened(body(reader, "comparison.xlsx", group_by="os_version"))
    assert book.sheetnames == [
        *("Comparison", "Chart data", "Details", "Measurements", "Hosts", "Method")
    ]
    for name, top in (("Comparison", 4), ("Details", 1), ("Measurements", 1), ("Hosts", 1)):
        sheet = book[name]
        assert sheet.freeze_panes == f"B{top + 1}"
        assert sheet.auto_filter.ref == sheet.dimensions.replace("A1", f"A{top}")
        assert sheet.print_title_rows == f"${top}:${top}"
    assert [cell.value for cell in book["Details"][1]] == [
        *("Group", "Cipher", "Median (MB/s)", "First quartile (MB/s)", "Third quartile (MB/s)"),
        *("Lowest (MB/s)", "Highest (MB/s)", "Hosts", "Low confidence"),
    ]


def test_the_comparison_is_a_report_with_a_title_and_a_column_per_cipher(
    reader: ApiClient, store_run: StoreRun
) -> None:
    for number in range(6):
        for cpu, rate in (("Chip A", 100e6), ("Chip B", 150e6 + number)):
            store_run(
                run_document(
                    ssh_measurement("aes128-ctr", rate),
                    ssh_measurement("3des-cbc", 20e6 + number),
                    host={"name": f"{cpu} {number}"},
                    environment=environment(model=cpu),
                )
            )
    query = {"relative_to": "chip-a", "sort": "best"}
    sheet = opened(body(reader, "comparison.xlsx", **query))["Comparison"]
    assert sheet["A1"].value == "SSH throughput by CPU, relative to Chip A"
    assert sheet["A1"].font.bold
    assert [sheet["A2"].value, sheet["A3"].value] == [
        "Each value is the median of the hosts in the group, in MB/s (10⁶ bytes per second).",
        "Differences are relative to Chip A. “?”: within the noise, or too few hosts.",
    ]
    assert re.match(r"12 hosts, \d{4}-\d\d-\d\d, http://testserver/\?", str(sheet["A4"].value))
    headings, first, second = sheet.iter_rows(min_row=5)
    assert [cell.value for cell in headings] == [
        *("Group", "Hosts", "aes128-ctr", "aes128-ctr, difference"),
        *("3des-cbc", "3des-cbc, difference"),
    ]
    assert [cell.value for cell in first[:2]] == ["Chip B", 6]
    assert first[2].value == pytest.approx(150, rel=1e-3)
    assert first[3].value == pytest.approx(0.5)
    assert first[3].number_format == "+0.0%;-0.0%;0.0%"
    assert (first[5].value, first[5].number_format) == (0, '+0.0%" ?";-0.0%" ?";0.0%" ?"')
    assert [cell.value for cell in second] == ["Chip A", 6, 100, None, 20.0000025, None]


def test_behind_a_comparison_are_exactly_its_votes(reader: ApiClient, store_run: StoreRun) -> None:
    for host, rate, day in (("a", 1e8, 20), ("a", 2e8, 21), ("b", 4e8, 19)):
        store_run(
            run_document(
                ssh_measurement("aes128-ctr", rate),
                ssh_measurement("aes128-ctr", 9e8, method="steady"),
                host={"name": host},
                started_at=f"2025-11-{day}T06:00:00Z",
            )
        )
    book = opened(body(reader, "comparison.xlsx"))
    assert sorted(row["Throughput"] for row in table(book, "Measurements")) == [200, 400]
    (group,) = table(book, "Comparison")
    assert group["aes128-ctr"] == 300
    assert [(row["Host"], row["Runs used"]) for row in table(book, "Hosts")] == [("a", 1), ("b", 1)]


def test_behind_a_matched_comparison_are_its_hosts_alone(
    reader: ApiClient, store_run: StoreRun
) -> None:
    upgraded_fleet(store_run)
    query = {"tool": "openssl", "group_by": "openssl_series", "matched": 1, "cipher": [AES, DES]}
    behind = table(opened(body(reader, "comparison.xlsx", **query)), "Measurements")
    # One host has no old release, so it is in no matched group.
    assert len({row["Host"] for row in behind}) == 2 * HOSTS


@pytest.mark.parametrize("form", ("comparison", "measurements"))
def test_more_measurements_than_a_workbook_holds_are_told_to_use_csv(
    reader: ApiClient, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    store_run(run_document(ssh_measurement("a", 1e8), ssh_measurement("b", 1e8)))
    monkeypatch.setattr(api, "MOST_ROWS", 1)
    address = f"/api/v1/exports/{form}.xlsx"
    refused = reader.get(address)
    assert refused.status_code == 400
    (error,) = refused.json()["errors"]
    assert (error["code"], error["attr"]) == ("too_many_rows", None)
    assert "Use CSV" in error["detail"]
    page = reader.get(address, headers={"accept": "text/html"})
    assert page.status_code == 400
    assert "Use CSV" in page.content.decode()
    assert page["Content-Type"].startswith("text/html")
    assert len(table(opened(body(reader, f"{form}.xlsx", cipher="a")), "Measurements")) == 1


@pytest.mark.usefixtures("published")
def test_its_chart_has_the_medians_and_quartiles_of_the_comparison(reader: ApiClient) -> None:
    ciphers = ("aes128-ctr", "3des-cbc")
    book = opened(body(reader, "comparison.xlsx", group_by="os", cipher=ciphers))
    (chart,) = charts_of(book)
    assert isinstance(chart, BarChart)
    assert len(chart.series) == 2
    assert all(series.errBars is not None for series in chart.series)
    compared = {(row["Group"], row["Cipher"]): row for row in table(book, "Details")}
    for row in table(book, "Chart data"):
        for cipher in ciphers:
            if row[cipher] is not None:
                known = compared[row["Group"], cipher]
                assert row[cipher] == pytest.approx(known["Median"])
                below = known["Median"] - known["First quartile"]
                assert row[f"{cipher} - q1"] == pytest.approx(below)


@pytest.mark.usefixtures("published")
def test_it_says_what_was_asked(reader: ApiClient) -> None:
    query = {"metric": "normalised", "source": "published", "group_by": "os"}
    ciphers = ["aes128-ctr", "3des-cbc"]
    book = opened(body(reader, "comparison.xlsx", cipher=ciphers, **query))
    said = {str(row[0]): row[1] for row in book["Method"].iter_rows(values_only=True) if row[0]}
    assert said["Cipher"] == "aes128-ctr, 3des-cbc"
    assert said["Metric"] == "normalised"
    assert said["Filter: source"] == "published"
    assert said["Reference profile"] == "2015"
    assert isinstance(said["ssh: arcfour (MB/s)"], int | float)
    # With "#,##0.##", a whole number would end with a point: "1.".
    numbers = [row[1] for row in book["Method"] if isinstance(row[1].value, int | float)]
    assert {cell.number_format for cell in numbers} == {"General"}
    assert isinstance(said["Generated (UTC)"], datetime)
    link = str(said["Live view"])
    assert link.startswith("http://testserver/?")
    assert "metric=normalised" in link
    assert "How to read the results" in said


@pytest.mark.parametrize(("hostile", "read"), ((HOSTILE, READ_BACK), (MARKUP, MARKUP)))
def test_text_from_outside_is_text(
    reader: ApiClient, store_run: StoreRun, hostile: str, read: str
) -> None:
    run = store_run(
        run_document(
            ssh_measurement("=cmd|' /C calc'!A0", 1e8),
            host={"name": hostile},
            tags={"x": "=1+1"},
            environment={**environment(model=hostile)},
        )
    )
    assert run.host is not None
    query = {"group_by": "host", "tag": "x:=1+1", "relative_to": f"host:{run.host.slug}"}
    content = body(reader, "comparison.xlsx", **query)
    book = opened(content)
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type != "f"
                assert cell.hyperlink is None
    (group,), (machine,) = table(book, "Comparison"), table(book, "Hosts")
    assert (group["Group"].rstrip("\u200b"), machine["Host"].rstrip("\u200b")) == (read, read)
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        for name in parts.namelist():
            if name.endswith((".xml", ".rels")):
                ElementTree.fromstring(parts.read(name))  # noqa: S314 - our own file
                assert b"<f>" not in parts.read(name) or "chart" in name
        chart = parts.read("xl/charts/chart1.xml").decode()
    references = re.findall(r"<c:f>(.*?)</c:f>", chart)
    assert references
    assert all(reference.startswith("'Chart data'!$") for reference in references)


def test_the_chart_follows_the_view(reader: ApiClient, store_run: StoreRun) -> None:
    for host, rate in (("a1", 1e8), ("a2", 4e8), ("a3", 2e8), ("b1", 3e8)):
        store_run(run_document(ssh_measurement("aes128-ctr", rate), host={"name": host}))
    view = {"group_by": "host", "q": "A", "sort": "best", "top": 2, "scale": "log"}
    book = opened(body(reader, "comparison.xlsx", **view))
    assert [row["Group"] for row in table(book, "Comparison")] == ["a2", "a3", "a1"]
    assert [row["Group"] for row in table(book, "Chart data")] == ["a2", "a3"]
    for name in ("Measurements", "Hosts"):
        assert sorted(row["Host"] for row in table(book, name)) == ["a1", "a2", "a3"]
    (chart,) = charts_of(book)
    assert chart.y_axis.scaling.logBase == 10
    assert title(chart) == "SSH throughput by host"
    later = table(opened(body(reader, "comparison.xlsx", **view, page=2)), "Chart data")
    assert [row["Group"] for row in later] == ["a1"]
    written = body(reader, "comparison.csv", **view).decode()
    assert [line.partition(",")[0] for line in written.splitlines()] == ["group", "a2", "a3", "a1"]


@each(
    ("query", "attr"),
    (
        ({"sort": "worst"}, "sort"),
        ({"top": "201"}, "top"),
        ({"page": "x"}, "page"),
        ({"scale": "cubic"}, "scale"),
        ({"q": "x" * 300}, "q"),
    ),
)
def test_a_view_that_cannot_be_is_a_400_that_names_it(
    reader: ApiClient, query: dict[str, str], attr: str
) -> None:
    response = reader.get("/api/v1/exports/comparison.xlsx", query)
    assert response.status_code == 400
    assert response.json()["errors"][0]["attr"] == attr


def test_nothing_measured_is_a_workbook_too(reader: ApiClient) -> None:
    for name in ("comparison.xlsx", "measurements.xlsx"):
        book = opened(body(reader, name))
        assert table(book, "Measurements") == []
        assert table(book, "Comparison") == []


def test_a_date_before_those_of_spreadsheets_is_a_text(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(run_document(started_at="1899-06-01T00:00:00Z", finished_at="1899-06-01T00:00:01Z"))
    (row,) = table(opened(body(reader, "measurements.xlsx")), "Measurements")
    assert row["Measured (UTC)"] == "1899-06-01 00:00:00+00:00"
