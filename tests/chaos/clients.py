"""Clients that upload as agents do: again and again, until the site says that it has the run."""

import gzip
import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

ANSWER_SECONDS = 60.0
LONGEST_WAIT = 1.0
"""Seconds between tries, where the site asks for more: a rehearsal, not a night."""

GIVE_UP_SECONDS = 180.0


@dataclass
class Share:
    """What came of the uploads of one fault."""

    acknowledged: list[str] = field(default_factory=list)
    sent_twice: int = 0
    answers: Counter[int] = field(default_factory=Counter)
    broken: int = 0
    """Tries without an answer: refused, cut off, timed out."""
    slowest: float = 0.0
    """Seconds that an acknowledgement took."""
    faults: list[str] = field(default_factory=list)
    """What must not happen: an answer that is neither a yes nor "come back later"."""


class Client:
    """One upload token behind one connection at a time."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._token = token
        self._connection: http.client.HTTPConnection | None = None

    def upload(self, document: dict[str, Any], share: Share, packed: bool) -> None:
        """Send a document until it is acknowledged."""
        body = json.dumps(document).encode()
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            begun = time.monotonic()
            status = self._post(gzip.compress(body) if packed else body, packed)
            if status is None:
                share.broken += 1
                time.sleep(0.2)
                continue
            share.answers[status] += 1
            self.close()  # as an agent, which has one run to send
            if status in (200, 202):
                share.slowest = max(share.slowest, time.monotonic() - begun)
                share.acknowledged.append(document["run_id"])
                return
            if status != 503:
                share.faults.append(f"{document['run_id']}: answered {status}")
                return
            time.sleep(LONGEST_WAIT)
        share.faults.append(f"{document['run_id']}: not taken within {GIVE_UP_SECONDS:.0f} s")

    def _post(self, body: bytes, packed: bool) -> int | None:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._token}"}
        if packed:
            headers["Content-Encoding"] = "gzip"
        if self._connection is None:
            self._connection = http.client.HTTPConnection(
                "127.0.0.1", self._port, timeout=ANSWER_SECONDS
            )
        try:
            self._connection.request("POST", "/api/v1/runs/", body, headers)
            answer = self._connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            return None
        return answer.status

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def upload_all(
    clients: Iterable[Client], documents: list[dict[str, Any]], share: Share, seconds: float
) -> list[threading.Thread]:
    """Have the clients upload the documents between them, spread over these seconds."""
    clients = list(clients)
    threads = []
    for number, client in enumerate(clients):
        own = documents[number :: len(clients)]
        thread = threading.Thread(target=_upload_each, args=(client, own, share, seconds))
        thread.start()
        threads.append(thread)
    return threads


def _upload_each(
    client: Client, documents: list[dict[str, Any]], share: Share, seconds: float
) -> None:
    for number, document in enumerate(documents):
        client.upload(document, share, packed=number % 2 == 1)
        if number % 10 == 0:
            # An agent that was cut off before the answer sends the same again.
            again = Share()
            client.upload(document, again, packed=False)
            share.sent_twice += 1
            share.broken += again.broken
            share.faults += again.faults
        time.sleep(seconds / len(documents))
