"""COPY of rows for a model, and raw connections to the database that Django is connected to."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import psycopg
from django.core.management.color import no_style
from django.db import connection
from django.db.models import Max, Model
from psycopg import sql

Item = TypeVar("Item")
Row = Mapping[str, Any]


def dsn() -> str:
    """Where the database is, in libpq's words, with the program's own settings of a session."""
    parameters = connection.get_connection_params()
    wanted = ("dbname", "user", "password", "host", "port", "options")
    found = {name: str(parameters[name]) for name in wanted if parameters.get(name)}
    return psycopg.conninfo.make_conninfo("", **found)


def columns_of(model: type[Model]) -> list[str]:
    """The columns of a model's table, none of which is renamed here."""
    return [field.attname for field in model._meta.concrete_fields]


def copy_in(
    dsn: str, model: type[Model], items: Iterable[Item], row: Callable[[Item], Row]
) -> None:
    """Write a row for each item; a column that `row` does not name gets its model's default."""
    defaults: dict[str, Any] = {
        field.attname: field.get_default() for field in model._meta.concrete_fields
    }
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(model._meta.db_table),
        sql.SQL(",").join(map(sql.Identifier, defaults)),
    )
    with psycopg.connect(dsn) as raw, raw.cursor().copy(statement) as copy:
        for item in items:
            values = {**defaults, **row(item)}
            copy.write_row([_stored(values[column]) for column in defaults])


def _stored(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (dict, list)) else value


def last_id(model: type[Model]) -> int:
    """The highest key in a table, 0 when it is empty."""
    return model._default_manager.aggregate(last=Max("pk"))["last"] or 0


def count_on(*models: type[Model]) -> None:
    """Have the tables' sequences go on after the rows that came by COPY."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
