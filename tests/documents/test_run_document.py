"""From JSON to the typed form: defaults, units, contradictions."""

from datetime import UTC, datetime
from typing import Any

import pytest

from documents.run_document import DocumentRejected, parse_run_document
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement


def test_defaults_are_the_contracts() -> None:
    bare = {"tool": "ssh", "cipher": "aes128-ctr", "samples": [{"bytes": 10, "seconds": 2}]}
    (measurement,) = parse_run_document(run_document(bare)).measurements
    series = measurement.series
    assert (series.method, series.target_kind, series.acceleration) == (
        "pipeline",
        "loopback",
        "default",
    )
    assert (series.operation, series.threads, series.compression) == ("encrypt", 1, False)
    assert measurement.samples[0].throughput == 5


def test_times_become_utc() -> None:
    document = parse_run_document(
        run_document(started_at="2026-11-21T07:00:00+02:00", finished_at="2026-11-21T05:30:00Z")
    )
    assert document.started_at == datetime(2026, 11, 21, 5, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("document", "reason"),
    (
        (
            run_document(started_at="2026-11-21T07:00:00Z", finished_at="2026-11-21T06:59:59Z"),
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
        (run_document(started_at="2026-11-21T23:59:60Z"), "started_at is .* no date and time"),
    ),
)
def test_a_document_that_contradicts_itself_is_rejected_in_words(
    document: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DocumentRejected, match=reason):
        parse_run_document(document)


def test_series_that_differ_in_one_dimension_are_two() -> None:
    document = run_document(
        ssh_measurement("aes128-ctr", 2e8),
        ssh_measurement("aes128-ctr", 2e8, method="steady"),
        ssh_measurement("aes128-ctr", 2e8, mac="hmac-sha2-256"),
        openssl_measurement("aes-128-ctr", 2e9),
        openssl_measurement("aes-128-ctr", 2e9, block_size=8192),
        openssl_measurement("aes-128-ctr", 2e9, acceleration="masked"),
    )
    assert len(parse_run_document(document).measurements) == 6
