"""Addresses of the files that a view can be had as."""

from typing import NamedTuple

from django.http import QueryDict
from django.urls import reverse

from analysis.group_view import SCALES, GroupView
from compare.question import ComparisonQuery
from pages.page_query import api_params, display
from reports.export_parameters import OWN_MAC, comparison_words, dated_name
from reports.export_selection import SERIES_OF_TOOL
from reports.exporting import MOST_ROWS

FOR_EXCEL = "CSV with semicolons and decimal commas, as Excel reads it in most of Europe"


class Download(NamedTuple):
    """One file: what it is called in the menu, what is in it, where it is.

    `save_as`: its name, where the address itself does not say that it is a file.
    """

    label: str
    note: str
    address: str
    save_as: str = ""


BOUND = f"up to {MOST_ROWS:,} measurements"


_CSV = "api:measurements-csv"


def _address(name: str, params: QueryDict, **more: str) -> str:
    asked = params.copy()
    for key, value in more.items():
        asked[key] = value
    return f"{reverse(name)}?{asked.urlencode()}"


def measurement_downloads(params: QueryDict) -> list[Download]:
    """Measurements that these parameters of the API choose."""
    return [
        Download(
            "Excel workbook",
            f"XLSX: {BOUND}, hosts, method",
            _address("api:measurements-xlsx", params),
        ),
        Download("Measurements", "CSV: a row for each series of each run", _address(_CSV, params)),
        Download("Measurements for Excel", FOR_EXCEL, _address(_CSV, params, excel="1")),
    ]


def comparison_downloads(params: QueryDict, query: ComparisonQuery) -> list[Download]:
    """The comparison that a page shows; `query` has its ciphers and block size decided."""
    asked = spelled_out(params, query)
    behind = _behind(asked, query)
    table = "api:comparison-csv"
    return [
        Download(
            "Excel workbook",
            f"XLSX: this table with a chart, {BOUND} behind it, method",
            _address("api:comparison-xlsx", asked),
        ),
        Download("This table", "CSV", _address(table, asked)),
        Download("This table for Excel", FOR_EXCEL, _address(table, asked, excel="1")),
        Download(
            "This view as JSON",
            "what the API answers",
            json_address(asked),
            dated_name(comparison_words(query), "json"),
        ),
        Download(
            "Measurements behind it",
            "CSV: a row for each machine and cipher",
            _address(_CSV, behind),
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
