"""Clients that send slowly, stop in the middle or send nonsense keep nobody else out."""

import contextlib
import http.client
import socket
import time
import urllib.request
from collections.abc import Iterator

import pytest

from tests.live_site import READY_WITHIN, LiveSite, live_site, web_server

THREADS = 4
SECONDS = 2


@pytest.fixture(scope="module")
def site() -> Iterator[LiveSite]:
    with live_site("slow") as running:
        yield running


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


@contextlib.contextmanager
def many_connections(port: int, first_words: bytes) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        opened = [socket.create_connection(("127.0.0.1", port)) for _ in range(2 * THREADS)]
        for one in opened:
            stack.callback(one.close)
            one.sendall(first_words)
        yield opened


HEADER = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
BODY = (
    b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\nusername="
)
UPLOAD = BODY.replace(b"/accounts/login/", b"/api/v1/runs/")


@pytest.mark.parametrize("first_words", (HEADER, BODY, UPLOAD), ids=("header", "form", "upload"))
def test_slow_clients_keep_others_out_for_a_bounded_time(port: int, first_words: bytes) -> None:
    begun = time.monotonic()
    with many_connections(port, first_words) as slow, contextlib.ExitStack() as stack:
        for one in slow:
            stack.enter_context(contextlib.suppress(OSError))
            one.sendall(b"x")
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/healthz", timeout=READY_WITHIN
        ) as answer:
            assert answer.status == 200
    # Two turns of all threads, each as long as a request may take to arrive, and some slack.
    assert time.monotonic() - begun < 2 * SECONDS + 60


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
