"""`python -m tests.scale.into_docs .data/scale.json`: the tables of docs/scaling.md."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.bench.figures import shown
from tests.bench.into_docs import DOCS, markdown_table, replace_part

Fleet = Mapping[str, Any]

RESULTS_OF_A_RUN = 120
UPLOADS_PER_SECOND = 247
WEB_CPU_SECONDS = 0.003
RUNS_PROCESSED_PER_SECOND = 138
POSTGRES_BYTES_OF_A_RUN = 27_000
"""Of docs/performance.md: bars 1 (CPU: what speed has cost in code) and 2; of a run as the bench
has them, docs/scaling.md."""

HOSTS = (100_000, 1_000_000, 10_000_000)
WEEK_SECONDS, DAY_SECONDS, HOUR_SECONDS = 7 * 24 * 3600, 24 * 3600, 3600
KEPT_RUNS = 5
"""Of each host: a month of weekly runs."""

IN_MEMORY, CLICKHOUSE = "DuckDB in memory", "ClickHouse"


def machine(found: Fleet) -> str:
    """One sentence: on what, when, how long."""
    of = found["machine"]
    return (
        f"`make scale`, {of['date']}: {of['cores']} cores, {of['memory_bytes'] / 1e9:.0f} GB, load"
        f" {of['load']:.1f} at its end, engines held to {of['engine_memory_gb']} GB, DuckDB"
        f" {of['duckdb']}, chdb {of['chdb']}; {found['seconds'] / 60:.0f} minutes."
    )


def fleets(found: Fleet) -> str:
    """Sizes of the data."""
    rows = []
    for fleet in found["fleets"]:
        size = sum(fleet["parquet_bytes"].values())
        facts = (size / 1e9, size / fleet["hosts"], fleet["write_seconds"])
        results = fleet["engines"][0]["results"]
        rows.append([f"{fleet['hosts']:,}", f"{results:,}", *map(shown, facts)])
    return markdown_table(["hosts", "results", "Parquet, GB", "bytes a host", "made in, s"], rows)


def engines(found: Fleet) -> str:
    """What each engine takes beside its answers."""
    rows = []
    for fleet, one in _measured(found):
        facts = (one["start_seconds"], *(one[f"{name}_bytes"] / 1e9 for name in _ROOM))
        rows.append([f"{one['engine']}, {fleet['hosts']:,} hosts", *map(shown, facts)])
    head = ["", "start, s", "copy, GB", "process then, GB", "its peak, GB", "disk, GB"]
    return markdown_table(head, rows)


_ROOM = ("copy", "resident", "peak", "disk")


def questions(found: Fleet) -> str:
    """A line for each question to each engine, the sizes beside each other."""
    cells: dict[str, dict[int, str]] = {}
    for fleet, one in _measured(found):
        for question, times in one["questions"].items():
            cells.setdefault(f"{one['engine']}: {question}", {})[fleet["hosts"]] = _cell(times)
    sizes = [fleet["hosts"] for fleet in found["fleets"]]
    rows = [[name, *(of.get(size, "-") for size in sizes)] for name, of in cells.items()]
    head = ["seconds: first, median (CPU)", *(f"{size:,} hosts" for size in sizes)]
    return markdown_table(head, rows)


def _cell(times: Mapping[str, Any]) -> str:
    if "fails" in times:
        return f"fails after {shown(times['first'])}"
    return f"{shown(times['first'])}, {shown(times['median'])} ({shown(times['cpu'])})"


def deployments(found: Fleet) -> str:
    """What follows for fleets whose runs have all results, by multiplication alone."""
    daily, kept = 1 / DAY_SECONDS, f"{KEPT_RUNS} runs of each host"
    copied, filled, stored = (
        KEPT_RUNS * RESULTS_OF_A_RUN * _bytes_of_a_result(found, engine, what) / 1e9
        for engine, what in ((IN_MEMORY, "copy"), (IN_MEMORY, "resident"), (CLICKHOUSE, "copy"))
    )
    of_a_host = {
        "weekly uploads, spread over the week, a second": 1 / WEEK_SECONDS,
        "weekly uploads, all in the same hour, a second": 1 / HOUR_SECONDS,
        "daily uploads, spread over the day, a second": daily,
        "cores of web servers for these": daily * WEB_CPU_SECONDS,
        "workers for these": daily / RUNS_PROCESSED_PER_SECOND,
        "of what PostgreSQL takes on 2 cores": daily / UPLOADS_PER_SECOND,
        f"PostgreSQL's disk, {kept}, GB": KEPT_RUNS * POSTGRES_BYTES_OF_A_RUN / 1e9,
        f"DuckDB in memory, {kept}: copy, GB": copied,
        "... each web process after its start, GB": filled,
        f"ClickHouse's disk, {kept}, GB": stored,
    }
    rows = [[name, *(shown(hosts * one) for hosts in HOSTS)] for name, one in of_a_host.items()]
    return markdown_table(["", *(f"{hosts:,} hosts" for hosts in HOSTS)], rows)


def _bytes_of_a_result(found: Fleet, engine: str, what: str) -> float:
    """Of the largest fleet that the copy has in memory whole."""
    whole = (one for _, one in _measured(found) if one["hosts"] <= LARGEST_IN_MEMORY)
    largest = [one for one in whole if one["engine"] == engine][-1]
    return float(largest[f"{what}_bytes"] / largest["results"])


LARGEST_IN_MEMORY = 1_000_000


def _measured(found: Fleet) -> Iterable[tuple[Fleet, Mapping[str, Any]]]:
    names = dict.fromkeys(one["engine"] for fleet in found["fleets"] for one in fleet["engines"])
    for name in names:
        for fleet in found["fleets"]:
            yield from ((fleet, one) for one in fleet["engines"] if one["engine"] == name)


PARTS = {
    "machine": machine,
    "fleets": fleets,
    "engines": engines,
    "questions": questions,
    "deployments": deployments,
}
"""Name of a part of the page -> what makes it."""


def main() -> None:
    """See the module."""
    found = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    for name, text in PARTS.items():
        replace_part(DOCS / "scaling.md", name, text(found))


if __name__ == "__main__":
    main()
