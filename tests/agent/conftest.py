import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.agent.canned_server import Serve, Server
from tests.agent.forked import Finished, Forks
from tests.agent.running import (
    AGENT,
    ONCE,
    TINY,
    RunAgent,
    agent_environment,
    waiting_for_nothing,
)


@pytest.fixture(scope="session")
def sshd_option(sshd: str) -> tuple[str, str]:
    return ("--sshd", sshd)


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    forks = Forks(AGENT)
    yield forks
    forks.close()


@pytest.fixture
def run_agent(tmp_path: Path, forks: Forks) -> RunAgent:
    def run(
        *arguments: str,
        before: str = "",
        env: Mapping[str, str] | None = None,
        timeout: float = 300,
    ) -> Finished:
        return forks.run(
            waiting_for_nothing(arguments), before, agent_environment(tmp_path, env), timeout
        )

    return run


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers: list[Server] = []

    def start(*answers: bytes, delay: float = 0.0, drip: float = 0.0) -> Server:
        server = Server(answers, delay, drip)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.over.set()
        server.shutdown()
        server.server_close()


# Transfer a fixed number of MiB per try. In the usual 0.2 s, a busy host transfers too little to
# determine the CPU time of a byte.
SIZED = """
import collections
pipeline, steady = agent.pipeline_try, agent.steady_try
MIB, calls = {"3des-cbc": 48, "aes128-ctr": 512}, collections.Counter()
def sized(server, channel, seconds, cpus):
    agent.STEADY_MIN_BYTES = MIB[channel.cipher] * agent.MIB
    return steady(server, channel, seconds, cpus)
def by_amount(server, channel, mib):
    calls[channel] += 1
    pilot = calls[channel] <= server.pilots
    return pipeline(server, channel, mib if pilot else MIB[channel.cipher])
agent.STEADY_MAX_SECONDS = agent.TRY_SECONDS
agent.pipeline_try, agent.steady_try = by_amount, sized
"""


@pytest.fixture(scope="session")
def tiny_run(
    tmp_path_factory: pytest.TempPathFactory, sshd_option: tuple[str, str], forks: Forks
) -> dict[str, Any]:
    """Return the document of a run with four ciphers. `said` contains the output of the agent."""
    home = tmp_path_factory.mktemp("tiny")
    output = home / "run.json"
    names = "aes128-ctr,3des-cbc,aes-128-gcm,rc4"
    arguments = ("run", *sshd_option, *TINY, "--ciphers", names, "--output", str(output))
    words = waiting_for_nothing(arguments)
    done = forks.run(words, ONCE + SIZED, agent_environment(home), 300)
    assert done.code == 0, done.err
    document: dict[str, Any] = json.loads(output.read_text())
    document["said"] = done.out + done.err
    assert not list((home / "temporary").iterdir()), "the agent left files behind"
    return document
