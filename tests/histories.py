from datetime import UTC, datetime, timedelta
from typing import Any

from tests.sample_documents import environment, run_document

FIRST_DAY = datetime(2025, 3, 1, 6, 0, tzinfo=UTC)


def with_openssl(version: str) -> dict[str, Any]:
    return {**environment(), "openssl": {"version_text": version}}


def run_of_day(day: int, *measurements: dict[str, Any], **changes: Any) -> dict[str, Any]:
    started = FIRST_DAY + timedelta(days=day)
    return run_document(
        *measurements,
        started_at=started.isoformat(),
        finished_at=(started + timedelta(minutes=4)).isoformat(),
        **{"conditions": [], **changes},
    )
