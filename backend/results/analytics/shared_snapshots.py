"""Snapshots in object storage: what one machine's worker wrote, processes of all start from.

A snapshot has the same name and files there as in the folder; its state comes last and makes it
complete. Where the object storage is away, everybody goes on by what their own machine has.
"""

import json
import logging
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.files import File

from store.object_storage import is_shared, storage
from store.outage import ObjectStorageUnavailable

logger = logging.getLogger(__name__)

STATE = "state.json"


def publish(path: Path, kept: int, left_seconds: float) -> None:
    """Bring a snapshot to the object storage, and delete those there that nobody needs any more.

    `kept` of its version stay, those of other versions for `left_seconds`.
    """
    if not is_shared():
        return
    with _snapshots() as shared:
        for file in sorted(path.iterdir(), key=lambda one: one.name == STATE):
            with file.open("rb") as content:
                shared.save(f"{path.name}/{file.name}", File(content))
        for old in _old(shared.listdir("")[0], path.name, kept, left_seconds):
            for name in sorted(shared.listdir(old)[1], key=lambda one: one != STATE):
                shared.delete(f"{old}/{name}")


def fetch(folder: Path, version: int) -> None:
    """Bring the newest snapshot of a version into the folder, unless one as new is there."""
    if not is_shared():
        return
    with _snapshots() as shared:
        name = _newest(shared, version)
        here = max((path.name for path in folder.glob(f"{version}-*")), default="")
        if name is not None and name > here:
            _download(shared, name, folder)


def newest_state(version: int) -> dict[str, Any] | None:
    """What the newest complete snapshot says of itself; None where there is none."""
    state: dict[str, Any] | None = None
    with _snapshots() as shared:
        name = _newest(shared, version)
        if name is not None:
            with shared.open(f"{name}/{STATE}") as content:
                state = json.load(content)
    return state


def _download(shared: Any, name: str, folder: Path) -> None:
    begun = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix="part-", dir=folder))
    try:
        for file in shared.listdir(name)[1]:
            with shared.open(f"{name}/{file}") as content, (part / file).open("wb") as out:
                shutil.copyfileobj(content, out)
        part.rename(folder / name)  # refused where another process was first
    finally:
        shutil.rmtree(part, ignore_errors=True)
    logger.info("snapshot %s fetched in %.1f s", name, time.monotonic() - begun)


def _newest(shared: Any, version: int) -> str | None:
    names = [name for name in shared.listdir("")[0] if name.startswith(f"{version}-")]
    complete = (name for name in sorted(names, reverse=True) if shared.exists(f"{name}/{STATE}"))
    return next(complete, None)


def _old(names: Iterable[str], newest: str, kept: int, left_seconds: float) -> list[str]:
    """Names are VERSION-TIME, in nanoseconds. Whatever else is called otherwise is not ours."""
    version, _, now = newest.partition("-")
    ours = sorted((name.partition("-") for name in names), reverse=True)
    same = ["".join(name) for name in ours if name[0] == version]
    others = ["".join(name) for name in ours if name[0] != version and name[2].isdigit()]
    left = int(now) - int(left_seconds * 1e9)
    return [*same[kept:], *(one for one in others if int(one.partition("-")[2]) < left)]


@contextmanager
def _snapshots() -> Iterator[Any]:
    """The storage of snapshots; where it is away, or somebody was first, all goes on without."""
    try:
        with storage("snapshots") as shared:
            yield shared
    except (ObjectStorageUnavailable, OSError) as error:
        logger.warning("snapshots in the object storage: %s", error)
