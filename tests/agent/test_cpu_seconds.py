"""CPU seconds of a byte are those of the cipher, however long a try lasts (docs/method.md, 1)."""

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest

from tests.agent import whole as agent

CIPHER, SHORT, LONG = "chacha20-poly1305@openssh.com", 256, 768
"""MiB of a short try, which costs little more than the least that states a figure, and of a long
one. What a slow cipher needs for that: `test_ssh_readings.py`."""

PAIRS = 12
"""Of tries that take turns, at most. A try's CPU seconds scatter by 5 to 20 % on a shared machine:
that the two kinds differ by more than 5 % is shown where all pairs differ by more, in one
direction. However much they scatter, that happens by chance once in 4,096 times."""

Samples = list[Mapping[str, Any]]
Pair = tuple[Samples, Samples]
ENDS = ("client_cpu_seconds", "server_cpu_seconds")


def costs(samples: Samples) -> list[float]:
    """CPU seconds for 10^9 bytes of both ends added and of the busier one: medians of the tries."""
    measures: tuple[Callable[[list[float]], float], ...] = (sum, max)
    return [
        statistics.median(of([one[end] for end in ENDS]) / one["bytes"] * 1e9 for one in samples)
        for of in measures
    ]


def known(samples: Samples) -> Samples:
    """A busy machine may move too little in a try to tell: that one is left out."""
    return [one for one in samples if all(one[end] is not None for end in ENDS)]


def assert_within_5_percent(pairs: Iterable[Pair]) -> None:
    """Of short and long tries; takes no more pairs than it needs."""
    ratios: list[list[float]] = [[], []]
    for short, long in pairs:
        if known(short) and known(long):
            for measure in (0, 1):
                ratios[measure].append(costs(known(long))[measure] / costs(known(short))[measure])
        if all(one and min(one) < 1.05 and max(one) > 0.95 for one in ratios):
            return
    raise AssertionError(ratios)


@pytest.fixture
def private_server(sshd: str) -> Iterator[agent.PrivateServer]:
    ssh = agent.find_program("ssh", None)
    assert ssh
    with agent.PrivateServer(ssh, sshd) as server:
        server.prepare()
        server.first_connection()
        yield server


def test_a_byte_of_a_short_try_costs_what_one_of_a_long_try_does(
    private_server: agent.PrivateServer,
) -> None:
    """What a stream costs once (0.1 to 0.2 s) is in neither."""
    channel = agent.Channel(CIPHER)

    def pair(number: int) -> Pair:
        """Alternately the short or the long one first."""
        pilot = agent.pipeline_try(private_server, channel, agent.pilot_mib(channel))
        made: dict[int, Samples] = {}
        for mib in (SHORT, LONG)[:: (1, -1)[number % 2]]:
            tried = agent.pipeline_try(private_server, channel, mib)
            made[mib] = [agent.ssh_sample(tried, agent.reference_of([pilot]))]
        return made[SHORT], made[LONG]

    assert_within_5_percent(map(pair, range(PAIRS)))
