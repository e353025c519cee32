"""Snapshots in object storage: what one machine's worker wrote, processes of all start from.

A snapshot has the same name and files there as in the folder; its state comes last and makes it
complete. Where the object storage is away, everybody goes on by what their own machine has.
"""

import logging
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from django.core.files import File

from store.object_storage import is_shared, storage
from store.outage import ObjectStorageUnavailable

logger = logging.getLogger(__name__)

ALIAS = "snapshots"

STATE = "state.json"

SNAPSHOT = re.compile(r"([0-9]+)-([0-9]{19})")
"""VERSION-TIME, the time in nanoseconds. What is called otherwise is not ours."""

FETCH_SECONDS = 20.0
"""The longest that a process waits for its files: PostgreSQL has everything too."""

_FILE = re.compile(rf"{re.escape(STATE)}|[a-z_]+\.parquet")


def publish(path: Path, left_seconds: float) -> bool:
    """Bring a snapshot to the object storage, unless it is there; False where that failed.

    Those there that are older than `left_seconds` are deleted first, complete or not: somebody may
    be reading a younger one. The newest complete one stays until this one is complete.
    """
    bring = partial(_bring, path, left_seconds)
    return not is_shared(ALIAS) or _done_with_snapshots(bring, patient=True)


def _bring(path: Path, left_seconds: float, shared: Any) -> None:
    version, moment = path.name.split("-")
    there = _named(shared)
    kept = _newest(shared, there, int(version))
    if kept == path.name:
        return
    for name, found in there.items():
        if name != kept and int(found[2]) < int(moment) - left_seconds * 1e9:
            _delete(shared, name)
    for file in sorted(path.iterdir(), key=lambda one: one.name == STATE):
        with file.open("rb") as content:
            shared.save(f"{path.name}/{file.name}", File(content))


def try_listing() -> bool:
    """Whether machines share snapshots; raises where their object storage does not list them."""
    if is_shared(ALIAS):
        with storage(ALIAS) as shared:
            shared.listdir("")
    return is_shared(ALIAS)


def fetch(folder: Path, version: int, here: str) -> None:
    """Bring the newest snapshot of a version into the folder, if it is newer than `here`."""
    if is_shared(ALIAS):
        _done_with_snapshots(partial(_fetch, folder, version, here))


def _fetch(folder: Path, version: int, here: str, shared: Any) -> None:
    name = _newest(shared, _named(shared), version)
    if name is not None and name > here:
        _download(shared, name, folder)


def _download(shared: Any, name: str, folder: Path) -> None:
    begun = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix="part-", dir=folder))

    def look_at_the_clock(_: int) -> None:
        if time.monotonic() - begun > FETCH_SECONDS:
            raise TimeoutError(f"{name} took longer than {FETCH_SECONDS:.0f} s")

    try:
        for file in filter(_FILE.fullmatch, shared.listdir(name)[1]):
            # To the disk: what Django opens is read into memory whole.
            key = f"{shared.location}/{name}/{file}"
            shared.bucket.download_file(key, str(part / file), Callback=look_at_the_clock)
        _rename(part, folder / name)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    logger.info("snapshot %s fetched in %.1f s", name, time.monotonic() - begun)


def _rename(part: Path, path: Path) -> None:
    """Unless another process of this machine was first, which has brought the same."""
    try:
        part.rename(path)
    except OSError:
        if not path.is_dir():
            raise


def _delete(shared: Any, name: str) -> None:
    """Its state first: it is complete or away."""
    files = filter(_FILE.fullmatch, shared.listdir(name)[1])
    for file in sorted(files, key=lambda one: one != STATE):
        shared.delete(f"{name}/{file}")


def _newest(shared: Any, there: Mapping[str, re.Match[str]], version: int) -> str | None:
    """The name of the newest one of a version that is complete."""
    names = (name for name, found in there.items() if int(found[1]) == version)
    complete = (name for name in names if shared.exists(f"{name}/{STATE}"))
    return next(complete, None)


def _named(shared: Any) -> dict[str, re.Match[str]]:
    """What is there of ours, the newest first: name -> version and time."""
    found = filter(None, map(SNAPSHOT.fullmatch, shared.listdir("")[0]))
    return {one[0]: one for one in sorted(found, key=lambda one: int(one[2]), reverse=True)}


def _done_with_snapshots(use: Callable[[Any], None], *, patient: bool = False) -> bool:
    """Use the storage of snapshots. False where something in it fails: all goes on without."""
    try:
        with storage(ALIAS, patient=patient) as shared:
            use(shared)
    except ObjectStorageUnavailable:
        pass  # which is logged
    except OSError as error:
        logger.warning("snapshots in the object storage are done without: %s", error)
    except Exception:
        logger.exception("snapshots in the object storage are done without")
    else:
        return True
    return False
