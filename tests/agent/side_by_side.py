"""Compare the agent's rate with that of a manual pipeline, in interleaved pairs.

    make side-by-side ARGS="[--pinned] [--sshd PATH] [--pairs N] [--seconds S] [NAME ...]"

This is not a test, because it needs an idle host and several minutes. The manual pipeline consists
of a shell and a running `sshd -D`. The remote end reads the clock before and after `cat`. The agent
runs `pipeline_try` in another process. The agent and the pipeline transfer the same number of
bytes, and the order changes from pair to pair.

Results vary by 10 to 15 % with the cores that the scheduler chooses. `--pinned` runs ssh on one
core and sshd on another core, for both the agent and the pipeline, which shows smaller differences.
The interval of the median is based on ranks and makes no assumptions about the noise.
"""

import argparse
import json
import math
import resource
import shlex
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))
sys.path.insert(0, str(PROJECT / "agent"))
from tests.agent import whole as agent  # noqa: E402 - found by the lines above

CIPHERS = ("aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com", "aes256-ctr")
CLIENT_CPU, SERVER_CPU = 0, 1
FAR_COMMAND = "date +%s.%N; cat >/dev/null; date +%s.%N"
LOOPBACK = ("-o", "ListenAddress=127.0.0.1")


class PinnedTransfer(agent.Transfer):
    """Pin ssh to one core and sshd to another core, even if the agent would pin neither."""

    def __init__(self, server: Any, channel: Any, source: int, _: Any) -> None:
        super().__init__(server, channel, source, (CLIENT_CPU, SERVER_CPU))


class Pair(NamedTuple):
    """Store the rates of the agent and of the manual pipeline (`hand`) in bytes per second.

    `agent_cpu`: CPU time of the agent, as a fraction of one core.
    """

    agent: float
    hand: float
    agent_cpu: float

    @property
    def ratio(self) -> float:
        return self.agent / self.hand


def median_interval(values: list[float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of the median, from order statistics (Conover 3.2)."""
    ordered, n = sorted(values), len(values)
    below, rank = 0.0, 0
    while rank < n // 2:
        below += math.comb(n, rank) / 2**n
        if below > 0.025:
            break
        rank += 1
    low = max(rank - 1, 0)
    return ordered[low], ordered[n - 1 - low]


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer_tries(sshd: str, pinned: bool) -> None:
    """Read lines `CIPHER MIB` from standard input. For each line, measure a try and print JSON."""
    ssh = agent.find_program("ssh", None)
    assert ssh, "no ssh on this machine"
    if pinned:
        agent.Transfer = PinnedTransfer  # type: ignore[assignment,misc]
    with agent.PrivateServer(ssh, sshd) as server:
        server.prepare()
        server.first_connection()
        say(json.dumps({"folder": server.folder}))
        for line in sys.stdin:
            cipher, mib = line.split()
            before, began = own_cpu(), time.perf_counter()
            tried = agent.pipeline_try(server, agent.Channel(cipher), int(mib))
            spent, lasted = own_cpu() - before, time.perf_counter() - began
            sample = {"bytes": tried.moved, "seconds": tried.seconds}
            say(json.dumps({**sample, "agent_cpu": spent / lasted}))


def own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@contextmanager
def agent_tries(
    sshd: str, pinned: bool
) -> Iterator[tuple[Callable[[str, int], dict[str, Any]], Path]]:
    """Yield a function that measures a try with the agent, and the folder with the ssh keys."""
    command = [sys.executable, __file__, "--answer", "--sshd", sshd, *["--pinned"] * pinned]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        questions, answers = process.stdin, process.stdout
        assert questions
        assert answers

        def attempt(cipher: str, mib: int) -> dict[str, Any]:
            questions.write(f"{cipher} {mib}\n")
            questions.flush()
            sample: dict[str, Any] = json.loads(answers.readline())
            return sample

        yield attempt, Path(json.loads(answers.readline())["folder"])
        questions.close()


@contextmanager
def standing_sshd(sshd: str, folder: Path, pinned: bool) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    offered = ("-o", "Ciphers=" + ",".join(agent.offered_ciphers("ssh")))
    options = ["-f", str(folder / "sshd_config"), "-p", str(port), *LOOPBACK, *offered]
    daemon = agent.start(
        [sshd, "-D", *options],
        cpus={SERVER_CPU} if pinned else None,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until_open(port)
        yield port
    finally:
        daemon.terminate()
        daemon.wait()


def wait_until_open(port: int) -> None:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"no sshd listens on port {port}")


def typed_by_hand(folder: Path, port: int, pinned: bool, cipher: str, mib: int) -> float:
    """Return the rate of a shell pipeline in bytes per second. The remote end measures the time."""
    options = ["-F", "/dev/null", "-T", "-i", str(folder / "user_key"), "-p", str(port)]
    for option in (
        "IdentitiesOnly=yes",
        "BatchMode=yes",
        f"HostKeyAlias={agent.HOST_ALIAS}",
        f"UserKnownHostsFile={folder / 'known_hosts'}",
        "Compression=no",
    ):
        options += ["-o", option]
    ssh = shlex.join(["ssh", *options, "-c", cipher, "127.0.0.1", FAR_COMMAND])
    if pinned:
        ssh = f"taskset -c {CLIENT_CPU} {ssh}"
    line = f"dd if=/dev/zero bs=1M count={mib} 2>/dev/null | {ssh}"
    done = subprocess.run(["/bin/sh", "-c", line], check=True, capture_output=True, text=True)
    began, ended = map(float, done.stdout.split())
    return (mib << 20) / (ended - began)


def measure(
    attempt: Callable[[str, int], dict[str, Any]],
    by_hand: Callable[[str, int], float],
    cipher: str,
    pairs: int,
    seconds: float,
) -> list[Pair]:
    pilot = attempt(cipher, agent.pilot_mib(agent.Channel(cipher)))
    mib = agent.sized_mib(agent.rate(pilot), seconds)
    made = []
    for number in range(pairs):
        hand = by_hand(cipher, mib) if number % 2 else 0.0
        sample = attempt(cipher, mib)
        hand = hand or by_hand(cipher, mib)
        made.append(Pair(agent.rate(sample), hand, sample["agent_cpu"]))
    return made


def report(cipher: str, pairs: list[Pair]) -> str:
    ratios = [pair.ratio for pair in pairs]
    low, high = median_interval(ratios)
    agents, hands = [pair.agent / 1e6 for pair in pairs], [pair.hand / 1e6 for pair in pairs]
    return (
        f"{cipher:32} {len(pairs):3} pairs  MB/s: agent {statistics.median(agents):7.1f}  "
        f"hand {statistics.median(hands):7.1f}  ratio {statistics.median(ratios):.3f} "
        f"(95 %: {low:.3f} to {high:.3f})  of the best {max(agents) / max(hands):.3f}  "
        f"agent's own CPU at most {max(pair.agent_cpu for pair in pairs):.2%} of a core"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("ciphers", nargs="*", default=CIPHERS)
    parser.add_argument("--sshd", default=agent.find_program("sshd", None, agent.SSHD_PLACES))
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--pinned", action="store_true")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    sshd, pinned = arguments.sshd, arguments.pinned
    if not sshd:
        parser.error("no sshd found: give one with --sshd")
    if arguments.answer:
        answer_tries(sshd, pinned)
        return
    with (
        agent_tries(sshd, pinned) as (attempt, folder),
        standing_sshd(sshd, folder, pinned) as port,
    ):
        by_hand = partial(typed_by_hand, folder, port, pinned)
        for cipher in arguments.ciphers:
            pairs = measure(attempt, by_hand, cipher, arguments.pairs, arguments.seconds)
            say(report(cipher, pairs))


if __name__ == "__main__":
    main()
