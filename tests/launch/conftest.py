"""Folders and processes of the launch tests. Every process they start ends with its test."""

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.embedded import Services, start_services
from tests.launch.tools import PROJECT, MakeProgram, UseServices, private_folder


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A data folder for one test."""
    with private_folder() as folder:
        yield folder


@pytest.fixture
def use_services() -> Iterator[UseServices]:
    """Start another process that uses the servers of a folder until its input is closed."""
    users: list[subprocess.Popen[str]] = []

    def use(folder: Path) -> "subprocess.Popen[str]":
        program = (
            "import sys; from pathlib import Path; from config.embedded import start_services\n"
            f"print(start_services(Path({str(folder)!r})), flush=True); sys.stdin.read()"
        )
        user = subprocess.Popen(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": str(PROJECT / "backend")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        users.append(user)
        assert user.stdout is not None
        assert user.stdout.readline().startswith("Services(")
        return user

    yield use
    for user in users:
        user.kill()
        user.communicate()


HOST = "bench.example.org"
"""The host name of sites in production."""


@pytest.fixture(scope="session")
def embedded() -> Iterator[tuple[Path, Services]]:
    """Real servers for the commands."""
    with private_folder() as folder:
        yield folder, start_services(folder)


@pytest.fixture(scope="session")
def production(embedded: tuple[Path, Services]) -> dict[str, str]:
    """The environment of the containers; the folder and the servers are those of these tests."""
    folder, servers = embedded
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    return {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(PROJECT / "backend"),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "CIPHERMARK_ENV": "production",
        "CIPHERMARK_SECRET_KEY": secrets.token_urlsafe(48),
        "CIPHERMARK_ALLOWED_HOSTS": HOST,
        "CIPHERMARK_DATA_DIR": str(folder / "var"),
        "DATABASE_URL": servers.database_url,
        "REDIS_URL": servers.redis_url,
    }


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeProgram:
    """Puts a shell script on PATH, where only it and the system's basic tools are."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "cat", "cp", "dirname", "mkdir", "sleep"):
        (folder / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(folder))

    def make(name: str, script: str) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return make
