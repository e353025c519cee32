from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from cipherspeed.run_document import DocumentRejected, parse_run_document
from cipherspeed.summary import throughput
from cipherspeed.types import (
    HostIdentity,
    Measurement,
    Negotiated,
    RunDocument,
    Sample,
    Series,
)
from tests.cases import each
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement


def parsed(document: dict[str, Any]) -> RunDocument:
    return parse_run_document(document)


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
    assert throughput(measurement.samples[0]) == 5


def test_a_rate_with_a_time_and_no_bytes_is_the_throughput() -> None:
    samples = [{"bytes_per_second": 7, "seconds": 2}, {"bytes_per_second": 8}]
    plain = {"tool": "ssh", "cipher": "aes128-ctr", "samples": samples}
    (measurement,) = parsed(run_document(plain)).measurements
    assert list(map(throughput, measurement.samples)) == [7, 8]


def test_every_member_has_its_place() -> None:
    sample = {"client_cpu_seconds": 1.5, "server_cpu_seconds": 0.5, "implausible": "Too fast."}
    ssh = {
        "tool": "ssh",
        "cipher": "aes128-ctr",
        "mac": "hmac-md5",
        "compression": True,
        "method": "steady",
        "pinned": True,
        "acceleration": "masked",
        "target": {"kind": "remote", "name": "nas"},
        "negotiated": {"cipher": "AES128-CTR", "mac": "hmac-md5", "kex": "sntrup"},
        "samples": [{"bytes": 10, "seconds": 2, **sample}, {"bytes_per_second": 7}],
    }
    openssl = openssl_measurement(
        "rc4", 1e9, operation="decrypt", block_size=64.0, threads=2.0, acceleration="masked"
    )
    skipped = [{"tool": "ssh", "cipher": "arcfour", "reason": "not offered"}]
    host = {"name": " pi ", "machine_id": "a" * 64}
    raw = run_document(ssh, openssl, host=host, skipped=skipped)
    assert parsed(raw) == RunDocument(
        run_id=UUID(raw["run_id"]),
        agent_name="ciphermark-agent",
        agent_version="1.0.0",
        started_at=datetime(2025, 11, 21, 6, 48, 10, tzinfo=UTC),
        finished_at=datetime(2025, 11, 21, 6, 52, 31, tzinfo=UTC),
        host=HostIdentity("pi", "a" * 64),
        tags=raw["tags"],
        environment=raw["environment"],
        conditions=tuple(raw["conditions"]),
        measurements=(
            Measurement(
                Series(
                    *("ssh", "aes128-ctr", "encrypt", None, 1, "hmac-md5", True),
                    *("steady", True, "remote", "nas", "masked"),
                ),
                (Sample(10, 2, None, 1.5, 0.5, "Too fast."), Sample(None, None, 7)),
                Negotiated("AES128-CTR", "hmac-md5", "sntrup"),
            ),
            Measurement(
                Series("openssl", "rc4", "decrypt", 64, 2, acceleration="masked"),
                (Sample(3 * 10**9, 3),),
            ),
        ),
        skipped=tuple(skipped),
    )


def test_what_an_import_leaves_out_is_empty() -> None:
    raw = run_document(agent={"name": None}, host={"name": "pi"}, times_of="import")
    for member in ("tags", "conditions", "skipped"):
        del raw[member]
    document = parsed(raw)
    assert (document.agent_name, document.agent_version) == ("", "")
    assert (document.started_at, document.finished_at) == (None, None)
    assert (document.tags, document.conditions, document.skipped) == ({}, (), ())
    assert document.host == HostIdentity("pi")


def test_times_become_utc() -> None:
    document = parsed(
        run_document(started_at="2025-11-21T07:00:00+02:00", finished_at="2025-11-21T05:30:00Z")
    )
    assert document.started_at == datetime(2025, 11, 21, 5, 0, tzinfo=UTC)


@each(
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
            "measurements.0 requested aes128-ctr, but the connection negotiated aes256-ctr",
        ),
        (run_document(started_at="2026-02-30T00:00:00Z"), "started_at must be a date and time"),
        (run_document(finished_at="9999-12-31T23:59:59-01:00"), "finished_at must be a date"),
        (run_document(host={"name": "\x1c"}), "host.name is blank"),
    ),
)
def test_a_document_that_contradicts_itself_is_rejected_in_words(
    document: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DocumentRejected, match=reason):
        parsed(document)


def test_series_that_differ_in_one_dimension_are_two() -> None:
    document = run_document(
        ssh_measurement("aes128-ctr", 2e8),
        ssh_measurement("aes128-ctr", 2e8, method="steady"),
        ssh_measurement("aes128-ctr", 2e8, mac="hmac-sha2-256"),
        openssl_measurement("aes-128-ctr", 2e9),
        openssl_measurement("aes-128-ctr", 2e9, block_size=16384),
        openssl_measurement("aes-128-ctr", 2e9, acceleration="masked"),
    )
    assert len(parsed(document).measurements) == 6
