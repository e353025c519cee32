"""Measure the speed of the application (`make bench`).

Compare each time with the time of the same work without the application (the floor).
"""

# ruff: noqa: E402 - Django is set up first

import gzip
import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode
from uuid import uuid4

PROJECT = Path(__file__).parent.parent.parent
os.environ.setdefault("CIPHERMARK_DATA_DIR", str(PROJECT / ".data" / "bench"))
os.environ["CIPHERMARK_LOG_LEVEL"] = "error"
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

import psutil
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.db.models import Count
from django.test import Client

from accounts.tokens import create_token
from compare import engine
from compare.engine import Session
from runs.acceptance import create_run
from runs.models import Host, Run
from runs.processing import derive_run
from tests.bench import fleet
from tests.live_site import environment_of, web_server

COMPARISON = "/api/v1/comparison/"
ROUNDS = 5
Act = Callable[[], object]


@dataclass(frozen=True)
class Figure:
    """Store a row of the table.

    `floor`: value for the same work without the application. `bar`: limit of the value, as text.
    """

    name: str
    unit: str
    value: float
    floor: float | None
    bar: str
    ok: bool

    @property
    def ratio(self) -> float | None:
        return self.value / self.floor if self.floor else None


def seconds_of(act: Act) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def in_turn(act: Act, floor: Act, rounds: int = ROUNDS) -> tuple[float, float]:
    """Call both functions alternately. Return the median seconds, without the first calls."""
    pairs = [(seconds_of(act), seconds_of(floor)) for _ in range(1 + rounds)][1:]
    return median(value for value, _ in pairs), median(floor for _, floor in pairs)


def get(path: str, client: Client | None = None) -> Callable[[], None]:
    asking = client or Client()

    def ask() -> None:
        cache.clear()
        answer = asking.get(path)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.content[:300]!r}"

    return ask


def questions() -> dict[str, list[str]]:
    environments = Run.objects.filter(status="ready", source="agent", hidden=False)
    cpu, host = environments.values_list("environment__cpu__key", "host__slug")[0]
    of_two = "openssl_series=3.0&openssl_series=3.1&relative_to=3.0"
    groups = "cpu os_version openssl openssl_series virtualization tag:site"
    kinds = {
        "metric": ["normalised", "vs_3des", "cpu_seconds_per_gb"],
        "group_by": groups.split(),
        "relative_to": [f"{cpu}&group_by=cpu", f"host:{host}&group_by=os"],
        "split_by": ["virtualization&group_by=cpu"],
        "matched": [f"1&group_by=openssl_series&{of_two}"],
    }
    kinds |= {"cpu": [cpu], "cpu_vendor": ["amd"], "os": ["debian-gnu-linux"]}
    kinds |= {"openssl_series": ["3.0"], "host": [host], "virtualization": ["kvm"]}
    kinds |= {"tag": ["site:s3"], "source": ["import"]}
    kinds |= {"since": ["2025-06-01"], "until": ["2025-06-01"]}
    return {
        f"{tool}, {name}": [f"{COMPARISON}?tool={tool}&{name}={value}" for value in values]
        for tool in ("ssh", "openssl")
        for name, values in kinds.items()
    }


def comparisons(_size: str) -> Iterator[Figure]:
    # The floor executes the same statements in the engine alone.
    copy, execute = engine.ENGINE.prepare().result(), Session.__call__
    bare, asked = copy.duck.cursor(), list[tuple[str, Any]]()

    def note(session: Session, statement: str, parameters: Any) -> Any:
        asked.append((statement, dict(parameters)))
        return execute(session, statement, parameters)

    def ask_bare() -> None:
        bare.begin()
        for statement, parameters in asked:
            bare.execute(statement, parameters).fetchall()
        bare.rollback()  # temporary tables of each comparison
        asked.clear()

    for kind, paths in questions().items():
        most = 150 if kind.endswith(("split_by", "matched")) else 100
        with patch.object(Session, "__call__", note):
            pairs = [in_turn(get(path), ask_bare) for path in paths]
        value, floor = max(pairs, key=lambda pair: pair[0] / pair[1])
        ok = value <= min(1.5 * floor + 0.01, most / 1000)
        name, bar = f"comparison: {kind}", f"1.5 x + 10, {most} ms"
        yield Figure(name, "ms", value * 1000, floor * 1000, bar, ok)


def growing_seconds() -> float:
    # This query reads most of the results.
    ask = get(f"{COMPARISON}?tool=openssl&since=2024-03-01")
    return median([seconds_of(ask) for _ in range(1 + ROUNDS)][1:])


def growth(size: str) -> Iterator[Figure]:
    # Compared with the smallest fleet, the time must grow at most linearly.
    if size in ("tiny", "0.5m"):
        return
    command, variables = (sys.executable, "-m", "tests.bench", "grow"), {"BENCH_SIZE": "0.5m"}
    said = subprocess.check_output(command, env={**os.environ, **variables}, text=True)
    smaller, value = float(said.split()[-1]), growing_seconds()
    times = fleet.SIZES[size][1] / fleet.SIZES["0.5m"][1]
    bar, ok = f"{times:.1f} x", value <= times * smaller
    yield Figure("comparison: growth from 0.5m", "ms", value * 1000, smaller * 1000, bar, ok)


def pages(_size: str) -> Iterator[Figure]:
    client = Client()
    client.force_login(User.objects.get_or_create(username="bench", is_superuser=True)[0])
    busiest = Host.objects.annotate(of_it=Count("runs")).order_by("-of_it")[0]
    run, other = Run.objects.filter(host=busiest, hidden=False).order_by("-started_at")[:2]
    paths = {name: f"/{name}/" for name in ("hosts", "runs", "changes", "upload", "tokens")}
    paths |= {name: f"/{name}/" for name in ("method", "docs")}
    paths |= {"compare": "/", "compare by OS": "/?tool=openssl&group_by=os_version"}
    paths |= {"host": f"/hosts/{busiest.pk}/", "recommend": f"/recommend/?host={busiest.slug}"}
    paths |= {"run": f"/runs/{run.run_id}/"}
    paths |= {"difference": f"/runs/{run.run_id}/diff/{other.run_id}/"}
    for name, path in paths.items():
        most = 250 if name.startswith("compare") else 500
        value, floor = in_turn(get(path, client), get("/accounts/login/"))
        yield Figure(
            f"page: {name}", "ms", value * 1000, floor * 1000, f"{most} ms", value < most / 1e3
        )


def following(_size: str) -> Iterator[Figure]:
    """Measure how many milliseconds new runs add to the next query."""
    ask, row = get(f"{COMPARISON}?tool=ssh"), Run.objects.filter(host_name="kind-7").values().get()
    for count, most in ((1, 50), (1000, 1000)):
        ask()
        with fleet.nothing_stays():
            first = 1 + Run.objects.latest("pk").pk
            keys = range(first, first + count)
            fleet.copy_rows(Run, ({**row, "id": key, "run_id": uuid4()} for key in keys))
            fleet.copy_measurements([(key, row["id"]) for key in keys])
            longer, *others = [seconds_of(ask) for _ in range(4)]
        value = max(0, longer - median(others)) * 1000
        yield Figure(f"adding runs: {count:,}", "ms", value, None, f"{most} ms", value <= most)


def documents(count: int) -> list[bytes]:
    one = fleet.document_of_kind(7, fleet.CPUS[7])
    host = {"name": "bench", "machine_id": None}
    return [
        json.dumps({**one, "run_id": str(uuid4()), "host": host}).encode() for _ in range(count)
    ]


def processing(_size: str) -> Iterator[Figure]:
    # The floor only writes the measurements of the runs.
    waiting = list[list[int]]()
    copy = """
        INSERT INTO bench_runs_measurement SELECT m.* FROM runs_measurement m JOIN runs_run r
        ON r.id = m.run_id WHERE r.host_name = 'kind-7'
    """

    def process() -> None:
        for key in waiting.pop():
            derive_run(key)

    def write() -> None:
        for _ in range(20):
            database.execute(copy)

    with fleet.nothing_stays(), fleet.connect(autocommit=True) as database:
        for _ in range(1 + ROUNDS):
            stored = [
                create_run(document, json.loads(document), source="agent")
                for document in documents(20)
            ]
            waiting.append([run.run.pk for run in stored])
        value, floor = (20 / seconds for seconds in in_turn(process, write))
    yield Figure("processing, one worker", "runs/s", value, floor, ">= 30/s", value >= 30)


def over_http(_size: str) -> Iterator[Figure]:
    name = connection.settings_dict["NAME"]
    own = {"REDIS_URL": settings.REDIS_URL, "CIPHERMARK_TOKEN_RATE": "0"}
    variables = {**environment_of(name, settings.DATA_DIR), **own}
    begun, statuses = time.monotonic(), set()
    with web_server("bench-web", variables) as url:
        port = int(url.rpartition(":")[2])
        while (status := fetch(port, f"{COMPARISON}?tool=ssh")[0]) != 200:
            statuses.add(status)
            time.sleep(0.05)
        seconds = time.monotonic() - begun
        ok = seconds <= 20 and statuses <= {503}
        yield Figure("web server: first comparison", "s", seconds, None, "20 s", ok)
        yield from uploads(port)
        yield from files(port)


def fetch(
    port: int, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    client.request("POST" if body else "GET", path, body, headers or {})
    answer = client.getresponse()
    said = answer.read()
    client.close()
    return answer.status, said


def uploads(port: int) -> Iterator[Figure]:
    # The floor inserts the same bytes over four connections.
    insert = "INSERT INTO bench_runs_rundocument (run_id, body, content_digest) VALUES (%s, %s, '')"
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    headers |= {"Authorization": f"Bearer {create_token(f'bench {uuid4()}', 'upload')}"}

    def upload(body: bytes) -> None:
        status, said = fetch(port, "/api/v1/runs/", gzip.compress(body), headers)
        assert status == 202, said

    def store(bodies: list[bytes]) -> None:
        with fleet.connect(autocommit=True) as database:
            for body in bodies:
                database.execute(insert, [uuid4().int % 2**62, body])

    with fleet.nothing_stays(), ThreadPoolExecutor(4) as clients:
        value, floor = in_turn(
            lambda: list(clients.map(upload, documents(60))),
            lambda: list(clients.map(store, [documents(15) for _ in range(4)])),
        )
    value, floor = 60 / value, 60 / floor
    yield Figure("upload, 4 clients", "runs/s", value, floor, ">= 60/s", value >= 60)


def files(port: int) -> Iterator[Figure]:
    # The floor copies the rows with COPY.
    agents = Run.objects.filter(source="agent", hidden=False, started_at__isnull=False)
    *_, since = agents.order_by("-started_at").values_list("started_at", flat=True)[:400]
    assert since is not None
    latest = f"r.source = 'agent' AND r.started_at >= '{since}'"
    kinds = {"csv": ({"tag": "rack:r03"}, "r.tags ->> 'rack' = 'r03'", 60_000)}
    kinds["xlsx"] = ({"source": "agent", "since": since.isoformat()}, latest, 8_000)
    web = next(child for child in psutil.Process().children() if "gunicorn" in child.cmdline())
    for kind, (query, chosen, least) in kinds.items():
        path = f"/api/v1/exports/measurements.{kind}?{urlencode(query)}"
        of_runs = f"FROM runs_measurement m JOIN runs_run r ON r.id = m.run_id WHERE {chosen}"
        with fleet.connect() as database:
            (rows,) = database.execute(f"SELECT count(*) {of_runs}".encode()).fetchone() or (0,)

            def copy(of_runs: str = of_runs, database: Any = database) -> None:
                statement = f"COPY (SELECT m.* {of_runs}) TO STDOUT (FORMAT csv)".encode()
                with database.cursor().copy(statement) as copied:
                    for _ in copied:
                        pass

            fetch(port, path)
            before = web.children()[0].memory_info().rss
            value, floor = in_turn(lambda path=path: fetch(port, path), copy, 3)  # type: ignore[misc]
            grown = (web.children()[0].memory_info().rss - before) / 1e6
        name, value = f"{kind} of {rows:,} measurements", rows / value
        yield Figure(name, "rows/s", value, rows / floor, f">= {least:,}/s", value >= least)
        yield Figure(f"{kind}: server memory growth", "MB", grown, None, "30 MB", grown <= 30)


def show(figures: Sequence[Figure]) -> None:
    names = ("name", "value", "floor", "ratio", "bar", "ok")
    results = [{name: getattr(figure, name) for name in names} for figure in figures]
    (PROJECT / ".data" / "bench.json").write_text(json.dumps(results, indent=1))
    rows = [("", "value", "floor", "", "ratio", "bar", "")]
    for figure in figures:
        floor, ratio = (
            f"{number:.4g}" if number else "" for number in (figure.floor, figure.ratio)
        )
        ok = "yes" if figure.ok else "NO"
        rows.append((figure.name, f"{figure.value:.4g}", floor, figure.unit, ratio, figure.bar, ok))
    for row in rows:
        print("{:<40}{:>9}{:>10} {:<7}{:>7}  {:<20}{}".format(*row))


def main(words: Sequence[str]) -> int:
    size = os.environ.get("BENCH_SIZE", "4.8m")
    if size not in fleet.SIZES:
        sys.exit(f"BENCH_SIZE must be one of {', '.join(fleet.SIZES)}, not {size}.")
    settings.CIPHERMARK_PUBLIC, begun = True, time.monotonic()
    fleet.use_fleet(size)
    engine.PATIENCE_SECONDS = 600
    with engine.analytics():  # build the copy before measuring
        pass
    if words:
        print(growing_seconds())
        return 0
    figures: list[Figure] = []
    for measure in (comparisons, growth, pages, following, processing, over_http):
        for figure in measure(size):
            print(f"{figure.name}: {figure.value:.4g} {figure.unit}", flush=True)
            figures.append(figure)
    show(figures)
    missed = sum(not figure.ok for figure in figures)
    print(f"{missed} of {len(figures)} limits exceeded, {time.monotonic() - begun:.0f} s ({size})")
    return 1 if missed and size != "tiny" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
