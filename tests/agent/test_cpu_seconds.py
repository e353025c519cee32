"""CPU seconds of a byte are those of the cipher, however long a try lasts (docs/method.md, 1)."""

import itertools
import json
import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

import ciphermark_agent as agent
from tests.agent.running import RunAgent

CIPHERS = ("aes256-cbc", "chacha20-poly1305@openssh.com", "aes128-ctr", "3des-cbc")
"""Not AES-GCM: beside other load its CPU seconds themselves scatter by 15 to 30 % from try to try,
too much to tell 5 % in a minute; those of these scatter by 5 to 9 %."""
SHORT = {"3des-cbc": 24}
"""MiB of a short try of a slow cipher; of a fast one 384."""

Samples = list[Mapping[str, Any]]

ROUNDS = 8
"""At most: another process on the same core's other half makes every CPU second worth less, for
seconds on end. Short and long tries take turns, so that it hits both."""


def cost(samples: Samples, of: Callable[[list[float]], float]) -> float:
    """CPU seconds for 10^9 bytes, both ends added or the busier one: the median of the tries."""
    ends = ("client_cpu_seconds", "server_cpu_seconds")
    costs: list[float] = [
        of([one[end] for end in ends]) / one["bytes"] * 1e9
        for one in samples
        if all(one[end] is not None for end in ends)  # a busy machine may move too little to tell
    ]
    return statistics.median(costs) if costs else math.nan


def long_against_short(pairs: Iterator[tuple[Samples, Samples]]) -> list[float]:
    """Ratios of both measures, of all tries so far: once they are within 5 %, or at the end."""
    short: Samples = []
    long: Samples = []
    ratios: list[float] = []
    for number, (some, others) in enumerate(itertools.islice(pairs, ROUNDS)):
        short, long = short + some, long + others
        ratios = [cost(long, of) / cost(short, of) for of in (sum, max)]
        if number > 0 and all(abs(ratio - 1) < 0.05 for ratio in ratios):
            break
    return ratios


@pytest.fixture
def private_server(sshd: str) -> Iterator[agent.PrivateServer]:
    ssh = agent.find_program("ssh", None)
    assert ssh
    with agent.PrivateServer(ssh, sshd, agent.offered_ciphers(ssh)) as server:
        server.prepare()
        server.first_connection()
        yield server


@pytest.mark.parametrize("cipher", CIPHERS)
def test_a_byte_of_a_short_try_costs_what_one_of_a_long_try_does(
    cipher: str, private_server: agent.PrivateServer
) -> None:
    """Four times as many bytes: what a stream costs once (0.1 to 0.2 s) is in neither."""
    channel, mib = agent.Channel(cipher), SHORT.get(cipher, 384)

    def pairs() -> Iterator[tuple[Samples, Samples]]:
        while True:
            sizes = (agent.pilot_mib(channel), mib, 4 * mib)
            pilot, *tries = (agent.pipeline_try(private_server, channel, size) for size in sizes)
            short, long = (agent.ssh_sample(one, agent.reference_of([pilot])) for one in tries)
            yield [short], [long]

    ratios = long_against_short(pairs())
    assert ratios == pytest.approx([1, 1], abs=0.05), ratios


def test_quick_and_thorough_state_the_same_cpu_seconds_of_a_byte(
    run_agent: RunAgent, sshd_option: tuple[str, str]
) -> None:
    """By either method; the whole agent, three tries each."""
    words = ("run", *sshd_option, "--tools", "ssh", "--ciphers", CIPHERS[0])
    found: dict[tuple[str, str], Samples] = {}

    def pairs(method: str) -> Iterator[tuple[Samples, Samples]]:
        for number in itertools.count():
            for depth in ("--quick", "--thorough"):
                if len(found.get((method, depth), ())) <= 3 * number:
                    done = run_agent(*words, depth, "--tries", "3")
                    assert done.code == 0, done.err
                    for one in json.loads(done.out)["measurements"]:
                        found.setdefault((one["method"], depth), []).extend(one["samples"])
            yield found[method, "--quick"], found[method, "--thorough"]

    for method in ("steady", "pipeline"):
        ratios = long_against_short(pairs(method))
        assert ratios == pytest.approx([1, 1], abs=0.05), (method, ratios)
