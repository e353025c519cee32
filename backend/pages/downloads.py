"""Addresses of the files that a view can be had as."""

from typing import NamedTuple

from django.http import QueryDict
from django.urls import reverse

from analysis.group_view import SCALES, GroupView
from pages.page_query import api_params, display
from reports.export_parameters import OWN_MAC
from reports.rows.export_selection import SERIES_OF_TOOL
from results.selection import ComparisonQuery

FOR_EXCEL = "CSV with semicolons and decimal commas, as Excel reads it in most of Europe"


class Download(NamedTuple):
    """One file: what it is called in the menu, what is in it, where it is."""

    label: str
    note: str
    address: str


_MEASUREMENTS: tuple[tuple[str, str, str, str, dict[str, str]], ...] = (
    ("Excel workbook", "XLSX: every measurement, machines, method", "measurements", "xlsx", {}),
    ("Measurements", "CSV: a row for each series of each run", "measurements", "csv", {}),
    ("Measurements for Excel", FOR_EXCEL, "measurements", "csv", {"excel": "1"}),
    ("Single tries", "CSV: a row for each time a series was measured", "samples", "csv", {}),
)


def _address(name: str, params: QueryDict, **more: str) -> str:
    asked = params.copy()
    for key, value in more.items():
        asked[key] = value
    return f"{reverse(name)}?{asked.urlencode()}"


def measurement_downloads(params: QueryDict) -> list[Download]:
    """Measurements that these parameters of the API choose."""
    return [
        Download(label, note, _address("start-download", params, kind=kind, format=form, **more))
        for label, note, kind, form, more in _MEASUREMENTS
    ]


def comparison_downloads(params: QueryDict, query: ComparisonQuery) -> list[Download]:
    """The comparison that a page shows; `query` has its ciphers and block size decided."""
    asked = spelled_out(params, query)
    behind = _behind(asked, query)
    start, table = "start-download", "api:comparison-csv"
    return [
        Download(
            "Excel workbook",
            "XLSX: this table with a chart, every measurement behind it, method",
            _address(start, asked, kind="comparison", format="xlsx"),
        ),
        Download("This table", "CSV", _address(table, asked)),
        Download("This table for Excel", FOR_EXCEL, _address(table, asked, excel="1")),
        Download("This view as JSON", "what the API answers", json_address(asked)),
        Download(
            "Measurements behind it",
            "CSV: a row for each machine and cipher",
            _address(start, behind, kind="measurements", format="csv"),
        ),
        Download(
            "Single tries behind it",
            "CSV: a row for each time a series was measured",
            _address(start, behind, kind="samples", format="csv"),
        ),
    ]


def json_address(asked: QueryDict) -> str:
    """The API's answer to what a page shows, without what orders and pages its groups."""
    return _address("api:comparison", api_params(asked))


def spelled_out(params: QueryDict, query: ComparisonQuery) -> QueryDict:
    """The API's parameters of what a page shows: its ciphers, block size, groups, their order."""
    asked, view = api_params(params), display(params)
    usual = GroupView()
    for name, value, default in (
        ("sort", view.sort, usual.sort),
        ("group", view.search, usual.search),
        ("top", view.top or "all", usual.top),
        ("page", view.page, usual.page),
        ("scale", SCALES[view.logarithmic], SCALES[usual.logarithmic]),
    ):
        if value != default:
            asked[name] = str(value)
    asked.setlist("cipher", list(query.ciphers))
    if query.block_size is not None:
        asked["block_size"] = str(query.block_size)
    return asked


def _behind(asked: QueryDict, query: ComparisonQuery) -> QueryDict:
    """The same for measurements, where nothing has a default: groups decide who votes."""
    behind = asked.copy()
    for name in ("sort", "top", "page", "scale", "relative_to"):
        behind.pop(name, None)
    for name in ("tool", "acceleration", *SERIES_OF_TOOL[query.tool]):
        value = getattr(query, name)
        if value is not None:
            behind[name] = str(int(value) if isinstance(value, bool) else value)
    if query.tool == "ssh":
        behind["mac"] = query.mac or OWN_MAC
    behind["latest"] = "1"
    return behind
