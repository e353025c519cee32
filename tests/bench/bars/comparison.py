"""6, 7, 16: comparisons by the API and the compare page, beside the bare engine."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from urllib.parse import urlencode

from django.core.cache import cache
from django.test import Client

from results.selection import FILTERS, METRICS, TOOLS
from store.models import Run
from store.models.dimension import DIMENSIONS
from tests.bench.figures import Figure, Pair, at_most, below, shown, worst
from tests.bench.fleet import build
from tests.bench.fleet.size import SEED, SIZES, Size
from tests.bench.serving import reader
from tests.bench.statements import BareEngine, asked_of_copy
from tests.bench.telling import say
from tests.bench.timing import chosen, milliseconds, p50_ms

API, PAGE = "/api/v1/comparison/", "/"
API_CALLS, PAGE_CALLS = 7, 3
TIMES, MORE_MS, MOST_MS = 1.5, 5.0, 100.0
MOST_PAGE_MS, MOST_BY_HOST_MS, MOST_GROWN_MS = 250.0, 300.0, 400.0
MOST_RELATING_MS = 150.0
MORE_THAN_PING_MS = 3.0
SAMPLED = 500
"""Runs that values of filters are taken from: what many runs have is asked for more often."""

Parameters = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True)
class Case:
    """Questions of one kind; `ask` draws the next one."""

    kind: str
    name: str
    ask: Callable[[Random], Parameters]


def comparisons(_size: Size) -> list[Figure]:
    """16: the API, cold, beside the bare engine running the statements of the same answer."""
    found = []
    for tool in TOOLS:
        by_kind: dict[str, list[Figure]] = {}
        for case, pair in measured(API, tool, API_CALLS):
            figure = at_most(case.name, "ms", pair, TIMES, MORE_MS, most=MOST_MS)
            by_kind.setdefault(case.kind, []).append(figure)
        found += [worst(f"16 comparison, {tool}, {kind}", of) for kind, of in by_kind.items()]
    return found


def relating(_size: Size) -> list[Figure]:
    """20: split, relative to a group or host, matched, scored; cold, as JSON."""
    ready = Run.objects.filter(status=Run.Status.READY).order_by("pk")
    host, cpu = ready.values_list("host__slug", "environment__cpu__key")[0]
    return [
        below(
            f"20 comparison, {tool}, {case.name}",
            "ms",
            _in_turn(API, tool, case, API_CALLS).value,
            MOST_RELATING_MS,
        )
        for tool in TOOLS
        for case in (
            Case("", "split", _always(group_by="cpu", split_by="virtualization")),
            Case("", "relative, scored", _always(group_by="cpu", relative_to=cpu, score="1")),
            Case("", "relative to a host", _always(group_by="os", relative_to=f"host:{host}")),
            Case("", "matched", _always(group_by="openssl_series", matched="1", **_TWO_SERIES)),
            Case(
                "",
                "matched, split",
                _always(
                    group_by="openssl_series", split_by="os", matched="1", score="1", **_TWO_SERIES
                ),
            ),
        )
    ]


_TWO_SERIES: Parameters = {"openssl_series": ("1.1.1", "3.0"), "relative_to": "1.1.1"}


def pages(_size: Size) -> list[Figure]:
    """The compare page for the same, facets and all; then by host, of which it shows the first."""
    found = []
    for tool in TOOLS:
        of_page = [
            below(case.name, "ms", pair.value, MOST_PAGE_MS)
            for case, pair in measured(PAGE, tool, PAGE_CALLS)
        ]
        found.append(worst(f"compare page, {tool}", of_page))
    for tool in TOOLS:
        case = Case("", "by host", lambda _: {"group_by": "host", "top": "20"})
        pair = _in_turn(PAGE, tool, case, PAGE_CALLS)
        found.append(below(f"compare page, {tool}, by host", "ms", pair.value, MOST_BY_HOST_MS))
    return found


def measured(path: str, tool: str, calls: int) -> Iterator[tuple[Case, Pair]]:
    """Every case of a tool: milliseconds of answers, and of their statements by themselves."""
    for case in cases()[:: chosen.effort.questions]:
        yield case, _in_turn(path, tool, case, calls)


def _in_turn(path: str, tool: str, case: Case, calls: int) -> Pair:
    values, floors, cpu = list[float](), list[float](), list[float]()
    bare, random = BareEngine(), Random(SEED)
    with asked_of_copy() as questions:
        for _ in range(1 + min(calls, chosen.effort.calls)):
            ask = asking(path, {"tool": tool, **case.ask(random)})
            cache.clear()
            questions.clear()
            begun = time.process_time()
            values.append(milliseconds(ask))
            cpu.append((time.process_time() - begun) * 1000)
            floors.append(milliseconds(lambda: bare.fetch(questions)))
    pair = Pair.of(values[1:], floors[1:])  # what is made once is not measured
    times = f"{shown(pair.value)} ms (CPU {shown(median(cpu[1:]))}), floor {shown(pair.floor)} ms"
    say(f"    {path} {tool}, {case.name}: {times}")
    return pair


def asking(path: str, parameters: Parameters) -> Callable[[], None]:
    """A call that asks in this process, through all middleware."""
    client, address = Client(), f"{path}?{urlencode(parameters, doseq=True)}"
    client.handler.load_middleware()  # as a server does at its start

    def ask() -> None:
        answer = client.get(address)
        if answer.status_code != 200:
            raise AssertionError(f"{address} answers {answer.status_code}")

    return ask


def cases() -> list[Case]:
    """Each metric, each dimension to group by, and each filter with values as they come."""
    every = [Case("metric", name, _always(metric=name)) for name in METRICS]
    every += [Case("grouping", name, _always(group_by=name)) for name in GROUPINGS]
    return every + [Case("filter", name, _drawn(values)) for name, values in _filters().items()]


GROUPINGS = (*DIMENSIONS, "acceleration", "tag:site")


def _always(**parameters: str | Sequence[str]) -> Callable[[Random], Parameters]:
    return lambda _: parameters


def _drawn(values: Sequence[Parameters]) -> Callable[[Random], Parameters]:
    return lambda random: random.choice(values)


def _filters() -> dict[str, list[Parameters]]:
    """Filter -> what it may ask for."""
    runs = Run.objects.filter(status=Run.Status.READY, hidden=False, started_at__isnull=False)
    keys = list(runs.order_by("pk").values_list("pk", flat=True))
    keys = Random(SEED).sample(keys, min(SAMPLED, len(keys)))
    columns = {
        **{name: f"environment__{name}__key" for name in FILTERS if name in DIMENSIONS},
        "host": "host__slug",
        "source": "source",
        "verdict": "acceleration",
        "tag": "tags__site",
        "since": "started_at__date",
        "until": "started_at__date",
    }
    prefixes = {"tag": "site:"}
    return {
        name: [
            {name: f"{prefixes.get(name, '')}{value}"}
            for value in runs.filter(pk__in=keys).order_by("pk").values_list(column, flat=True)
        ]
        for name, column in columns.items()
    }


def repeated(_size: Size) -> list[Figure]:
    """6: asked again through a real web server, where a cache may answer."""
    path = f"{API}?tool=ssh"
    web = reader()
    pair = p50_ms(lambda: web.get(path), lambda: web.get("/bench/ping/"))
    return [at_most("6 comparison, repeated, HTTP", "ms", pair, 1.0, MORE_THAN_PING_MS)]


def growth(size: Size) -> list[Figure]:
    """7: this size against the smallest full one: no worse than linear."""
    smaller = SIZES["tiny" if size.name == "tiny" else "0.5m"]
    build.provide(smaller)
    figures = []
    for tool in TOOLS:
        ask, of = asking(API, {"tool": tool, "since": "2025-01-01"}), dict[str, list[float]]()
        for _ in range(1 + chosen.effort.calls):
            for one in (size, smaller):
                build.use(one)
                cache.clear()
                of.setdefault(one.name, []).append(milliseconds(ask))
        pair = Pair.of(of[size.name][1:], of[smaller.name][1:])
        name = f"7 comparison, {tool}, {size.name} rows / {smaller.name}"
        times = size.runs / smaller.runs
        figures.append(at_most(name, "ms", pair, times, most=MOST_GROWN_MS))
    build.use(size)
    return figures
