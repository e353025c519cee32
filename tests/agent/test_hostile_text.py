"""Escape sequences in files and answers never reach the terminal."""

import json
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.agent.running import PROJECT
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202e\u2066"

KEPT = {"schema", "tool", "method", "acceleration", "operation"}
"""Members whose values `show` goes by."""


def hostile(value: Any, name: str = "") -> Any:
    """The value with every text in it replaced."""
    if isinstance(value, dict):
        return {key: hostile(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [hostile(inner, name) for inner in value]
    return value if not isinstance(value, str) or name in KEPT else f"{name}{HOSTILE}"


def document() -> dict[str, Any]:
    ssh = ssh_measurement("aes128-ctr", 1e8, mac="m", target={"kind": "remote", "name": "n"})
    skipped = [{"tool": "ssh", "cipher": "arcfour", "reason": "why"}]
    made: dict[str, Any] = hostile(
        run_document(ssh, openssl_measurement("aes-128-gcm", 1e9), skipped=skipped)
    )
    return made


IMPATIENT = """
import sys; sys.path[:0] = [".", "agent"]
from tests.agent import whole as agent
agent.RETRY_DELAYS = (0.05,)
sys.exit(agent.main(sys.argv[1:]))
"""


def agent(*words: str | Path, home: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", IMPATIENT, *words],
        cwd=PROJECT,
        env={"HOME": str(home), "CIPHERMARK_TOKEN": "cmk_x", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )


def assert_harmless(text: str) -> None:
    assert text
    bad = {char for char in text if char != "\n" and not char.isprintable()}
    assert not bad, text


def test_show_prints_none_of_it(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(document()))
    shown = agent("show", tmp_path / "run.json", home=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "]0;owned" in shown.stdout
    assert_harmless(shown.stdout)


@contextmanager
def server(answer: bytes) -> Iterator[str]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.request.recv(1_000_000)
            self.wfile.write(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


ERRORS = json.dumps({"errors": [{"code": HOSTILE, "detail": HOSTILE, "attr": HOSTILE}]}).encode()
LINES = HOSTILE.replace("\r", "").encode("utf-8")


@pytest.mark.parametrize(
    "answer",
    (
        b"HTTP/1.0 302 Found\r\nLocation: http://x/\x1b]0;owned\x07\x1b[2J\r\n\r\n",
        b"HTTP/1.0 400 Bad\r\nContent-Type: application/json\r\n\r\n" + ERRORS,
        b"HTTP/1.0 401 " + LINES + b"\r\n\r\n" + LINES,
        LINES + b"\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n{}",
    ),
)
def test_upload_prints_none_of_what_a_server_answers(answer: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(document()))
    with server(answer) as url:
        sent = agent("upload", "-v", tmp_path / "run.json", "--server", url, home=tmp_path)
    assert "usage:" not in sent.stderr
    assert_harmless(sent.stdout + sent.stderr)


def test_what_cannot_be_read_is_named_harmlessly(tmp_path: Path) -> None:
    path = tmp_path / "\x1b[2Jrun.json"
    path.write_text("{" + HOSTILE)
    nowhere = ("--server", "http://127.0.0.1:1")
    for words in (("show", path), ("show", path.with_name("\x1bx")), ("upload", path, *nowhere)):
        told = agent(*words, home=tmp_path)
        assert_harmless(told.stdout + told.stderr)


TOOL = """#!/bin/sh
# Whatever is asked of it: a hostile answer, also where a banner of another host would be.
printf '{0}\\naes128-ctr\\n{0}\\n'
printf 'OpenSSH_9.2{0}\\n{0}\\n' >&2
exit "${{1:+255}}"
""".format("".join(f"\\{byte:03o}" for byte in HOSTILE.replace("\r", "").encode()))


@pytest.mark.parametrize("mode", ("plain", "json"))
def test_a_run_prints_none_of_what_tools_and_other_hosts_say(mode: str, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    for kind in (("ssh", "--target", "nas"), ("ssh", "--sshd", tool), ("openssl",)):
        paths = ("--ssh", tool, "--openssl", tool, "--tools", *kind)
        ended = agent(
            "run", "-v", "--quick", *paths, "--progress", mode, "--wait", "0", home=tmp_path
        )
        assert "usage:" not in ended.stderr
        assert_harmless(ended.stderr)
        assert not ended.stdout or json.loads(ended.stdout)
