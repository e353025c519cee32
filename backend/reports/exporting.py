"""Files made of measurements: which figures, how they are written, what the file says of them."""

from collections.abc import Generator, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from django.db import DEFAULT_DB_ALIAS, connections

from analysis.comparison import UNITS, Comparison
from analysis.group_view import GroupView
from exports.columns import HOSTS, StoredColumn
from exports.comparison_columns import comparison_csv
from exports.csv_dialect import CsvDialect
from exports.excel_chart import Charted
from exports.export_request import ExportRequest
from exports.sheet_parts import LargeSheet, assemble, skeleton
from exports.workbook import PIVOT_FACTS, Contents, Pivot, tables, write_workbook
from reports.rows.export_formats import CsvRows, SheetRows
from reports.rows.export_rows import (
    copy_out,
    count_rows,
    host_rows,
    rows_statement,
    text_bytes,
)
from reports.rows.export_selection import SERIES_OF_TOOL, Selection, votes_of, voting
from reports.rows.try_statements import try_statements
from results.analytics.engine import questions
from results.comparison.comparison import compare
from results.comparison.measured import resolve_block_size
from results.comparison.pivot import pivot_lines
from results.selection import ComparisonQuery, group_members
from store.object_storage import is_shared
from store.replica import PAGE_SECONDS, reader, reading_replica
from store.run_documents import ALIAS as DOCUMENTS
from store.statements import one_moment

MEASUREMENTS, SAMPLES, COMPARISON = KINDS = ("measurements", "samples", "comparison")

AT_ONCE_ROWS = 100_000
"""A workbook of more rows is made in the background: it takes longer than people wait."""

AT_ONCE_BYTES = 256_000_000
"""So is one of more text in them. Rows usually have 250 bytes of it; a run with fifty long tags has
12,000 for each of its measurements, or 42,000, or five times as many once they are XML."""


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

    def count(self, most: int | None = None) -> int:
        """Rows of measurements or tries; counting ends beyond `most`."""
        selection = decided(self).selection
        return count_rows(selection, tries=self.kind == SAMPLES, most=most)

    def text_bytes(self) -> int:
        """Bytes of text that the file's rows repeat of their runs."""
        return text_bytes(decided(self).selection, self.site, self.columns)


def decided(export: Export) -> Export:
    """The export with what its figures are chosen by: the block size, and what votes."""
    if export.selection.voting is not None or not export.selection.latest:
        return export
    if export.kind == COMPARISON:
        query = resolve_block_size(export.query)
        export = replace(export, query=query, selection=votes_of(query))
    found = voting(export.selection, export.query, _groups(export))
    return replace(export, selection=replace(export.selection, voting=found))


def made_at_once(export: Export, form: str) -> bool:
    """Whether the file is made while its reader waits; a CSV streams, however long its texts."""
    export = decided(export)
    if export.count(AT_ONCE_ROWS) > AT_ONCE_ROWS:
        return False
    return form == "csv" or export.text_bytes() <= AT_ONCE_BYTES


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


def csv_chunks(export: Export, patience: float = PAGE_SECONDS) -> Generator[tuple[bytes, int]]:
    """A file of measurements or tries, chunk by chunk, each with its number of rows.

    Raises `ReplicaFailed` where a standby fails after it has begun; `patience` is that with one.
    """
    yield export.dialect.header(column.name for column in export.columns).encode(), 0
    export = decided(export)
    rows = (export.selection, export.site, export.columns, CsvRows(export.dialect))
    # A document may move between two statements, or between a look at it and its statement.
    moment = one_moment() if export.kind == SAMPLES and is_shared(DOCUMENTS) else nullcontext()
    # What votes was read before: a standby that is waited for now has its rows.
    with moment, reader(patience) as database:
        if export.kind != SAMPLES:
            yield from copy_out(rows_statement(*rows), database)
            return
        for statement in try_statements(*rows):
            yield from copy_out(statement, database)


@questions()
def comparison_lines(export: Export) -> Iterator[str]:
    """A comparison as CSV, line by line; compared before the first is asked for."""
    export = replace(export, query=resolve_block_size(export.query))
    comparison = export.view.found(compare(export.query))
    return comparison_csv(asked(export, comparison), comparison, export.dialect)


def write_xlsx(export: Export, out: BinaryIO, patience: float = PAGE_SECONDS) -> Generator[int]:
    """Write the workbook; yields how many rows of measurements are in it so far.

    Of the database whoever asks for them uses nothing until the last one: a standby stands in for
    it (`patience`), which may fail (`ReplicaFailed`).
    """
    with questions():
        export = decided(export)
        figures = _figures(export)
    # What votes was read before: a transaction that begins now has its rows.
    with (
        TemporaryDirectory(prefix="ciphermark-") as folder,
        reading_replica(patience),
        one_moment(),
    ):
        contents = _contents(export, figures)
        while True:
            try:
                yield from _written(export, contents, Path(folder) / "workbook.xlsx", out)
                return
            except LargeSheet as found:
                # How long rows are is known when they come: anew, on more sheets.
                contents = replace(contents, most=found.rows)
                out.seek(0)
                out.truncate()


def _written(export: Export, contents: Contents, path: Path, out: BinaryIO) -> Generator[int]:
    parts = tables(contents)
    write_workbook(path, contents, parts)
    written = skeleton(path, parts)
    statement = rows_statement(
        export.selection, export.site, export.columns, SheetRows(written.styles)
    )
    # Closed before the transaction that it reads in, also when nobody wants the rest.
    with closing(copy_out(statement, connections[DEFAULT_DB_ALIAS])) as rows:
        yield from assemble(written, parts, rows, out)


def _figures(export: Export) -> tuple[Comparison, Pivot] | None:
    """What a workbook compares, of an export whose selection is decided."""
    if not export.compared:
        return None
    return export.view.found(compare(export.query)), _pivot(export)


def _contents(export: Export, figures: tuple[Comparison, Pivot] | None) -> Contents:
    """All that the workbook has but its measurements."""
    comparison, pivot = figures or (None, None)
    charted = None
    if comparison is not None:
        groups, log = export.view.on_page(comparison.groups), export.view.logarithmic
        charted = Charted(asked(export, comparison), comparison, groups, log) if groups else None
    return Contents(
        asked=asked(export, comparison),
        comparison=comparison,
        charted=charted,
        pivot=pivot,
        host_columns=HOSTS,
        hosts=host_rows(export.selection, export.site, HOSTS),
        columns=export.columns,
        count=count_rows(export.selection),
    )


def _pivot(export: Export) -> Pivot:
    """The votes, a line for each host in a group."""
    query = resolve_block_size(export.query)
    ciphers, lines = pivot_lines(query, _groups(export), PIVOT_FACTS)
    return Pivot(UNITS[query.metric], ciphers, lines)
