"""The hosts whose figures a file has."""

from collections.abc import Sequence
from typing import Any

from exports.columns import StoredColumn
from reports.rows.export_rows import DIMENSION_JOINS, INDEX_JOINS, Origin
from reports.rows.export_selection import (
    Selection,
    result_conditions,
    run_conditions,
    series_conditions,
)
from store.statements import LATEST_FIRST, Relation, fetch_rows


def host_rows(
    selection: Selection, origin: Origin, columns: Sequence[StoredColumn]
) -> list[tuple[Any, ...]]:
    """The hosts whose figures a file has, with the facts of their latest run among them."""
    runs = _runs_with_figures(selection)
    sql = f"""
        WITH {runs.sql},
        g AS MATERIALIZED (
            SELECT (array_agg(r.id ORDER BY {LATEST_FIRST}))[1] AS latest,
                count(*) AS runs, max(r.started_at) AS last
            FROM with_figures JOIN runs_run r ON r.id = with_figures.run_id
            GROUP BY r.host_id
        )
        SELECT {", ".join(column.sql for column in columns)}
        FROM (SELECT %s::text AS site, %s::text AS profile, %s::bigint AS profile_id) v
        CROSS JOIN g JOIN runs_run r ON r.id = g.latest
        JOIN runs_host h ON h.id = r.host_id
        JOIN runs_environment e ON e.id = r.environment_id
        {DIMENSION_JOINS} {INDEX_JOINS} ORDER BY h.name, h.id, r.id
    """  # noqa: S608 - closed lists
    return fetch_rows(sql, (*runs.parameters, *origin.named))


def _runs_with_figures(selection: Selection) -> Relation:
    """`with_figures` (run_id): the runs that the file has a figure of."""
    if selection.voting is not None:
        votes = selection.voting.by_run
        return Relation(f"with_figures AS MATERIALIZED ({votes.sql})", votes.parameters)
    runs, series = run_conditions(selection), series_conditions(selection)
    results = result_conditions(selection, "e")
    sql = f"""
        chosen_series AS MATERIALIZED (
            SELECT s.id, s.mac, s.tool FROM runs_series s WHERE {series.text}
        ),
        with_figures AS MATERIALIZED (
            SELECT r.id AS run_id
            FROM runs_run r JOIN runs_environment e ON e.id = r.environment_id
            WHERE {runs.text} AND (
                SELECT true FROM runs_measurement m
                JOIN chosen_series s ON s.id = m.series_id
                LEFT JOIN runs_negotiated n ON n.id = m.negotiated_id
                WHERE m.run_id = r.id AND {results.text} LIMIT 1
            )
        )
    """  # noqa: S608 - closed lists
    return Relation(sql, (*series.parameters, *runs.parameters, *results.parameters))
