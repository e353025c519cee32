import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.forked import Finished
from tests.agent.running import AGENT, RunAgent, write_program
from tests.agent.stand_in_systemctl import Systemctl

UNITS = ["ciphermark_agent.service", "ciphermark_agent.timer"]


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
    assert shlex.split(later)[-1] == "upload"  # uploads the spool
    words = shlex.split(line)
    assert words == [sys.executable, str(AGENT), "run", "--standard", "--progress", "none"]
    for text in ("[Timer]", "OnCalendar=", "WantedBy=timers.target", "SuccessExitStatus=1"):
        assert text in done.out
    done = run_agent(*words[2:], "--dry-run")
    assert done.code == 0


def test_systemd_accepts_the_units(run_agent: RunAgent, tmp_path: Path) -> None:
    out = run_agent("schedule").out
    parts = re.split(r"^# Save this as /\S+/(ciphermark_agent\.\w+):\n", out, flags=re.M)
    units = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert sorted(units) == UNITS
    for name, text in units.items():
        (tmp_path / name).write_text(text.split("# Then run:")[0])
    verify = shutil.which("systemd-analyze")
    if verify:
        paths = [str(tmp_path / name) for name in units]
        done = subprocess.run(
            (verify, "verify", "--man=no", *paths), capture_output=True, text=True, check=False,
            env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning"},
        )  # fmt: skip
        assert str(tmp_path) not in done.stderr


class Account:
    def __init__(self, run_agent: RunAgent, home: Path, root: bool) -> None:
        self.systemctl = Systemctl(home)
        self.units = home / ("system" if root else ".config/systemd/user")
        self.typed = "" if root else "--user "
        self.before = (
            f"agent.SYSTEM_UNITS = {str(home / 'system')!r}\n"
            f"import os; os.getuid = lambda: {0 if root else 1}"
        )
        self._run_agent = run_agent

    def run(self, *words: str) -> Finished:
        env = {"PATH": str(self.systemctl.folder)}
        return self._run_agent("schedule", *words, before=self.before, env=env)

    def schedule(self, *words: str) -> str:
        done = self.run(*words)
        assert done.code == 0, done.err
        return done.out


@pytest.fixture
def root(run_agent: RunAgent, tmp_path: Path) -> Account:
    return Account(run_agent, tmp_path, root=True)


@pytest.fixture(params=(True, False), ids=("root", "user"))
def account(run_agent: RunAgent, tmp_path: Path, request: pytest.FixtureRequest) -> Account:
    return Account(run_agent, tmp_path, request.param)


def test_the_units_are_installed_as_printed(account: Account) -> None:
    said = account.schedule("--install")
    assert sorted(path.name for path in account.units.iterdir()) == UNITS
    printed = account.schedule()
    assert all(path.read_text() in printed for path in account.units.iterdir())
    assert account.systemctl.changes()[1:] == [
        f"{account.typed}daemon-reload",
        f"{account.typed}enable --now ciphermark_agent.timer",
    ]
    assert (
        f"installed in {account.units}. To see the next run: systemctl {account.typed}list-timers"
        in said
    )
    assert ("loginctl enable-linger" in said) is bool(account.typed)


def test_without_systemd_nothing_is_written(root: Account) -> None:
    write_program(root.systemctl.folder / "systemctl", "import sys; sys.exit('no bus')")
    done = root.run("--install")
    assert done.code == 2
    assert "daemon-reload failed: no bus; to use cron, run schedule" in done.err
    assert not root.units.exists()


def test_what_systemd_did_not_do_is_said(root: Account) -> None:
    refuses = "import sys; sys.exit('no such luck' if 'enable' in sys.argv else 0)"
    write_program(root.systemctl.folder / "systemctl", refuses)
    done = root.run("--install", "--quick")
    assert done.code == 2
    assert "systemctl enable --now ciphermark_agent.timer failed: no such luck" in done.err
