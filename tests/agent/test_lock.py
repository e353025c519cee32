"""Agents on one machine measure one after the other, whoever started them."""

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.agent.running import QUICK_RUN, RunAgent, started
from tests.launch.tools import within

WAITS = "Another agent measures on this machine; waiting up to 60 min for it."


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """The temporary directory of this test's agents."""
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


@contextmanager
def held(lock: Path, how: int = 0) -> Iterator[None]:
    """As an agent that measures holds it."""
    directory = os.open(lock, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX | how)
        yield
    finally:
        os.close(directory)


@contextmanager
def waiting_agent(home: Path, output: Path) -> Iterator["subprocess.Popen[str]"]:
    """A run that has said that it waits for another agent."""
    words = ("run", *QUICK_RUN, "--output", str(output))
    with started(home, words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        assert child.stderr is not None
        assert child.stderr.readline() == WAITS + "\n"
        yield child


def test_a_second_agent_waits_and_then_measures(tmp_path: Path, lock: Path) -> None:
    output = tmp_path / "run.json"
    with ExitStack() as waiting:
        with held(lock):
            child = waiting.enter_context(waiting_agent(tmp_path, output))
            ended = time.time()
            assert child.poll() is None
        assert child.wait(timeout=120) == 0
    started = json.loads(output.read_text())["started_at"]
    assert started >= time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ended))
    assert list(lock.iterdir()) == []


def test_ctrl_c_ends_the_wait(tmp_path: Path, lock: Path) -> None:
    with held(lock), waiting_agent(tmp_path, tmp_path / "run.json") as child:
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) == 128 + signal.SIGINT


def test_a_wait_without_end_is_given_up(run_agent: RunAgent, lock: Path) -> None:
    with held(lock):
        done = run_agent("run", *QUICK_RUN, before="agent.LOCK_SECONDS = 0.3")
    assert done.code == 3
    assert done.err.endswith(
        "another agent has measured here for 0.005 min; nothing was measured\n"
    )
    assert done.out == ""


ASLEEP = "import time; agent.Run.measure = lambda run: time.sleep(3600)"


def is_locked(lock: Path) -> bool:
    try:
        with held(lock, fcntl.LOCK_NB):
            return False
    except BlockingIOError:
        return True


def test_a_killed_agent_holds_nobody_up(tmp_path: Path, lock: Path) -> None:
    with started(tmp_path, ("run", *QUICK_RUN), ASLEEP) as first:
        assert within(60, lambda: is_locked(lock))
        with waiting_agent(tmp_path, tmp_path / "run.json") as second:
            first.kill()
            assert second.wait(timeout=120) == 0


def test_a_directory_that_is_not_there_costs_no_run(run_agent: RunAgent, tmp_path: Path) -> None:
    gone = "agent.tempfile.gettempdir = lambda: '/nowhere'"
    assert run_agent("run", *QUICK_RUN, before=gone).code == 0


def test_what_only_looks_does_not_wait(run_agent: RunAgent, lock: Path) -> None:
    with held(lock):
        assert run_agent("run", "--dry-run").code == 0
        assert run_agent("doctor", before="agent.SSHD_PLACES = ()").code == 0
