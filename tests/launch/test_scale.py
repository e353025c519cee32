"""The profile `scale` of docker-compose.yml: its structure, and its parts by the real programs.

There is no container engine: the shells of `replica` and `pooler` run here against a PostgreSQL
that was made as the image makes one, the proxy's file in Caddy before web servers that say their
names. Garage is not run: of its file, only what the rest depends on is read.
"""

import http.client
import os
import re
import secrets
import shutil
import signal
import ssl
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest
from botocore.config import Config
from botocore.session import get_session

from config.embedded.accounts import server_account
from config.embedded.postgres import _programs
from config.object_storage import storages
from tests.end_to_end.test_poolers import PREPARES, version
from tests.launch.proxies import proxy_of_scale, running
from tests.launch.stand_in import interpolated
from tests.launch.tools import PROJECT, free_port, is_listening, private_folder, within
from tests.production_shape import compose, services

SCALE = PROJECT / "deploy" / "scale"
SECONDS = 60
PASSWORD = secrets.token_urlsafe(24)


def example() -> str:
    return (PROJECT / ".env.example").read_text()


def env_lines() -> dict[str, str]:
    """The lines that .env.example names for the profile, with the secrets made up."""
    (block,) = re.findall(r"^#   COMPOSE_PROFILES=scale\n(?:#   \w+=.*\n)+", example(), re.M)
    lines = dict(re.findall(r"^#   (\w+)=(.*)$", block, re.M))
    return {"POSTGRES_PASSWORD": PASSWORD, "REDIS_PASSWORD": "two", **lines}


def started_by(*profiles: str) -> set[str]:
    """The services of `docker compose up` with these profiles."""
    return {
        name
        for name, service in services().items()
        if not service.get("profiles") or {*service["profiles"]} & {*profiles}
    }


# What compose starts, and where it goes.


def test_the_profile_starts_the_shape_of_a_large_site_and_nothing_else_does() -> None:
    usual = {"postgres", "redis", "migrate", "web", "worker", "beat"}
    assert started_by() == usual
    assert started_by("scale") == usual | {
        *("web2", "worker2", "replica", "pooler", "objects", "proxy")
    }


def test_no_service_needs_one_that_its_profile_does_not_start() -> None:
    for profiles in ((), ("second-web",), ("backup",), ("scale",)):
        names = started_by(*profiles)
        for name in names:
            assert {*services()[name].get("depends_on", {})} <= names


def test_second_servers_are_as_the_first() -> None:
    for name in ("web", "worker"):
        differs = ("profiles", "ports")
        first, second = (
            {key: value for key, value in services()[one].items() if key not in differs}
            for one in (name, f"{name}2")
        )
        assert first == second


def database_host(service: str, values: dict[str, str]) -> str:
    url = interpolated(services()[service]["environment"]["DATABASE_URL"], values)
    assert url.endswith("/ciphermark")
    return url.partition("@")[2].partition("/")[0]


def test_web_servers_alone_go_through_the_pooler() -> None:
    plain = {"POSTGRES_PASSWORD": "one"}
    for name in ("web", "web2", "worker", "worker2", "beat", "migrate", "backup"):
        assert database_host(name, plain) == "postgres:5432"
        expected = "pooler:6432" if name.startswith("web") else "postgres:5432"
        assert database_host(name, env_lines()) == expected
    assert "6432" in services()["pooler"]["healthcheck"]["test"]


def test_the_lines_of_the_example_lead_to_the_parts() -> None:
    values = env_lines()
    replica = interpolated(values["DATABASE_REPLICA_URL"], values)
    assert replica == f"postgresql://ciphermark:{PASSWORD}@replica:5432/ciphermark"
    key, secret = values["CIPHERMARK_STORAGE_KEY"], values["CIPHERMARK_STORAGE_SECRET"]
    made = storages(values["CIPHERMARK_STORAGE_URL"], key, secret, Path("/exports"))
    options = made["exports"]["OPTIONS"]
    garage = tomllib.loads((SCALE / "garage.toml").read_text())
    objects = services()["objects"]
    assert options["bucket_name"] == objects["environment"]["GARAGE_DEFAULT_BUCKET"]
    assert options["region_name"] == garage["s3_api"]["s3_region"]
    assert options["endpoint_url"] == f"https://{values['CIPHERMARK_FILES_HOST']}"
    (alias,) = services()["proxy"]["networks"]["default"]["aliases"]
    assert interpolated(alias, values) == values["CIPHERMARK_FILES_HOST"]
    (kept,) = (one for one in objects["volumes"] if one.startswith("objects:"))
    for name in ("metadata_dir", "data_dir"):
        assert garage[name].startswith(kept.partition(":")[2] + "/")
    port = garage["s3_api"]["api_bind_addr"].rpartition(":")[2]
    assert f"reverse_proxy objects:{port}" in (SCALE / "Caddyfile").read_text()


def test_files_that_containers_read_are_there_and_cannot_be_written() -> None:
    for service in services().values():
        for volume in service.get("volumes", ()):
            source, _, mode = volume.partition(":")
            if source.startswith("./"):
                assert (PROJECT / source).is_file()
                assert mode.endswith(":ro")
            else:
                assert source in compose()["volumes"]


def test_images_of_others_have_a_version() -> None:
    for name, service in services().items():
        if "build" not in service:
            tag = service["image"].rpartition(":")[2]
            assert re.fullmatch(r"v?\d+(\.\d+)*(-p\d+)?", tag), name


# The replica and the pooler, before a PostgreSQL as the image makes one.


@dataclass(frozen=True)
class Machine:
    """A primary's folder and port, and what runs there."""

    folder: Path
    port: int

    def url(self, port: int, password: str = PASSWORD) -> str:
        """Of a server or pooler here."""
        return f"postgresql://ciphermark:{password}@127.0.0.1:{port}/ciphermark"

    def run(self, *words: str | Path, **environment: str) -> None:
        done = subprocess.run(
            words, env=self._with(environment), cwd=self.folder, check=False,
            capture_output=True, text=True, **server_account().switch,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    @contextmanager
    def running(
        self, *words: str | Path, **environment: str
    ) -> Iterator["subprocess.Popen[bytes]"]:
        """Until the end, at which it is stopped as a container is."""
        with (self.folder / f"{words[0]}.log".replace("/", "-")).open("ab") as log:
            process = subprocess.Popen(
                words, env=self._with(environment), cwd=self.folder,
                stdout=log, stderr=log, **server_account().switch,
            )  # fmt: skip
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(SECONDS) is not None

    def _with(self, environment: dict[str, str]) -> dict[str, str]:
        programs = f"{_programs() / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": programs, "LC_ALL": "C", **environment}

    def log(self) -> str:
        return "".join(one.read_text() for one in self.folder.glob("*.log"))


def says(url: str, question: str) -> Any:
    """The first value of the answer; None when nobody answers."""
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
            row = connection.execute(question.encode()).fetchone()
            return row[0] if row else None
    except psycopg.OperationalError:
        return None


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """A primary that takes passwords from everywhere, and replication from nowhere else."""
    account = server_account()
    with private_folder() as folder:
        os.chown(folder, account.uid, account.gid)
        machine = Machine(folder, free_port())
        (folder / "password").write_text(PASSWORD)
        os.chown(folder / "password", account.uid, account.gid)
        data = folder / "primary"
        machine.run(
            "initdb", "--encoding=UTF8", "--username=ciphermark", "--pwfile=password", "-D", data
        )
        rules = (data / "pg_hba.conf").read_text()
        # Here everything comes from 127.0.0.1, whom initdb lets in; containers do not.
        rules = re.sub(r"^(host|local)\s.*\n", "", rules, flags=re.M)
        (data / "pg_hba.conf").write_text(f"{rules}\nhost all all all scram-sha-256\n")
        with (data / "postgresql.conf").open("a") as file:
            file.write("unix_socket_directories = ''\nlisten_addresses = '127.0.0.1'\n")
        port = machine.port
        with machine.running("postgres", "-D", data, PGPORT=str(port)):
            ours = f"postgresql://ciphermark:{PASSWORD}@127.0.0.1:{port}/postgres"
            assert within(SECONDS, lambda: says(ours, "SELECT 1") == 1), machine.log()
            with psycopg.connect(ours, autocommit=True) as connection:
                connection.execute("CREATE DATABASE ciphermark")
            with psycopg.connect(machine.url(port)) as connection:
                connection.execute("CREATE TABLE numbers AS SELECT generate_series(1, 1000) AS n")
            yield machine


def shell(service: str, key: str, changes: dict[str, str]) -> list[str]:
    """What the service runs, with places of this machine instead of the containers'."""
    *words, text = services()[service][key]
    return [*words, changed(text.replace("$$", "$"), changes)]


def changed(text: str, changes: dict[str, str]) -> str:
    """With each of these replaced, of which none may be missing."""
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


def test_the_replica_copies_the_primary_once_and_follows_it(machine: Machine) -> None:
    data, port = machine.folder / "replica" / "18", free_port()
    (data.with_name("18.part") / "half").mkdir(parents=True)  # an earlier copy was broken off
    for path in (data.parent, data.with_name("18.part"), data.with_name("18.part") / "half"):
        os.chown(path, server_account().uid, server_account().gid)
    here = {"host=postgres ": f"host=127.0.0.1 port={machine.port} "}
    words = shell("replica", "command", here)
    given = {"PGDATA": str(data), "PGPASSWORD": PASSWORD, "PGPORT": str(port)}
    primary, replica = machine.url(machine.port), machine.url(port)
    count = "SELECT count(*) FROM numbers"
    for rows in (1001, 1002):
        with machine.running(*words, **given) as process:
            assert within(SECONDS, lambda: says(replica, count) is not None), machine.log()
            with psycopg.connect(primary) as connection:
                connection.execute("INSERT INTO numbers VALUES (0)")
            assert within(SECONDS, lambda: says(replica, count) == rows), machine.log()  # noqa: B023
            assert says(replica, "SELECT pg_is_in_recovery()") is True
            assert says(replica, "SHOW hot_standby_feedback") == "on"
            assert PASSWORD not in Path(f"/proc/{process.pid}/cmdline").read_text()
        assert (data / "first").exists() == (rows == 1002)  # not copied again
        (data / "first").touch()
    rules = (machine.folder / "primary" / "pg_hba.conf").read_text()
    assert len(re.findall(r"^host\s+replication", rules, re.M)) == 1
    assert says(primary, "SHOW wal_keep_size") == "1GB"


def test_the_pooler_lets_many_share_few_connections(machine: Machine) -> None:
    port, folder = free_port(), machine.folder / "pooler"
    folder.mkdir()
    os.chown(folder, server_account().uid, server_account().gid)
    text = (SCALE / "pgbouncer.ini").read_text()
    settings = ConfigParser()
    settings.read_string(text)
    limits = settings["pgbouncer"]
    assert limits["pool_mode"] == "transaction"
    assert int(limits["max_prepared_statements"]) == 100
    assert f":{limits['listen_port']}" in env_lines()["CIPHERMARK_POOLER"]
    few = 2
    here = {
        "host=postgres port=5432": f"host=127.0.0.1 port={machine.port}",
        "listen_addr = *": "listen_addr = 127.0.0.1",
        f"listen_port = {limits['listen_port']}": f"listen_port = {port}",
        "/tmp/userlist.txt": f"{folder}/userlist.txt",
        f"default_pool_size = {limits['default_pool_size']}": f"default_pool_size = {few}",
    }
    if version() < PREPARES:
        here["max_prepared_statements = 100\n"] = ""
    (folder / "pgbouncer.ini").write_text(changed(text, here))
    places = ("/tmp/userlist.txt", "/etc/pgbouncer/pgbouncer.ini")
    words = shell("pooler", "entrypoint", {one: f"{folder}/{Path(one).name}" for one in places})
    assert shutil.which("pgbouncer"), "this test needs pgbouncer (`make test` brings one)"
    with machine.running(*words, POSTGRES_PASSWORD=PASSWORD) as process:
        pooled = machine.url(port)
        assert within(SECONDS, lambda: says(pooled, "SELECT 1") == 1), machine.log()
        assert (folder / "userlist.txt").stat().st_mode & 0o077 == 0
        assert PASSWORD not in Path(f"/proc/{process.pid}/cmdline").read_text()
        assert says(machine.url(port, "another"), "SELECT 1") is None
        clients = [psycopg.connect(pooled, autocommit=True) for _ in range(10)]
        servers = set()
        for client in clients:
            row = client.execute("SELECT pg_backend_pid()").fetchone()
            assert row
            servers.add(row[0])
            client.close()
        assert len(servers) <= few


def test_the_proxy_does_what_lets_nobody_notice_an_update() -> None:
    """What Caddy does without compose: `test_documented_lines.py` updates a site behind it."""
    alone = (PROJECT / "deploy/caddy/Caddyfile").read_text()
    (block,) = re.findall(r"reverse_proxy [^{}]+ \{\n(.*?)\n\t\}", alone, re.DOTALL)
    scale = (SCALE / "Caddyfile").read_text().splitlines()
    lines = [one for one in block.splitlines() if "#" not in one and "lb_policy" not in one]
    assert len(lines) > 5
    assert {*lines} <= {*scale}


# The proxy, before web servers that say their names.


class Named(BaseHTTPRequestHandler):
    """Answers with the server's name and what arrived."""

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server: Any = self.server
        headers = ("Host", "X-Forwarded-Proto", "X-Forwarded-For")
        said = [server.name, *(self.headers.get(name, "") for name in headers), self.path]
        body = "\n".join(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = _answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def serving(name: str, port: int) -> Iterator[None]:
    """A server of this name, until the end."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", port), Named)
    server.name = name
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class Proxy:
    """Caddy with deploy/scale/Caddyfile; its ports and those behind it."""

    folder: Path
    http: int
    https: int
    ports: dict[str, int]

    def ask(
        self, host: str, path: str = "/", *, tls: bool = True, method: str = "GET", cookie: str = ""
    ) -> tuple[int, list[str], str]:
        """Status, the lines of the answer, and the cookie that was set."""
        root = self.folder / "caddy/pki/authorities/local/root.crt"
        connection: http.client.HTTPConnection
        if tls:
            context = ssl.create_default_context(cafile=str(root))
            connection = Through(host, self.https, context)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.http, timeout=SECONDS)
        with closing(connection):
            headers = {"Host": host, **({"Cookie": cookie} if cookie else {})}
            connection.request(method, path, b"body" if method == "POST" else None, headers)
            answer = connection.getresponse()
            lines = answer.read().decode().splitlines()
            return answer.status, lines, (answer.headers.get("Set-Cookie") or "").partition(";")[0]

    def answers(self) -> bool:
        try:
            return self.ask("bench.internal")[0] == self.ask("files.internal")[0] == 200
        except (OSError, http.client.HTTPException):
            return False


class Through(http.client.HTTPSConnection):
    """To a host name whose server is here."""

    def __init__(self, host: str, port: int, context: ssl.SSLContext) -> None:
        super().__init__("127.0.0.1", port, timeout=SECONDS)
        self._name, self._tls = host, context

    def connect(self) -> None:
        """As the base class does, for the certificate of that name."""
        http.client.HTTPConnection.connect(self)
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._name)


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    behind = {name: free_port() for name in ("web", "web2", "objects")}
    https, http = free_port(), free_port()
    command = proxy_of_scale(tmp_path, https, http, behind, "bench.internal")
    with running(command, tmp_path):
        assert within(SECONDS, lambda: is_listening(https)), (tmp_path / "log").read_text()
        yield Proxy(tmp_path, http, https, behind)


def test_the_proxy_shares_readers_out_and_leaves_each_with_one_server(proxy: Proxy) -> None:
    ports = proxy.ports
    with serving("web2", ports["web2"]), serving("objects", ports["objects"]):
        with serving("web", ports["web"]):
            assert within(SECONDS, proxy.answers), (proxy.folder / "log").read_text()
            first = [proxy.ask("bench.internal") for _ in range(40)]
            assert {lines[0] for _, lines, _ in first} == {"web", "web2"}
            for _, (name, host, scheme, client, _), cookie in first[:6]:
                assert (host, scheme, client) == ("bench.internal", "https", "127.0.0.1")
                again = {proxy.ask("bench.internal", cookie=cookie)[1][0] for _ in range(5)}
                assert again == {name}
            (cookie,) = {one for _, lines, one in first if lines[0] == "web"}
        # web is updated: its readers and its uploads go to the other one, and come back.
        for method in ("GET", "POST"):
            status, lines, _ = proxy.ask("bench.internal", method=method, cookie=cookie)
            assert (status, lines[0]) == (200, "web2")
        with serving("web", ports["web"]):
            back = partial(proxy.ask, "bench.internal", cookie=cookie)
            assert within(SECONDS, lambda: back()[1][0] == "web")
    assert proxy.ask("bench.internal", tls=False)[0] == 308


def test_a_signed_address_reaches_the_object_storage_as_it_was_signed(proxy: Proxy) -> None:
    values = env_lines()
    client = get_session().create_client(
        "s3",
        region_name="garage",
        endpoint_url="http://files.internal",
        aws_access_key_id=values["CIPHERMARK_STORAGE_KEY"],
        aws_secret_access_key=values["CIPHERMARK_STORAGE_SECRET"],
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
    )
    signed = client.generate_presigned_url(
        "get_object", Params={"Bucket": "ciphermark", "Key": "exports/1.csv"}
    )
    path = signed.removeprefix("http://files.internal")
    assert path.startswith("/ciphermark/exports/1.csv?")
    with serving("objects", proxy.ports["objects"]), serving("web", proxy.ports["web"]):
        assert within(SECONDS, proxy.answers), (proxy.folder / "log").read_text()
        for tls in (True, False):
            status, lines, _ = proxy.ask("files.internal", path, tls=tls)
            assert (status, lines[0]) == (200, "objects")
            # The signature is over both.
            assert (lines[1], lines[4]) == ("files.internal", path)
