"""`doctor` tries what it says; `schedule` prints what systemd and cron understand."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.running import AGENT, RunAgent, write_program


def test_a_complete_machine_is_all_able(
    run_agent: RunAgent, sshd_option: tuple[str, str], tmp_path: Path
) -> None:
    done = run_agent("doctor", *sshd_option)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    for words in ("ssh to a private sshd: ", "sshd: ", "openssl: ", "spool: "):
        assert any(line.startswith("yes  " + words) for line in lines), (words, done.out)
    assert re.search(r"yes  ssh to a private sshd: (\d+) of \1 ciphers", done.out)
    assert list((tmp_path / "temporary").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]  # it only looks


def test_findings_are_told_to_programs_too(run_agent: RunAgent, tmp_path: Path) -> None:
    bare = "agent.SSHD_PLACES = ()"
    done = run_agent("doctor", "--json", before=bare, env={"PATH": str(tmp_path)})
    assert done.code == 3
    told = json.loads(done.out)
    assert told["measures"] is False
    assert {
        "name": "openssl",
        "able": False,
        "detail": "not found in PATH",
        "remedy": "install openssl",
    } in told["findings"]


def test_a_bare_machine_is_told_what_would_help(run_agent: RunAgent, tmp_path: Path) -> None:
    done = run_agent("doctor", before="agent.SSHD_PLACES = ()", env={"PATH": str(tmp_path)})
    assert done.code == 3
    assert "no   ssh: not found in PATH" in done.out
    assert "to do: install openssh-server" in done.out
    assert "to do: install openssl" in done.out
    assert "Traceback" not in done.err


def test_an_sshd_that_does_not_start_is_told_with_its_reason(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    broken = write_program(tmp_path / "sshd", "import sys; sys.exit('sshd: no such luck')")
    done = run_agent("doctor", "--sshd", broken)
    assert done.code == 0
    assert "no   ssh to a private sshd" in done.out
    assert "no such luck" in done.out


def test_a_spool_that_cannot_be_written_is_told(run_agent: RunAgent, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = run_agent(
        "doctor", before="agent.SSHD_PLACES = ()", env={"PATH": "", "XDG_STATE_HOME": str(blocked)}
    )
    assert f"no   spool: {blocked}/ciphermark/spool: Not a directory" in done.out


def test_the_schedule_runs_this_very_agent_without_a_token(run_agent: RunAgent) -> None:
    done = run_agent("schedule", "--standard", env={"CIPHERMARK_TOKEN": "cmk_secret"})
    assert done.code == 0
    assert "token_file = /etc/ciphermark/token" in done.out
    assert "cmk_secret" not in done.out
    (line,) = re.findall(r"^ExecStart=(.+)$", done.out, re.M)
    (later,) = re.findall(r"^ExecStartPost=-(.+)$", done.out, re.M)
    ((cron, cron_later),) = re.findall(
        r"^\d+ 4 \* \* 0 (.+) >/dev/null; (.+) >/dev/null$", done.out, re.M
    )
    assert shlex.split(line) == shlex.split(cron)
    assert shlex.split(later) == shlex.split(cron_later)
    assert shlex.split(later)[-1] == "upload"  # what waits in the spool
    words = shlex.split(line)
    assert words == [sys.executable, str(AGENT), "run", "--standard", "--progress", "none"]
    for text in ("[Timer]", "OnCalendar=", "WantedBy=timers.target", "SuccessExitStatus=1"):
        assert text in done.out
    done = run_agent(*words[2:], "--dry-run")
    assert done.code == 0


def test_systemd_accepts_the_units(run_agent: RunAgent, tmp_path: Path) -> None:
    out = run_agent("schedule").out
    parts = re.split(r"^# /etc/systemd/system/(\S+)\n", out, flags=re.M)
    units = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert set(units) == {"ciphermark-agent.service", "ciphermark-agent.timer"}
    for name, text in units.items():
        (tmp_path / name).write_text(text.split("# then:")[0])
    verify = shutil.which("systemd-analyze")
    if verify:
        paths = [str(tmp_path / name) for name in units]
        done = subprocess.run(
            (verify, "verify", "--man=no", *paths), capture_output=True, text=True, check=False,
            env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning"},
        )  # fmt: skip
        assert str(tmp_path) not in done.stderr


SYSTEMCTL = """\
import sys
open({log!r}, 'a').write(' '.join(sys.argv[1:]) + chr(10))
sys.exit({status})
"""


@pytest.mark.parametrize("root", (True, False))
def test_schedule_installs_the_units_that_it_prints(
    run_agent: RunAgent, tmp_path: Path, root: bool
) -> None:
    """For the machine as root, for the account as anybody else."""
    programs, log = tmp_path / "programs", tmp_path / "log"
    programs.mkdir()
    write_program(programs / "systemctl", SYSTEMCTL.format(log=str(log), status=0))
    system = tmp_path / "system"
    before = f"agent.SYSTEM_UNITS = {str(system)!r}; import os; os.getuid = lambda: {int(not root)}"
    env = {"PATH": str(programs)}
    done = run_agent("schedule", "--install", before=before, env=env)
    assert done.code == 0, done.err
    folder = system if root else tmp_path / ".config/systemd/user"
    assert sorted(path.name for path in folder.iterdir()) == [
        "ciphermark-agent.service",
        "ciphermark-agent.timer",
    ]
    printed = run_agent("schedule", before=before).out
    assert all(path.read_text() in printed for path in folder.iterdir())
    user = "" if root else "--user "
    enable = f"{user}enable --now ciphermark-agent.timer"
    assert log.read_text().splitlines() == [f"{user}daemon-reload", enable]
    assert str(folder) in done.out


def test_schedule_says_what_systemd_did_not_do(run_agent: RunAgent, tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    write_program(tmp_path / "systemctl", SYSTEMCTL.format(log=log, status="'no bus'"))
    before = f"agent.SYSTEM_UNITS = {str(tmp_path / 'system')!r}; import os; os.getuid = lambda: 0"
    done = run_agent("schedule", "--install", before=before, env={"PATH": str(tmp_path)})
    assert done.code == 2
    assert "systemctl daemon-reload failed: no bus" in done.err
