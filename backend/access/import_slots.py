"""How many texts are read at once: one of each token or person, two in each process."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from access.request_counts import only_one
from parsers.reader_process import SECONDS

AT_ONCE = 2
"""In one process. Each may have a process beside it that reads (`parsers.reader_process`)."""

RETRY_AFTER = 3
"""Seconds: about as long as the largest text takes."""

KEPT_SECONDS = 2 * SECONDS
"""After which a process that was killed keeps nobody out any more."""

_places = BoundedSemaphore(AT_ONCE)


class ImportsBusy(Exception):
    """Too many texts are being read; `wait` is when to come back, in seconds."""

    wait = RETRY_AFTER


@contextmanager
def import_slot(who: str) -> Iterator[None]:
    """Hold a place for a text of `who`; raises `ImportsBusy` at once when there is none.

    To be entered when the text has arrived: a slow client must not keep others out.
    """
    if not _places.acquire(blocking=False):
        raise ImportsBusy("The server is reading other texts. Nothing was stored; try again soon.")
    try:
        with only_one("import", who, KEPT_SECONDS) as is_alone:
            if not is_alone:
                raise ImportsBusy(
                    "Another text of yours is being read. Nothing was stored; send them in turn."
                )
            yield
    finally:
        _places.release()
