"""GET /api/v1/exports/*.xlsx: what openpyxl reads back, and what no cell may be."""

import io
import itertools
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart

from exports import workbook
from exports.csv_dialect import CELL_UNITS, for_cell
from exports.sheet_parts import xml_text
from reports import exporting
from reports.rows.export_formats import xml_text as database_text
from results.comparison.comparison import compare
from results.selection import ComparisonQuery
from store.statements import fetch_rows
from tests.cases import each
from tests.conftest import ApiClient, StoreRun, csv_rows
from tests.sample_documents import environment, run_document, ssh_measurement
from tests.upgraded_fleet import AES, DES, HOSTS, upgraded_fleet

HOSTILE = '=HYPERLINK("http://x","y") <b>&amp;</b> _x0041_ \x01\x0b\x1f\ufffe http://example.org'
READ_BACK = HOSTILE.translate(dict.fromkeys(map(ord, "\x01\x0b\x1f\ufffe"), "\ufffd"))


def body(reader: ApiClient, name: str, **query: Any) -> bytes:
    response = reader.get(f"/api/v1/exports/{name}", query)
    assert response.status_code == 200, response.content
    written: bytes = response.getvalue()
    return written


def opened(content: bytes) -> Workbook:
    return load_workbook(io.BytesIO(content))


def table(book: Workbook, sheet: str) -> list[dict[str, Any]]:
    """A sheet's rows by the names over them, without their units."""
    names, *values = book[sheet].iter_rows(values_only=True)
    keys = [re.sub(r" \(.*\)$", "", str(name)) for name in names]
    return [dict(zip(keys, map(unescaped, row), strict=True)) for row in values]


def without_megabytes(row: dict[str, Any]) -> dict[str, Any]:
    """The row as CSV has it, once its MB/s are those of the column before."""
    names = list(row)
    for before, name in itertools.pairwise(names):
        if "mb_per_second" in name:
            assert row[name] == (row[before] if row[before] is None else row[before] / 1e6)
    assert any("mb_per_second" in name for name in names)
    return {name: value for name, value in row.items() if "mb_per_second" not in name}


def charts_of(book: Workbook) -> list[Any]:
    """The charts of the comparison."""
    charts: list[Any] = getattr(book["Comparison"], "_charts")  # noqa: B009 - it has no other name
    return charts


def title(chart: Any) -> str:
    return "".join(run.t for part in chart.title.tx.rich.p for run in part.r or ())


def unescaped(value: Any) -> Any:
    """The value as spreadsheets show it; openpyxl leaves this escape as it is."""
    return value.replace("_x005F_", "_") if isinstance(value, str) else value


@pytest.mark.usefixtures("published")
def test_a_workbook_has_its_sheets_ready_to_be_read(reader: ApiClient) -> None:
    book = opened(body(reader, "comparison.xlsx", group_by="os_version"))
    assert book.sheetnames == [
        "Comparison",
        "Pivot",
        "Measurements",
        "Hosts",
        "Method",
        "Chart data",
    ]
    for name in ("Comparison", "Pivot", "Measurements", "Hosts"):
        sheet = book[name]
        assert sheet.freeze_panes
        assert sheet.auto_filter.ref == sheet.dimensions
        assert sheet.print_title_rows == "$1:$1"
    assert book["Comparison"]["A1"].font.bold
    across = {name: book[name].page_setup.fitToWidth for name in ("Pivot", "Measurements", "Hosts")}
    assert across == {"Pivot": 3, "Measurements": 5, "Hosts": 2}  # pages that can be read


@pytest.mark.usefixtures("published")
@each(
    ("name", "query"),
    (("comparison", {"group_by": "os_version", "metric": "normalised"}), ("measurements", {})),
)
def test_its_rows_are_those_of_the_csv(reader: ApiClient, name: str, query: dict[str, str]) -> None:
    expected = csv_rows(reader.get(f"/api/v1/exports/{name}.csv", query))
    found = table(opened(body(reader, f"{name}.xlsx", **query)), name.capitalize())
    assert len(found) == len(expected) > 0
    for row, line in zip(found, expected, strict=True):
        for column, value in without_megabytes(row).items():
            if isinstance(value, datetime):
                assert value.replace(tzinfo=UTC) == datetime.fromisoformat(line[column])
            elif isinstance(value, bool):
                assert line[column] == str(value).lower()
            elif isinstance(value, int | float):
                assert float(line[column]) == value
            else:
                assert line[column] == (value or "")


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
    votes = [row["throughput_bytes_per_second"] for row in table(book, "Measurements")]
    assert sorted(votes) == [2e8, 4e8]
    assert [(row["host"], row["aes128-ctr"]) for row in table(book, "Pivot")] == [
        ("a", 2e8),
        ("b", 4e8),
    ]
    (group,) = table(book, "Comparison")
    assert group["throughput_bytes_per_second"] == 3e8
    assert [(row["host"], row["runs"]) for row in table(book, "Hosts")] == [("a", 1), ("b", 1)]


def test_behind_a_matched_comparison_are_the_votes_of_matched_hosts(
    reader: ApiClient, store_run: StoreRun
) -> None:
    upgraded_fleet(store_run)
    query = {"tool": "openssl", "group_by": "openssl_series", "matched": 1, "cipher": [AES, DES]}
    book = opened(body(reader, "comparison.xlsx", **query))
    pivot = table(book, "Pivot")
    # One host was never old, so it is in no matched group.
    assert len({row["host"] for row in pivot}) == 2 * HOSTS
    behind = sorted(
        (row["host"], row["cipher"], row["throughput_bytes_per_second"])
        for row in table(book, "Measurements")
    )
    assert behind == sorted(
        (row["host"], cipher, row[cipher]) for row in pivot for cipher in (AES, DES) if row[cipher]
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("late", ("decided", "_figures", "_contents"))
def test_a_run_that_comes_meanwhile_is_in_all_sheets_or_in_none(
    reader: ApiClient, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    store_run(run_document(ssh_measurement("aes128-ctr", 1e8), host={"name": "nas"}))
    step = getattr(exporting, late)

    def another_run(*arguments: Any) -> Any:
        def store() -> None:
            store_run(run_document(ssh_measurement("aes128-ctr", 3e8), host={"name": "nas"}))
            compare(ComparisonQuery())  # whoever asks meanwhile brings the copy up to date
            connection.close()

        with ThreadPoolExecutor(1) as elsewhere:
            elsewhere.submit(store).result()
        return step(*arguments)

    monkeypatch.setattr(exporting, late, another_run)
    book = opened(body(reader, "comparison.xlsx", group_by="host", tool="ssh"))
    (compared,), (row,) = table(book, "Comparison"), table(book, "Measurements")
    name = "throughput_bytes_per_second"
    assert compared[name] == row[name]


@pytest.mark.usefixtures("published")
def test_its_chart_has_the_medians_and_quartiles_of_the_comparison(reader: ApiClient) -> None:
    content = body(reader, "comparison.xlsx", group_by="os", cipher=["aes128-ctr", "3des-cbc"])
    book = opened(content)
    (chart,) = charts_of(book)
    assert isinstance(chart, BarChart)
    assert len(chart.series) == 2
    assert all(series.errBars is not None for series in chart.series)
    compared = {(row["group"], row["cipher"]): row for row in table(book, "Comparison")}
    for row in table(book, "Chart data"):
        for cipher in ("aes128-ctr", "3des-cbc"):
            if row[f"{cipher} median"] is not None:
                known = compared[row["group"], cipher]
                # XlsxWriter writes 16 digits, the last of which may be rounded.
                wanted = pytest.approx(known["throughput_bytes_per_second"], rel=1e-15)
                assert row[f"{cipher} median"] == wanted
    assert book["Chart data"]["B2"].number_format == "#,##0"


@pytest.mark.usefixtures("published")
def test_it_says_what_was_asked(reader: ApiClient) -> None:
    query = {"metric": "normalised", "source": "published", "group_by": "os"}
    ciphers = ["aes128-ctr", "3des-cbc"]
    book = opened(body(reader, "comparison.xlsx", cipher=ciphers, **query))
    said = {str(row[0]): row[1] for row in book["Method"].iter_rows(values_only=True) if row[0]}
    assert said["Ciphers"] == "aes128-ctr, 3des-cbc"
    assert said["Metric"] == "normalised"
    assert said["Filter: source"] == "published"
    assert said["Reference profile"] == "2015"
    assert isinstance(said["ssh: arcfour, bytes per second"], int | float)
    assert isinstance(said["Generated (UTC)"], datetime)
    link = str(said["Live view"])
    assert link.startswith("http://testserver/?")
    assert "metric=normalised" in link
    assert "How to read it" in said
    of_sheet = list(said)[list(said).index("Columns: Comparison") + 1 :]
    assert of_sheet[:2] == list(table(book, "Comparison")[0])[:2]
    assert "throughput_bytes_per_second" in of_sheet
    for place, (name, value, *_) in enumerate(book["Method"].iter_rows(), 1):
        points = book["Method"].row_dimensions[place].height
        assert (15 if points is None else points) / 15 >= len(str(value.value)) / 90, name.value


def test_measurements_of_all_tools_do_not_say_that_they_are_of_one(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(run_document())
    for query, asked in (({}, "All measurements"), ({"tool": "openssl"}, "Measurements")):
        book = opened(body(reader, "measurements.xlsx", **query))
        names, values = zip(*book["Method"].iter_rows(values_only=True, max_col=2), strict=True)
        said = dict(zip(names, values, strict=True))
        assert said["Query"] == asked
        assert said.get("Filter: tool") == query.get("tool")
        assert names.index("Tool") > names.index("Compared of them")


def test_hostile_text_is_text(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(
        run_document(
            ssh_measurement("aes128-ctr", 1e8),
            host={"name": HOSTILE},
            tags={"x": "=1+1"},
        )
    )
    content = body(reader, "comparison.xlsx", group_by="host", tag="x:=1+1")
    book = opened(content)
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type != "f"
                assert cell.hyperlink is None
    assert table(book, "Comparison")[0]["group"] == READ_BACK
    (machine,) = table(book, "Hosts")
    assert machine["host"] == READ_BACK
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        for name in parts.namelist():
            if name.endswith((".xml", ".rels")):
                ElementTree.fromstring(parts.read(name))  # noqa: S314 - our own file
                assert b"<f>" not in parts.read(name) or "chart" in name
                assert b"<hyperlink" not in parts.read(name)
        measurements = parts.read("xl/worksheets/sheet3.xml").decode()
    # Written so that a spreadsheet shows the text itself, and not the letter that it stands for.
    assert "_x005F_x0041_" in measurements


@pytest.mark.usefixtures("published")
def test_rows_too_long_for_a_plain_zip_go_on_in_the_next_sheet(
    reader: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound of 2 GiB is lowered: 900,000 rows reach it, or fewer with very long texts."""
    plain = opened(body(reader, "measurements.xlsx", tool="ssh"))
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 60_000)
    content = body(reader, "measurements.xlsx", tool="ssh")
    large = opened(content)
    assert "Measurements 3" in large.sheetnames
    for sheet in ("Comparison", "Measurements", "Hosts"):
        parts = [name for name in large.sheetnames if name.startswith(sheet)]
        rows = [row for name in parts for row in table(large, name)]
        assert rows == table(plain, sheet)
    with zipfile.ZipFile(io.BytesIO(content)) as members:
        assert max(one.file_size for one in members.infolist()) <= 60_000
        assert {one.extra for one in members.infolist()} == {b""}, "every program opens it"


def units(text: str) -> int:
    """Its length as spreadsheets count it."""
    return len(text.encode("utf-16-le")) // 2


def in_database(text: str) -> str:
    """The text as the database writes it into a cell."""
    statement = f"SELECT {database_text('one.t')} FROM (SELECT %s::text t) one"  # noqa: S608
    written = fetch_rows(statement, [text])
    return str(written[0][0])


@pytest.mark.django_db
@pytest.mark.parametrize("text", ("x", "🔐", "x🔐", "é", "\uffff", "<", "_x0041_"))
def test_a_cell_has_all_it_can_hold_and_says_when_it_was_cut(text: str) -> None:
    fitting = text * (CELL_UNITS // units(text)) + "." * (CELL_UNITS % units(text))
    assert for_cell(fitting) == fitting.replace("\uffff", "\ufffd")
    for whole in (fitting, fitting + ".", "." + fitting, fitting + text * 5000):
        assert in_database(whole) == xml_text(whole)
        if whole != fitting:
            cell = for_cell(whole)
            assert CELL_UNITS - 100 < units(cell) <= CELL_UNITS
            assert cell.endswith(f"… [cut: {len(whole)} characters in all]")


@pytest.mark.django_db
@settings(max_examples=30, deadline=None)
@given(text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_python_and_the_database_write_the_same_cell(text: str) -> None:
    assert in_database(text) == xml_text(text)


def test_more_rows_than_a_sheet_has_go_on_in_the_next(
    reader: ApiClient, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    ciphers = [f"cipher-{number}" for number in range(5)]
    for host in "abc":
        measured = (ssh_measurement(cipher, 1e8) for cipher in ciphers)
        store_run(run_document(*measured, host={"name": host}))
    whole = opened(body(reader, "comparison.xlsx", group_by="host"))
    monkeypatch.setattr(workbook, "SHEET_ROWS", 3)
    book = opened(body(reader, "comparison.xlsx", group_by="host"))
    for name, sheets in (("Comparison", 8), ("Pivot", 2), ("Measurements", 8), ("Hosts", 2)):
        names = [name, *(f"{name} {number}" for number in range(2, sheets + 1))]
        assert [one for one in book.sheetnames if one.startswith(name)] == names
        found = [table(book, one) for one in names]
        assert [len(part) for part in found[:-1]] == [2] * (sheets - 1)
        assert [row for part in found for row in part] == table(whole, name)


def test_more_ciphers_than_a_sheet_has_columns_go_on_in_the_next(
    reader: ApiClient, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = {f"cipher-{number}": 1e8 + number for number in range(5)}
    store_run(run_document(*(ssh_measurement(cipher, rate) for cipher, rate in rates.items())))
    monkeypatch.setattr(workbook, "SHEET_COLUMNS", 7)
    book = opened(body(reader, "comparison.xlsx"))
    names = ["Pivot", "Pivot, part 2", "Pivot, part 3"]
    assert [one for one in book.sheetnames if one.startswith("Pivot")] == names
    found = [table(book, name)[0] for name in names]
    assert {row["host"] for row in found} == {"nas"}
    together = {cipher: rate for row in found for cipher, rate in row.items() if cipher in rates}
    assert together == rates


MARKUP = "<r><t>rich & wrong</r>"


def test_text_is_never_markup(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(
        run_document(
            ssh_measurement(MARKUP, 1e8),
            host={"name": MARKUP},
            tags={"x": MARKUP},
            environment={**environment(model=MARKUP)},
        )
    )
    book = opened(body(reader, "comparison.xlsx", group_by="host", tag=f"x:{MARKUP}"))
    (row,), (machine,) = table(book, "Comparison"), table(book, "Hosts")
    assert (row["group"], machine["host"], row["cipher"]) == (MARKUP, MARKUP, MARKUP)
    said = [row[1] for row in book["Method"].iter_rows(values_only=True)]
    assert f"x:{MARKUP}" in said


def test_a_chart_is_parted_where_a_page_ends_and_its_parts_have_one_axis(
    reader: ApiClient, store_run: StoreRun
) -> None:
    ciphers = [f"cipher-{number}" for number in range(12)]
    for host in range(10):
        measured = (ssh_measurement(cipher, 1e8 + host * 1e7) for cipher in ciphers)
        store_run(run_document(*measured, host={"name": f"host-{host}"}))
    charts = charts_of(opened(body(reader, "comparison.xlsx", group_by="host")))
    rows = [re.findall(r"\$(\d+)", one.series[0].val.numRef.f) for one in charts]
    assert [int(row) for part in rows for row in part] == [2, 4, 5, 7, 8, 10, 11]
    assert [title(one).rpartition(", ")[2] for one in charts] == [
        *("groups 1 to 3 of 10", "groups 4 to 6 of 10", "groups 7 to 9 of 10", "group 10 of 10")
    ]
    assert {(one.y_axis.scaling.min, one.y_axis.scaling.max) for one in charts} == {(0, 2e8)}
    assert [one.anchor._from.row for one in charts] == [1, 45, 89, 133]


def test_no_name_in_a_chart_is_a_formula(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(run_document(ssh_measurement("=cmd|' /C calc'!A0", 1e8), host={"name": "=1+1"}))
    content = body(reader, "comparison.xlsx", group_by="host")
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        chart = parts.read("xl/charts/chart1.xml").decode()
    references = re.findall(r"<c:f>(.*?)</c:f>", chart)
    assert references
    assert all(one.startswith("'Chart data'!$") for one in references)


def test_the_chart_follows_the_view(reader: ApiClient, store_run: StoreRun) -> None:
    for host, rate in (("a1", 1e8), ("a2", 4e8), ("a3", 2e8), ("b1", 3e8)):
        store_run(run_document(ssh_measurement("aes128-ctr", rate), host={"name": host}))
    view = {"group_by": "host", "group": "A", "sort": "best", "top": 2, "scale": "log"}
    book = opened(body(reader, "comparison.xlsx", **view))
    assert [row["group"] for row in table(book, "Comparison")] == ["a2", "a3", "a1"]
    assert [row["group"] for row in table(book, "Chart data")] == ["a2", "a3"]
    for name in ("Measurements", "Hosts", "Pivot"):
        assert sorted(row["host"] for row in table(book, name)) == ["a1", "a2", "a3"]
    (chart,) = charts_of(book)
    assert chart.y_axis.scaling.logBase == 10
    later = table(opened(body(reader, "comparison.xlsx", **view, page=2)), "Chart data")
    assert [row["group"] for row in later] == ["a1"]
    written = body(reader, "comparison.csv", **view).decode()
    assert [line.partition(",")[0] for line in written.splitlines()] == ["group", "a2", "a3", "a1"]
    behind = {**view, "latest": 1, "columns": "host"}
    assert sorted(body(reader, "measurements.csv", **behind).decode().split()) == [
        "a1",
        "a2",
        "a3",
        "host",
    ]


@each(
    ("query", "attr"),
    (
        ({"sort": "worst"}, "sort"),
        ({"top": "0"}, "top"),
        ({"top": "201"}, "top"),
        ({"page": "x"}, "page"),
        ({"scale": "cubic"}, "scale"),
        ({"group": "x" * 300}, "group"),
    ),
)
def test_a_view_that_cannot_be_is_a_400_that_names_it(
    reader: ApiClient, query: dict[str, str], attr: str
) -> None:
    response = reader.get("/api/v1/exports/comparison.xlsx", query)
    assert response.status_code == 400
    assert response.json()["errors"][0]["attr"] == attr
    assert reader.get("/api/v1/exports/measurements.csv", {"group": "x"}).status_code == 400


def test_nothing_measured_is_a_workbook_too(reader: ApiClient) -> None:
    for name in ("comparison.xlsx", "measurements.xlsx"):
        book = opened(body(reader, name))
        assert table(book, "Measurements") == []
        assert table(book, "Comparison") == []


def test_a_run_without_a_date_and_one_of_long_ago_have_no_wrong_date(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(run_document(started_at="1899-06-01T00:00:00Z", finished_at="1899-06-01T00:00:01Z"))
    (row,) = table(opened(body(reader, "measurements.xlsx")), "Measurements")
    assert row["started_at"] is None


def test_a_cell_has_no_character_that_xml_lacks() -> None:
    assert for_cell("a\x00b\x1fc\nd") == "a\ufffdb\ufffdc\nd"
