"""A server that gives every connection the same bytes, whole, late or a byte at a time."""

import gzip
import json
import socket
import socketserver
import threading
from collections.abc import Callable

TLS_HANDSHAKE = b"\x16"
NAMED = b"RUN_ID"
"""Stands in an answer for the run_id of the document that was sent."""
ACCEPTED = b'HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n{"run_id": "RUN_ID"}'


class Server(socketserver.ThreadingTCPServer):
    """Answers after so many seconds, with a byte every `drip` seconds, then hangs up."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, answer: bytes, delay: float, drip: float) -> None:
        self.answer, self.delay, self.drip = answer, delay, drip
        self.asked: list[bytes] = []
        self.sent: list[str] = []
        self.over = threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"


class Handler(socketserver.StreamRequestHandler):
    """One connection: the request is read to its end, so that hanging up resets nothing."""

    server: Server

    def handle(self) -> None:
        if self.connection.recv(1, socket.MSG_PEEK) == TLS_HANDSHAKE:
            self.server.asked.append(b"TLS")
            self.wfile.write(self.server.answer)
            return
        first = self.rfile.readline()
        length = 0
        while (line := self.rfile.readline()).strip():
            name, _, text = line.partition(b":")
            length = int(text) if name.lower() == b"content-length" else length
        body = self.rfile.read(length)
        self.server.asked.append(first.split(b" ")[0])
        self.server.over.wait(self.server.delay)
        self.give(self.server.answer.replace(NAMED, self.run_id(body)))

    def run_id(self, body: bytes) -> bytes:
        if not body:
            return b"none"
        run_id: str = json.loads(gzip.decompress(body))["run_id"]
        self.server.sent.append(run_id)
        return run_id.encode()

    def give(self, answer: bytes) -> None:
        if not self.server.drip:
            self.wfile.write(answer)
            return
        for at in range(len(answer)):
            if self.server.over.wait(self.server.drip):
                return
            try:
                self.wfile.write(answer[at : at + 1])
            except OSError:
                return  # the agent has had enough


Serve = Callable[..., Server]
