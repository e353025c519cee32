"""Questions to ClickHouse: no answer is older than what PostgreSQL had when the block began."""

import logging
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError, OperationalError
from clickhouse_connect.driver.httpclient import HttpClient
from django.conf import settings
from django.db import connection
from urllib3.util.timeout import Timeout

from results.analytics.ask import Ask, Rows
from results.analytics.clickhouse.dialect import SETTINGS, Kinds, in_parts, kinds_of, translated
from results.analytics.clickhouse.following import build, follow, prepare, written
from results.analytics.clickhouse.tables import COLUMNS, Shape, Written, parameters_of, seen
from results.analytics.unseen_changes import changes_since
from store.outage import AnalyticsUnavailable

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 5.0
"""How long a question waits for others that write, or for tables that are being built."""

CONNECT_SECONDS = 2
GREETING_SECONDS = 5
"""How long a new connection waits for its first answers, which cost ClickHouse nothing."""
ANSWER_SECONDS = 60

MOST_CHANGES = 5_000
"""Runs that a question brings itself, in seconds."""

PREPARED = "The figures are being prepared"
REFUSED = "ClickHouse does not do what it is asked; the log says why"
TOO_MUCH_MEMORY = "This question needs more memory than ClickHouse has"

_MADE = re.compile(r"CREATE (?:OR REPLACE )?TEMPORARY TABLE (\w+)")
_TOO_MUCH_MEMORY = "MEMORY_LIMIT_EXCEEDED"


@dataclass
class Server:
    """The ClickHouse of this site, as one process knows it: connections that are free."""

    process: int = field(default_factory=os.getpid)
    free: list[Client] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    bringing: threading.Thread | None = None

    @contextmanager
    def questions(self) -> Iterator[Ask]:
        """A block of questions. `AnalyticsUnavailable` while tables are built, or when it fails."""
        with self.client() as client:
            asked = _Asked(client, self._present(client))
            try:
                yield Ask(asked.execute)
            finally:
                asked.forget()

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A connection, with a session of its own; what fails is `AnalyticsUnavailable`."""
        with self.lock:
            client = self.free.pop() if self.free else None
        try:
            client = client or _connected()
            yield client
        except OperationalError as error:
            logger.warning("ClickHouse: %s", error)
            raise AnalyticsUnavailable("ClickHouse cannot be reached just now") from error
        except DatabaseError as error:
            logger.exception("ClickHouse refused")
            words = REFUSED if _TOO_MUCH_MEMORY not in str(error) else TOO_MUCH_MEMORY
            raise AnalyticsUnavailable(words) from error
        except Exception:  # of whoever asks: the connection is as good as before
            self._free(client)
            raise
        self._free(client)

    def _free(self, client: Client | None) -> None:
        if client is not None:
            with self.lock:
                self.free.append(client)

    def _present(self, client: Client) -> Written:
        """What ClickHouse has, when it has all that PostgreSQL had committed before the call."""
        for _ in range(2):
            now = written(client)
            with connection.cursor() as cursor:
                changes = changes_since(cursor, now.state) if now else None
            if now and not changes:
                return now
            if changes and not changes.everything and len(changes.runs) <= MOST_CHANGES:
                if follow(client, PATIENCE_SECONDS) and (now := written(client)):
                    return now
            else:
                self._catch_up()
        raise AnalyticsUnavailable(PREPARED)

    def _catch_up(self) -> None:
        """Have much, or everything, brought; `AnalyticsUnavailable` where one would wait long."""
        with self.lock:
            if self.bringing is None or not self.bringing.is_alive():
                self.bringing = threading.Thread(target=self._bring, name="analytics", daemon=True)
                self.bringing.start()
            bringing = self.bringing
        bringing.join(timeout=PATIENCE_SECONDS)
        if bringing.is_alive():
            raise AnalyticsUnavailable(PREPARED)

    def _bring(self) -> None:
        try:
            with self.client() as client:
                if not follow(client, patience=0):
                    build(client, patience=0)
        except AnalyticsUnavailable as error:  # another process does it
            logger.info("ClickHouse: %s", error)
        except Exception:
            logger.exception("ClickHouse could not be brought up to date")
        finally:
            connection.close()


@dataclass
class _Asked:
    """The questions of one block, all after the same step."""

    client: Client
    now: Written
    tables: list[str] = field(default_factory=list)

    def execute(self, statement: str, parameters: Mapping[str, Any]) -> Rows:
        """See `Ask`."""
        text = _text(statement, kinds_of(parameters), self.now.shape)
        given = {**in_parts(parameters), **parameters_of(self.now)}
        made = _MADE.match(text)
        if made:
            self.tables.append(made[1])
            self.client.raw_query(text, given)
            return []
        return list(map(tuple, self.client.query(text, given).result_rows))

    def forget(self) -> None:
        """Drop what the block made."""
        for table in self.tables:
            self.client.command(f"DROP TEMPORARY TABLE IF EXISTS {table}")


@lru_cache(maxsize=1_000)
def _text(statement: str, kinds: Kinds, shape: Shape) -> str:
    """Kept: to translate a statement takes 10 ms."""
    return translated(
        statement, kinds, lambda table: seen(table, shape) if table in COLUMNS else None
    )


_server = Server()


def server() -> Server:
    """That of this process; a fork does not inherit its parent's connections."""
    global _server
    if _server.process != os.getpid():
        _server = Server()
    return _server


def _connected() -> Client:
    url = settings.CIPHERMARK_ANALYTICS_URL
    client = clickhouse_connect.get_client(
        dsn=url,
        secure=url.startswith("clickhouses:"),
        settings=SETTINGS,
        connect_timeout=CONNECT_SECONDS,
        send_receive_timeout=GREETING_SECONDS,
        form_encode_query_params=True,  # ten thousand ids are too long for an address
    )
    prepare(client)
    if isinstance(client, HttpClient):  # not chdb's, which runs in this process
        client.timeout = Timeout(connect=CONNECT_SECONDS, read=ANSWER_SECONDS)
    return client
