"""The bench works: on a tiny fleet, where nothing is asked of its figures."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.bench import lighthouse, run
from tests.bench.figures import Figure, Pair, at_least, at_most, below, missing, table
from tests.live_site import REDIS_DATABASES

PROJECT = Path(__file__).parent.parent.parent

QUICK_BARS = "1,2,3,6,7,8,9,10,16,17,18,19,21,pages,plans"
"""All but `make run`, which tests/launch starts."""


def call_bench(path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    # A Redis database of its own: between its questions the bench clears the cache.
    redis = settings.REDIS_URL.replace("db=0", f"db={REDIS_DATABASES['bench']}")
    python_path = os.pathsep.join((str(PROJECT / "backend"), str(PROJECT)))
    environment = {**os.environ, "PYTHONPATH": python_path, "REDIS_URL": redis, **variables}
    return subprocess.run(
        [sys.executable, "-m", "tests.bench", "--json", str(path)],
        cwd=PROJECT,
        env={**environment, "CIPHERMARK_DATA_DIR": str(settings.DATA_DIR)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_bar_is_measured_on_a_tiny_fleet(tmp_path: Path) -> None:
    results = tmp_path / "bench.json"
    done = call_bench(results, BENCH_SIZE="tiny", BENCH_ONLY=QUICK_BARS)
    assert done.returncode == 0, done.stdout + done.stderr
    found: list[dict[str, Any]] = json.loads(results.read_text())
    assert {"name", "value", "floor", "ratio", "bar", "ok"} <= found[0].keys()
    names = " ".join(one["name"] for one in found)
    numbers = (bar for bar in QUICK_BARS.split(",") if bar.isdigit())
    assert all(f"{bar} " in names for bar in numbers)
    agreement = found[0]
    assert agreement["value"] == 0, done.stdout


@pytest.mark.parametrize(
    ("variables", "words"),
    (
        ({"BENCH_SIZE": "5m"}, "BENCH_SIZE=5m is unknown: it may be tiny, 0.5m, 4.8m, 20m."),
        ({"BENCH_ONLY": "3,12"}, "BENCH_ONLY=3,12: '12' is none of 1, 2, 3,"),
    ),
)
def test_a_setting_that_makes_no_sense_is_named(variables: dict[str, str], words: str) -> None:
    with pytest.raises(run.WrongSetting, match=re.escape(words)):
        run.asked(variables)


def test_a_bar_is_missed_by_too_slow_a_program_alone() -> None:
    assert at_least("rate", "runs/s", Pair(50, 100), 0.4).ok
    assert not at_least("rate", "runs/s", Pair(30, 100), 0.4).ok
    assert at_most("time", "ms", Pair(6.9, 2.0), 2, 3).ok
    assert not at_most("time", "ms", Pair(7.1, 2.0), 2, 3).ok
    assert not below("start", "s", 8.0, 8.0).ok
    assert missing("file", ">= 1 x", "not built yet").ok is False


def test_the_table_shows_value_floor_ratio_and_bar() -> None:
    lines = table([Figure("4 comparison", "ms", 4.5, 2.25, "<= 2 x", True)]).splitlines()
    assert lines[1].split() == ["4", "comparison", "4.5", "2.25", "ms", "2", "<=", "2", "x", "yes"]


def test_a_missed_bar_is_the_exit_code_except_on_a_tiny_fleet(
    capsys: pytest.CaptureFixture[str],
) -> None:
    slow = [Figure("4 comparison", "ms", 9.0, 1.0, "<= 2 x", False)]
    assert run.judge(run.asked({}), slow, 1.0) == 1
    assert run.judge(run.asked({"BENCH_SIZE": "tiny"}), slow, 1.0) == 0
    assert "0 of 1 within their bars" in capsys.readouterr().out


def test_the_median_of_lighthouses_scores_counts() -> None:
    times = dict.fromkeys(lighthouse.TIMES, "1 s")
    rounds = [
        lighthouse.Measured(
            {"performance": points, "accessibility": 100, "best-practices": 99}, times
        )
        for points in (100, 94, 95)
    ]
    found = lighthouse.figures_of("compare, mobile", rounds)
    assert [(one.value, one.ok) for one in found] == [(95, True), (100, True), (99, False)]
    assert found[0].note.startswith("100 94 95; FCP 1 s, LCP 1 s, TBT 1 s, CLS 1 s; load ")


def test_lighthouse_knows_which_pages_there_are() -> None:
    pages = {"compare": "/", "host": "/hosts/1/"}
    assert lighthouse.chosen(pages, "host, compare") == {"host": "/hosts/1/", "compare": "/"}
    assert lighthouse.chosen(pages, "") == pages
    with pytest.raises(run.WrongSetting, match="'hosts' is none of compare, host"):
        lighthouse.chosen(pages, "hosts")
