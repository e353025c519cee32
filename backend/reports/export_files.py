"""Where finished exports lie: a folder of this machine, or object storage that all machines share.

While a file is being made it is a part in its maker's own folder; it has its name once it is whole.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.files.base import ContentFile, File

from store.models import ExportJob
from store.object_storage import storage

ALIAS = "exports"

OURS = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(csv|xlsx|part)")
"""Names of exports. Whatever else lies beside them is not ours to delete."""


def part(job: ExportJob) -> Path:
    """Where the file is while it is being made."""
    return Path(settings.EXPORTS_DIR) / f"{job.job_id}.part"


def keep(job: ExportJob, alive: Callable[[], None]) -> None:
    """Give the whole part its name, where readers find it; `alive` is called while bytes move.

    Raises what `alive` raises, OSError and `ObjectStorageUnavailable`.
    """
    with storage(ALIAS) as files, _Part(part(job), alive) as whole:
        files.save(_name(job), whole)


def remove(job: ExportJob) -> None:
    """Delete the file, and its part if that is on this machine; neither need be there."""
    part(job).unlink(missing_ok=True)
    with storage(ALIAS) as files:
        files.delete(_name(job))


def local_path(job: ExportJob) -> Path | None:
    """Where this machine has the file; None where the object storage has it."""
    with storage(ALIAS) as files:
        try:
            return Path(files.path(_name(job)))
        except NotImplementedError:  # as Django's storages say that they are none of this machine
            return None


def link(job: ExportJob, name: str, content_type: str) -> str:
    """An address in the object storage that gives the file under this name, for an hour.

    Raises FileNotFoundError and `ObjectStorageUnavailable`.
    """
    answered = {
        "ResponseContentDisposition": f'attachment; filename="{name}"',
        "ResponseContentType": content_type,
    }
    with storage(ALIAS) as files:
        if not files.exists(_name(job)):
            raise FileNotFoundError(_name(job))
        address: str = files.url(_name(job), parameters=answered)
        return address


def remove_unknown() -> None:
    """Delete files and parts that belong to no job."""
    parts = Path(settings.EXPORTS_DIR)
    with storage(ALIAS) as files:
        # The names first: a file made after this belongs to a job that is in the list then.
        found = [*_names(files), *(path.name for path in parts.glob("*.part"))]
        jobs = list(ExportJob.objects.all())
        known = {_name(job) for job in jobs if job.status != ExportJob.Status.FAILED}
        known |= {part(job).name for job in jobs if job.unfinished}
        for name in filter(OURS.fullmatch, set(found) - known):
            files.delete(name)
            (parts / name).unlink(missing_ok=True)


def try_out() -> None:
    """Save a file and delete it: raises OSError or `ObjectStorageUnavailable` where none can be."""
    with storage(ALIAS) as files:
        name = files.save(f"{uuid4()}.part", ContentFile(b"tried"))
        files.delete(name)


def _name(job: ExportJob) -> str:
    return f"{job.job_id}.{job.format}"


def _names(files: Any) -> list[str]:
    try:
        names: list[str] = files.listdir("")[1]
    except FileNotFoundError:  # nobody has asked for a file yet
        return []
    return names


class _Part(File):  # type: ignore[type-arg]
    """A part on its way: moved within a machine, else read, of which `alive` is told."""

    def __init__(self, path: Path, alive: Callable[[], None]) -> None:
        self._bytes = path.open("rb")
        super().__init__(self._bytes, str(path))
        self._path, self._alive = path, alive

    def temporary_file_path(self) -> str:
        """Django moves the file that is here."""
        return str(self._path)

    def read(self, *size: int) -> bytes:
        """The next bytes."""
        self._alive()
        return self._bytes.read(*size)
