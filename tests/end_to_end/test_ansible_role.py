"""The Ansible way of the page: its role installs an agent that measures, and removes all of it."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.agent.stand_in_systemctl import Systemctl
from tests.live_site import LiveSite

PYTHON = """\
#!{python}
import sys
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0])
from ciphermark_agent import command_line, schedule
schedule.SYSTEM_UNITS = {units!r}
sys.exit(command_line.main())
"""
"""Runs the agent as installed, but for the folder of root's units, which is this machine's."""

CRONTAB = """\
#!/bin/sh
case $1 in
-l) echo "no crontab for $USER" >&2; exit 1 ;;
*) echo "a check changes nothing" >&2; exit 2 ;;
esac
"""

INSTALLED = {"agent.py", "agent.ini", "token"}
UNITS = {"ciphermark_agent.service", "ciphermark_agent.timer"}


class Machine:
    """This machine, with the paths of the role and of the agent in a folder of their own."""

    def __init__(self, home: Path, site: LiveSite) -> None:
        self.home = home
        self.agent = home / "lib" / "agent.py"
        self.config = home / "config" / "ciphermark"
        self.units = home / "config" / "systemd" / "user"
        self.systemctl = Systemctl(home)
        self.token = site.token("upload")
        python, crontab = home / "python3", self.systemctl.folder / "crontab"
        python.write_text(PYTHON.format(python=sys.executable, units=str(self.units)))
        crontab.write_text(CRONTAB)
        for program in (python, crontab):
            program.chmod(0o755)
        self._variables = {
            "ansible_become": False,
            "ansible_python_interpreter": sys.executable,
            "ciphermark_agent_python": str(python),
            "ciphermark_agent_scheduler": "systemd",
            "ciphermark_agent_folder": str(self.agent.parent),
            "ciphermark_agent_config_folder": str(self.config),
            "ciphermark_agent_name": "played",
            "ciphermark_agent_tags": {"rack": "b2", "room": "cellar"},
            "ciphermark_agent_ciphers": ["rc4"],
        }
        (home / "ansible.cfg").write_text("[defaults]\n[connection]\npipelining = true\n")
        (home / "ciphermark.token").write_text(self.token + "\n")
        page = urllib.request.urlopen(f"{site.url}/hosts/", timeout=60).read().decode()
        fetch, play = (
            unescape(re.findall(rf'<pre id="{name}"[^>]*><code>(.*?)</code>', page, re.S)[0])
            for name in ("fetch-role", "ansible-play")
        )
        subprocess.run(["sh", "-c", fetch], cwd=home, check=True)
        (home / "ciphermark.yaml").write_text(play)

    def play(self, *words: str, **variables: Any) -> "subprocess.CompletedProcess[str]":
        """What `ansible-playbook` says."""
        chosen = {**self._variables, **variables}
        (self.home / "variables.json").write_text(json.dumps(chosen))
        program = Path(sys.executable).with_name("ansible-playbook")
        options = ("-c", "local", "-i", "localhost,", "-e", "@variables.json")
        return subprocess.run(
            [program, *options, *words, "ciphermark.yaml"],
            cwd=self.home,
            env={
                "HOME": str(self.home),
                "TMPDIR": str(self.home),
                "XDG_CONFIG_HOME": str(self.config.parent),
                "PATH": f"{self.systemctl.folder}:{os.environ['PATH']}",
                "LC_ALL": "C.UTF-8",
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def changed(self, *words: str, **variables: Any) -> int:
        """How many tasks changed something."""
        done = self.play(*words, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        assert self.token not in done.stdout
        (found,) = re.findall(r"changed=(\d+)", done.stdout)
        return int(found)

    def files(self) -> set[str]:
        """What lies in the folders of the role and of systemd."""
        folders = (self.agent.parent, self.config, self.units)
        return {path.name for folder in folders if folder.exists() for path in folder.iterdir()}


@pytest.fixture
def machine(site: LiveSite, tmp_path: Path) -> Machine:
    return Machine(tmp_path, site)


def test_a_host_is_installed_once_measures_and_is_left_as_it_was(
    machine: Machine, site: LiveSite
) -> None:
    assert machine.changed() > 0
    assert machine.files() == INSTALLED | UNITS
    for name in ("agent.ini", "token"):
        assert (machine.config / name).stat().st_mode & 0o077 == 0
    assert machine.systemctl.changes()[-1].endswith("enable --now ciphermark_agent.timer")
    (run,) = site.get("/api/v1/runs/?host=played")["results"]
    found = site.wait_until_ready(run["run_id"])
    assert found["tags"] == {"rack": "b2", "room": "cellar"}

    assert machine.changed() == 0

    (machine.config / "ciphermark.env").write_text("settings of a server")
    assert machine.changed(ciphermark_agent_state="absent") > 0
    assert machine.files() == {"ciphermark.env"}
    assert not machine.agent.parent.exists()


def test_an_agent_with_another_checksum_is_not_installed(machine: Machine) -> None:
    done = machine.play(ciphermark_agent_sha256="0" * 64)
    assert done.returncode != 0
    assert "did not match" in done.stdout
    assert machine.files() == set()


def test_a_check_of_a_host_with_cron_shows_its_line(machine: Machine) -> None:
    """The folders are there, as after a first run."""
    for folder in (machine.agent.parent, machine.config):
        folder.mkdir(parents=True)
    done = machine.play("--check", "--diff", ciphermark_agent_scheduler="cron")
    assert done.returncode == 0, done.stdout
    line = rf"^\+\d+ 4 \* \* 0 \S+ {machine.agent} run .*; \S+ {machine.agent} upload"
    assert re.search(line, done.stdout, re.M), done.stdout
    assert machine.files() == set()
