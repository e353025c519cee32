"""ClickHouse, embedded in the process of the tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from results.analytics.clickhouse import server


@pytest.fixture
def clickhouse(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A site that keeps its copy in ClickHouse."""
    settings.CIPHERMARK_ANALYTICS_URL = f"chdb://{tmp_path}"
    monkeypatch.setattr(server, "_server", server.Server())
    yield
    for client in server.server().free:
        client.close()
