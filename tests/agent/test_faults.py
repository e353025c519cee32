import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.agent import whole as agent
from tests.agent.canned_server import Serve, http_answer
from tests.agent.running import (
    FAST_OPENSSL,
    ONCE,
    ONE_CIPHER,
    PROJECT,
    QUICK_RUN,
    STAND_IN,
    TINY,
    TOKEN,
    RunAgent,
    of_openssl,
    reasons,
    sound,
    spool,
    write_program,
)

SSH = shutil.which("ssh") or "ssh"
GCM = "aes128-gcm@openssh.com"


def test_without_ssh_its_ciphers_are_skipped_and_not_called_unknown(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    words = ("run", "--openssl", STAND_IN, "--tries", "1", "--ciphers")
    done = run_agent(*words, f"{GCM},rc4", env={"PATH": str(tmp_path)})
    document = sound(done)
    assert {measurement["cipher"] for measurement in document["measurements"]} == {"rc4"}
    assert reasons(document)[GCM] == "ssh not found"
    assert "Skipping ssh (ssh not found). Install" in done.err
    done = run_agent(*words, GCM, env={"PATH": str(tmp_path)})
    assert done.code == 3
    assert "ssh not found" in done.err


def test_an_ssh_that_cannot_list_its_ciphers_says_why(run_agent: RunAgent, tmp_path: Path) -> None:
    code = "import sys; sys.exit('No user exists for uid 12345')"
    ssh = write_program(tmp_path / "ssh", code)
    words = ("run", "--ssh", ssh, "--openssl", STAND_IN, "--tries", "1")
    done = run_agent(*words, "--ciphers", f"{GCM},rc4")
    assert reasons(sound(done))[GCM] == "this user ID has no account in the passwd file"


@pytest.mark.parametrize(
    ("code", "reason"),
    (
        ("sys.exit('config line 3: Bad configuration option: foo')", "Bad configuration option"),
        ("import time; time.sleep(60)", "timed out after 1 s"),  # a Match exec
    ),
)
def test_an_unknown_default_cipher_is_null_with_the_reason(
    run_agent: RunAgent, tmp_path: Path, sshd_option: tuple[str, str], code: str, reason: str
) -> None:
    code = f"import os, sys\nif '-G' in sys.argv: {code}\nos.execv({SSH!r}, ['ssh'] + sys.argv[1:])"
    ssh = write_program(tmp_path / "ssh", code)
    words = ("run", *sshd_option, "--ssh", ssh, "--openssl", STAND_IN, *TINY)
    before = ONCE + "agent.CONFIGURATION_SECONDS = 1"
    document = sound(run_agent(*words, "--ciphers", "aes128-ctr", before=before))
    assert document["environment"]["openssh"]["default_cipher"] is None
    (entry,) = (entry for entry in document["skipped"] if entry["cipher"] is None)
    assert entry["reason"].startswith("default cipher unknown: ssh -G failed: ")
    assert reason in entry["reason"]


@pytest.mark.parametrize(
    ("target", "words"),
    (
        ("ssh://root@[::1]:2226", "-l root -p 2226 ::1 "),
        ("ssh://nas.example/", "nas.example "),
        ("root@nas", "root@nas "),
    ),
)
def test_a_target_may_be_an_address_with_a_port(
    run_agent: RunAgent, target: str, words: str
) -> None:
    # The agent splits URLs: ssh before 7.7 rejects URLs, and no ssh accepts IPv6 in URLs.
    done = run_agent("run", "--dry-run", "--target", target, "--ciphers", "aes128-ctr")
    assert done.code == 0, done.err
    assert f"-c aes128-ctr {words}" in done.out


@pytest.mark.parametrize("target", ("ssh://", "ssh://root@[::1", "ssh://nas:port", "ssh://-x"))
def test_an_address_without_a_host_is_no_target(run_agent: RunAgent, target: str) -> None:
    done = run_agent("run", "--target", target)
    assert done.code == 2
    assert "must be USER@HOST" in done.err


def test_an_openssl_that_hangs_is_ended_soon_after_the_announced_time_and_left_alone(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    tried = f"open({str(tmp_path)!r} + '/tried%d' % os.getpid(), 'w').close()"
    code = f"import os, sys, time\nif '-evp' in sys.argv: {tried}; time.sleep(100)\n"
    hanging = write_program(tmp_path / "openssl", code + FAST_OPENSSL)
    began = time.monotonic()
    words = ("run", *of_openssl(hanging, "rc4,aes-128-gcm,aes-128-cbc"), "--no-mask")
    done = run_agent(*words, before="agent.LATE_SECONDS = 0.5")
    assert done.code == 3
    assert "openssl speed timed out after 2.6 s" in done.err
    assert len(list(tmp_path.glob("tried*"))) == 2
    assert time.monotonic() - began < 30


def test_an_openssl_that_never_answers_is_asked_for_no_figure(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    hanging = write_program(tmp_path / "openssl", "import time; time.sleep(100)")
    began = time.monotonic()
    done = run_agent("run", *of_openssl(hanging), before="agent.TOOL_SECONDS = 1")
    assert done.code == 3
    assert "Skipping openssl (timed out after 1 s)" in done.err
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("slow", (1.0, 2.0, 4.0))
def test_the_time_that_is_left_never_rises(
    slow: float, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # Only the warm-ups are slow, so their durations mispredict the later tries.
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    progress = agent.Progress("live")
    progress.plan(60, 20 * 0.4 + 40 * 2.0)
    for number in range(60):
        planned = 0.4 if number < 20 else 2.0
        progress.step("a try", planned)
        clock[0] += planned * slow if number < 20 else planned
    said = [int(text) for text in re.findall(r"about (\d+) s left", capfd.readouterr().err)]
    assert len(said) == 60
    assert said == sorted(said, reverse=True)
    assert said[-1] <= 2 * slow


def test_a_run_that_the_server_has_rejected_is_not_called_uploaded(
    run_agent: RunAgent, serve: Serve, tmp_path: Path
) -> None:
    server = serve(http_answer(200, {"run_id": "RUN_ID", "status": "rejected"}))
    done = run_agent(*ONE_CIPHER, "--server", server.url, env=TOKEN)
    assert done.code == 1
    assert "uploaded:" not in done.out + done.err
    assert f"the server rejected the run; {server.url}/runs/" in done.err
    (kept,) = spool(tmp_path).iterdir()
    assert kept.name.endswith(".rejected")


TRANSLATED = """
import os
if os.environ.get('LC_ALL') == 'C' and 'LANGUAGE' not in os.environ:
    print('Vendor ID: ARM\\nModel name: Cortex-A76')
else:
    print('Anbieterkennung: ARM\\nModellname: Cortex-A76')
"""
ARM = "processor : 0\nFeatures : fp aes\nCPU implementer : 0x41\nCPU part : 0xd0b\n"


@pytest.mark.parametrize(
    ("cpuinfo", "model"), ((ARM, "Cortex-A76"), ("processor : 0\nmodel name : Xeon\n", "Xeon"))
)
def test_a_translated_lscpu_names_the_cpu_and_the_kernel_comes_first(
    run_agent: RunAgent, tmp_path: Path, cpuinfo: str, model: str
) -> None:
    write_program(tmp_path / "lscpu", TRANSLATED)
    before = (
        "known = agent.read_text\n"
        f"agent.read_text = lambda path: {cpuinfo!r} if path == '/proc/cpuinfo' else known(path)"
    )
    env = {"PATH": str(tmp_path), "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", "LANG": "de_DE.UTF-8"}
    document = sound(run_agent("run", *QUICK_RUN, before=before, env=env))
    assert document["environment"]["cpu"]["model"] == model


def test_the_comparison_with_the_hand_typed_pipeline_starts_as_documented() -> None:
    command = [sys.executable, "tests/agent/side_by_side.py", "--help"]
    env = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=PROJECT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "tests/agent/side_by_side.py" in (PROJECT / "Makefile").read_text()
