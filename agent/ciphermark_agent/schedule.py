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
Description=Measure this machine with the Ciphermark agent
After=network-online.target
Wants=network-online.target

[Service]
Type=oneshot
ExecStart={run}
# Exit code 1: measured but not uploaded; the run is in the spool
SuccessExitStatus=1
ExecStartPost=-{upload}
"""
TIMER = """\
[Unit]
Description=Weekly Ciphermark benchmark

[Timer]
OnCalendar=Sun 04:00
RandomizedDelaySec=1h
Persistent=true

[Install]
WantedBy=timers.target
"""
# The names have an underscore because drop-ins of the server's units apply to ciphermark-*.
SERVICE_NAME = "ciphermark_agent.service"
TIMER_NAME = "ciphermark_agent.timer"
SYSTEM_UNITS = "/etc/systemd/system"


def command_schedule(arguments: argparse.Namespace) -> int:
    start = [sys.executable or "/usr/bin/python3", os.path.abspath(own_file())]
    depth = ["--" + arguments.depth.name] if arguments.depth else []
    run, upload = start + ["run"] + depth + ["--progress", "none"], start + ["upload"]
    # systemd parses words like a shell, but interprets these characters even within quotes.
    typed = [re.sub(r"([\\%$])", r"\1\1", shell_words(words)) for words in (run, upload)]
    service = SERVICE.format(run=typed[0], upload=typed[1])
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    folder = SYSTEM_UNITS if os.getuid() == 0 else os.path.join(home, "systemd/user")
    units = {os.path.join(folder, SERVICE_NAME): service, os.path.join(folder, TIMER_NAME): TIMER}
    lines = []
    if "server" not in configuration():
        path = configuration_files()[1]
        token = os.path.join(os.path.dirname(path), "token")
        lines = [f"# First create {path} with these lines:", "# [agent]"]
        lines += ["# server = https://SERVER", f"# token_file = {token}\n"]
    if arguments.install:
        return show("\n".join(lines + install(folder, units, run)))
    lines += ["# Save this as %s:\n%s" % unit for unit in units.items()]
    then = map(shell_words, (systemctl("daemon-reload"), systemctl("enable", "--now", TIMER_NAME)))
    lines += ["# Then run: %s\n" % " && ".join(then), "# Or add this line with crontab -e:"]
    # In a crontab, a percent sign starts standard input. A random minute spreads the load.
    both = "%s >/dev/null; %s >/dev/null" % (shell_words(run), shell_words(upload))
    lines.append("%d 4 * * 0 %s" % (random.randrange(60), both.replace("%", "\\%")))
    return show("\n".join(lines))


def systemctl(*words: str) -> List[str]:
    return ["systemctl"] + ([] if os.getuid() == 0 else ["--user"]) + list(words)


def do(*words: str) -> None:
    command = systemctl(*words)
    answer = run_tool(command)
    if answer.status != 0:
        why = f"{shell_words(command)} failed: {one_line(answer.err)}"
        raise UsageError(why + "; to use cron, run schedule without --install")


def install(folder: str, units: Dict[str, str], run: Sequence[str]) -> List[str]:
    do("daemon-reload")  # without systemd, fail before writing anything
    trial = run_tool([*run, "--dry-run"])
    if trial.status != 0:
        raise UsageError("a test run failed: %s" % one_line(trial.err))
    try:
        os.makedirs(folder, exist_ok=True)
        for path, text in units.items():
            write_file(path, text)
    except OSError as error:
        raise UsageError("cannot write to %s: %s" % (folder, error.strerror))
    do("daemon-reload")
    do("enable", "--now", TIMER_NAME)
    next_run = shell_words(systemctl("list-timers", TIMER_NAME))
    lines = ["Timer installed in %s. To see the next run: %s" % (folder, next_run)]
    linger = ["The timer runs only while you are signed in. To change this: loginctl enable-linger"]
    return lines + (linger if os.getuid() != 0 else [])
