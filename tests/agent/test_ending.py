import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from cipherspeed.validation import validate_run_document
from tests.agent.running import ONCE, RunAgent, spool, started

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


# The first transfer of 3des-cbc runs until the test stops the agent.
ENDLESS = """
known = agent.pilot_mib
agent.pilot_mib = lambda channel, *words: (
    agent.PIPELINE_MAX_MIB if channel.cipher == "3des-cbc" else known(channel, *words)
)
agent.TRY_SECONDS = 3600.0
"""


@contextmanager
def running_agent(
    home: Path, *arguments: str, before: str = ENDLESS
) -> Iterator["subprocess.Popen[str]"]:
    with started(
        home,
        ("run", *arguments),
        before,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Also test SIGHUP if the tests run under nohup.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    ) as child:
        yield child


def transfer_of(child: "subprocess.Popen[str]") -> list[psutil.Process]:
    """Wait until a transfer runs. Return all descendant processes of the agent."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        found = psutil.Process(child.pid).children(recursive=True)
        if {"ssh", "sshd", "dd"} <= {name_of(process) for process in found}:
            return found
        time.sleep(0.01)
    raise AssertionError("no transfer began within 120 s")


def name_of(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""


def stragglers(processes: list[psutil.Process]) -> list[psutil.Process]:
    return list(psutil.wait_procs(processes, timeout=30)[1])


def arguments(sshd: str) -> tuple[str, ...]:
    return ("--sshd", sshd, "--tools", "ssh", "--ciphers", "3des-cbc")


@pytest.mark.parametrize("signum", SIGNALS)
def test_a_signal_ends_everything_and_removes_the_folder(
    tmp_path: Path, sshd: str, signum: signal.Signals
) -> None:
    with running_agent(tmp_path, *arguments(sshd)) as child:
        processes = transfer_of(child)
        child.send_signal(signum)
        assert child.wait(timeout=60) == 128 + signum
        assert stragglers(processes) == []
    assert list((tmp_path / "temporary").iterdir()) == []


# Interrupt the agent in the second round, however fast the host is.
INTERRUPTED = """
import os, signal
step, window = agent.Progress.step, agent.steady_window
def said(progress, label, seconds):
    said.label = label
    step(progress, label, seconds)
def interrupted(*words):
    if "round 2 of 3" in said.label:
        os.kill(os.getpid(), signal.SIGINT)
    return window(*words)
agent.Progress.step, agent.steady_window = said, interrupted
"""


def test_an_interrupted_run_keeps_what_it_has_measured(
    run_agent: RunAgent, tmp_path: Path, sshd: str
) -> None:
    # In the second round, each ssh method has a try and openssl has none.
    words = ("run", "--sshd", sshd, "--ciphers", "aes128-ctr,rc4", "--seconds", "0.2")
    done = run_agent(*words, before=ONCE + INTERRUPTED)
    assert done.code == 1, done.err
    (kept,) = spool(tmp_path).iterdir()
    assert str(kept) in done.err
    document = json.loads(kept.read_text())
    assert validate_run_document(document) == []
    assert {measurement["method"] for measurement in document["measurements"]} == {
        "steady",
        "pipeline",
    }
    assert "interrupted" in [entry["code"] for entry in document["conditions"]]
    not_reached = {"tool": "openssl", "cipher": "rc4", "reason": "not tried: interrupted"}
    assert document["skipped"] == [not_reached]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_kill_9_leaves_no_process_and_the_next_run_removes_the_folder(
    tmp_path: Path, sshd: str
) -> None:
    with running_agent(tmp_path, *arguments(sshd)) as child:
        processes = transfer_of(child)
        child.kill()
        child.wait()
        assert stragglers(processes) == []
    left = [path for path in (tmp_path / "temporary").iterdir() if path.is_dir()]
    assert len(left) == 1
    with running_agent(tmp_path, *arguments(sshd)) as child:
        processes = transfer_of(child)
        assert left[0] not in list((tmp_path / "temporary").iterdir())
        child.terminate()
        child.wait(timeout=60)
        assert stragglers(processes) == []
    assert list((tmp_path / "temporary").iterdir()) == []
