import contextlib
import gzip
import json
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

TLS_HANDSHAKE = b"\x16"
# In a response, the server replaces this text with the run_id of the uploaded document.
NAMED = b"RUN_ID"
ACCEPTED = b'HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n{"run_id": "RUN_ID"}'


class Request(NamedTuple):
    path: str
    authorization: str
    document: dict[str, Any]


def http_answer(status: int, body: object, headers: Mapping[str, str] | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status} Canned", "Connection: close"]
    lines += [f"{name}: {text}" for name, text in (headers or {}).items()]
    return "\r\n".join([*lines, "", json.dumps(body)]).encode("latin-1")


class Server(socketserver.ThreadingTCPServer):
    """Send the responses in `answers`, one for each upload. Repeat the last response.

    `delay`: seconds before each response. `drip`: seconds between the bytes of a response, or 0 to
    send the whole response at once.
    """

    daemon_threads = True
    allow_reuse_address = True
    scheme = "http"

    def __init__(self, answers: Sequence[bytes], delay: float, drip: float) -> None:
        self.answers = list(answers)
        self.delay, self.drip = delay, drip
        self.asked: list[bytes] = []
        self.requests: list[Request] = []
        self.over = threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.address}"


class Handler(socketserver.StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        encrypted = isinstance(self.connection, ssl.SSLSocket)
        if not encrypted and self.connection.recv(1, socket.MSG_PEEK) == TLS_HANDSHAKE:
            self.server.asked.append(b"TLS")
            self.wfile.write(self.server.answers[0])
            return
        method, path = self.rfile.readline().split(b" ")[:2]
        headers = {}
        while (line := self.rfile.readline()).strip():
            name, _, text = line.decode("latin-1").partition(":")
            headers[name.lower()] = text.strip()
        # Closing a socket with unread data resets the connection, so read the whole request.
        body = self.rfile.read(int(headers.get("content-length", 0)))
        self.server.asked.append(method)
        answer, run_id = self.server.answers[0], "none"
        if body:
            document = json.loads(gzip.decompress(body))
            request = Request(path.decode(), headers["authorization"], document)
            self.server.requests.append(request)
            run_id = document["run_id"]
            del self.server.answers[: len(self.server.answers) > 1]
        self.server.over.wait(self.server.delay)
        self.give(answer.replace(NAMED, run_id.encode()))

    def give(self, answer: bytes) -> None:
        step = 1 if self.server.drip else len(answer)
        with contextlib.suppress(OSError):  # the agent has closed the connection
            for at in range(0, len(answer), step or 1):
                self.wfile.write(answer[at : at + step])
                if self.server.over.wait(self.server.drip):
                    return


Serve = Callable[..., Server]
