"""A small fleet: made twice alike, and every engine answers the same about it."""

from collections.abc import Iterator
from pathlib import Path

import clickhouse_connect
import duckdb
import pytest
from pytest_django.fixtures import Settings

from results.analytics.clickhouse import dialect, server
from results.analytics.engine import engine
from results.analytics.tables import TABLES
from results.comparison.comparison import compare
from results.selection import ComparisonQuery
from store.models import ReferenceProfile
from tests.bench.fleet.size import Size
from tests.scale import engines, fleet, into_docs, measure, prototypes, questions, run
from tests.scale.engines import ENGINES

HOSTS = 2_000


@pytest.fixture
def folder(
    settings: Settings,
    tmp_path: Path,
    transactional_db: None,
    profile_2015: ReferenceProfile,
    clickhouse_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    """Where fleets are made of the runs of a few machines; no engine knows anything."""
    settings.ANALYTICS_DIR = tmp_path
    monkeypatch.setattr(server, "_server", server.Server())
    monkeypatch.setitem(dialect.SETTINGS, "max_memory_usage", 0)
    monkeypatch.setattr(engines, "clickhouse_folder", lambda _: clickhouse_folder)
    with clickhouse_connect.get_client(dsn=f"chdb://{clickhouse_folder}") as client:
        for (name,) in client.query("SHOW TABLES").result_rows:
            client.command(f"DROP TABLE {name}")
    engine().forget()
    prototypes.store(Size("scale", 30, 30))
    yield tmp_path
    engine().forget()
    for client in server.server().free:
        client.close()


def made(folder: Path, seed: int = fleet.SEED) -> Path:
    return fleet.write(*prototypes.read(), HOSTS, folder, seed)


def rows(file: Path) -> object:
    """How many, and a hash of them all."""
    select = "SELECT count(*), sum(hash(t)::HUGEINT) FROM read_parquet(?) t"
    return duckdb.execute(select, [str(file)]).fetchone()


def test_the_same_seed_makes_the_same_fleet(folder: Path) -> None:
    first, again, other = (
        made(folder / name, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    for table in TABLES:
        name = f"{table.name}.parquet"
        assert rows(first / name) == rows(again / name), name
    assert rows(first / "result.parquet") != rows(other / "result.parquet")


def test_its_files_are_those_of_a_snapshot(folder: Path) -> None:
    snapshot = made(folder)
    for table in TABLES:
        read = duckdb.read_parquet(str(snapshot / f"{table.name}.parquet"))
        kinds = dict(zip(read.columns, map(str, read.types), strict=True))
        assert kinds == table.columns, table.name


def test_every_engine_answers_the_same(folder: Path) -> None:
    snapshot = made(folder)
    answers = []
    for start in ENGINES.values():
        start(snapshot, 1)
        answers.append([ask() for ask in questions.QUESTIONS.values()])
        assert sum(group.hosts for group in compare(ComparisonQuery()).groups) == HOSTS
    assert all(answer == answers[0] for answer in answers)
    *compared, found = answers[0]
    assert all(len(one.groups) > 1 for one in compared)
    assert all(sum(option.count for option in one.options) for one in found if one.options)


def test_the_page_is_made_of_what_was_measured(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "MOST_CALLS", 1)
    snapshot = made(folder)
    fleets = [
        {
            "hosts": HOSTS,
            "write_seconds": 1.0,
            "parquet_bytes": {one.stem: one.stat().st_size for one in snapshot.glob("*.parquet")},
            "engines": [measure.figures(name, snapshot, 1) for name in ENGINES],
        }
    ]
    page = {"machine": run.machine(run.asked({})), "seconds": 60.0, "fleets": fleets}
    text = "\n".join(part(page) for part in into_docs.PARTS.values())
    assert "engines held to 8 GB" in text
    assert "| 2,000 | " in text
    assert "| DuckDB in memory, 2,000 hosts | " in text
    assert "| ClickHouse: filters with their counts | " in text
    assert "| weekly uploads, spread over the week, a second | 0.165 | 1.65 | 16.5 |" in text


@pytest.mark.parametrize(
    "variables", ({"HOSTS": "many"}, {"HOSTS": "1000;2000"}, {"HOSTS": "0"}, {"MEMORY_GB": "8GB"})
)
def test_a_setting_that_makes_no_sense_is_named(variables: dict[str, str]) -> None:
    ((name, text),) = variables.items()
    with pytest.raises(run.WrongSetting, match=f"{name}={text}: "):
        run.asked(variables)


def test_a_fleet_that_the_disk_does_not_hold_is_not_begun(tmp_path: Path) -> None:
    with pytest.raises(run.WrongSetting, match="GB free, and 1,000,000,000,000 hosts need"):
        run.check_room(tmp_path, 10**12)
