"""What is done for ClickHouse beside questions: it is kept up to date, tidied, checked."""

from results.analytics.clickhouse.following import (
    build,
    follow,
    tidy,
    written,
)
from results.analytics.clickhouse.server import server

PATIENCE_SECONDS = 60.0


def bring() -> None:
    """Bring what was committed. Reading everything, the first time, is left to `keep_up`."""
    with server().client() as client:
        follow(client, patience=0)


def keep_up() -> None:
    """Bring what was committed, at first everything; remove what no question sees any more."""
    with server().client() as client:
        if written(client) is None or not follow(client, PATIENCE_SECONDS):
            build(client, PATIENCE_SECONDS)
        tidy(client, PATIENCE_SECONDS)


def read_anew() -> None:
    """Have all tables read from PostgreSQL again; questions go on with those before meanwhile."""
    with server().client() as client:
        build(client, PATIENCE_SECONDS)
