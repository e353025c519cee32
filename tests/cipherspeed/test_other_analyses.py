import pytest

from cipherspeed.summary import cpu_seconds_per_gb
from cipherspeed.types import Sample
from tests.cases import each


def sample(client: float | None, server: float | None) -> Sample:
    return Sample(
        bytes=2_000_000_000, seconds=3.0, client_cpu_seconds=client, server_cpu_seconds=server
    )


def test_cpu_cost_adds_both_ends() -> None:
    cost = cpu_seconds_per_gb([sample(1.0, 1.6), sample(1.2, 1.8), sample(None, None)])
    assert cost is not None
    assert cost[0] == pytest.approx(1.4)  # median of 1.3 and 1.5


def test_cpu_cost_has_a_spread_of_its_own() -> None:
    # 1.0, 1.1 and 1.3 s/GB: MAD 0.1, s = 1.4826 * 0.1 / 1.1.
    cost = cpu_seconds_per_gb([sample(1.0, 1.0), sample(1.0, 1.2), sample(1.2, 1.4)])
    assert cost is not None
    assert cost[1] == pytest.approx(0.134782, abs=1e-6)


@each("samples", ([], [sample(1.0, None)], [Sample(bytes_per_second=1e8)], [sample(0.0, 5e-324)]))
def test_cpu_cost_that_was_not_measured_at_both_ends_is_unknown(samples: list[Sample]) -> None:
    assert cpu_seconds_per_gb(samples) is None
