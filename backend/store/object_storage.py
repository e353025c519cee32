"""Django's storages of this site, whose object storage may be away."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.files.storage import storages

from store.outage import ObjectStorageUnavailable

logger = logging.getLogger(__name__)


def is_shared(alias: str) -> bool:
    """Whether one of `STORAGES` is an object storage, which all machines of the site share."""
    return f"{alias}{settings.PATIENT_STORAGE}" in settings.STORAGES


@contextmanager
def storage(alias: str, *, patient: bool = False) -> Iterator[Any]:
    """One of `STORAGES`, which `patient` work in the background waits for longer.

    Any failure of the object storage is logged, and raised as `ObjectStorageUnavailable`.
    """
    try:
        waits = settings.PATIENT_STORAGE if patient and is_shared(alias) else ""
        yield storages[f"{alias}{waits}"]
    except _failures(alias) as error:
        logger.warning("object storage: %s", error)
        raise ObjectStorageUnavailable(str(error)) from error


def _failures(alias: str) -> tuple[type[Exception], ...]:
    if not is_shared(alias):
        return ()
    from boto3.exceptions import Boto3Error  # a third of a second, which most sites need not wait
    from botocore.exceptions import BotoCoreError, ClientError
    from s3transfer.exceptions import RetriesExceededError

    return (Boto3Error, BotoCoreError, ClientError, RetriesExceededError)
