"""ClickHouse, embedded in the process of the tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from results.analytics.clickhouse import server


@pytest.fixture
def clickhouse(
    clickhouse_folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A site that asks an empty ClickHouse."""
    settings.CIPHERMARK_ANALYTICS_URL = f"chdb://{clickhouse_folder}"
    monkeypatch.setattr(server, "_server", server.Server())
    with server.server().client() as client:
        for (name,) in client.query("SHOW TABLES").result_rows:
            client.command(f"TRUNCATE TABLE {name}")
    yield
    for client in server.server().free:
        client.close()
