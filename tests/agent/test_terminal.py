"""What a person at a terminal sees: tables, one sentence for each mistake, the host's name."""

import ast
import json
import os
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.agent import whole as agent
from tests.agent.canned_server import Serve, http_answer
from tests.agent.running import (
    AGENT,
    ONE_CIPHER,
    PACKAGE,
    RunAgent,
    agent_command,
    agent_environment,
)


def at_a_terminal(home: Path, *words: str) -> str:
    """Standard output of a run, a terminal."""
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
    command = agent_command([*ONE_CIPHER, *words])
    subprocess.run(
        command, stdout=slave, env=agent_environment(home), check=True, timeout=60, cwd=home
    )
    os.close(slave)
    reader.join(30)
    os.close(master)
    return b"".join(read).decode()


def test_a_run_at_a_terminal_prints_tables_and_no_json(tmp_path: Path) -> None:
    said = at_a_terminal(tmp_path)
    assert "openssl speed, MB/s: median" in said
    assert "rc4" in said
    assert "--output FILE keeps the run" in said
    assert "{" not in said
    assert len(said.splitlines()) < 20


def test_a_dash_at_a_terminal_prints_json(tmp_path: Path) -> None:
    said = at_a_terminal(tmp_path, "--output", "-")
    assert json.loads(said)["measurements"]


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
        assert change == BROKEN[0]  # no measurement is a table without rows
        return
    assert done.code == 2
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    assert f"{path} is broken" in done.err


NO_JSON, NO_RUN = "is not JSON", f"is not a run document ({agent.SCHEMA}, with a run_id)"


@pytest.mark.parametrize(
    ("text", "words"),
    (
        ("[" * 100_000, NO_JSON),
        ('{"a":' * 100_000, NO_JSON),
        ("\udc80", NO_JSON),
        ("{", NO_JSON),
        ("nul\0", NO_JSON),
        ("", NO_JSON),
        ("[]", NO_RUN),
        ("{}", NO_RUN),
        ('{"schema": "ciphermark/run/1"}', NO_RUN),
    ),
)
def test_show_of_something_else_is_one_sentence(
    run_agent: RunAgent, tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    done = run_agent("show", str(path))
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert f"{path} {words}" in done.err


@pytest.mark.parametrize(
    ("host", "told"),
    (
        ({"name": "old"}, "the server lists this machine as old, not as new: "),
        ({"name": "new"}, ""),
        ({}, ""),
        (None, ""),
        ("old", ""),
        ({"name": "\x1b[2Jold"}, "lists this machine as ?[2Jold, not as new"),
    ),
)
def test_a_name_that_the_server_does_not_follow_is_told(
    run_agent: RunAgent, serve: Serve, host: object, told: str
) -> None:
    server = serve(http_answer(202, {"run_id": "RUN_ID", "host": host}))
    done = run_agent(*ONE_CIPHER, "--name", "new", "--server", server.url, "--token", "x")
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    assert ("lists this machine" in done.out) == bool(told)
    assert told in done.out


@pytest.mark.parametrize(("name", "named"), (("nas", True), (None, False)))
def test_the_document_says_whether_the_name_was_given(
    run_agent: RunAgent, name: str | None, named: bool
) -> None:
    """The server tells a wanted name from one that a machine happens to have."""
    done = run_agent(*ONE_CIPHER, *(("--name", name) if name else ()))
    assert json.loads(done.out)["host"]["named"] is named


def old_pythons() -> list[str]:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return [str(path) for path in root.glob("versions/2.*/bin/python")]


@pytest.mark.parametrize("start", (AGENT, PACKAGE), ids=("one file", "folder"))
def test_an_old_python_says_what_is_needed(start: Path) -> None:
    sentence = r"Ciphermark's agent needs Python 3\.6 or newer; this is 2\.\d\.\n"
    for python in old_pythons():
        done = subprocess.run((python, str(start)), capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert re.fullmatch(sentence, done.stderr)


def test_what_starts_first_has_the_syntax_of_every_python() -> None:
    """There may be no Python 2 here to try it."""
    for name in ("__init__", "__main__"):
        for node in ast.walk(ast.parse((PACKAGE / f"{name}.py").read_text())):
            newer = ast.AnnAssign | ast.JoinedStr | ast.Starred | ast.Nonlocal | ast.YieldFrom
            assert not isinstance(node, newer), ast.dump(node)
            if isinstance(node, ast.FunctionDef):
                assert node.returns is None
                assert not node.args.kwonlyargs
                assert not any(one.annotation for one in node.args.args)
