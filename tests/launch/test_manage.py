import os
import subprocess
import sys
from pathlib import Path

from tests.launch.tools import PROJECT, free_port


def manage(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=PROJECT,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_database_that_is_away_is_one_sentence(tmp_path: Path) -> None:
    url = f"postgresql://ciphermark:word@127.0.0.1:{free_port()}/ciphermark"
    variables = {"CIPHERMARK_DATA_DIR": str(tmp_path), "DATABASE_URL": url}
    variables["REDIS_URL"] = f"redis://127.0.0.1:{free_port()}/0"
    commands = (
        ["migrate", "--check"],
        ["backup", str(tmp_path / "a.dump")],
    )
    for command in commands:
        done = manage(*command, **variables)
        assert done.returncode == 1, command
        assert done.stderr.startswith("Cannot connect to PostgreSQL ("), (command, done.stderr)
        assert "refused" in done.stderr
        assert done.stderr.endswith("correct DATABASE_URL.\n")
        assert done.stderr.count("\n") == 1
        assert "word" not in done.stderr


def test_its_traceback_can_be_had_and_others_are_shown(tmp_path: Path) -> None:
    asked = manage("check", "--traceback", CIPHERMARK_PROXIES="x", CIPHERMARK_ENV="production")
    assert "Traceback (most recent call last)" in asked.stderr
    other = manage("check", DJANGO_SETTINGS_MODULE="config.nowhere")
    assert other.returncode == 1
    assert "No module named 'config.nowhere'" in other.stderr
    assert "Traceback" in other.stderr
