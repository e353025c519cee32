import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from threading import Thread
from typing import Any

from aiosmtpd.controller import Controller


@dataclass
class Receiver:
    """Store the JSON that a local HTTP server receives. `url`: Apprise URL of the server."""

    url: str = ""
    status: int = 200
    received: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def receiver() -> Iterator[Receiver]:
    kept = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(kept.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        kept.url = f"json://me:secret-word@127.0.0.1:{server.server_port}/hook/secret-part"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield kept
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Mailbox:
    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        # aiosmtpd calls this method.
        mail = message_from_bytes(envelope.original_content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        self.recipients += envelope.rcpt_tos
        return "250 kept"


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        kept = Mailbox(probe.getsockname()[1])
    controller = Controller(kept, hostname="127.0.0.1", port=kept.port)
    controller.start()
    try:
        yield kept
    finally:
        controller.stop()
