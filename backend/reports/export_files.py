"""Where finished exports lie: a folder of this machine, or object storage that all machines share.

While a file is being made it is a part in its maker's own folder; it has its name once it is whole.
"""

import re
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from django.conf import settings
from django.core.files.base import ContentFile, File
from django.utils import timezone

from store.models import ExportJob
from store.object_storage import is_shared, storage
from store.outage import ObjectStorageUnavailable

ALIAS = "exports"

KEPT = timedelta(days=3)
"""How long a finished file is there to be fetched."""

SPARE = timedelta(hours=1)
"""The clock of the object storage may be another one."""

PART_LASTS = timedelta(hours=2)
"""Longer than a file may take to be made."""

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_FILE = re.compile(rf"{_ID}\.(?:csv|xlsx)")
_PART = re.compile(rf"{_ID}(?:\.[0-9]+)?\.part")


def part(job: ExportJob) -> Path:
    """Where the file is while it is being made: each attempt has its own."""
    return Path(settings.EXPORTS_DIR) / f"{job.job_id}.{job.attempts}.part"


def keep(job: ExportJob) -> None:
    """Give the whole part its name, where readers find it.

    Raises OSError and `ObjectStorageUnavailable`.
    """
    with storage(ALIAS, patient=True) as files, part(job).open("rb") as whole:
        files.save(_name(job), _Part(whole, part(job)))


def remove(job: ExportJob) -> None:
    """Delete the file, which need not be there."""
    with storage(ALIAS) as files:
        files.delete(_name(job))


def local_path(job: ExportJob) -> Path | None:
    """Where this machine has the file; None where the object storage has it."""
    with storage(ALIAS) as files:
        try:
            return Path(files.path(_name(job)))
        except NotImplementedError:  # as Django's storages say that they are none of this machine
            return None


def link(job: ExportJob, name: str, content_type: str, method: str) -> str:
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
        address: str = files.url(_name(job), parameters=answered, http_method=method)
        return address


def remove_old() -> None:
    """Delete parts of makers that died, and files of no job, when they are older than any may be.

    So another site may keep its files beside ours. What has other names is not touched.
    """
    for path in Path(settings.EXPORTS_DIR).glob("*"):
        for form, limit in ((_PART, PART_LASTS), (_FILE, KEPT + SPARE)):
            with suppress(FileNotFoundError):  # another sweep was first
                age = time.time() - path.stat().st_mtime
                if form.fullmatch(path.name) and age > limit.total_seconds():
                    path.unlink()
    if not is_shared(ALIAS):
        return
    with storage(ALIAS) as files:
        # The names first: a file made after this belongs to a job that is in the list then.
        found = set(filter(_FILE.fullmatch, files.listdir("")[1]))
    for name in found - set(map(_name, ExportJob.objects.all())):
        with suppress(ObjectStorageUnavailable), storage(ALIAS) as files:  # one by one
            if timezone.now() - files.get_modified_time(name) > KEPT + SPARE:
                files.delete(name)


def try_out() -> None:
    """List, save, read and delete: raises OSError or `ObjectStorageUnavailable` if one fails."""
    with storage(ALIAS) as files:
        files.listdir("")
        name = files.save(f"{uuid4()}.csv", ContentFile(b"tried"))
        with files.open(name) as file:
            file.read()
        files.delete(name)


def _name(job: ExportJob) -> str:
    return f"{job.job_id}.{job.format}"


class _Part(File):  # type: ignore[type-arg]
    """What is whole: Django moves it within a machine, and reads it otherwise."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        super().__init__(file, str(path))

    def temporary_file_path(self) -> str:
        """Where Django finds it."""
        return str(self.name)
