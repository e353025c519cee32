"""nginx and Caddy with the files of deploy/, between a test and two web servers."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.launch.tools import PROJECT

DEPLOY = PROJECT / "deploy"

BESIDE_THE_SITE = """
pid {folder}/pid;
error_log {folder}/error.log;
daemon off;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include site.conf;
}}
"""
"""What Debian's /etc/nginx/nginx.conf says elsewhere."""

Prepare = Callable[[Path, int, tuple[int, int]], list[str | Path]]
"""Writes the files of a proxy into a folder, for a port of its own and those of the two servers;
the command that starts it."""


def nginx(folder: Path, port: int, servers: tuple[int, int]) -> list[str | Path]:
    """See `Prepare`."""
    program = shutil.which("nginx")
    assert program, "this test needs nginx: install it (`make test` brings one)"
    key, certificate = _certificate(folder)
    site = _with_ports((DEPLOY / "nginx/ciphermark.conf").read_text(), servers)
    site = re.sub(r"server \{\n    listen 80;.*?\n\}\n", "", site, flags=re.DOTALL)
    site = site.replace("    listen [::]:443 ssl http2;\n", "")
    site = site.replace("listen 443 ssl http2;", f"listen 127.0.0.1:{port} ssl;")
    site = re.sub(r"ssl_certificate .*;", f"ssl_certificate {certificate};", site)
    site = re.sub(r"ssl_certificate_key .*;", f"ssl_certificate_key {key};", site)
    (folder / "site.conf").write_text(site)
    user = "user root;" if os.geteuid() == 0 else ""  # the folder is ours alone
    (folder / "nginx.conf").write_text(BESIDE_THE_SITE.format(folder=folder, user=user))
    return [program, "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"]


def caddy(folder: Path, port: int, servers: tuple[int, int]) -> list[str | Path]:
    """See `Prepare`."""
    key, certificate = _certificate(folder)
    site = _with_ports((DEPLOY / "caddy/Caddyfile").read_text(), servers)
    tls = f"bench.example.org:{port} {{\n\ttls {certificate} {key}"
    site = site.replace("bench.example.org {", tls, 1)
    settings = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"
    (folder / "Caddyfile").write_text(f"{settings}{site}")
    program = Path(sys.executable).with_name("caddy")
    return ["env", f"HOME={folder}", program, "run", "--config", folder / "Caddyfile"]


def proxy_of_scale(
    folder: Path, https: int, http: int, behind: Mapping[str, int], site: str
) -> list[str | Path]:
    """See `Prepare`: the proxy of the profile `scale`, which signs its certificates itself."""
    text = (DEPLOY / "scale/Caddyfile").read_text()
    for name, port in behind.items():
        text, replaced = re.subn(rf"\b{name}:\d+", f"127.0.0.1:{port}", text)
        assert replaced == 1
    options = f"\n{{\n\thttp_port {http}\n\thttps_port {https}\n\tdefault_bind 127.0.0.1\n"
    assert "\n{\n" in text
    (folder / "Caddyfile").write_text(text.replace("\n{\n", options, 1))
    named = [f"CIPHERMARK_SITE_HOST={site}", "CIPHERMARK_FILES_HOST=files.internal"]
    places = [f"HOME={folder}", f"XDG_DATA_HOME={folder}"]
    program = Path(sys.executable).with_name("caddy")
    return ["env", *named, *places, program, "run", "--config", folder / "Caddyfile"]


def _with_ports(text: str, servers: tuple[int, int]) -> str:
    assert "127.0.0.1:8000" in text
    assert "127.0.0.1:8001" in text
    first, second = (f"127.0.0.1:{port}" for port in servers)
    return text.replace("127.0.0.1:8000", first).replace("127.0.0.1:8001", second)


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A key, and a certificate that it signed itself."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    names = ["-subj", "/CN=bench.example.org", "-addext", "subjectAltName=DNS:bench.example.org"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *names, *files]
    subprocess.run(made, check=True, capture_output=True)
    return key, certificate


@contextmanager
def running(command: list[str | Path], folder: Path) -> Iterator[None]:
    """The proxy, until the end."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        process.wait()
