"""Files made of measurements: which figures, how they are written, what the file says of them."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, BinaryIO

from rest_framework.exceptions import ValidationError

from analysis.comparison import Comparison
from analysis.group_view import GroupView
from compare.question import ComparisonQuery
from exports.columns import HOST_SHEET, StoredColumn
from exports.comparison_columns import comparison_csv
from exports.csv_dialect import CsvDialect
from exports.excel_chart import Charted
from exports.export_request import ExportRequest
from exports.workbook import Contents, write_workbook
from reports.export_rows import count_rows, csv_rows, host_rows, value_rows
from reports.export_selection import SERIES_OF_TOOL, Selection, votes_of, voting
from results.analytics.engine import questions
from results.comparison.comparison import compare
from results.comparison.measured import resolve_block_size
from results.selection import group_members
from store.statements import one_moment

MEASUREMENTS, COMPARISON = "measurements", "comparison"

MOST_ROWS = 50_000
"""Of a workbook, which is made while its reader waits; a CSV streams any number."""


@dataclass(frozen=True)
class Export:
    """One file to be made. `query` is a comparison's whole question, else what stands for it.

    `compared`: the file has the comparison that the query asks for; `view` says which of its
    groups, in which order, and which of them are in the chart. `link` is the page that shows
    the same, `site` the address of this site without a slash at its end.
    """

    kind: str
    selection: Selection
    query: ComparisonQuery
    compared: bool
    columns: tuple[StoredColumn, ...]
    dialect: CsvDialect
    site: str
    link: str
    asked_at: datetime
    view: GroupView


def decided(export: Export) -> Export:
    """The export with what its figures are chosen by: the block size, and what votes."""
    if export.selection.voting is not None or not export.selection.latest:
        return export
    if export.kind == COMPARISON:
        query = resolve_block_size(export.query)
        export = replace(export, query=query, selection=votes_of(query))
    found = voting(export.selection, export.query, _groups(export))
    return replace(export, selection=replace(export.selection, voting=found))


def _groups(export: Export) -> list[Any] | None:
    """What the groups searched for are grouped by, ids or texts; None: there is no search."""
    if not export.view.search:
        return None
    found = export.view.found(compare(export.query)).groups
    return group_members(export.query, found)


def asked(export: Export, comparison: Comparison | None) -> ExportRequest:
    """The question as the file repeats it."""
    query = export.query
    known = ExportRequest(
        title=_title(export),
        site=export.site,
        link=export.link,
        asked_at=export.asked_at,
        of_measurements=export.kind != COMPARISON,
        filters=_filters(export),
    )
    if comparison is None:
        return known
    return replace(
        known,
        tool=query.tool,
        group_by=query.group_by,
        split_by=query.split_by or "",
        relative_to=_reference(comparison),
        matched=query.matched or None,
        metric=query.metric,
        ciphers=query.ciphers,
        acceleration=query.acceleration,
        mac=(query.mac or "") if query.tool == "ssh" else "",
        **{name: getattr(query, name) for name in SERIES_OF_TOOL[query.tool]},
    )


def _reference(comparison: Comparison) -> str:
    return comparison.relative_to.label or "" if comparison.relative_to else ""


def _title(export: Export) -> str:
    query = export.query
    if export.kind != COMPARISON:
        return f"Ciphermark: {export.kind}"
    words = f"{query.metric} by {query.group_by}".replace("_", " ")
    return f"{'SSH' if query.tool == 'ssh' else 'OpenSSL'} {words}"


def _filters(export: Export) -> dict[str, tuple[str, ...]]:
    selection = export.selection
    dates = {"since": selection.since, "until": selection.until}
    found = {name: tuple(values) for name, values in selection.filters.items() if values}
    found |= {name: (one.isoformat(),) for name, one in dates.items() if one}
    if export.view.search:
        found["group"] = (export.view.search,)
    if selection.runs:
        found["run"] = tuple(map(str, selection.runs))
    if export.kind != COMPARISON:
        found |= {
            name: tuple(map(str, values)) for name, values in selection.series.items() if values
        }
    return found


def csv_chunks(export: Export) -> Generator[bytes]:
    """Return a file of measurements, chunk by chunk."""
    yield export.dialect.header(column.name for column in export.columns).encode()
    export = decided(export)
    yield from csv_rows(export.selection, export.site, export.columns, export.dialect)


@questions()
def comparison_lines(export: Export) -> Iterator[str]:
    """A comparison as CSV, line by line; compared before the first is asked for."""
    export = replace(export, query=resolve_block_size(export.query))
    comparison = export.view.found(compare(export.query))
    return comparison_csv(asked(export, comparison), comparison, export.dialect)


def write_xlsx(export: Export, out: BinaryIO) -> None:
    """Write the workbook; `ValidationError` where it would have too many measurements."""
    with questions():
        export = decided(export)
        if count_rows(export.selection, MOST_ROWS) > MOST_ROWS:
            raise ValidationError(
                f"A workbook holds at most {MOST_ROWS:,} measurements, and these are more:"
                " use CSV (exports/measurements.csv), or narrow them down.",
                code="too_many_rows",
            )
        comparison = export.view.found(compare(export.query)) if export.compared else None
    # What votes was read before: a transaction that begins now has its rows.
    with one_moment():
        write_workbook(out, _contents(export, comparison))


def _contents(export: Export, comparison: Comparison | None) -> Contents:
    charted = None
    if comparison is not None:
        groups, log = export.view.on_page(comparison.groups), export.view.logarithmic
        charted = Charted(asked(export, comparison), comparison, groups, log) if groups else None
    return Contents(
        asked=asked(export, comparison),
        comparison=comparison,
        charted=charted,
        columns=export.columns,
        measurements=value_rows(export.selection, export.site, export.columns),
        host_columns=HOST_SHEET,
        hosts=host_rows(export.selection, export.site, HOST_SHEET),
    )
