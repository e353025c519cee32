"""The arithmetic of docs/scaling.md: in proportion, and told in tables."""

import pytest

from tests.bench.fleet.size import SIZES
from tests.bench.scaling.costs import Chart, Costs
from tests.bench.scaling.needs import Assumptions, growth_exponent, needs
from tests.bench.scaling.told import parts

COSTS = Costs(
    upload=(0.004, 0.002),
    processing=(0.010, 0.005),
    charts=[
        Chart(SIZES["0.5m"], (0.010, 0.002), 10.0, 40e6),
        Chart(SIZES["4.8m"], (0.022, 0.002), 20.0, 400e6),
    ],
    cached_chart=0.002,
    bytes_per_run={"runs_measurement": 16_000, "runs_rundocument": 8_000},
    bytes_per_host=20_000,
    redis_bytes_per_task=500,
    redis_bytes_per_chart=20_000,
    web_bytes=120e6,
)


def test_runs_and_bytes_grow_with_the_hosts() -> None:
    one, ten = (needs(hosts, COSTS, Assumptions()) for hosts in (100_000, 1_000_000))
    assert ten.uploads_per_second == pytest.approx(10 * one.uploads_per_second)
    assert ten.database_bytes == pytest.approx(10 * one.database_bytes)
    assert ten.rows_per_month == pytest.approx(1e6 / 7 * 30.4 * 120)


def test_a_chart_grows_by_the_measured_law() -> None:
    exponent = growth_exponent(tuple(COSTS.charts))
    assert exponent == pytest.approx(0.306, abs=0.001)
    month = needs(10_000, COSTS, Assumptions(days_between_runs=7.6, months_kept=1))
    assert month.chart_cpu_seconds == pytest.approx(0.024)
    assert month.copy_bytes == pytest.approx(400e6)
    ten = needs(100_000, COSTS, Assumptions(days_between_runs=7.6, months_kept=1))
    assert ten.chart_cpu_seconds == pytest.approx(0.024 * 10**exponent)
    assert ten.copy_bytes == pytest.approx(4e9)


def test_every_table_of_the_page_is_told() -> None:
    told = parts(COSTS)
    assert told.keys() == {"measured", "charts", "needs"}
    assert "| hosts | 10,000 | 100,000 | 100,000 | 1,000,000 |" in told["needs"]
    assert "4.0, 2.0" in told["measured"]
