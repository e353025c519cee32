import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from cipherspeed.validation import validate_run_document
from tests.agent.forked import Finished
from tests.agent.running import (
    AGENT,
    ONCE,
    STAND_IN,
    RunAgent,
    agent_environment,
    finished,
    sound,
)
from tests.agent.test_ending import ENDLESS, name_of, running_agent, stragglers, transfer_of


def versions_found() -> list[str]:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = {}
    for path in root.glob("versions/3.*/bin/python3"):
        match = re.match(r"3\.(\d+)\.", path.parents[1].name)
        if match and int(match.group(1)) >= 6:
            found[int(match.group(1))] = str(path)
    found.setdefault(sys.version_info.minor, sys.executable)
    return [found[minor] for minor in sorted(found)]


FOUND = versions_found()
OLDEST_AND_NEWEST = sorted({FOUND[0], FOUND[-1]})


def run_on(python: str, home: Path, *words: str) -> Finished:
    return finished((python, "-W", "error", str(AGENT), *words), agent_environment(home))


@pytest.mark.parametrize("python", OLDEST_AND_NEWEST)
def test_the_oldest_and_the_newest_python_measure_openssl(python: str, tmp_path: Path) -> None:
    words = ("run", "--tools", "openssl", "--openssl", STAND_IN, "--thorough", "--wait", "0")
    done = run_on(python, tmp_path, *words, "--ciphers", "rc4,aes-128-gcm")
    assert sound(done)["measurements"]
    assert "rc4" in done.err
    dry = run_on(python, tmp_path, "run", "--dry-run", "--target", "far", "--macs", "hmac-md5")
    assert dry.code == 0, dry.err
    assert run_on(python, tmp_path, "schedule").code == 0


@pytest.mark.parametrize("python", OLDEST_AND_NEWEST)
def test_the_oldest_and_the_newest_python_measure_ssh(
    python: str, tmp_path: Path, sshd_option: tuple[str, str]
) -> None:
    words = ("run", *sshd_option, "--tools", "ssh", "--ciphers", "aes128-ctr", "--tries", "1")
    document = sound(run_on(python, tmp_path, *words, "--seconds", "0.1", "--wait", "0"))
    assert {measurement["method"] for measurement in document["measurements"]} == {
        "pipeline",
        "steady",
    }
    assert list((tmp_path / "temporary").iterdir()) == []


BARE = (
    "known = agent.read_text\n"
    "hidden = ('/proc', '/sys', '/etc', '/var', '/usr/lib/os-release')\n"
    "agent.read_text = lambda path: None if path.startswith(hidden) else known(path)\n"
    "agent.PRCTL = None\n"
)


def test_a_container_without_proc_gives_nulls_and_figures(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    done = run_agent(
        "run", "--openssl", STAND_IN, "--ciphers", "rc4", "--tries", "1",
        before=BARE + "agent.SSHD_PLACES = ()", env={"PATH": str(tmp_path / "nothing")},
    )  # fmt: skip
    document = sound(done)
    cpu = document["environment"]["cpu"]
    assert cpu["model"] is cpu["flags"] is cpu["governor"] is None
    assert document["host"]["machine_id"] is None
    samples = [sample for series in document["measurements"] for sample in series["samples"]]
    assert all(sample["foreign_cpu"] is None for sample in samples)


# A second transfer would take another minute to time out.
GIVEN_UP = "agent.MOST_FAILURES = 1"


def test_an_sshd_killed_in_the_middle_costs_its_cipher_only(tmp_path: Path, sshd: str) -> None:
    path = tmp_path / "run.json"
    words = ["--sshd", sshd, "--tools", "ssh", "--ciphers", "3des-cbc,aes128-ctr", "--tries", "1"]
    words += ["--seconds", "0.1", "--output", str(path)]
    with running_agent(tmp_path, *words, before=f"{ONCE}{ENDLESS}{GIVEN_UP}") as child:
        processes = transfer_of(child)
        for process in processes:
            if name_of(process) == "sshd":
                with suppress(psutil.NoSuchProcess):  # it ended with its parent
                    process.send_signal(signal.SIGKILL)
        assert child.wait(timeout=120) == 0
        assert stragglers(processes) == []
    document = json.loads(path.read_text())
    assert validate_run_document(document) == []
    assert {measurement["cipher"] for measurement in document["measurements"]} == {"aes128-ctr"}
    assert [entry["cipher"] for entry in document["skipped"]] == ["3des-cbc"]


HANGING = """
import sys, time
sys.path.insert(0, sys.argv[1])
from ciphermark_agent.children import run_tool
began = time.monotonic()
status = run_tool(["sh", "-c", "sleep 20 & wait"], timeout=0.5).status
print(status, time.monotonic() - began < 10)
"""


@pytest.mark.parametrize("python", OLDEST_AND_NEWEST)
def test_a_tool_that_hangs_with_a_child_of_its_own_is_given_up_in_time(python: str) -> None:
    command = (python, "-c", HANGING, str(AGENT))
    assert subprocess.check_output(command, text=True, timeout=60) == "124 True\n"
