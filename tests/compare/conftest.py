import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from compare import clickhouse as site


@pytest.fixture
def clickhouse(
    clickhouse_folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    settings.CIPHERMARK_ANALYTICS_URL = f"chdb://{clickhouse_folder}"
    monkeypatch.setattr(site, "_own", threading.local())
    with site.client() as connected:
        for (name,) in connected.query("SHOW TABLES").result_rows:
            connected.command(f"DROP TABLE {name}")
        yield
        connected.close()
