"""What the site wants of PostgreSQL is kept by the server, so that connections need not ask."""

from collections.abc import Iterator

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from psycopg import sql

from store.server_settings import keep_settings

KEPT = {"jit": "off", "work_mem": "32MB", "random_page_cost": "1.1"}


@pytest.fixture
def address(transactional_db: None) -> str:
    """Of the tests' own database."""
    name = connection.settings_dict["NAME"]
    return str(settings.DATABASE_URL).replace("/ciphermark", f"/{name}", 1)


@pytest.fixture
def administrator(address: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(address, autocommit=True) as opened:
        database = sql.Identifier(opened.info.dbname)
        yield opened
        change = sql.SQL("ALTER ROLE CURRENT_USER IN DATABASE {} RESET ALL").format(database)
        opened.execute(change)
        opened.execute(sql.SQL("ALTER DATABASE {} RESET ALL").format(database))
    call_command("migrate", verbosity=0)


def settings_of(address: str) -> dict[str, str]:
    select = "SELECT name, current_setting(name) FROM unnest(%s::text[]) AS name"
    with psycopg.connect(address) as opened:
        return dict(opened.execute(select, [list(KEPT)]).fetchall())


def test_a_new_connection_has_them_without_asking(address: str) -> None:
    assert settings_of(address) == KEPT
    assert "options" not in connection.get_connection_params()


def test_what_an_administrator_has_set_stays(
    administrator: psycopg.Connection, address: str
) -> None:
    database = sql.Identifier(administrator.info.dbname)
    for change in (
        "ALTER DATABASE {} RESET ALL",
        "ALTER ROLE CURRENT_USER IN DATABASE {} SET work_mem TO '64MB'",
        "ALTER DATABASE {} SET random_page_cost TO 4",
    ):
        administrator.execute(sql.SQL(change).format(database))
    call_command("migrate", verbosity=0)
    assert settings_of(address) == {**KEPT, "work_mem": "64MB", "random_page_cost": "4"}


def test_a_role_that_may_not_set_them_is_warned_and_migrates(
    administrator: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    database = sql.Identifier(administrator.info.dbname)
    administrator.execute(sql.SQL("ALTER DATABASE {} RESET ALL").format(database))
    administrator.execute("CREATE ROLE visitor")
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE visitor")
        try:
            keep_settings(using="default")
        finally:
            cursor.execute("RESET ROLE")
            administrator.execute("DROP ROLE visitor")
    assert "keeps no settings" in caplog.text
