"""Sending one message: by SMTP, or as one HTTP request to an address that was checked."""

import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Timer
from types import MappingProxyType
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils.encoding import iri_to_uri

from exports.messages import (
    Message,
    as_json,
    as_text,
    matrix_json,
    ntfy_json,
    signature_headers,
    slack_json,
    webhook_json,
)
from notifications.addresses import AddressRefused, checked_addresses
from store.models import NotificationChannel

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 15.0
"""From the connection to the end of the answer's headers; its body is not read."""

LONGEST_ERROR = 300

NO_HEADERS: Mapping[str, str] = MappingProxyType({})

Kind = NotificationChannel.Kind


class DeliveryFailed(Exception):
    """Why a message was not taken: one sentence without address or secret."""


def deliver(channel: NotificationChannel, message: Message) -> None:
    """Send it; `DeliveryFailed` unless the receiver has taken it."""
    try:
        if channel.kind == Kind.EMAIL:
            _send_email(channel, message)
        else:
            _send_request(channel, message)
    except AddressRefused as refused:
        raise DeliveryFailed(str(refused)) from None
    except ssl.SSLCertVerificationError as error:
        raise DeliveryFailed(f"Its certificate is not valid: {error.verify_message}.") from None
    except TimeoutError:
        raise DeliveryFailed("No answer in time.") from None
    except HTTPException:
        raise DeliveryFailed("It gave no answer in HTTP.") from None
    except OSError as error:  # those of smtplib too
        words = error.strerror or str(error) or type(error).__name__
        raise DeliveryFailed(f"It cannot be reached: {words}."[:LONGEST_ERROR]) from None


def _send_email(channel: NotificationChannel, message: Message) -> None:
    if not settings.EMAIL_HOST:
        raise DeliveryFailed("This site sends no e-mail: CIPHERMARK_EMAIL_URL is not set.")
    EmailMessage(
        message.subject,
        as_text(message),
        to=[one.strip() for one in channel.address.split(",")],
        headers={"Auto-Submitted": "auto-generated"},
    ).send()


def _send_request(channel: NotificationChannel, message: Message) -> None:
    """The request that the kind of channel wants."""
    parts = urlsplit(channel.address)
    site, name = f"{parts.scheme}://{parts.netloc}", parts.path.strip("/")
    bearer = {"Authorization": f"Bearer {channel.secret}"} if channel.secret else {}
    if channel.kind == Kind.WEBHOOK:
        body = as_json(webhook_json(message))
        signature = signature_headers(channel.secret, message.id, int(time.time()), body)
        request("POST", channel.address, body, signature)
    elif channel.kind == Kind.SLACK:
        request("POST", channel.address, as_json(slack_json(message)))
    elif channel.kind == Kind.MATRIX:
        # The same id twice is one event.
        path = f"/_matrix/client/v3/rooms/{quote(name, safe='')}/send/m.room.message/{message.id}"
        request("PUT", site + path, as_json(matrix_json(message)), bearer)
    else:
        request("POST", f"{site}/", as_json(ntfy_json(message, name)), bearer)


def request(method: str, url: str, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> None:
    """Make one request; any answer but 2xx is a failure, a redirection too: none is followed."""
    parts = urlsplit(url)
    secure, host = parts.scheme == "https", parts.hostname or ""
    port = parts.port or (443 if secure else 80)
    connection = HTTPSConnection(host, port) if secure else HTTPConnection(host, port)
    connection.sock = _connect(checked_addresses(host, port))
    give_up = Timer(ANSWER_SECONDS, _shut, [connection])
    give_up.start()
    try:
        if secure:
            _encrypt(connection, host)
        target = iri_to_uri(f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}")
        kept = {"Content-Type": "application/json", "User-Agent": "Ciphermark", **headers}
        connection.request(method, target, body, kept)
        status = connection.getresponse().status
    finally:
        give_up.cancel()
        connection.close()
    if not 200 <= status < 300:
        hint = " Redirections are not followed." if 300 <= status < 400 else ""
        raise DeliveryFailed(f"It answered with HTTP status {status}.{hint}")


def _connect(addresses: list[tuple[str, int]]) -> socket.socket:
    """A connection to the first address that takes one."""
    for number, address in enumerate(addresses, 1):
        try:
            connected = socket.create_connection(address, CONNECT_SECONDS)
        except OSError:
            if number == len(addresses):
                raise
        else:
            connected.settimeout(ANSWER_SECONDS)
            return connected
    raise OSError("the host has no address")


def _encrypt(connection: HTTPConnection, host: str) -> None:
    """TLS with a certificate for the name, whatever address it has."""
    context = ssl.create_default_context()
    connection.sock = context.wrap_socket(
        connection.sock, server_hostname=host, do_handshake_on_connect=False
    )
    connection.sock.do_handshake()


def _shut(connection: HTTPConnection) -> None:
    """However slowly it answers, byte by byte, nobody waits longer."""
    with suppress(OSError):  # it has ended by itself
        socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)
