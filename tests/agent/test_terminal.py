import json
import os
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.agent import whole as agent
from tests.agent.running import (
    AGENT,
    ONE_CIPHER,
    PACKAGE,
    RunAgent,
    agent_command,
    agent_environment,
)


def at_a_terminal(home: Path, before: str = "") -> str:
    master, slave = os.openpty()
    read: list[bytes] = []

    def keep() -> None:
        while True:
            try:
                read.append(os.read(master, 65536))
            except OSError:
                return  # the other side is closed

    reader = threading.Thread(target=keep, daemon=True)
    reader.start()
    command = agent_command(ONE_CIPHER, before)
    subprocess.run(
        command, stdout=slave, env=agent_environment(home), check=True, timeout=60, cwd=home
    )
    os.close(slave)
    reader.join(30)
    os.close(master)
    return b"".join(read).decode()


def test_a_run_at_a_terminal_prints_tables_and_no_json(tmp_path: Path) -> None:
    said = at_a_terminal(tmp_path)
    assert "MB/s: median (range)" in said
    assert "rc4" in said
    assert "{" not in said
    assert len(said.splitlines()) < 20
    (path,) = tmp_path.glob("ciphermark-*.json")
    assert f"Run saved in {path.name}." in said
    assert json.loads(path.read_text())["measurements"]
    read_only = (
        "import os\nknown = os.access\n"
        "os.access = lambda path, mode: path != '.' and known(path, mode)"
    )
    said = at_a_terminal(tmp_path, read_only)
    (path,) = (tmp_path / ".local/state/ciphermark").glob("ciphermark-*.json")
    assert f"Run saved in {path}." in said


def measured(tool: str, cipher: str, rates: tuple[float, ...], **facts: Any) -> dict[str, Any]:
    samples = [{"bytes": rate, "seconds": 1.0} for rate in rates]
    return {"tool": tool, "cipher": cipher, "samples": samples, **facts}


GCM, CHACHA = "aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com"


@pytest.mark.parametrize(
    ("fast", "words"),
    (
        (900e6, f"{GCM} is 200 % faster than the default, {CHACHA}."),
        (301e6, f"The default, {CHACHA}, is as fast as {GCM}. No change is needed."),
    ),
)
def test_show_has_ssh_beside_openssl_and_the_recommended_line(
    run_agent: RunAgent, tmp_path: Path, fast: float, words: str
) -> None:
    document = {
        "schema": agent.SCHEMA, "run_id": "x", "host": {"name": "nas"}, "started_at": "now",
        "environment": {"cpu": {"model": "x"}, "openssh": {"default_cipher": CHACHA}},
        "measurements": [
            measured("ssh", GCM, (fast, fast), method="pipeline"),
            measured("ssh", CHACHA, (300e6,), method="pipeline"),
            measured("ssh", "aes128-cbc", (2000e6,), method="pipeline"),
            measured("openssl", "aes-128-gcm", (4e9,), block_size=16384),
            measured("openssl", "aes-128-gcm", (3e9,), block_size=8192),
            measured("openssl", "rc4", (7e8,), block_size=16384),
        ],
    }  # fmt: skip
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document))
    lines = run_agent("show", str(path)).out.splitlines()
    (row,) = (line for line in lines if line.startswith(GCM))
    assert row.endswith("4000 (4000-4000)")
    assert any(line.startswith("rc4 ") and line.endswith("700 (700-700)") for line in lines)
    assert f"Recommended for ssh_config: Ciphers {GCM},{CHACHA}" in lines
    assert f"  {words}" in lines


BROKEN: tuple[Any, ...] = (
    {"measurements": []},
    {"host": {}, "environment": {"cpu": None}, "measurements": {}, "started_at": 0},
    {"measurements": [{"tool": "ssh", "cipher": "x", "samples": []}]},
    {"measurements": [{"tool": "ssh", "cipher": 5, "samples": [{"bytes": 1, "seconds": 0}]}]},
    {"measurements": [{"tool": "openssl", "cipher": "x", "samples": [{"bytes": "1"}]}]},
    {"measurements": [], "conditions": [{"code": None}]},
    {"measurements": [], "skipped": [7]},
)


@pytest.mark.parametrize("change", BROKEN)
def test_show_of_a_broken_file_is_one_sentence(
    run_agent: RunAgent, tmp_path: Path, change: dict[str, Any]
) -> None:
    whole = {
        "schema": agent.SCHEMA, "run_id": "x", "host": {"name": "nas"}, "started_at": "now",
        "environment": {"cpu": {"model": "x"}},
    }  # fmt: skip
    path = tmp_path / "run.json"
    path.write_text(json.dumps({**whole, **change}))
    done = run_agent("show", str(path))
    if done.code == 0:
        assert change == BROKEN[0]  # without measurements, the table has no rows
        return
    assert done.code == 2
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    assert f"{path} is not a valid run" in done.err


def old_pythons() -> list[str]:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return [str(path) for path in root.glob("versions/2.*/bin/python")]


@pytest.mark.parametrize("start", (AGENT, PACKAGE), ids=("one file", "folder"))
def test_an_old_python_says_what_is_needed(start: Path) -> None:
    sentence = r"The Ciphermark agent requires Python 3\.6 or later; this is Python 2\.\d\.\n"
    for python in old_pythons():
        done = subprocess.run((python, str(start)), capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert re.fullmatch(sentence, done.stderr)
