import json
from pathlib import Path
from typing import Any

import pytest

from tests.agent.canned_server import Serve
from tests.agent.running import RunAgent
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202e\u2066"

# The values of these members control the output of `show`.
KEPT = {"schema", "tool", "method", "acceleration", "operation"}


def hostile(value: Any, name: str = "") -> Any:
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


IMPATIENT = "agent.RETRY_DELAYS = (0.05,)"
NOWHERE = ("--server", "http://127.0.0.1:1", "--token", "cmk_x")


def assert_harmless(text: str) -> None:
    assert text
    bad = {char for char in text if char != "\n" and not char.isprintable()}
    assert not bad, text


def test_show_prints_none_of_it(run_agent: RunAgent, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(document()))
    shown = run_agent("show", str(tmp_path / "run.json"))
    assert shown.code == 0, shown.err
    assert "]0;owned" in shown.out
    assert_harmless(shown.out)


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
def test_upload_prints_none_of_what_a_server_answers(
    run_agent: RunAgent, serve: Serve, answer: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document()))
    words = ("upload", "-v", str(path), "--server", serve(answer).url, "--token", "cmk_x")
    sent = run_agent(*words, before=IMPATIENT)
    assert "usage:" not in sent.err
    assert_harmless(sent.out + sent.err)


def test_what_cannot_be_read_is_named_harmlessly(run_agent: RunAgent, tmp_path: Path) -> None:
    path = tmp_path / "\x1b[2Jrun.json"
    path.write_text("{" + HOSTILE)
    for words in (("show", path), ("show", path.with_name("\x1bx")), ("upload", path, *NOWHERE)):
        told = run_agent(*map(str, words))
        assert_harmless(told.out + told.err)


TOOL = """#!/bin/sh
# Whatever is asked of it: a hostile answer, also where a banner of another host would be.
printf '{0}\\naes128-ctr\\n{0}\\n'
printf 'OpenSSH_9.2{0}\\n{0}\\n' >&2
exit "${{1:+255}}"
""".format("".join(f"\\{byte:03o}" for byte in HOSTILE.replace("\r", "").encode()))


@pytest.mark.parametrize("mode", ("plain", "json"))
def test_a_run_prints_none_of_what_tools_and_other_hosts_say(
    run_agent: RunAgent, mode: str, tmp_path: Path
) -> None:
    tool = tmp_path / "tool"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    for kind in (("ssh", "--target", "nas"), ("ssh", "--sshd", str(tool)), ("openssl",)):
        paths = ("--ssh", str(tool), "--openssl", str(tool), "--tools", *kind)
        ended = run_agent("run", "-v", "--quick", *paths, "--progress", mode)
        assert "usage:" not in ended.err
        assert_harmless(ended.err)
        assert not ended.out or json.loads(ended.out)
