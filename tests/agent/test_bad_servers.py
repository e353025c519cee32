import json
from pathlib import Path

import pytest

from tests.agent.canned_server import ACCEPTED, Serve, http_answer
from tests.agent.running import ONE_CIPHER, TOKEN, RunAgent, spool
from tests.launch.tools import within

# Make three attempts without delay, whatever the timeout of a response.
QUICK = "agent.RETRY_DELAYS = (0.01, 0.01); agent.EXCHANGE_SECONDS = agent.CHECK_SECONDS = "
PATIENT, HASTY = QUICK + "120.0", QUICK + "0.5"
NEVER = 3600.0


@pytest.mark.parametrize(
    ("answer", "delay", "patience", "words"),
    (
        (b"", 0.0, PATIENT, "Remote end closed connection"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", 0.0, PATIENT, "no valid response"),
        (b"HTTP/1.1 xyz Acc", 0.0, PATIENT, "no valid response"),
        (ACCEPTED, NEVER, HASTY, "timed out after 0.5 s"),
    ),
    ids=("hangs up", "garbage", "half an answer", "too slow"),
)
def test_a_run_that_such_a_server_does_not_take_is_kept(
    run_agent: RunAgent,
    serve: Serve,
    tmp_path: Path,
    answer: bytes,
    delay: float,
    patience: str,
    words: str,
) -> None:
    server = serve(answer, delay=delay)
    url = server.url
    done = run_agent(*ONE_CIPHER, "--server", url, before=patience, env=TOKEN)
    assert done.code == 1
    assert words in done.err
    assert within(60, lambda: len(server.asked) == 4)  # the last request may arrive later
    assert server.asked == [b"GET", b"POST", b"POST", b"POST"]
    (kept,) = spool(tmp_path).iterdir()
    assert json.loads(kept.read_text())["measurements"]
    assert f"upload --server {url}" in done.err
    assert "Traceback" not in done.err


WRONG_TOKEN = "the token is unknown, expired or revoked"


@pytest.mark.parametrize(
    ("answer", "words"),
    (
        (http_answer(401, {}), WRONG_TOKEN),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<html>welcome</html>", "sign-in page"),
    ),
    ids=("wrong token", "portal"),
)
def test_a_refusal_is_told_before_the_measurement_and_the_run_is_kept(
    run_agent: RunAgent, serve: Serve, tmp_path: Path, answer: bytes, words: str
) -> None:
    server = serve(answer)
    done = run_agent(*ONE_CIPHER, "--server", server.url, before=PATIENT, env=TOKEN)
    assert done.code == 1
    before, after = done.err.split("Measuring anyway; the run will be saved")
    assert words in before
    assert words in after
    start_again = f"Press Ctrl-C and start again with a token from {server.url}/tokens/"
    assert (start_again in before) is (words == WRONG_TOKEN)
    assert server.asked == [b"GET", b"POST"]
    (kept,) = spool(tmp_path).iterdir()
    assert json.loads(kept.read_text())["measurements"]


def test_one_bad_file_does_not_hold_back_the_others(
    run_agent: RunAgent, serve: Serve, tmp_path: Path
) -> None:
    server = serve(ACCEPTED)
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text('{"schema": "ciphermark/run/1", "run_id": "x"}')
    bad.write_text("half a docum")
    done = run_agent("upload", str(bad), str(good), "--server", server.url, env=TOKEN)
    assert done.code == 2
    assert f"{bad} is not JSON" in done.err
    assert f"{good}: uploaded" in done.out
