import json
import os
import ssl
import subprocess
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.agent import whole as agent
from tests.agent.canned_server import Serve, Server, http_answer
from tests.agent.running import (
    ONCE,
    ONE_CIPHER,
    STAND_IN,
    RunAgent,
    agent_command,
    agent_environment,
    configure,
    spool,
)

TOKEN = f"cmk_secret_{uuid4().hex}"  # unique on this machine
FAST = "agent.RETRY_DELAYS = (0.01, 0.01, 0.01)"
ACCEPTED = http_answer(202, {"status": "accepted", "run_id": "RUN_ID"})


@pytest.fixture
def saved_run(tmp_path: Path) -> Path:
    path = tmp_path / "saved.json"
    document = {"schema": agent.SCHEMA, "run_id": "0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d6e"}
    path.write_text(json.dumps(document))
    return path


def send(run_agent: RunAgent, site: Server, path: Path) -> Any:
    env = {"CIPHERMARK_TOKEN": TOKEN}
    return run_agent("upload", str(path), "--server", site.url + "/", before=FAST, env=env)


def test_an_accepted_run_is_told_the_address_of_its_page(
    run_agent: RunAgent, serve: Serve, saved_run: Path
) -> None:
    site = serve(ACCEPTED)
    done = send(run_agent, site, saved_run)
    assert done.code == 0
    assert f"uploaded: {site.url}/runs/0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d6e/" in done.out
    (request,) = site.requests
    assert request.path == "/api/v1/runs/"
    assert request.authorization == "Bearer " + TOKEN
    assert request.document == json.loads(saved_run.read_text())


def test_a_newer_agent_on_the_server_is_told_in_one_line(
    run_agent: RunAgent, serve: Serve, saved_run: Path
) -> None:
    site = serve(http_answer(202, {"run_id": "RUN_ID", "newer_agent": "9.1\x1b[2J"}))
    done = send(run_agent, site, saved_run)
    assert done.code == 0
    (line,) = [text for text in done.out.splitlines() if "is available" in text]
    assert line.startswith("agent 9.1")
    assert line.endswith(f"curl -fsO {site.url}/agent.py")
    assert "\x1b" not in line


@pytest.mark.parametrize(
    "first",
    (
        http_answer(503, {}),
        http_answer(500, "garbage"),
        http_answer(429, {}, {"Retry-After": "0"}),
        http_answer(503, {}, {"Retry-After": "0"}),
        http_answer(503, {}, {"Retry-After": "\xb2"}),
    ),
)
def test_passing_faults_are_tried_again_with_the_same_run_id(
    run_agent: RunAgent, serve: Serve, saved_run: Path, first: bytes
) -> None:
    site = serve(first, ACCEPTED)
    assert send(run_agent, site, saved_run).code == 0
    assert len({request.document["run_id"] for request in site.requests}) == 1
    assert len(site.requests) == 2


def test_what_the_server_asks_to_wait_is_waited() -> None:
    assert agent.pause(agent.Answer(429, "", "7"), 0.5) == 7.0
    assert agent.pause(agent.Answer(429, "", "86400"), 0.5) == agent.RETRY_AFTER_LIMIT
    assert 0.25 <= agent.pause(agent.Answer(503, "", None), 0.5) <= 0.5


def test_an_unreachable_server_leaves_the_run_in_the_spool(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    env = {"CIPHERMARK_TOKEN": TOKEN, "XDG_STATE_HOME": str(tmp_path / "state")}
    done = run_agent(*ONE_CIPHER, "--server", "http://127.0.0.1:9", before=FAST, env=env)
    assert done.code == 1
    (kept,) = (tmp_path / "state/ciphermark/spool").iterdir()
    assert f"saved in {kept}" in done.err
    assert json.loads(kept.read_text())["measurements"]
    assert TOKEN not in kept.read_text() + done.out + done.err


@pytest.mark.parametrize("server", ("https://[::1", "https://[x]:1", "http://h:port", "http://h:0"))
def test_an_address_that_is_none_is_told_in_one_sentence(run_agent: RunAgent, server: str) -> None:
    done = run_agent("upload", "--server", server, env={"CIPHERMARK_TOKEN": TOKEN})
    assert done.code == 2
    assert done.err == (
        f"ciphermark_agent: --server {server}: must be a URL such as https://ciphermark.example\n"
    )


def test_a_bad_document_shows_every_error(
    run_agent: RunAgent, serve: Serve, saved_run: Path
) -> None:
    errors = [
        {
            "code": "invalid",
            "detail": "must be above 0",
            "attr": "measurements.3.samples.0.seconds",
        },
        {"code": "required", "detail": "is missing", "attr": "host.name"},
    ]
    site = serve(http_answer(400, {"type": "validation_error", "errors": errors}))
    done = send(run_agent, site, saved_run)
    assert done.code == 1
    assert len(site.requests) == 1
    assert "measurements.3.samples.0.seconds: must be above 0" in done.err
    assert "host.name: is missing" in done.err


@pytest.mark.parametrize("status", (301, 302, 307, 308))
def test_the_token_is_not_carried_to_another_host(
    run_agent: RunAgent, serve: Serve, saved_run: Path, status: int
) -> None:
    other = serve(ACCEPTED)
    site = serve(http_answer(status, {}, {"Location": other.url + "/api/v1/runs/"}))
    done = send(run_agent, site, saved_run)
    assert done.code == 1
    assert "redirects to " + other.url in done.err
    assert other.requests == []


def command_lines_with(text: str) -> set[bytes]:
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path("/proc", name, "cmdline").read_bytes()
        except OSError:
            continue
        if text.encode() in line:
            found.add(line)
    return found


def test_the_token_shows_in_no_process_list(serve: Serve, tmp_path: Path, sshd: str) -> None:
    # A token given as an option is visible only in the agent's own command line.
    site = serve(ACCEPTED)
    words = ["run", "--server", site.url, "--token", TOKEN, "--sshd", sshd, "-v"]
    words += ["--openssl", STAND_IN, "--ciphers", "aes128-ctr,rc4", "--tries", "1"]
    command = agent_command([*words, "--seconds", "0.2"], ONCE)
    with subprocess.Popen(
        command,
        env=agent_environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as child:
        assert child.stdout is not None
        first = child.stdout.readline()
        seen: set[bytes] = set()
        while child.poll() is None and not site.requests:
            seen |= command_lines_with(TOKEN)
            time.sleep(0.02)
        out = first + child.stdout.read()
    assert child.returncode == 0, out
    assert seen == {"\0".join((*command, "")).encode()}
    assert TOKEN.encode() not in out
    assert site.requests[0].authorization == "Bearer " + TOKEN


def certificate(folder: Path) -> Path:
    path = folder / "site.pem"
    subprocess.run(
        ("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
         f"-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout {path} -out {path}.crt"
         ).split(),
        check=True,
        capture_output=True,
    )  # fmt: skip
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path


def test_the_server_is_verified_by_the_given_authority_or_not_at_all_trusted(
    run_agent: RunAgent, serve: Serve, saved_run: Path, tmp_path: Path
) -> None:
    pem = certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pem)
    site = serve(ACCEPTED)
    site.scheme, site.socket = "https", tls.wrap_socket(site.socket, server_side=True)
    refused = send(run_agent, site, saved_run)
    assert refused.code == 1
    assert "cannot verify the certificate" in refused.err
    assert "SSL_CERT_FILE" in refused.err
    assert site.requests == []
    words = ("upload", str(saved_run), "--server", site.url)
    done = run_agent(*words, env={"CIPHERMARK_TOKEN": TOKEN, "SSL_CERT_FILE": f"{pem}.crt"})
    assert done.code == 0, done.err
    assert len(site.requests) == 1


def test_server_token_and_name_may_stand_in_a_configuration_file(
    run_agent: RunAgent, serve: Serve, tmp_path: Path
) -> None:
    site = serve(ACCEPTED)
    token = tmp_path / "token"
    token.write_text(TOKEN)
    configure(tmp_path, f"server = {site.url}\ntoken_file = {token}\nname = 50% nas")
    done = run_agent(*ONE_CIPHER)
    assert done.code == 0, done.err
    assert site.requests[0].authorization == "Bearer " + TOKEN
    assert site.requests[0].document["host"]["name"] == "50% nas"


def test_an_option_counts_before_the_configuration(
    run_agent: RunAgent, serve: Serve, saved_run: Path, tmp_path: Path
) -> None:
    site = serve(ACCEPTED)
    configure(tmp_path, "server = http://127.0.0.1:9\ntoken = other")
    assert send(run_agent, site, saved_run).code == 0
    assert site.requests[0].authorization == "Bearer " + TOKEN


@pytest.mark.parametrize(
    ("text", "words"),
    (
        ("# x\nserver = x", "agent.ini, line 2: no [agent] section"),
        ("[agent]\ntoken cmk_secret", "is not a valid INI file"),
        ("[agent]\nsrever = x", "unknown setting srever; use server, token"),
        ("[agnet]\nserver = x", "must contain only the section [agent]"),
        ("[agent]\nserver = x\x00\udcff", "is not a valid INI file"),
        ("[agent]\nserver = ftp://x\ntoken = y", "must be a URL such as https://"),
    ),
)
def test_a_malformed_configuration_is_told_in_one_sentence(
    run_agent: RunAgent, tmp_path: Path, text: str, words: str
) -> None:
    path = configure(tmp_path, "")
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    done = run_agent(*ONE_CIPHER)
    assert done.code == 2
    assert words in done.err
    assert "cmk_secret" not in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_upload_without_a_file_sends_what_waits_in_the_spool(
    run_agent: RunAgent, serve: Serve, saved_run: Path, tmp_path: Path
) -> None:
    spool(tmp_path).mkdir(parents=True)
    for number in (1, 2):
        (spool(tmp_path) / f"run-{number}.json").write_text(saved_run.read_text())
    (spool(tmp_path) / "run-3.json.part-1").write_text("half a")
    site = serve(ACCEPTED, http_answer(403, {}))
    env = {"CIPHERMARK_TOKEN": TOKEN, "CIPHERMARK_SERVER": site.url}
    assert run_agent("upload", env=env).code == 1
    assert len(list(spool(tmp_path).glob("*.json"))) == 1
    site.answers = [ACCEPTED]
    assert run_agent("upload", env=env).code == 0
    assert list(spool(tmp_path).glob("*.json")) == []
    done = run_agent("upload", env=env)
    assert done.code == 0
    assert "Nothing to upload" in done.out


FULL = (
    "import errno, os\n"
    "def full(_): raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\n"
    "os.fsync = full\n"
)


def test_with_a_full_disk_the_run_is_uploaded_all_the_same(
    run_agent: RunAgent, serve: Serve
) -> None:
    site = serve(ACCEPTED)
    env = {"CIPHERMARK_TOKEN": TOKEN}
    done = run_agent(*ONE_CIPHER, "--server", site.url, before=FULL, env=env)
    assert done.code == 0, done.err
    assert "No space left on device" in done.err
    assert len(site.requests) == 1


def test_a_token_from_a_secret_file_may_end_in_a_newline(
    run_agent: RunAgent, serve: Serve, saved_run: Path
) -> None:
    site = serve(ACCEPTED)
    env = {"CIPHERMARK_TOKEN": TOKEN + "\n"}
    done = run_agent("upload", str(saved_run), "--server", site.url, env=env)
    assert done.code == 0
    assert site.requests[0].authorization == "Bearer " + TOKEN


def test_a_token_of_the_configuration_goes_to_its_own_server_alone(
    run_agent: RunAgent, serve: Serve, saved_run: Path, tmp_path: Path
) -> None:
    site = serve(ACCEPTED)
    configure(tmp_path, f"server = https://bench.example\ntoken = {TOKEN}")
    done = run_agent("upload", str(saved_run), "--server", site.url)
    assert done.code == 2
    assert "--server requires --token" in done.err
    assert not site.requests


def test_one_server_that_cannot_be_reached_ends_the_sending(
    run_agent: RunAgent, saved_run: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text(saved_run.read_text())
    words = ("upload", str(saved_run), str(other), "--server", "http://127.0.0.1:9")
    done = run_agent(*words, before=FAST, env={"CIPHERMARK_TOKEN": TOKEN})
    assert done.code == 1
    assert (done.err.count("saved.json: "), done.err.count("other.json: ")) == (1, 0)
