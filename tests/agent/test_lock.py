"""Agents on one machine measure one after the other, whoever started them."""

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.agent.running import QUICK_RUN, RunAgent, agent_command, agent_environment

WAITS = "Another agent measures on this machine; waiting up to 60 min for it to finish."
PATIENT = "agent.LOCK_SECONDS = 0.2; agent.LOCK_CHECK_SECONDS = 0.05"


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """The lock file, in the temporary directory of this test's agents."""
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary" / "ciphermark-agent.lock"


@contextmanager
def held(lock: Path) -> Iterator[None]:
    """As an agent that measures holds it."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def waiting_agent(home: Path, output: Path) -> Iterator["subprocess.Popen[str]"]:
    """A run that has said that it waits for another agent."""
    child = subprocess.Popen(
        agent_command(("run", *QUICK_RUN, "--output", str(output))),
        env=agent_environment(home),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    try:
        assert child.stderr.readline() == WAITS + "\n"
        yield child
    finally:
        child.kill()
        child.communicate()


def test_a_second_agent_waits_and_then_measures(tmp_path: Path, lock: Path) -> None:
    output = tmp_path / "run.json"
    with held(lock), waiting_agent(tmp_path, output) as child:
        ended = time.time()
        assert child.poll() is None
        lock.unlink()  # as an agent does before it ends
        assert child.wait(timeout=120) == 0
    started = json.loads(output.read_text())["started_at"]
    assert started >= time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ended))
    assert not lock.exists()


def test_ctrl_c_ends_the_wait(tmp_path: Path, lock: Path) -> None:
    with held(lock), waiting_agent(tmp_path, tmp_path / "run.json") as child:
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) == 128 + signal.SIGINT
        assert lock.exists()


def test_a_wait_without_end_is_given_up(run_agent: RunAgent, lock: Path) -> None:
    with held(lock):
        done = run_agent("run", *QUICK_RUN, before=PATIENT)
    assert done.code == 3
    assert done.err.endswith("for 5 s; nothing was measured\n")
    assert done.out == ""


def test_what_a_killed_agent_left_holds_nobody_up(run_agent: RunAgent, lock: Path) -> None:
    lock.touch(0o444)
    done = run_agent("run", *QUICK_RUN)
    assert done.code == 0
    assert "Another agent" not in done.err
    assert not lock.exists()


def test_the_lock_is_open_to_every_account(run_agent: RunAgent, lock: Path) -> None:
    """Whatever the umask of the one that makes it."""
    seen = "agent.Run.measure = lambda run: sys.exit(oct(os.stat(agent.lock_path()).st_mode))"
    done = run_agent("run", *QUICK_RUN, before=f"import os; os.umask(0o077); {seen}")
    assert done.err.strip() == "0o100444"


@pytest.mark.parametrize("kind", ("folder", "link", "pipe"))
def test_what_cannot_be_locked_costs_no_run(run_agent: RunAgent, lock: Path, kind: str) -> None:
    if kind == "folder":
        lock.mkdir()
    elif kind == "pipe":
        os.mkfifo(lock)
    else:
        lock.symlink_to("/etc/passwd")
    assert run_agent("run", *QUICK_RUN).code == 0


def test_what_only_looks_does_not_wait(run_agent: RunAgent, lock: Path) -> None:
    with held(lock):
        assert run_agent("run", "--dry-run").code == 0
        assert run_agent("doctor", before="agent.SSHD_PLACES = ()").code == 0
