"""The administrator that `make run` makes: who, and where the password is kept."""

from pathlib import Path

NAME = "admin"


def password_file(data_dir: Path) -> Path:
    """Readable by the owner of the data folder alone."""
    return data_dir / "admin-password"
