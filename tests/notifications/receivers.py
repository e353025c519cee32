"""Real receivers on 127.0.0.1: an HTTP server that keeps requests, and an SMTP sink."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import socket
from ssl import PROTOCOL_TLS_SERVER, SSLContext
from threading import Thread
from typing import Any

from aiosmtpd.controller import Controller


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Its body."""
        return json.loads(self.body)


@dataclass
class Receiver:
    """What came, and with which status it is answered; a redirection leads to `location`."""

    url: str = ""
    status: int = 200
    location: str = ""
    received: list[Received] = field(default_factory=list)


@contextmanager
def receiver(certificate: Path | None = None) -> Iterator[Receiver]:
    """An HTTP server while the context lasts; with a certificate and its key, HTTPS."""
    kept = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """Keep it and answer."""
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            kept.received.append(Received(self.command, self.path, headers, body))
            self.send_response(kept.status)
            if kept.location:
                self.send_header("Location", kept.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_PUT(self) -> None:
            """As a POST."""
            self.do_POST()

        def handle(self) -> None:
            """Whoever does not trust the certificate ends the connection."""
            with suppress(OSError):
                super().handle()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is written to the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if certificate:
            context = SSLContext(PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        kept.url = f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}/hook/secret-part?a=1"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield kept
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Mailbox:
    """Mails that an SMTP server took."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        """As aiosmtpd calls it."""
        mail = message_from_bytes(envelope.original_content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        self.recipients.append(list(envelope.rcpt_tos))
        return "250 kept"


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    """An SMTP server while the context lasts."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        kept = Mailbox(probe.getsockname()[1])
    controller = Controller(kept, hostname="127.0.0.1", port=kept.port)
    controller.start()
    try:
        yield kept
    finally:
        controller.stop()
