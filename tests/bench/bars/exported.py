"""What both export bars share: the rows they ask for, a watched download, the plain SELECT."""

import http.client
import threading
import time
from dataclasses import dataclass
from urllib.parse import urlencode

import psutil

from launch import preconditions
from tests.bench.serving import reader

READ_BYTES = 64 * 1024
NOT_BUILT = "not built yet: its address answers 404"
WATCH_SECONDS = 0.01

COLUMNS = {
    "run_id": "r.run_id",
    "host": "h.name",
    "cpu": "cpu.label",
    "os_version": "os.label",
    "openssl": "openssl.label",
    "started_at": "r.started_at",
    "tool": "s.tool",
    "cipher": "s.cipher",
    "block_size_bytes": "s.block_size",
    "n": "m.n",
    "throughput_bytes_per_second": "m.median",
    "minimum_bytes_per_second": "m.minimum",
    "maximum_bytes_per_second": "m.maximum",
    "normalised_bytes_per_second": "m.median / i.index",
    "cpu_seconds_per_gb": "m.cpu_seconds_per_gb",
}
"""The 15 columns, and the plain SQL of each."""

SELECT = f"""
SELECT {", ".join(COLUMNS.values())}
FROM runs_run r
JOIN runs_measurement m ON m.run_id = r.id
JOIN runs_series s ON s.id = m.series_id
JOIN runs_host h ON h.id = r.host_id
JOIN runs_environment e ON e.id = r.environment_id
JOIN runs_dimensionvalue cpu ON cpu.id = e.cpu_id
JOIN runs_dimensionvalue os ON os.id = e.os_version_id
JOIN runs_dimensionvalue openssl ON openssl.id = e.openssl_id
LEFT JOIN runs_runspeedindex i ON i.run_id = r.id AND i.tool = s.tool
    AND i.profile_id = (SELECT id FROM runs_referenceprofile WHERE active)
WHERE r.status = 'ready' AND NOT r.hidden
"""  # noqa: S608 - constants


@dataclass(frozen=True)
class Download:
    """A file as it came: its bytes, seconds to the first and to the last of them.

    `grown_mb`: what the server's process had more at its largest than before (10^6 bytes).
    """

    body: bytes
    first_seconds: float
    seconds: float
    grown_mb: float


def address(kind: str, filters: dict[str, str]) -> str:
    """The export of the 15 columns of what the filters select."""
    asked = {**filters, "columns": ",".join(COLUMNS)}
    return f"/api/v1/exports/measurements.{kind}?{urlencode(asked)}"


def is_built(kind: str) -> bool:
    """Whether this kind of export is there; the first call also has the server load its parts."""
    status, said = reader().answer(address(kind, {"host": "nobody"}))
    if status == http.client.NOT_FOUND:
        return False
    if status != http.client.OK:
        raise AssertionError(f"the {kind} export answers {status}: {said[:300]!r}")
    return True


def download(path: str) -> Download:
    """Fetch a file over a connection of its own, with the server's only worker watched."""
    web = reader()
    client = http.client.HTTPConnection(preconditions.HOST, web.port, timeout=600)
    with _Watch(web.workers()[0]) as watch:
        begun = time.perf_counter()
        client.request("GET", path)
        answer = client.getresponse()
        body = bytearray(answer.read1(READ_BYTES))
        first = time.perf_counter() - begun
        while chunk := answer.read1(READ_BYTES):
            body += chunk
        seconds = time.perf_counter() - begun
    client.close()
    if answer.status != http.client.OK:
        raise AssertionError(f"{path} answers {answer.status}")
    return Download(bytes(body), first, seconds, watch.grown_mb)


class _Watch:
    """How much a process grows while this is open."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._before = self._most = process.memory_info().rss
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._done.wait(WATCH_SECONDS):
            self._most = max(self._most, self._process.memory_info().rss)

    def __enter__(self) -> "_Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def grown_mb(self) -> float:
        """10^6 bytes."""
        return (self._most - self._before) / 1e6
