import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launch.tools import PROJECT, MakeProgram, UseServices, private_folder


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with private_folder() as folder:
        yield folder


@pytest.fixture
def use_services() -> Iterator[UseServices]:
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


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeProgram:
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
