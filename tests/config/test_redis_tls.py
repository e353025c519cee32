import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings

PROJECT = Path(__file__).parent.parent.parent

ASK_ALL_THREE = """
import django
django.setup()
from django.core.cache import cache
from core.signs_of_life import quick_redis
from celery import current_app
asked = current_app.connection_for_read().ensure_connection
for ask in (quick_redis().ping, lambda: cache.set("tls", 1, 5), lambda: asked(max_retries=1)):
    try:
        ask()
        print("answered")
    except Exception as error:
        print(error)
"""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(path), "-out", f"{path}.crt"]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path


@pytest.fixture(scope="module")
def port(certificate: Path) -> Iterator[int]:
    # Terminate TLS in front of the Redis server of the tests.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with socket.create_server(("localhost", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, context), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def _serve(listener: socket.socket, context: ssl.SSLContext) -> None:
    with suppress(OSError):
        while True:
            plain, _ = listener.accept()
            threading.Thread(target=_relay, args=(plain, context), daemon=True).start()


def _relay(plain: socket.socket, context: ssl.SSLContext) -> None:
    with (
        suppress(OSError),
        context.wrap_socket(plain, server_side=True) as client,
        socket.socket(socket.AF_UNIX) as server,
    ):
        server.connect(settings.REDIS_URL.removeprefix("unix://").partition("?")[0])
        threading.Thread(target=_pass_on, args=(server, client), daemon=True).start()
        _pass_on(client, server)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)


def asked(url: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "REDIS_URL": url}
    return subprocess.run(
        [sys.executable, "-c", ASK_ALL_THREE],
        cwd=PROJECT / "backend",
        env={**environment, "DATABASE_URL": settings.DATABASE_URL},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_everything_goes_over_tls_and_a_stranger_s_certificate_is_refused(
    certificate: Path, port: int
) -> None:
    known = asked(f"rediss://localhost:{port}/9?ssl_ca_certs={certificate}")
    assert known.stdout.split() == ["answered"] * 3, known.stdout
    unknown = asked(f"rediss://localhost:{port}/9")
    assert unknown.stdout.count("CERTIFICATE_VERIFY_FAILED") == 3, unknown.stdout
