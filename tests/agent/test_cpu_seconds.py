import multiprocessing
import os
import subprocess
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from tests.agent import whole as agent

# The sizes are in MiB. The short try costs little more than the minimum for a result. For slow
# ciphers, see test_ssh_readings.py.
CIPHER, SHORT, LONG = "chacha20-poly1305@openssh.com", 256, 768

# Maximum number of pairs of tries. On a shared host, the CPU seconds of a try vary by 5 to 20 %.
# The test therefore fails only if all pairs differ by more than 5 % in the same direction, which
# happens by chance once in 4,096 times.
PAIRS = 12


def costs(sample: dict[str, Any]) -> tuple[float, float] | None:
    """Return the CPU seconds per 10^9 bytes: client plus server, and the larger of the two.

    Return None if the agent reports no CPU seconds, because the transfer was too short.
    """
    ends = [sample["client_cpu_seconds"], sample["server_cpu_seconds"]]
    if None in ends:
        return None
    return sum(ends) / sample["bytes"] * 1e9, max(ends) / sample["bytes"] * 1e9


def ratios_of_long_to_short(sshd: str) -> tuple[list[float], ...]:
    channel = agent.Channel(CIPHER)
    ratios: tuple[list[float], list[float]] = ([], [])
    with agent.PrivateServer(agent.find_program("ssh", None) or "", sshd) as server:
        server.prepare()
        server.first_connection()
        for number in range(PAIRS):
            pilot = agent.pipeline_try(server, channel, agent.pilot_mib(channel))
            made = {}
            for mib in (SHORT, LONG)[:: (1, -1)[number % 2]]:  # alternate the order
                tried = agent.pipeline_try(server, channel, mib)
                made[mib] = costs(agent.ssh_sample(tried, agent.reference_of([pilot])))
            short, long = made[SHORT], made[LONG]
            if short and long:
                for kept, long_cpu, other in zip(ratios, long, short, strict=True):
                    kept.append(long_cpu / other)
            if all(ratio and min(ratio) < 1.05 and max(ratio) > 0.95 for ratio in ratios):
                break
    return ratios


def test_a_byte_of_a_short_try_costs_what_one_of_a_long_try_does(sshd: str) -> None:
    # The fixed cost of a stream (0.1 to 0.2 s) is excluded from both tries.
    # The agent reaps every child of its process, so the tries need a process of their own.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        ratios = process.submit(ratios_of_long_to_short, sshd).result()
    assert all(ratio and min(ratio) < 1.05 and max(ratio) > 0.95 for ratio in ratios), ratios


def sessions(sshd: str) -> tuple[int, int]:
    ssh = agent.find_program("ssh", None) or ""
    with agent.PrivateServer(ssh, sshd) as server:
        server.prepare()
        with agent.Transfer(server, agent.Channel(None), subprocess.DEVNULL, None) as transfer:
            transfer.wait_for("R")
            (sshd_pid,) = agent._children.keys() - {transfer.ssh.pid}
            return os.getsid(transfer.ssh.pid), os.getsid(sshd_pid)


def test_sshd_gets_its_own_share_of_the_cpu_as_a_daemon_does(sshd: str) -> None:
    # Linux divides CPU time between sessions (sched_autogroup).
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        of_ssh, of_sshd = process.submit(sessions, sshd).result()
    assert of_ssh != of_sshd
