import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.agent.canned_server import ACCEPTED, Serve, http_answer
from tests.agent.running import AGENT, ONE_CIPHER, TOKEN, RunAgent, agent_environment, spool

ONCE = "agent.RETRY_DELAYS = ()"
ACCEPTED_STATUS = b"HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"


@pytest.fixture
def spooled(tmp_path: Path) -> Path:
    path = spool(tmp_path) / "run-0b8f3c1e.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"schema": "ciphermark/run/1", "run_id": "0b8f3c1e"}')
    return path


@pytest.mark.parametrize(
    "body",
    (
        b"<html><body>Please sign in to the hotel's network.</body></html>",
        b"",
        b"{}",
        b"null",
        b'["RUN_ID"]',
        b'{"run_id": null}',
        b'{"run_id": "6f0e7a0c-8f0d-4b8a-9d27-3a6c5b1e2f3d"}',
        b'{"run_id": "RUN_I',
        b"[" * 200_000,  # nested too deeply to parse
    ),
)
def test_an_answer_that_does_not_name_this_run_is_no_receipt(
    run_agent: RunAgent, serve: Serve, spooled: Path, body: bytes
) -> None:
    server = serve((ACCEPTED_STATUS if b"RUN_ID" in body else OK) + body)
    done = run_agent("upload", "--server", server.url, before=ONCE, env=TOKEN)
    assert done.code == 1
    assert "check for a proxy or sign-in page" in done.err
    assert spooled.exists()


def test_the_printed_command_sends_the_file_that_was_kept(
    run_agent: RunAgent, serve: Serve, tmp_path: Path
) -> None:
    server = serve(http_answer(503, {}))
    env = agent_environment(tmp_path, TOKEN)
    words = [*ONE_CIPHER, "--wait", "0", "--server", server.url]
    before = f"{ONCE}; sys.argv[0] = {str(AGENT)!r}"
    done = run_agent(*words, before=before, env=env)
    assert done.code == 1
    found = re.search(r"saved in (.+)\nTo upload it, run: (.+)\n", done.err)
    assert found is not None, done.err
    kept, command = Path(found[1]), found[2]
    run_id = json.loads(kept.read_text())["run_id"]
    server.answers = [ACCEPTED]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    sent = subprocess.run(
        ("/bin/sh", "-c", command),
        cwd=elsewhere,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert sent.returncode == 0, sent.stderr
    assert server.requests[-1].document["run_id"] == run_id
    assert not kept.exists()
    assert shlex.split(command)[-1] == str(kept)


REFUSAL = {"type": "validation_error", "errors": [{"code": "x", "attr": "measurements.3"}]}


@pytest.mark.parametrize("status", (400, 409, 413))
def test_a_refused_run_waits_no_longer(
    run_agent: RunAgent, serve: Serve, spooled: Path, tmp_path: Path, status: int
) -> None:
    server = serve(http_answer(status, REFUSAL))
    text = spooled.read_text()
    done = run_agent("upload", "--server", server.url, env=TOKEN)
    assert done.code == 1
    (moved,) = spool(tmp_path).iterdir()
    assert moved.name == f"{spooled.name}.rejected"
    assert moved.read_text() == text
    assert str(moved) in done.err
    assert run_agent("upload", "--server", server.url, env=TOKEN).out.startswith(
        "Nothing to upload"
    )


@pytest.mark.parametrize(
    ("status", "words"),
    (
        (401, "token is unknown, expired or revoked"),
        (403, "does not permit uploads"),
        (404, "no Ciphermark server found at"),
        (409, "another run with the same run_id"),
        (413, "exceeds the server's size limit"),
        (500, "status 500"),
    ),
)
def test_a_run_that_may_be_taken_later_stays_in_the_spool(
    run_agent: RunAgent, serve: Serve, spooled: Path, status: int, words: str
) -> None:
    server = serve(http_answer(status, {}))
    twice = "agent.RETRY_DELAYS = (0.01,)"
    done = run_agent("upload", "--server", server.url, before=twice, env=TOKEN)
    assert done.code == 1
    assert words in done.err
    assert len(server.asked) == (2 if status >= 500 else 1)
    assert spooled.exists()
