"""deploy/: systemd's units and the proxies' files.

Where systemd is not installed, nobody asks it. nginx and Caddy run with their files in
`test_documented_lines.py`.
"""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import urllib.request
from pathlib import Path

import pytest
import yaml

from ciphermark_agent.schedule import SERVICE_NAME, TIMER_NAME
from tests.launch.proxies import nginx
from tests.launch.tools import PROJECT, free_port, within
from tests.production_shape import dockerfile, services

DEPLOY = PROJECT / "deploy"
UNITS = DEPLOY / "systemd"
INSTALLED = "/opt/ciphermark"


def commands(unit: str) -> list[list[str]]:
    """Its command lines, without the folder of the programs."""
    text = (UNITS / f"ciphermark-{unit}.service").read_text()
    lines = re.findall(rf"^ExecStart={INSTALLED}/\.venv/bin/(.*)$", text, re.MULTILINE)
    return [shlex.split(line) for line in lines]


def test_units_run_what_the_containers_run() -> None:
    containers = services()
    assert commands("worker") == [containers["worker"]["command"]]
    assert commands("beat") == [containers["beat"]["command"]]
    steps = containers["migrate"]["command"][-1].split(" && ")
    assert commands("migrate") == [shlex.split(step) for step in steps]
    for step in commands("backup"):
        assert " ".join(step[:3]) in containers["backup"]["command"][-1]
    web = re.findall(r"^CMD \[(.*)\]$", dockerfile(), re.MULTILINE)[-1]
    words = [word.strip().strip('"') for word in web.split(", ")]
    place = words.index("--bind")  # the unit's socket is systemd's
    assert commands("web") == [words[:place] + words[place + 2 :]]


def test_systemd_finds_no_fault_in_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        return
    shutil.copytree(UNITS, tmp_path / "units")
    for path in (tmp_path / "units").rglob("*.*"):
        if path.is_file():
            path.write_text(path.read_text().replace(INSTALLED, str(PROJECT)))
    names = sorted(str(path) for path in (tmp_path / "units").iterdir() if path.is_file())
    assert len(names) == 9
    environment = {
        **os.environ,
        "SYSTEMD_UNIT_PATH": f"{tmp_path / 'units'}:/usr/lib/systemd/system:/lib/systemd/system",
    }
    verify = ["systemd-analyze", "verify", "--man=no", *names]
    done = subprocess.run(verify, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for name in names:
        if name.endswith(".service"):
            safe = ["systemd-analyze", "security", "--offline=yes", "--threshold=25", name]
            done = subprocess.run(
                safe, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout[-300:] + done.stderr


@pytest.mark.parametrize("name", ("nginx/ciphermark.conf", "caddy/Caddyfile"))
def test_a_form_of_the_upload_page_passes_a_proxy(name: str) -> None:
    assert re.search(r"(client_max_body_size 20m;|max_size 20MiB)", (DEPLOY / name).read_text())


def test_the_documented_lines_for_a_proxy_that_signs_people_in_are_right(tmp_path: Path) -> None:
    text = (PROJECT / "docs/operations.md").read_text()
    (lines,) = re.findall(r"^```nginx\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    command = nginx(tmp_path, free_port(), (8000, 8001))
    site = tmp_path / "site.conf"
    usual = re.compile(r"^    location / \{.*?^    \}$", re.MULTILINE | re.DOTALL)
    with_lines, replaced = usual.subn(lambda _: lines, site.read_text())
    assert replaced == 1
    site.write_text(with_lines)
    done = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_connection_is_refused_while_the_web_server_restarts(
    production: dict[str, str],
) -> None:
    """As ciphermark-web.socket has it: the socket is older than its server."""
    (command,) = commands("web")
    command[command.index("--workers") + 1] = "1"
    answers: list[int] = []
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/healthz"
        over = threading.Event()

        def ask() -> None:
            while not over.is_set():
                with urllib.request.urlopen(url, timeout=60) as answer:
                    answers.append(answer.status)
                over.wait(0.05)

        asking = threading.Thread(target=ask)
        first = _activated(command, listener, production)
        asking.start()
        try:
            assert within(60, lambda: len(answers) > 5)
            first.send_signal(signal.SIGTERM)
            assert first.wait(60) == 0
            second = _activated(command, listener, production)
            try:
                before = len(answers)
                assert within(60, lambda: len(answers) > before + 5)
            finally:
                over.set()
                asking.join()
                second.terminate()
                second.wait()
        finally:
            over.set()
            first.kill()
            first.wait()
    assert set(answers) == {200}


def _activated(
    command: list[str], listener: socket.socket, environment: dict[str, str]
) -> "subprocess.Popen[bytes]":
    """A server that is handed the socket as systemd hands it over: descriptor 3."""
    handed = ["sh", "-c", 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"', "sh", *command]
    return subprocess.Popen(
        handed,
        cwd=PROJECT,
        env=environment,
        preexec_fn=lambda: os.dup2(listener.fileno(), 3),
        close_fds=False,
    )


ROLE = DEPLOY / "ansible" / "roles" / "ciphermark_agent"


def test_the_role_explains_each_of_its_variables() -> None:
    defaults = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text())
    specs = yaml.safe_load((ROLE / "meta" / "argument_specs.yml").read_text())
    options = specs["argument_specs"]["main"]["options"]
    assert {name: option["default"] for name, option in options.items()} == defaults
    rows = re.findall(r"^\| `(\w+)` \| (?:`(.+?)` )?\|", (ROLE / "README.md").read_text(), re.M)
    assert {name: yaml.safe_load(default or "''") for name, default in rows} == defaults


def test_the_agents_units_take_nothing_of_the_servers() -> None:
    """A name that begins like that of a drop-in has its user and its rights."""
    (prefix,) = (path.name.removesuffix("service.d") for path in UNITS.glob("*.service.d"))
    assert prefix == "ciphermark-."
    for name in (SERVICE_NAME, TIMER_NAME):
        assert not name.startswith(prefix.removesuffix("."))
