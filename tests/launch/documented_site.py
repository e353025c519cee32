"""A machine with the compose file, on which the documented lines are typed word for word.

No container engine is needed: `docker` is `tests.launch.docker_stand_in`, which says what each
command is mapped to and refuses whatever it does not know.
"""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.launch.conftest import HOST
from tests.launch.tools import PROJECT, free_port
from tests.store.test_backups import Rows, contents

STAND_IN = f'#!/bin/sh\nexec {sys.executable} -m tests.launch.docker_stand_in "$@"\n'
VISITOR = {"Host": HOST, "X-Forwarded-Proto": "https"}


def block_after(page: str, heading: str) -> str:
    """The first block of lines below a heading of a page of the documentation."""
    text = (PROJECT / "docs" / page).read_text()
    return text.partition(f"\n{heading}\n")[2].split("```")[1].strip()


@dataclass(frozen=True)
class Site:
    """A machine with the compose file: its variables, and where commands are typed."""

    environment: dict[str, str]
    folder: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.environment['SITE_PORT']}"

    def types(self, lines: str) -> str:
        """What these lines print; the test fails with the first that fails."""
        done = self.attempt(lines)
        assert done.returncode == 0, f"{lines}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def attempt(self, lines: str) -> "subprocess.CompletedProcess[str]":
        """The same for lines that may fail."""
        command = ["sh", "-e", "-c", lines]
        with (self.folder / "said").open("w+") as out, (self.folder / "errors").open("w+") as err:
            # Files, because services that are started keep a pipe open.
            code = subprocess.run(
                command,
                cwd=self.folder,
                env=self.environment,
                stdout=out,
                stderr=err,
                timeout=300,
                check=False,
            ).returncode
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(command, code, out.read(), err.read())

    def asked(self, path: str, token: str, document: Any = None) -> Any:
        """The JSON that the site answers."""
        request = urllib.request.Request(
            f"{self.url}{path}",
            data=json.dumps(document).encode() if document else None,
            headers={
                **VISITOR,
                "Authorization": f"Bearer {token}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def status(self, path: str, headers: dict[str, str]) -> int:
        """Of the answer; 0 for none."""
        try:
            request = urllib.request.Request(f"{self.url}{path}", headers=headers)
            with urllib.request.urlopen(request, timeout=60) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        except OSError:
            return 0

    def is_ready(self) -> bool:
        """Whether web, database, Redis and worker answer: by IP, as load balancers probe."""
        return self.status("/readyz", {}) == 200

    def exit_codes(self) -> dict[str, str]:
        """Of the services that have ended."""
        return {one.stem: one.read_text() for one in self.folder.glob("*.code")}

    def rows(self) -> Rows:
        """Every row of its database."""
        with psycopg.connect(self.environment["DATABASE_URL"]) as server:
            return contents(server)


def documented_site(production: dict[str, str], number: int) -> Site:
    """One on which nothing has been started yet; its number tells its servers apart."""
    folder = Path(production["CIPHERMARK_DATA_DIR"]).parent / f"site-{number}"
    folder.mkdir()
    docker = folder / "docker"
    docker.write_text(STAND_IN)
    docker.chmod(0o755)
    with psycopg.connect(production["DATABASE_URL"], autocommit=True) as server:
        server.execute(f"CREATE DATABASE site{number}".encode())
    environment = {
        **production,
        "PATH": f"{folder}{os.pathsep}{production['PATH']}",
        "PYTHONPATH": f"{PROJECT / 'backend'}{os.pathsep}{PROJECT}",
        "CIPHERMARK_PUBLIC": "1",
        "CIPHERMARK_DATA_DIR": str(folder),
        "DATABASE_URL": production["DATABASE_URL"].replace("/ciphermark", f"/site{number}", 1),
        "REDIS_URL": production["REDIS_URL"].replace("db=0", f"db={number}"),
        "SITE_PORT": str(free_port()),
        "SECOND_SITE_PORT": str(free_port()),
    }
    return Site(environment, folder)
