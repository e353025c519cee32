"""A reader and an agent, who want an answer while a site is updated."""

import http.client
import json
import socket
import ssl
import threading
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

from tests.launch.conftest import HOST
from tests.launch.tools import within
from tests.sample_documents import run_document

PAUSE_SECONDS = 0.5
PATHS = ("/", "/hosts/", "/api/v1/comparison/?tool=ssh&group_by=cpu")


@dataclass
class Visitors:
    """A reader and an agent, each with one request after another through the proxy."""

    port: int
    certificate: Path
    token: str
    read: list[tuple[str, int]] = field(default_factory=list)
    uploaded: list[tuple[str, int]] = field(default_factory=list)
    """Path or run, and the status of the answer."""
    over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._context = ssl.create_default_context(cafile=str(self.certificate))

    def __enter__(self) -> "Visitors":
        self._threads = [threading.Thread(target=one) for one in (self._read, self._upload)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        for thread in self._threads:
            thread.join()

    def ask(self, method: str, path: str, document: Any = None) -> int:
        """The status of one answer; 0 for none."""
        connection = http.client.HTTPSConnection(HOST, timeout=60)
        body = json.dumps(document) if document else None
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            plain = socket.create_connection(("127.0.0.1", self.port), timeout=60)
            connection.sock = self._context.wrap_socket(plain, server_hostname=HOST)
            connection.request(method, path, body, headers if document else {})
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def come(self) -> None:
        """Return when each has been answered once more."""
        before = len(self.read), len(self.uploaded)
        assert within(60, lambda: len(self.read) > before[0] and len(self.uploaded) > before[1])

    def _read(self) -> None:
        for path in cycle(PATHS):
            if self.over.wait(PAUSE_SECONDS):
                return
            self.read.append((path, self.ask("GET", path)))

    def _upload(self) -> None:
        while not self.over.wait(PAUSE_SECONDS):
            document = run_document()
            status = self.ask("POST", "/api/v1/runs/", document)
            self.uploaded.append((document["run_id"], status))
