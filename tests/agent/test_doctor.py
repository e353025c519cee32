"""`doctor` tries what it says."""

import json
import re
from pathlib import Path

import pytest

from tests.agent.canned_server import ACCEPTED, Serve, http_answer
from tests.agent.running import RunAgent, configure

NO_SSHD = "agent.SSHD_PLACES = ()"


def test_a_complete_machine_is_all_able(
    run_agent: RunAgent, sshd_option: tuple[str, str], tmp_path: Path
) -> None:
    done = run_agent("doctor", *sshd_option)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    for words in ("ssh to a private sshd: ", "sshd: ", "openssl: ", "spool: "):
        assert any(line.startswith("yes  " + words) for line in lines), (words, done.out)
    assert re.search(r"yes  ssh to a private sshd: \d+ ciphers", done.out)
    assert list((tmp_path / "temporary").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]  # it only looks


def test_a_bare_machine_is_told_what_would_help_and_programs_too(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    done = run_agent("doctor", before=NO_SSHD, env={"PATH": str(tmp_path)})
    assert done.code == 3
    assert "no   ssh: not found in PATH" in done.out
    assert "to do: install openssh-server" in done.out
    assert "to do: install openssl" in done.out
    assert "Traceback" not in done.err
    done = run_agent("doctor", "--json", before=NO_SSHD, env={"PATH": str(tmp_path)})
    assert done.code == 3
    told = json.loads(done.out)
    assert told["measures"] is False
    facts = {"able": False, "detail": "not found in PATH", "remedy": "install openssl"}
    assert {"name": "openssl", **facts} in told["findings"]


@pytest.mark.parametrize(
    ("answer", "able", "said"),
    (
        (ACCEPTED, True, "http://127.0.0.1:"),
        (http_answer(401, {}), False, "answered 401: the server does not know this token"),
    ),
)
def test_the_server_is_asked_whether_it_would_take_a_run(
    run_agent: RunAgent, serve: Serve, tmp_path: Path, answer: bytes, able: bool, said: str
) -> None:
    configure(tmp_path, f"server = {serve(answer).url}\ntoken = cmk_x")
    done = run_agent("doctor", "--json", before=NO_SSHD, env={"PATH": ""})
    findings = json.loads(done.out)["findings"]
    (found,) = (one for one in findings if one["name"] == "upload")
    assert found["able"] is able
    assert bool(found["remedy"]) is not able
    assert {one["remedy"] for one in findings if one["able"]} == {""}
    assert said in found["detail"]
    assert "cmk_x" not in done.out
