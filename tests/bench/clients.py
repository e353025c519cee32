"""What the clients of the upload bar do, each in a process of its own: no Django here."""

import gzip
import http.client
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import uuid4

import psycopg

Item = TypeVar("Item")

PLACE = b"@run_id@"
INSERT = "INSERT INTO bench_floor_document (run_id, body, content_digest) VALUES (%s, %s, %s)"


@dataclass(frozen=True)
class Job:
    """One client's part of a round: so many documents, from one moment on.

    `body` is a run document with `PLACE` for its run_id; `begin` is a time of
    `time.perf_counter`, which is the same in all processes.
    """

    body: bytes
    documents: int
    begin: float
    port: int = 0
    token: str = ""
    dsn: str = ""

    def bodies(self) -> list[bytes]:
        """The documents, each a run of its own."""
        return [self.body.replace(PLACE, str(uuid4()).encode()) for _ in range(self.documents)]


def upload(job: Job) -> float:
    """Upload by HTTP as the agent does, gzip and token; returns when the last was accepted."""
    packed = [gzip.compress(body, 6) for body in job.bodies()]
    headers = {
        "Authorization": f"Bearer {job.token}",
        "Content-Type": "application/json",
        "Content-Encoding": "gzip",
    }
    client = http.client.HTTPConnection("127.0.0.1", job.port, timeout=120)

    def send(body: bytes) -> None:
        client.request("POST", "/api/v1/runs/", body, headers)
        answer = client.getresponse()
        said = answer.read()
        if answer.status != http.client.ACCEPTED:
            raise AssertionError(f"an upload was answered {answer.status}: {said[:300]!r}")

    return _from(job.begin, send, packed)


def insert(job: Job) -> float:
    """Insert the same bytes by psycopg, one transaction each; returns when the last was in."""
    with psycopg.connect(job.dsn) as raw:
        numbered = [(body, uuid4().int % 2**62) for body in job.bodies()]

        def send(one: tuple[bytes, int]) -> None:
            raw.execute(INSERT, [one[1], one[0], "0" * 64])
            raw.commit()

        return _from(job.begin, send, numbered)


def _from(begin: float, send: Callable[[Item], None], items: list[Item]) -> float:
    time.sleep(max(0.0, begin - time.perf_counter()))
    for item in items:
        send(item)
    return time.perf_counter()
