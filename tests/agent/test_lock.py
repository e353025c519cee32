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

LOCK = f".local/state/ciphermark/lock-{os.uname().nodename}"
WAITS = "Another agent is measuring this machine; waiting up to 60 min."


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / LOCK
    path.parent.mkdir(parents=True)
    path.touch(0o600)
    return path


@contextmanager
def held(lock: Path, how: int = 0) -> Iterator[None]:
    descriptor = os.open(lock, os.O_RDWR if lock.is_file() else os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | how)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def waiting_agent(home: Path, output: Path) -> Iterator["subprocess.Popen[str]"]:
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


def test_ctrl_c_ends_the_wait(tmp_path: Path, lock: Path) -> None:
    with held(lock), waiting_agent(tmp_path, tmp_path / "run.json") as child:
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) == 128 + signal.SIGINT


def test_a_wait_without_end_is_given_up(run_agent: RunAgent, lock: Path) -> None:
    with held(lock):
        done = run_agent("run", *QUICK_RUN, before="agent.LOCK_SECONDS = 0.3")
    assert done.code == 3
    assert done.err.endswith(
        "another agent has been measuring for 0.005 min; nothing was measured\n"
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


def test_no_other_account_can_open_the_lock(run_agent: RunAgent, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    with held(tmp_path / "temporary"):  # any account can lock /tmp
        assert run_agent("run", *QUICK_RUN).code == 0
    lock = tmp_path / LOCK
    assert (lock.parent.stat().st_mode & 0o777, lock.stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_folder_that_others_can_write_is_not_used(run_agent: RunAgent, lock: Path) -> None:
    with held(lock):
        lock.parent.chmod(0o777)
        assert run_agent("run", *QUICK_RUN).code == 0


def test_what_only_looks_does_not_wait(run_agent: RunAgent, lock: Path) -> None:
    with held(lock):
        assert run_agent("run", "--dry-run").code == 0
