"""manage.py move_documents [--back]"""

import time
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.template.defaultfilters import pluralize
from django.utils import timezone

from ingest.edits.moving import bring_back, move_old
from store.models import RunDocument
from store.outage import ObjectStorageUnavailable
from store.run_documents import refuse_while_away
from store.site_command import SiteCommand


class Command(SiteCommand):
    """Move old documents now, or bring all back."""

    help = (
        "Move documents older than CIPHERMARK_DOCUMENTS_DAYS to object storage, as the schedule "
        "does each hour; or bring all --back into PostgreSQL."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which way."""
        parser.add_argument(
            "--back", action="store_true", help="From object storage into PostgreSQL, all of them."
        )

    def handle(self, *, back: bool, **_: Any) -> None:
        """Move, and say how many."""
        began, moved = time.monotonic(), 0
        moving = _brought_back() if back else _old_moved()
        try:
            refuse_while_away()
            for count in moving:
                moved += count
        except ObjectStorageUnavailable as error:
            raise CommandError(f"{_documents(moved)} moved, then no more: {error}.") from None
        rate = moved / max(time.monotonic() - began, 0.001)
        self.stdout.write(f"{_documents(moved)} moved, {rate:.0f} a second.")
        left = RunDocument.objects.filter(moved__isnull=False).count() if back else 0
        if left:
            raise CommandError(f"{left} cannot be read in object storage; the log names them.")


def _documents(count: int) -> str:
    return f"{count} document{pluralize(count)}"


def _brought_back() -> Iterator[int]:
    if settings.CIPHERMARK_DOCUMENTS_DAYS is not None:
        raise CommandError("Unset CIPHERMARK_DOCUMENTS_DAYS first: they would move again.")
    return bring_back()


def _old_moved() -> Iterator[int]:
    days = settings.CIPHERMARK_DOCUMENTS_DAYS
    if days is None:
        raise CommandError("Set CIPHERMARK_DOCUMENTS_DAYS, or say --back.")
    for batch in move_old(timezone.now() - timedelta(days=days), patient=True):
        yield batch.moved
