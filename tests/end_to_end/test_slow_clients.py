"""Clients that send slowly, stop in the middle or send nonsense keep nobody else out."""

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Self

import pytest

from tests.live_site import READY_WITHIN, LiveSite, web_server
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

SECONDS = 5
"""Within which a request has to arrive."""


PATIENT = """
def on_starting(arbiter):
    arbiter.timeout = 120
"""
"""For gunicorn: a worker that a busy machine lets start or beat late is not a dead one. How long a
request may take to arrive stays `SECONDS`."""


@pytest.fixture(scope="module")
def port(site: LiveSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    patient = tmp_path_factory.mktemp("gunicorn") / "patient.py"
    patient.write_text(PATIENT)
    options = ("--timeout", str(SECONDS), "--config", str(patient))
    with web_server("web-slow", site.environment, *options) as url:
        yield int(url.rsplit(":", 1)[1])


@pytest.fixture(scope="module")
def token(site: LiveSite) -> bytes:
    return site.token("upload").encode()


SLOW_CLIENTS = 100
"""Of each kind."""

ATTACK_SECONDS = 6.0
LEAST_PROBES = 20
HEADER = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
FORM = (
    b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\nusername="
)
UPLOAD = FORM.replace(b"/accounts/login/", b"/api/v1/runs/").replace(b"1000", b"1000000")
CHUNKED = UPLOAD.replace(b"Content-Length: 1000000", b"Transfer-Encoding: chunked")
ATTACKS = {"nothing": b"", "header": HEADER, "form": FORM, "upload": UPLOAD, "chunked": CHUNKED}


class SlowClients(threading.Thread):
    """Connections of each kind that send a byte a second; one that is ended is opened again."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self._port = port
        self._stop_asked = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_asked.set()
        self.join()

    def run(self) -> None:
        kinds = [words for words in ATTACKS.values() for _ in range(SLOW_CLIENTS)]
        clients: list[socket.socket | None] = [None] * len(kinds)
        while not self._stop_asked.wait(1.0):
            clients = list(map(self._next_byte, clients, kinds))
        for client in clients:
            if client is not None:
                client.close()

    def _next_byte(self, client: socket.socket | None, first_words: bytes) -> socket.socket | None:
        try:
            if client is None:
                client = socket.create_connection(("127.0.0.1", self._port), timeout=5)
                client.sendall(first_words)
            elif first_words:
                client.sendall(b"x")
        except OSError:
            if client is not None:
                client.close()
            return None
        return client


def seconds_of(
    port: int, source: str, request: Callable[[http.client.HTTPConnection], None]
) -> float:
    begun = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, 30, (source, 0))
    with contextlib.closing(connection):
        request(connection)
        answer = connection.getresponse()
        answer.read()
        assert answer.status in (200, 202), answer.status
    return time.monotonic() - begun


def healthz(connection: http.client.HTTPConnection) -> None:
    connection.request("GET", "/healthz")


def test_slow_clients_keep_nobody_out(port: int, token: bytes) -> None:
    def upload(connection: http.client.HTTPConnection) -> None:
        # Too large to be collected without a thread.
        padding = {"padding": "x" * 200_000}
        host = {"name": "beside slow clients", "machine_id": None}
        document = run_document(ssh_measurement("aes128-ctr", 1e8), host=host, **padding)
        body = json.dumps(document)
        fields = {"Authorization": f"Bearer {token.decode()}", "Content-Type": "application/json"}
        connection.request("POST", "/api/v1/runs/", body, fields)

    def p95(seconds: float) -> tuple[float, float]:
        """Of probes from the slow clients' own address, and of uploads from another."""
        until = time.monotonic() + seconds
        probes: list[float] = []
        uploads: list[float] = []
        while time.monotonic() < until or len(probes) < LEAST_PROBES:
            probes.append(seconds_of(port, "127.0.0.1", healthz))
            uploads.append(seconds_of(port, "127.0.0.2", upload))
            time.sleep(0.05)
        return sorted(probes)[len(probes) * 95 // 100], sorted(uploads)[len(uploads) * 95 // 100]

    calm = p95(0)
    with SlowClients(port):
        time.sleep(2)
        attacked = p95(ATTACK_SECONDS)
    # A busy machine is slow without an attack too.
    assert attacked[0] < 1.0 + calm[0]
    assert attacked[1] < 1.0 + calm[1]


def test_a_request_that_does_not_arrive_in_time_is_ended(port: int) -> None:
    with contextlib.ExitStack() as stack:
        clients = []
        for first_words in ATTACKS.values():
            client = socket.create_connection(("127.0.0.1", port), timeout=READY_WITHIN)
            clients.append(stack.enter_context(client))
            client.sendall(first_words)
        for client in clients:
            while client.recv(4096):
                pass


def test_clients_that_take_nothing_of_an_answer_are_ended(
    site: LiveSite, port: int, token: bytes
) -> None:
    """More than there are threads, each with an answer larger than what sockets hold."""
    tags = {f"k{number}.{'k' * 40}": "v" * 200 for number in range(50)}
    ciphers = [f"made-up-{number}" for number in range(150)]
    series = [openssl_measurement(cipher, 1e9, block_size=16) for cipher in ciphers]
    fields = {"Authorization": f"Bearer {token.decode()}", "Content-Type": "application/json"}
    for number in range(4):
        host = {"name": f"tagged {number}", "machine_id": None}
        document = run_document(*series, host=host, tags=tags)
        sent = partial(_post, body=json.dumps(document), fields=fields)
        seconds_of(port, "127.0.0.1", sent)
        assert site.wait_until_ready(document["run_id"])["status"] == "ready"
    path = "/api/v1/exports/measurements.csv?tool=openssl&block_size=16"
    asked = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        for _ in range(6):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", port))
            client.sendall(asked)
        time.sleep(2)
        waited = seconds_of(port, "127.0.0.1", healthz)
    assert 1 < waited < READY_WITHIN, waited


def _post(connection: http.client.HTTPConnection, body: str, fields: dict[str, str]) -> None:
    connection.request("POST", "/api/v1/runs/", body, fields)


@pytest.mark.parametrize(
    "body", (b"zz\r\nabc\r\n0\r\n\r\n", b"5\r\nab", b"5\r\nabcdeXX0\r\n\r\n", b"-1\r\n\r\n")
)
def test_a_damaged_chunked_body_is_a_bad_request(port: int, token: bytes, body: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=READY_WITHIN) as connection:
        connection.sendall(
            b"POST /api/v1/imports/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            b"Content-Type: text/plain\r\nConnection: close\r\n"
            b"Authorization: Bearer " + token + b"\r\n\r\n" + body
        )
        connection.shutdown(socket.SHUT_WR)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert answer.status == 400
        answer.close()


def test_an_import_that_was_cut_off_is_not_stored(site: LiveSite, port: int, token: bytes) -> None:
    text = b"aes128-ctr: 100 MB/s\n"
    with socket.create_connection(("127.0.0.1", port), timeout=READY_WITHIN) as connection:
        connection.sendall(
            b"POST /api/v1/imports/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n"
            b"Content-Type: text/plain\r\nAuthorization: Bearer " + token + b"\r\n\r\n" + text
        )
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert answer.status == 400
        assert b"before its Content-Length" in answer.read()
        answer.close()
    assert site.get("/api/v1/runs/?source=import")["results"] == []
