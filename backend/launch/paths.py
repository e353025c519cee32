"""Where things are. Nothing here is made."""

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
BACKEND = PROJECT / "backend"
FRONTEND = PROJECT / "frontend"
TOOLS = PROJECT / ".data" / "tools"
"""Programs for building that the machine lacks (Node). They belong to the clone, not its data."""


def venv() -> Path:
    """The virtual environment: `CIPHERMARK_VENV`, or `.venv` in the project."""
    return Path(os.environ.get("CIPHERMARK_VENV") or PROJECT / ".venv").absolute()


def venv_python() -> Path:
    """The interpreter of the virtual environment."""
    return venv() / "bin" / "python"


def data_dir() -> Path:
    """The data folder: `CIPHERMARK_DATA_DIR`, or `.data` in the project."""
    return Path(os.environ.get("CIPHERMARK_DATA_DIR") or PROJECT / ".data").absolute()


def shown(path: Path) -> str:
    """A path as short as it can be told: relative to the project where it lies inside."""
    return str(path.relative_to(PROJECT)) if path.is_relative_to(PROJECT) else str(path)


ADMINISTRATOR = "admin"
"""The account that `make run` makes."""


def password_file(data_dir: Path) -> Path:
    """The administrator's password: readable by the owner of the data folder alone."""
    return data_dir / "admin-password"
