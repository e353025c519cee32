"""1: runs accepted from 4 clients, against raw inserts of the same documents by 4 clients."""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace

import psycopg
from django.core.cache import cache
from django.db import connection

from access.tokens import create_token
from store.models import ApiToken, Run
from tests.bench.clients import PLACE, Job, insert, upload
from tests.bench.figures import Figure, Pair, at_least
from tests.bench.fleet.copying import dsn, last_id
from tests.bench.fleet.documents import assembled, without_measurements
from tests.bench.fleet.plan import Plan
from tests.bench.fleet.size import SIZES, Size
from tests.bench.serving import Server, server
from tests.bench.timing import chosen

CLIENTS = 4
ROUNDS = 3
SHARE = 0.1
TOKEN = "bench"
CLIENT_START_SECONDS = 0.5
"""Time for the clients to get their documents ready."""


def figures(size: Size) -> list[Figure]:
    """Runs a second; the worker does not run meanwhile, the word to it is only queued."""
    documents = 5 if size.name == "tiny" else 50
    return [at_least("1 upload, 4 clients", "runs/s", _pair(documents), SHARE)]


def _pair(documents: int) -> Pair:
    with uploading() as uploads:
        uploads.round(upload, 5)
        values, floors = [], []
        for _ in range(min(ROUNDS, chosen.effort.rounds)):
            values.append(uploads.round(upload, documents))
            floors.append(uploads.round(insert, documents))
    return Pair.of(values, floors)


@dataclass(frozen=True)
class Uploads:
    """A server, clients, and what one of these does with one document."""

    web: Server
    pool: ProcessPoolExecutor
    job: Job

    def round(self, act: Callable[[Job], float], documents: int) -> float:
        """Runs a second of all clients together, from the common start to the last one's end."""
        begin = time.perf_counter() + CLIENT_START_SECONDS
        job = replace(self.job, documents=documents, begin=begin)
        ends = list(self.pool.map(act, [job] * CLIENTS))
        return CLIENTS * documents / (max(ends) - begin)


@contextmanager
def uploading() -> Iterator[Uploads]:
    """A server and its clients; nothing that is uploaded stays."""
    first = last_id(Run)
    fresh = multiprocessing.get_context("spawn")
    try:
        with (
            server() as web,
            ProcessPoolExecutor(CLIENTS, mp_context=fresh) as pool,
        ):
            _make_floor_table()
            token = create_token(TOKEN, "upload", expires_days=1)
            job = Job(sample_body(), 1, 0.0, port=web.port, token=token, dsn=dsn())
            yield Uploads(web, pool, job)
    finally:
        _clean(first)


def sample_body() -> bytes:
    """A document of 120 measurements, with a place for its run_id."""
    plan = Plan(SIZES["tiny"])
    run = plan.runs[0]
    document = {**without_measurements(plan, run), "run_id": PLACE.decode()}
    return assembled(document, run.host.kind).body


def _make_floor_table() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_floor_document")
        cursor.execute("CREATE TABLE bench_floor_document (LIKE runs_rundocument INCLUDING ALL)")


def _clean(first: int) -> None:
    """Accepted runs have no rows but their own; the queue is the cache's Redis."""
    cache.clear()
    with psycopg.connect(dsn(), autocommit=True) as raw:
        raw.execute("DROP TABLE IF EXISTS bench_floor_document")
        raw.execute("DELETE FROM runs_rundocument WHERE run_id > %s", [first])
        raw.execute("DELETE FROM runs_run WHERE id > %s AND status = 'accepted'", [first])
        raw.execute("VACUUM ANALYZE runs_run, runs_rundocument")
    ApiToken.objects.filter(name=TOKEN).delete()
