"""From JSON to the typed form: defaults, units, contradictions."""

from datetime import UTC, datetime
from typing import Any

import pytest

from documents.run_document import DocumentRejected, parse_run_document
from documents.types import RunDocument
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

RECEIVED_AT = datetime(2025, 11, 21, 8, 0, tzinfo=UTC)


def parsed(document: dict[str, Any]) -> RunDocument:
    return parse_run_document(document, received_at=RECEIVED_AT)


def test_defaults_are_the_contracts() -> None:
    bare = {"tool": "ssh", "cipher": "aes128-ctr", "samples": [{"bytes": 10, "seconds": 2}]}
    (measurement,) = parsed(run_document(bare)).measurements
    series = measurement.series
    assert (series.method, series.target_kind, series.acceleration) == (
        "pipeline",
        "loopback",
        "default",
    )
    assert (series.operation, series.threads, series.compression) == ("encrypt", 1, False)
    assert measurement.samples[0].throughput == 5


def test_times_become_utc() -> None:
    document = parsed(
        run_document(started_at="2025-11-21T07:00:00+02:00", finished_at="2025-11-21T05:30:00Z")
    )
    assert document.started_at == datetime(2025, 11, 21, 5, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("document", "reason"),
    (
        (
            run_document(started_at="2025-11-21T07:00:00Z", finished_at="2025-11-21T06:59:59Z"),
            "finished_at is before started_at",
        ),
        (
            run_document(ssh_measurement("aes128-ctr", 2e8), ssh_measurement("aes128-ctr", 3e8)),
            r"measurements.1 repeats the series of measurements.0 \(ssh aes128-ctr\)",
        ),
        (
            run_document(ssh_measurement("aes128-ctr", 2e8, negotiated={"cipher": "aes256-ctr"})),
            "measurements.0 asked for aes128-ctr but the connection negotiated aes256-ctr",
        ),
        (run_document(started_at="2026-02-30T00:00:00Z"), "started_at is .* no date and time"),
        (
            run_document(started_at="2099-01-01T00:00:00Z", finished_at="2099-01-01T00:00:00Z"),
            r"started_at \(2099-01-01 00:00 UTC\) is in the future",
        ),
        (run_document(host={"name": "\x1c"}), "host.name is blank"),
    ),
)
def test_a_document_that_contradicts_itself_is_rejected_in_words(
    document: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DocumentRejected, match=reason):
        parsed(document)


def test_a_clock_that_is_a_little_ahead_is_forgiven() -> None:
    document = run_document(started_at="2025-11-22T07:00:00Z", finished_at="2025-11-22T07:01:00Z")
    assert parsed(document).started_at == datetime(2025, 11, 22, 7, 0, tzinfo=UTC)


def test_series_that_differ_in_one_dimension_are_two() -> None:
    document = run_document(
        ssh_measurement("aes128-ctr", 2e8),
        ssh_measurement("aes128-ctr", 2e8, method="steady"),
        ssh_measurement("aes128-ctr", 2e8, mac="hmac-sha2-256"),
        openssl_measurement("aes-128-ctr", 2e9),
        openssl_measurement("aes-128-ctr", 2e9, block_size=8192),
        openssl_measurement("aes-128-ctr", 2e9, acceleration="masked"),
    )
    assert len(parsed(document).measurements) == 6
