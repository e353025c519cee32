"""A streaming standby of the tests' PostgreSQL, made by the embedded server's own pg_basebackup."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
from django.conf import settings
from psycopg.conninfo import conninfo_to_dict

from config.embedded.accounts import server_account
from config.embedded.postgres import SUPERUSER, Postgres
from tests.launch.tools import private_folder, within

WITHIN = 60
"""Seconds; the machines that run the tests are shared and slow at times."""

CONFIGURATION = """
hot_standby_feedback = on
log_statement = all
log_line_prefix = '%d '
"""

DROP_SLOT = """
SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s
"""
WITH_PRIMARY = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"


class Standby:
    """One that can be killed, started again, held and promoted."""

    def __init__(self, folder: Path, database: str) -> None:
        self._server = Postgres(folder)
        self._database = database
        self._slot = database.lower()
        self.url = ""

    def make(self) -> None:
        """Copy the primary, and follow it."""
        account, folder = server_account(), self._server.folder
        folder.mkdir(mode=0o700)
        os.chown(folder, account.uid, account.gid)
        self._server.log.parent.mkdir()
        if account.is_other:
            self._server._open_for(account)
        primary = str(conninfo_to_dict(settings.DATABASE_URL)["host"])
        where = ("-h", primary, "-U", SUPERUSER, "-D", folder.name)
        how = ("--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast")
        # The primary keeps what one that was killed has not received.
        slot = ("--create-slot", f"--slot={self._slot}")
        made = self._server._run(account, "pg_basebackup", *where, *how, *slot)
        assert made.returncode == 0, made.stderr
        with (folder / "postgresql.auto.conf").open("a") as file:
            file.write(CONFIGURATION)
        self.start()

    def start(self) -> None:
        """Have it follow the primary, whose place of now it has reached."""
        self.url = self._server.ensure_running().replace("/ciphermark", f"/{self._database}", 1)
        assert within(WITHIN, self._is_with_primary)

    def kill(self) -> None:
        """At once, without a word."""
        family = self._processes()
        for one in family:
            one.kill()
        psutil.wait_procs(family, WITHIN)

    @contextmanager
    def hung(self) -> Iterator[None]:
        """It takes connections and questions, and answers nobody."""
        family = self._processes()
        for one in family:
            one.suspend()
        try:
            yield
        finally:
            for one in family:
                one.resume()

    def _processes(self) -> list[psutil.Process]:
        process = self._server.process()
        assert process is not None
        return [process, *process.children(recursive=True)]

    def stop(self) -> None:
        """In order."""
        self._server.stop()
        with psycopg.connect(settings.DATABASE_URL, autocommit=True) as primary:
            primary.execute(DROP_SLOT, (self._slot,))

    @property
    def process_id(self) -> int:
        """That of the server."""
        process = self._server.process()
        assert process is not None
        return process.pid

    def say(self, statement: str) -> object:
        """The first value of the answer."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(statement).fetchone()
            return row[0] if row else None

    @contextmanager
    def held(self) -> Iterator[None]:
        """It receives what the primary does, and shows none of it."""
        self.say("SELECT pg_wal_replay_pause()")
        state = "SELECT pg_get_wal_replay_pause_state()"
        assert within(WITHIN, lambda: self.say(state) == "paused")
        try:
            yield
        finally:
            self.say("SELECT pg_wal_replay_resume()")
            assert within(WITHIN, self._is_with_primary)

    @contextmanager
    def set(self, name: str, value: str) -> Iterator[None]:
        """One of its settings, for a while."""
        for statement in (f"ALTER SYSTEM SET {name} = {value}", "SELECT pg_reload_conf()"):
            self._do(statement)
        assert within(WITHIN, lambda: self.say(f"SHOW {name}") == value)
        try:
            yield
        finally:
            for statement in (f"ALTER SYSTEM RESET {name}", "SELECT pg_reload_conf()"):
                self._do(statement)

    def _do(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)

    def promote(self) -> None:
        """Make it a primary of its own."""
        assert self.say("SELECT pg_promote()")

    @property
    def said(self) -> str:
        """The statements so far that it was sent about the database."""
        lines = self._server.log.read_text(errors="replace").splitlines()
        ours, taken = [], False
        for line in lines:
            taken = line.startswith(f"{self._database} ") or (taken and line.startswith("\t"))
            if taken:
                ours.append(line)
        return "\n".join(ours)

    def _is_with_primary(self) -> bool:
        with psycopg.connect(settings.DATABASE_URL) as primary:
            row = primary.execute("SELECT pg_current_wal_flush_lsn()::text").fetchone()
        assert row
        with psycopg.connect(self.url.replace(self._database, "postgres")) as connection:
            found = connection.execute(WITH_PRIMARY, row).fetchone()
        return found == (True,)


@contextmanager
def standby_of(database: str) -> Iterator[Standby]:
    """A standby, seen through this database of it."""
    with private_folder() as folder:
        standby = Standby(folder, database)
        try:
            standby.make()
            yield standby
        finally:
            standby.stop()
