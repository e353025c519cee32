"""A machine on which an operator types the documented lines, and what visitors get of its site."""

import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

import psycopg

from tests.launch.conftest import HOST
from tests.launch.documented import commands
from tests.launch.tools import PROJECT, free_port, within
from tests.store.test_backups import Rows, contents

STAND_IN = f'#!/bin/sh\nexec {sys.executable} -m tests.launch.stand_in "${{0##*/}}" "$@"\n'
STOOD_IN = ("docker", "systemctl", "systemd-run")
SLEEP = """#!/bin/sh
[ -e "$MACHINE/slept" ] || { echo "$1" > "$MACHINE/slept"; exit; }
while kill -0 $PPID; do /bin/sleep 1; done
"""
"""The first night that the service `backup` waits for comes at once, the second one never."""

PATIENCE = 120
"""Seconds for a conversation."""

VISITOR = {"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}
"""What the reverse proxy sends."""

MANAGE = "docker compose exec web python manage.py COMMAND"
TRACKED = ("docker-compose.yml", ".env.example", "deploy/systemd")
"""What the lines read of the clone that they are typed in."""


def make_programs(folder: Path) -> None:
    """The programs that stand in for those of a server, in a new folder."""
    folder.mkdir()
    for name in STOOD_IN:
        (folder / name).write_text(STAND_IN)
    (folder / "sleep").write_text(SLEEP)
    for path in folder.iterdir():
        path.chmod(0o755)


def make_origin(folder: Path) -> Path:
    """A repository with what the lines read of the project's."""
    git(folder, "init", "--quiet", "origin")
    origin = folder / "origin"
    for name in TRACKED:
        (origin / name).parent.mkdir(exist_ok=True)
        subprocess.run(["cp", "-r", PROJECT / name, origin / name], check=True)
    commit_all(origin)
    return origin


def commit_all(repository: Path) -> None:
    """A new version."""
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message", "a version")


def git(folder: Path, *words: str) -> None:
    """One git command."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", folder, *who, *words], check=True)


def production_settings() -> dict[str, str]:
    """What every copy of `.env.example` is filled in with."""
    return {
        "CIPHERMARK_SECRET_KEY": secrets.token_urlsafe(48),
        "CIPHERMARK_ALLOWED_HOSTS": HOST,
        "CIPHERMARK_PUBLIC": "1",
    }


@dataclass(frozen=True)
class Site:
    """A machine: its folder, with /etc, /opt and /var, the variables of its shell, and the
    repository that its clone of the project is of.
    """

    machine: Path
    environment: dict[str, str]
    origin: Path

    @classmethod
    def on_a_new_machine(cls, production: dict[str, str], number: int, origin: Path) -> "Site":
        """With a clone of the project, an empty database and a database of Redis."""
        machine = Path(production["CIPHERMARK_DATA_DIR"]).parent / f"machine-{number}"
        for name in ("opt", "var/lib", "etc/systemd/system", "etc/prometheus"):
            (machine / name).mkdir(parents=True)
        git(machine, "clone", "--quiet", str(origin), "opt/ciphermark")
        for name, there in ((".venv", Path(sys.prefix)), ("manage.py", PROJECT / "manage.py")):
            (machine / "opt/ciphermark" / name).symlink_to(there)
        with psycopg.connect(production["DATABASE_URL"], autocommit=True) as server:
            server.execute(f"CREATE DATABASE site{number}".encode())
        kept = ("HOME", "LANG", "DJANGO_SETTINGS_MODULE", "CIPHERMARK_ENV")
        environment = {
            **{name: production[name] for name in kept if name in production},
            "PATH": f"{origin.parent / 'programs'}{os.pathsep}{production['PATH']}",
            "PYTHONPATH": f"{PROJECT / 'backend'}{os.pathsep}{PROJECT}",
            "CIPHERMARK_DATA_DIR": f"{machine}/var/lib/ciphermark",
            "DATABASE_URL": production["DATABASE_URL"].replace("/ciphermark", f"/site{number}", 1),
            "REDIS_URL": production["REDIS_URL"].replace("db=0", f"db={number}"),
            "SITE_PORT": str(free_port()),
            "SECOND_SITE_PORT": str(free_port()),
            "MACHINE": str(machine),
        }
        return cls(machine, environment, origin)

    @property
    def clone(self) -> Path:
        """Where the lines are typed."""
        return self.machine / "opt/ciphermark"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.environment['SITE_PORT']}"

    def types(self, line: str, **values: str) -> str:
        """What a documented line prints, with the values of its words in capitals.

        The test fails where the documentation does not have it, and where the line fails.
        """
        assert line in commands()
        return self.succeeds(_filled_in(line, values))

    def manages(self, command: str, **values: str) -> str:
        """The same of a documented `manage.py ...`, in the container of the web server."""
        assert {command, MANAGE} <= commands()
        command = _filled_in(command.removeprefix("manage.py "), values)
        return self.succeeds(MANAGE.replace("COMMAND", command))

    def succeeds(self, line: str) -> str:
        """What any line prints; the test fails where it fails."""
        done = self.attempt(line)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def attempt(self, line: str) -> "subprocess.CompletedProcess[str]":
        """The same of a line that may fail."""
        with (self.machine / "said").open("w+") as out, (self.machine / "errors").open("w+") as err:
            # Files, because services that are started keep a pipe open.
            done = self._shell(line, stdout=out, stderr=err)
            code = done.wait(300)
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(line, code, out.read(), err.read())

    def converses(self, line: str, answers: Mapping[str, str]) -> str:
        """What a documented line says on a terminal where somebody answers its questions."""
        assert line in commands()
        ours, theirs = os.openpty()
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        asked = self._shell(line, **streams, start_new_session=True)
        os.close(theirs)
        said = ""
        stuck = Timer(PATIENCE, os.killpg, (asked.pid, signal.SIGKILL))
        stuck.start()
        with suppress(OSError):  # on Linux the end of a terminal is an error
            for question, answer in answers.items():
                while question not in said:
                    said += os.read(ours, 1024).decode()
                os.write(ours, f"{answer}\n".encode())
                said = said.partition(question)[2]
            while part := os.read(ours, 1024):
                said += part.decode()
        stuck.cancel()
        os.close(ours)
        assert asked.wait() == 0, said
        return said

    def _shell(self, line: str, **streams: Any) -> "subprocess.Popen[bytes]":
        for name in ("/etc/", "/opt/"):
            line = re.sub(rf"(?<=\s){name}", f"{self.machine}{name}", line)
        command = ["sh", "-e", "-c", line]
        return subprocess.Popen(command, cwd=self.clone, env=self.environment, **streams)

    def fill_in(self, path: Path, **values: str) -> None:
        """Give settings their values in a copy of `.env.example`."""
        lines = path.read_text().splitlines()
        for name, value in values.items():
            (place,) = (n for n, line in enumerate(lines) if re.match(f"#?{name}=", line))
            lines[place] = f"{name}={value}"
        path.write_text("\n".join(lines) + "\n")

    def answer(self, path: str, headers: Mapping[str, str], body: bytes | None = None) -> Any:
        """The answer to a request and its body; redirections are not followed."""
        port = int(self.environment["SITE_PORT"])
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as server:
            server.request("POST" if body else "GET", path, body, dict(headers))
            answer = server.getresponse()
            return answer, answer.read()

    def status(self, path: str, headers: Mapping[str, str]) -> int:
        """Of the answer; 0 for none."""
        try:
            return int(self.answer(path, headers)[0].status)
        except OSError:
            return 0

    def signs_in(self, name: str, password: str) -> int:
        """The status of the answer to the form: 302 leads into the site."""
        page, text = self.answer("/accounts/login/", VISITOR)
        (hidden,) = re.findall(rb'name="csrfmiddlewaretoken" value="(\w+)"', text)
        headers = {
            **VISITOR,
            "Cookie": page.headers["Set-Cookie"].partition(";")[0],
            "Content-Type": "application/x-www-form-urlencoded",
            "Referer": f"https://{HOST}/accounts/login/",
        }
        form = f"csrfmiddlewaretoken={hidden.decode()}&username={name}&password={password}"
        return int(self.answer("/accounts/login/", headers, form.encode())[0].status)

    def is_ready(self) -> bool:
        """Whether web, database, Redis and worker answer: by IP, as load balancers probe."""
        return self.status("/readyz", {}) == 200

    def stores(self, document: dict[str, Any], token: str, **headers: str) -> None:
        """Upload a run, and wait until the worker has processed it."""
        program = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        body = json.dumps(document).encode()
        answer, text = self.answer("/api/v1/runs/", {**VISITOR, **program, **headers}, body)
        assert answer.status == 202, text
        assert within(60, lambda: self.has(document))

    def has(self, document: dict[str, Any]) -> bool:
        """Whether the run is there and processed."""
        answer, text = self.answer(f"/api/v1/runs/{document['run_id']}/", VISITOR)
        return bool(answer.status == 200 and json.loads(text)["status"] == "ready")

    def processes(self) -> dict[str, str]:
        """Service -> id of its latest process."""
        return {one.stem: one.read_text() for one in self.machine.glob("*.pid")}

    def exit_codes(self) -> dict[str, str]:
        """Of the services that have ended."""
        return {one.stem: one.read_text() for one in self.machine.glob("*.code")}

    def rows(self) -> Rows:
        """Every row of its database."""
        with psycopg.connect(self.environment["DATABASE_URL"]) as server:
            return contents(server)


def _filled_in(line: str, values: Mapping[str, str]) -> str:
    """With the values of the words in capitals, which may be optional or many."""
    for name, value in values.items():
        line = re.sub(rf"\[{name}\]|{name}(\.\.\.)?", value, line)
    return line
