"""A file in the data folder that says that `make run` is measuring this machine just now."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEASURING = "measuring"


@contextmanager
def told_as_measuring(data_dir: Path) -> Iterator[None]:
    """The file is there meanwhile."""
    path = data_dir / MEASURING
    path.write_text("make run is measuring this machine\n")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
