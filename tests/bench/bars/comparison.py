"""4 to 7: the comparison, as the API answers it, against its own SQL run by a bare driver."""

from collections.abc import Callable, Mapping
from statistics import median
from urllib.parse import urlencode

from django.core.cache import cache
from django.db.models import Count
from django.test import Client

from runs.data_version import data_version
from runs.models import Host, Rollup, Run
from runs.models.environment import DIMENSIONS
from runs.queries.selection import FILTERS
from runs.rollups import make_rollup
from tests.bench.bare import BareConnection, statements_of
from tests.bench.figures import Figure, Pair, at_most
from tests.bench.fleet import build
from tests.bench.fleet.size import SIZES, Size
from tests.bench.serving import reader
from tests.bench.timing import FULL, chosen, p50_ms, round_ms

ADDRESS = "/api/v1/comparison/"
TOOLS = ("ssh", "openssl")
MORE_MS = 3.0
FILTER_ROUNDS = 3
OPENSSL_FILTERS = ("cpu", "host", "tag", "since", "until")
UNFILTERED_TIMES, FILTERED_TIMES, GROWTH_TIMES = 2.0, 1.5, 2.0

Parameters = Mapping[str, str]


def address(parameters: Parameters) -> str:
    """The comparison that the parameters ask for."""
    return f"{ADDRESS}?{urlencode(parameters)}"


def unfiltered(_size: Size) -> list[Figure]:
    """4: nothing but the tool given; nothing is in the cache."""
    catch_up()
    return [
        _beside_its_sql(f"4 comparison, {tool}", {"tool": tool}, UNFILTERED_TIMES, FULL.rounds)
        for tool in TOOLS
    ]


def filtered(_size: Size) -> list[Figure]:
    """5: every filter by itself, by the value that most hosts or runs have.

    For openssl a few of them: each kind of condition once.
    """
    return [
        _beside_its_sql(
            f"5 comparison, {tool}, {name}",
            {"tool": tool, name: value},
            FILTERED_TIMES,
            FILTER_ROUNDS,
        )
        for tool in TOOLS
        for name, value in filters().items()
        if tool == "ssh" or name in OPENSSL_FILTERS
    ]


def _beside_its_sql(name: str, parameters: Parameters, times: float, rounds: int) -> Figure:
    ask = asking(parameters)
    ask()  # what is made once and kept in the database is not measured
    cache.clear()
    statements = statements_of(ask)
    with BareConnection() as bare:
        pair = p50_ms(ask, lambda: bare.fetch(statements), before=cache.clear, rounds=rounds)
    return at_most(name, "ms", pair, times, MORE_MS)


def asking(parameters: Parameters) -> Callable[[], None]:
    """A call that asks the API in this process, through all middleware."""
    client, path = Client(), address(parameters)

    def ask() -> None:
        answer = client.get(path)
        if answer.status_code != 200:
            raise AssertionError(f"{path} answers {answer.status_code}: {answer.content[:300]!r}")

    return ask


def filters() -> dict[str, str]:
    """Each filter with a value that selects much; times cut the data in half."""
    chosen = {name: _frequent(name) for name in FILTERS if name in DIMENSIONS}
    busiest = Host.objects.annotate(of_it=Count("runs")).order_by("-of_it").values_list("slug")
    return {
        **chosen,
        "host": busiest[0][0],
        "tag": "site:s3",
        "source": Run.Source.AGENT.value,
        "since": "2025-06-01",
        "until": "2025-06-01",
    }


def _frequent(dimension: str) -> str:
    counted = Run.objects.values(f"environment__{dimension}__key").annotate(of_it=Count("pk"))
    return str(counted.order_by("-of_it")[0][f"environment__{dimension}__key"])


def catch_up() -> None:
    """Make rollups anew where other bars have changed the data: no worker runs that would."""
    for stored in Rollup.objects.exclude(version=data_version()):
        make_rollup(stored.key)


def repeated(_size: Size) -> list[Figure]:
    """6: asked again through a real web server, where a cache may answer."""
    catch_up()
    path = address({"tool": "ssh"})
    web = reader()
    pair = p50_ms(lambda: web.get(path), lambda: web.get("/bench/ping/"))
    return [at_most("6 comparison, repeated, HTTP", "ms", pair, 1.0, MORE_MS)]


def growth(size: Size) -> list[Figure]:
    """7: this size against the smallest full one, nothing in the cache."""
    smaller = SIZES["tiny" if size.name == "tiny" else "0.5m"]
    build.provide(smaller)
    build.use(size)
    figures = []
    for tool in TOOLS:
        pair = _at_both(asking({"tool": tool}), size, smaller)
        name = f"7 comparison, {tool}, {size.name} rows / {smaller.name}"
        figures.append(at_most(name, "ms", pair, GROWTH_TIMES))
    return figures


def _at_both(ask: Callable[[], None], size: Size, smaller: Size) -> Pair:
    values: list[float] = []
    floors: list[float] = []
    for _ in range(chosen.effort.rounds):
        for of_size, spent in ((size, values), (smaller, floors)):
            build.use(of_size)
            cache.clear()
            ask()
            spent.append(round_ms(ask, before=cache.clear))
    build.use(size)
    return Pair(median(values), median(floors))
