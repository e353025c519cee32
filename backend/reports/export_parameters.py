"""What an address asks of a file: a comparison's parameters, and how the file is to be written."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, QueryDict, StreamingHttpResponse
from django.urls import get_script_prefix
from django.utils import timezone
from django.utils.text import slugify
from drf_spectacular.types import OpenApiTypes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from analysis.group_view import CIPHER_SORT, MOST_GROUPS, SCALES, SORTS, GroupView
from compare.question import ComparisonQuery
from exports.columns import MEASUREMENT_SHEET, StoredColumn
from exports.columns import MEASUREMENTS as MEASUREMENT_COLUMNS
from exports.columns import chosen as chosen_columns
from exports.csv_dialect import CsvDialect
from questions.comparison_parameters import asked_comparison
from questions.parameters import (
    Parameter,
    checked,
    choice,
    described,
    number,
    run_id,
    searched,
    switch,
    text,
    whole_number,
)
from questions.unknown_parameters import LONGEST_NAMED, did_you_mean, none_of
from reports.export_selection import SERIES_FIELDS, Selection, votes_of
from reports.exporting import COMPARISON, Export
from store.models import Run

CSV_TYPE = "text/csv; charset=utf-8"
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

OWN_MAC = "default"
"""As a MAC: those series alone in which the client chose its own."""

LAYOUT = ("bom", "excel", "columns", "format")
"""Parameters that change how a file is written, and none of its figures."""


def _sort(value: str) -> str:
    if value not in SORTS and not value.startswith(CIPHER_SORT):
        raise ValueError(none_of(value, SORTS, f" and {CIPHER_SORT}NAME"))
    return value


def _top(value: str) -> int | str:
    return value if value == "all" else whole_number(MOST_GROUPS)(value)


CSV = [
    switch("bom", "Begin with Excel's mark of UTF-8."),
    switch("excel", "The mark, semicolons and decimal commas."),
]
ROWS = [
    Parameter("columns", text, "Names by commas; default: all.", many=True),
    Parameter("run", run_id, "Of these runs alone.", OpenApiTypes.UUID, many=True),
    switch("latest", "Only what votes in comparisons; default: all."),
    Parameter("q", searched, "Of runs whose host's name has this, or whose id begins."),
    choice("status", tuple(Run.Status.values), "Of runs in this state.", many=True),
]
VIEW = [
    Parameter("group", searched, "Groups whose name has this text."),
    Parameter("sort", _sort, "name, best, machines, cipher:NAME."),
    Parameter("top", _top, "Groups in the chart: 1 to 200, or all."),
    number("page", "Which of these.", 999_999),
    choice("scale", SCALES, "Of the chart."),
]
CSV_PARAMETERS, ROW_PARAMETERS, VIEW_PARAMETERS = map(described, (CSV, ROWS, VIEW))


def site_of(request: Request | HttpRequest) -> str:
    """This site's address as the reader has it, without a slash at its end."""
    return request.build_absolute_uri(get_script_prefix()).rstrip("/")


def _columns(texts: Iterable[str], *, sheet: bool) -> tuple[StoredColumn, ...]:
    """Return those asked for; without any all, and in a workbook those that people read."""
    if sheet and not any(texts):
        return MEASUREMENT_SHEET
    names = dict.fromkeys(name for one in texts for name in one.split(",") if name)
    try:
        return chosen_columns(MEASUREMENT_COLUMNS, tuple(names))
    except KeyError as error:
        name = str(error.args[0])
        near = did_you_mean(name, [column.name for column in MEASUREMENT_COLUMNS])
        said = f"{name[:LONGEST_NAMED]!r} is no column of measurements{near}"
        raise ValidationError({"columns": said}) from None


def _view(asked: dict[str, Any]) -> GroupView:
    """Which groups, in which order, and those of the chart."""
    top = asked.get("top", GroupView.top)
    return GroupView(
        sort=asked.get("sort", SORTS[0]),
        search=asked.get("group", ""),
        top=None if top == "all" else top,
        page=asked.get("page", 1),
        logarithmic=asked.get("scale") == SCALES[1],
    )


def _selection(params: QueryDict, asked: dict[str, Any], query: ComparisonQuery) -> Selection:
    """What is named counts; nothing has a default as it has in comparisons."""
    series: dict[str, tuple[Any, ...]] = {
        name: (getattr(query, name),)
        for name in SERIES_FIELDS
        if name not in ("cipher", "mac") and any(params.getlist(name))
    }
    own = query.mac == OWN_MAC
    series |= {"cipher": query.ciphers, "mac": ("",) if own else ()}
    return Selection(
        filters=query.filters,
        since=query.since,
        until=query.until,
        runs=asked.get("run", ()),
        statuses=asked.get("status", ()),
        text=asked.get("q", ""),
        series=series,
        mac=None if own else query.mac,
        latest=asked.get("latest", False),
    )


def export_of(kind: str, params: QueryDict, site: str, *, workbook: bool = False) -> Export:
    """The export that these ask for; `ValidationError` and `Unanswerable` say what cannot be."""
    query = asked_comparison(params)
    asked = checked(params, [*VIEW, *ROWS, *CSV])
    view = _view(asked)
    if view.search and kind != COMPARISON and not asked.get("latest"):
        raise ValidationError({"group": "Groups have what votes in them: add latest=1."})
    selection = votes_of(query) if kind == COMPARISON else _selection(params, asked, query)
    if kind != COMPARISON and query.mac == OWN_MAC:
        query = replace(query, mac=None)  # which comparisons make of it
    whole = not (selection.runs or selection.statuses or selection.text)
    return Export(
        kind=kind,
        selection=selection,
        query=query,
        compared=kind == COMPARISON or (workbook and whole),
        columns=_columns(asked.get("columns", ()), sheet=workbook),
        dialect=csv_dialect(params),
        site=site,
        link=_link(kind, params, site),
        asked_at=timezone.now(),
        view=view,
    )


def csv_dialect(params: QueryDict) -> CsvDialect:
    """How a file is to be written; DRF's `ValidationError` for a value that cannot be."""
    asked = checked(params, CSV)
    excel = asked.get("excel", False)
    return CsvDialect(bom=excel or asked.get("bom", False), decimal_comma=excel)


def csv_file(lines: Iterable[str | bytes], name: str) -> StreamingHttpResponse:
    """The lines as a download of this name, sent on as they come."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type=CSV_TYPE, headers=headers)


def _link(kind: str, params: QueryDict, site: str) -> str:
    """The page that shows the same question."""
    asked = params.copy()
    for name in LAYOUT:
        asked.pop(name, None)
    for group in asked.pop("group", []):
        if kind == COMPARISON:
            asked["q"] = group  # as the page calls it
    return f"{site}/{'' if kind == COMPARISON else 'runs/'}?{asked.urlencode()}"


def file_name(export: Export, ending: str) -> str:
    """What a browser calls the file: what it holds and the day it is asked for, in ASCII."""
    words = " ".join((*export.selection.series.get("tool", ()), export.kind))
    if export.kind == COMPARISON:
        words = comparison_words(export.query)
    if ending == "csv" and export.dialect.decimal_comma:
        words += " for excel"
    return dated_name(words, ending)


def comparison_words(query: ComparisonQuery) -> str:
    """Return what names the file of a comparison."""
    by = " ".join(filter(None, (query.group_by, query.split_by)))
    return f"comparison {query.tool} {query.metric} by {by}"


def dated_name(words: str, ending: str) -> str:
    """Return the words and today as the name of a file."""
    named = slugify(words.translate(_BETWEEN_WORDS))[:80]
    return f"ciphermark-{named}-{timezone.now():%Y-%m-%d}.{ending}"


_BETWEEN_WORDS = str.maketrans("_:", "  ")
