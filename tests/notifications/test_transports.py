"""Where requests may go, and how: checked addresses, certificates, no redirections, no waiting."""

import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from pytest_django.fixtures import Settings

from access.audit import COMMAND
from exports.messages import Message, Notice
from notifications import transports
from notifications.addresses import is_allowed
from notifications.channels import Rule, make_channel
from notifications.transports import DeliveryFailed, deliver, request
from store.models import (
    Notification,
    NotificationChannel,
)
from tests.conftest import LONG
from tests.notifications.conftest import Days, send_all, web_hook
from tests.notifications.receivers import Mailbox, Receiver, receiver


def test_a_mail_server_that_is_away_is_named_in_the_log(
    days: Days, inbox: Mailbox, settings: Settings
) -> None:
    settings.EMAIL_PORT = 1
    make_channel("mail", "email", "ops@example.org", Rule(), by=COMMAND)
    days()
    send_all()
    assert Notification.objects.get().error == "It cannot be reached: Connection refused."


INSIDE = (
    *("127.0.0.1", "::1", "0.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
    *("100.64.0.1", "224.0.0.1", "255.255.255.255", "fe80::1%eth0", "fc00::1", "fd00:ec2::254"),
    *("::ffff:10.0.0.1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
    *("fec0::1", "ff02::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "::"),
)


@pytest.mark.parametrize("address", INSIDE)
def test_no_address_of_the_own_network_is_public(address: str, settings: Settings) -> None:
    assert not is_allowed(address)
    settings.CIPHERMARK_NOTIFY_NETWORKS = ["0.0.0.0/0", "::/0"]
    assert is_allowed(address)


@pytest.mark.parametrize("address", ("9.9.9.9", "2620:fe::fe", "::ffff:9.9.9.9"))
def test_other_addresses_are(address: str) -> None:
    assert is_allowed(address)


def test_no_address_of_this_machine_is_one_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    card = SimpleNamespace(family=socket.AF_INET, address="9.9.9.9")
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: {"eth0": [card]})
    assert not is_allowed("9.9.9.9")
    assert not is_allowed("::ffff:9.9.9.9")
    assert is_allowed("9.9.9.10")


@pytest.mark.parametrize("host", ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"))
def test_no_request_is_made_into_the_own_network(
    days: Days, hook: Receiver, settings: Settings, host: str
) -> None:
    settings.CIPHERMARK_NOTIFY_NETWORKS = []
    hook.url = hook.url.replace("127.0.0.1", host)
    web_hook(hook)
    days()
    send_all()
    assert hook.received == []
    assert "inside the server's own network" in Notification.objects.get().error


def test_no_redirection_is_followed(days: Days, hook: Receiver) -> None:
    with receiver() as other:
        hook.status, hook.location = 307, other.url
        web_hook(hook)
        days()
        send_all()
        assert len(hook.received) == 1
        assert other.received == []
    assert "status 307. Redirections are not followed" in Notification.objects.get().error


def test_a_name_is_looked_up_once_and_its_checked_address_connected_to(
    hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up, asked = socket.getaddrinfo, []

    def rebinding(host: str, *args: Any, **options: Any) -> Any:
        if host == "rebind.test":
            asked.append(host)
            host = "127.0.0.1" if len(asked) == 1 else "169.254.169.254"
        return look_up(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    request("POST", hook.url.replace("127.0.0.1", "rebind.test"), b"{}")
    assert (len(asked), len(hook.received)) == (1, 1)
    assert hook.received[0].headers["host"].startswith("rebind.test:")


def test_a_certificate_must_be_trusted_and_of_the_name(
    hook: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    pem = tmp_path / "both.pem"
    made = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    names = ("-addext", "subjectAltName=DNS:localhost", "-keyout", str(pem), "-out", "-")
    certificate = subprocess.run([*made, *names], capture_output=True, check=True).stdout
    with pem.open("ab") as both:
        both.write(certificate)
    with receiver(pem) as secure:
        channel = NotificationChannel(kind="slack", address=secure.url)
        message = Message([Notice(1, "test", "warning", "Test", (), "u", "now")], "s")
        with pytest.raises(DeliveryFailed, match="certificate is not valid: self-signed"):
            deliver(channel, message)
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        with pytest.raises(DeliveryFailed, match="IP address mismatch"):
            deliver(channel, message)
        channel.address = secure.url.replace("127.0.0.1", "localhost")
        deliver(channel, message)
        assert len(secure.received) == 1


def test_a_receiver_that_answers_byte_by_byte_is_left(
    hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transports, "ANSWER_SECONDS", 1.0)

    def drip(listening: socket.socket) -> None:
        with suppress(OSError):
            connected, _ = listening.accept()
            with connected:
                for _ in range(100):
                    connected.sendall(b"H")
                    time.sleep(0.2)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=drip, args=[listening])
        thread.start()
        channel = NotificationChannel(
            kind="slack", address=f"http://127.0.0.1:{listening.getsockname()[1]}/"
        )
        message = Message([Notice(1, "test", "warning", "Test", (), "u", "now")], "s")
        begun = time.monotonic()
        with pytest.raises(DeliveryFailed):
            deliver(channel, message)
        assert time.monotonic() - begun < LONG
        thread.join()
