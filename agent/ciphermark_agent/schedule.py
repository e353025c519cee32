"""`schedule`: a systemd timer, printed, installed or removed; a line for a crontab."""

import argparse
import os
import random
import re
import sys
from typing import Dict, List, Sequence

from ciphermark_agent.children import run_tool
from ciphermark_agent.common import UsageError, one_line, own_file, shell_words, show
from ciphermark_agent.delivery import write_file
from ciphermark_agent.settings import configuration, configuration_files

SERVICE = """\
[Unit]
Description=Ciphermark: measure the cipher speed of this machine
After=network-online.target
Wants=network-online.target

[Service]
Type=oneshot
ExecStart={run}
# 1: measured, but the server was not reached; the run waits in the spool
SuccessExitStatus=1
# what waits there from earlier weeks
ExecStartPost=-{upload}
"""
TIMER = """\
[Unit]
Description=Ciphermark once a week

[Timer]
OnCalendar=Sun 04:00
RandomizedDelaySec=1h
Persistent=true

[Install]
WantedBy=timers.target
"""
# An underscore: settings of the server's units count for every name that begins with ciphermark-.
SERVICE_NAME = "ciphermark_agent.service"
TIMER_NAME = "ciphermark_agent.timer"
SYSTEM_UNITS = "/etc/systemd/system"


def command_schedule(arguments: argparse.Namespace) -> int:
    """Print or install the timer; all but the depth comes from a configuration file then."""
    start = [sys.executable or "/usr/bin/python3", os.path.abspath(own_file())]
    depth = ["--" + arguments.depth.name] if arguments.depth else []
    run, upload = start + ["run"] + depth + ["--progress", "none"], start + ["upload"]
    # systemd reads words as a shell does, but for these signs, which count within quotes too.
    typed = [re.sub(r"([\\%$])", r"\1\1", shell_words(one)) for one in (run, upload)]
    service = SERVICE.format(run=typed[0], upload=typed[1])
    folder = unit_folder()
    units = {os.path.join(folder, SERVICE_NAME): service, os.path.join(folder, TIMER_NAME): TIMER}
    lines = []
    if "server" not in configuration():
        path = configuration_files()[1]
        text = "# First write %s: [agent], server = https://SERVER, token_file = %s"
        lines = [text % (path, os.path.join(os.path.dirname(path), "token"))]
    if arguments.install:
        return show("\n".join(lines + install(folder, units, run)))
    lines += ["# %s\n%s" % unit for unit in units.items()]
    then = map(shell_words, (systemctl("daemon-reload"), systemctl("enable", "--now", TIMER_NAME)))
    lines.append("# then: %s\n" % " && ".join(then))
    lines.append("# or one line of a crontab (crontab -e):")
    # A percent sign begins standard input in a crontab; the minute differs from host to host.
    both = "%s >/dev/null; %s >/dev/null" % (shell_words(run), shell_words(upload))
    lines.append("%d 4 * * 0 %s" % (random.randrange(60), both.replace("%", "\\%")))
    return show("\n".join(lines))


def unit_folder() -> str:
    """Return the folder of the units; root's units run while no one is signed in."""
    if os.getuid() == 0:
        return SYSTEM_UNITS
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(home, "systemd/user")


def systemctl(*words: str) -> List[str]:
    return ["systemctl"] + ([] if os.getuid() == 0 else ["--user"]) + list(words)


def do(*words: str) -> None:
    answer = run_tool(systemctl(*words))
    if answer.status != 0:
        text = "%s failed: %s; `schedule` alone prints a line for cron"
        raise UsageError(text % (shell_words(systemctl(*words)), one_line(answer.err)))


def install(folder: str, units: Dict[str, str], run: Sequence[str]) -> List[str]:
    """Write the units and start the timer, if the command that it starts would work."""
    do("daemon-reload")  # where there is no systemd, nothing is written
    tried = run_tool(list(run) + ["--dry-run"])
    if tried.status != 0:
        raise UsageError("the timer would fail: %s" % one_line(tried.err))
    try:
        os.makedirs(folder, exist_ok=True)
        for path, text in units.items():
            write_file(path, text)
    except OSError as error:
        raise UsageError("%s cannot be written: %s" % (folder, error.strerror))
    do("daemon-reload")
    do("enable", "--now", TIMER_NAME)
    next_run = shell_words(systemctl("list-timers", TIMER_NAME))
    lines = ["installed in %s; next run: %s" % (folder, next_run)]
    if os.getuid() != 0:
        lines.append("it runs while you are signed in; `loginctl enable-linger`: always")
    return lines
