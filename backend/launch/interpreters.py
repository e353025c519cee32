"""The Pythons of this machine that the tests can run on, besides that of `.venv`."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from launch import paths
from launch.console import Problem
from launch.python_versions import IN_WORDS, OLDEST, TOO_NEW

NAMES = ("python3.11", "python3.12", "python3.13", "python3.14")

USUAL_FOLDERS = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")

PROBE = "import ensurepip, sys, venv; print(*sys.version_info[:3])"


@dataclass(frozen=True, order=True)
class Interpreter:
    """A Python that Ciphermark runs on and that can make a virtual environment."""

    version: tuple[int, ...]
    path: Path

    def __str__(self) -> str:
        return ".".join(map(str, self.version))


def extremes() -> list[Interpreter]:
    """The oldest and the newest here (or those that `PYTHONS` names), without `.venv`'s own."""
    named = os.environ.get("PYTHONS", "").split()
    chosen = [_named(name) for name in named] or _oldest_and_newest()
    own = _probed(paths.venv_python())
    return [one for one in chosen if own is None or one.version != own.version]


def in_words(others: list[Interpreter]) -> str:
    """On which Pythons the tests run."""
    own = _probed(paths.venv_python())
    if others:
        versions = " and ".join(map(str, others))
        return f"Python {versions}, besides {own} of `make test`."
    return (
        f"No Python besides {own} of `make test`: no other from {IN_WORDS} with the venv module is "
        "on PATH, in the usual folders or in pyenv's (PYTHONS='/path/to/python3.13 ...' names one)."
    )


def _named(name: str) -> Interpreter:
    path = shutil.which(name)
    found = _probed(Path(path)) if path else None
    if found is None:
        raise Problem(
            f"PYTHONS={os.environ['PYTHONS']}: {name} is no Python {IN_WORDS} with the venv module."
        )
    return found


def _oldest_and_newest() -> list[Interpreter]:
    found = sorted({one.version: one for one in map(_probed, _candidates()) if one}.values())
    return found[:1] + found[1:][-1:]


def _candidates() -> Iterator[Path]:
    for folder in _folders():
        yield from (path for path in map(folder.joinpath, NAMES) if os.access(path, os.X_OK))


def _folders() -> Iterator[Path]:
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/*/bin"))
    yield from map(Path, os.get_exec_path())
    yield from map(Path, USUAL_FOLDERS)


def _probed(python: Path) -> Interpreter | None:
    """What answers at this path; None when it does not suit."""
    try:
        answer = subprocess.run(
            [python, "-c", PROBE], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = tuple(map(int, answer.stdout.split())) if answer.returncode == 0 else ()
    return Interpreter(version, python) if OLDEST <= version < TOO_NEW else None
