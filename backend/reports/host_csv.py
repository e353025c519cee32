"""The list of hosts as CSV: a row for each, with the reason of its AES verdict and what to do."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from exports.csv_dialect import CsvDialect, Value
from results.hosts.hosts import HostSummary, summaries_of

COLUMNS = {
    "host": "host",
    "name": "name",
    "aes_verdict": "acceleration",
    "reason": "acceleration_evidence",
    "advice": "acceleration_advice",
    "aes_factor": "acceleration_factor",
    "speed_index": "speed_index",
    "speed_index_tool": "speed_index_tool",
    "cpu": "cpu",
    "os": "os",
    "openssl": "openssl",
    "ssh_library": "ssh_library",
    "openssh": "openssh",
    "virtualization": "virtualization",
    "runs": "runs",
    "last_run_id": "last_run_id",
    "last_run_at": "last_run_at",
    "published": "published",
}
"""Column -> attribute of `HostSummary`."""

AT_ONCE = 500
"""Rows that are read at once."""


def host_lines(hosts: Sequence[int], dialect: CsvDialect) -> Iterator[str]:
    """The file in parts: a header, and the hosts with these ids in their order."""
    yield dialect.header(COLUMNS)
    for first in range(0, len(hosts), AT_ONCE):
        rows = summaries_of(hosts[first : first + AT_ONCE])
        yield "".join(dialect.line(_row(one)) for one in rows)


def _row(host: HostSummary) -> Iterator[Value]:
    return (_plain(getattr(host, attribute)) for attribute in COLUMNS.values())


def _plain(value: object) -> Value:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value if value is None or isinstance(value, str | int | float) else str(value)
