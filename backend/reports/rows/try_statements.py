"""Rows of tries: in one statement, or where documents lie in object storage in several."""

from collections.abc import Iterator, Sequence

from exports.columns import StoredColumn
from reports.rows.export_rows import RowFormat, chosen_runs, rows_statement
from reports.rows.export_selection import Selection
from store.models import RunDocument
from store.run_documents import Moved, fetch
from store.statements import Relation, fetch_rows

MOST = 64
"""Moved documents of one statement."""

_HERE = Relation("runs_rundocument")

_AND_MOVED = """(
    SELECT d.run_id, coalesce(d.body, moved.body) AS body FROM runs_rundocument d
    LEFT JOIN unnest(%s::bigint[], %s::bytea[]) moved (run_id, body) USING (run_id)
)"""


def try_statements(
    selection: Selection, site: str, columns: Sequence[StoredColumn], form: RowFormat
) -> Iterator[Relation]:
    """What gives the rows, one after the other, the latest received runs first.

    Raises `ObjectStorageUnavailable`.
    """
    if not RunDocument.objects.filter(moved__isnull=False).exists():
        yield rows_statement(selection, site, columns, form, tries=_HERE)
        return
    below: int | None = None
    while True:
        moved = _next_moved(selection.only(since=None, below=below))
        low = min(moved) if len(moved) == MOST else None
        documents = Relation(_AND_MOVED, (list(moved), fetch(moved.values())))
        part = selection.only(since=low, below=below)
        yield rows_statement(part, site, columns, form, tries=documents)
        if low is None:
            return
        below = low


def _next_moved(selection: Selection) -> dict[int, Moved]:
    """The next runs whose documents were moved, the latest received first."""
    runs = chosen_runs(selection, "", ())
    votes = selection.voting.by_run if selection.voting else Relation("SELECT")
    sql = f"""
        WITH votes AS ({votes.sql}) SELECT r.id, u.run_id, m.sha256, m.size FROM ({runs.sql}) r
        JOIN runs_run u ON u.id = r.id JOIN runs_rundocument d ON d.run_id = r.id
        JOIN runs_moveddocument m ON m.id = d.moved_id ORDER BY r.id DESC LIMIT {MOST}
    """  # noqa: S608 - closed lists
    found = fetch_rows(sql, (*votes.parameters, *runs.parameters))
    return {pk: Moved(*where) for pk, *where in found}
