"""manage.py load_runs FILE... [--jobs N] [--refused FILE]"""

import os
import re
import sys
import time
from argparse import ArgumentParser
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from zlib import crc32

from django.conf import settings
from django.core.management.base import CommandError
from django.db import OperationalError, connection
from django.template.defaultfilters import pluralize

from ingest.bulk.bulk_import import (
    Line,
    Loaded,
    Position,
    Refusal,
    document_lines,
    load_lines,
    positions,
    settle,
)
from ingest.bulk.pool_worker import start
from store.site_command import SiteCommand

BATCH = 64
"""Lines of one transaction: a machine's latest results are written once a batch."""

WAITING = 3
"""Batches for each process that are read ahead: what is not stored yet stays in memory."""

TELL_SECONDS = {True: 0.2, False: 10.0}
"""How often progress is told, on a terminal and elsewhere."""

HOST = re.compile(rb'"host"\s*:\s*\{[^}]*\}')

BAR = 30

INTERRUPTED = 130

GO_ON = "the same call goes on from here"


class Command(SiteCommand):
    """Load saved run documents, years of them."""

    help = (
        "Store run documents, one JSON document a line (NDJSON, gzip too; - is standard input), "
        "with all that is derived of them. Runs that are stored already are skipped, so an "
        "interrupted call is simply repeated. Exits with 1 when a line was refused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Files and processes."""
        parser.add_argument("files", nargs="+", metavar="FILE", help="- is standard input.")
        parser.add_argument(
            "--jobs", type=int, default=os.cpu_count() or 1, help="Processes; default one a CPU."
        )
        parser.add_argument(
            "--refused",
            default="load_runs.refused.txt",
            help="Where to note refused lines, made when there are any; default %(default)s.",
        )

    def handle(self, *, files: list[str], jobs: int, refused: str, **_: Any) -> None:
        """Load, tell, and exit with what became of it."""
        if jobs < 1:
            raise CommandError("--jobs must be at least 1.")
        telling = Telling(positions(files), Path(refused))
        begun: deque[Future[Loaded]] = deque()
        said = "Done"
        try:
            with _workers(jobs) as pools:
                _load(files, pools, begun, telling)
        except KeyboardInterrupt:
            for ended in (one for one in begun if not one.cancelled()):
                telling.add(ended.result())
            said = f"Interrupted, {GO_ON}"
        except BrokenProcessPool:
            raise CommandError(f"A process was killed; {GO_ON}.") from None
        except OperationalError as error:
            raise CommandError(f"The database failed ({error}); {GO_ON}.") from None
        settle()
        telling.end(said)
        if said != "Done":
            sys.exit(INTERRUPTED)
        if telling.loaded.refused:
            sys.exit(1)


@contextmanager
def _workers(jobs: int) -> Iterator[list[ProcessPoolExecutor]]:
    """Processes on this process's database; batches that they have begun are ended."""
    name = {"NAME": connection.settings_dict["NAME"]}
    context = get_context("spawn")
    pools = [ProcessPoolExecutor(1, context, start, (name,)) for _ in range(jobs)]
    try:
        yield pools
    except KeyboardInterrupt:
        print("\nEnding the batches that are begun ...", file=sys.stderr, flush=True)
        raise
    finally:
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for pool in pools:
            pool.shutdown()


def _load(
    files: list[str],
    pools: list[ProcessPoolExecutor],
    begun: deque[Future[Loaded]],
    telling: "Telling",
) -> None:
    """Runs of one host go to one process: two would wait for each other's latest results.

    `begun`: the batches that have not been told of.
    """
    gathered: list[list[Line]] = [[] for _ in pools]
    for one in document_lines(files, settings.RUN_DOCUMENT_MAX_BYTES, telling.position):
        if isinstance(one, Refusal):
            telling.add(Loaded(refused=[one]))
            continue
        number = _host_digest(one) % len(pools)
        gathered[number].append(one)
        if len(gathered[number]) == BATCH:
            begun.append(pools[number].submit(load_lines, gathered[number]))
            gathered[number] = []
        if len(begun) >= WAITING * len(pools):
            telling.add(begun[0].result())
            begun.popleft()
    begun += [pool.submit(load_lines, rest) for pool, rest in zip(pools, gathered, strict=True)]
    while begun:
        telling.add(begun[0].result())
        begun.popleft()


def _host_digest(line: Line) -> int:
    """Equal for lines of one host, as far as can be told without reading the document."""
    found = HOST.search(line.body or b"")
    return crc32(found[0]) if found else 0


class Telling:
    """What became of the lines so far: told on standard error, refusals noted in a file too."""

    def __init__(self, position: Position, refused: Path) -> None:
        self.position, self.loaded = position, Loaded()
        self._refused = refused
        self._noted = 0
        self._terminal = sys.stderr.isatty()
        self._began = self._told = time.monotonic()

    def add(self, loaded: Loaded) -> None:
        """Count a batch."""
        self.loaded.add(loaded)
        for refusal in loaded.refused:
            self._write(str(refusal))
        if loaded.refused:
            self._note(loaded.refused)
        if time.monotonic() - self._told >= TELL_SECONDS[self._terminal]:
            self._tell()

    def end(self, said: str) -> None:
        """The last line."""
        self._write(f"{said}: {self._counts()}.")
        if self._noted:
            self._write(f"Refused lines are noted in {self._refused}.")

    def _note(self, refused: list[Refusal]) -> None:
        try:
            with self._refused.open("a" if self._noted else "w", encoding="utf-8") as file:
                file.writelines(f"{refusal}\n" for refusal in refused)
        except OSError as error:
            self._write(f"{self._refused} cannot be written ({error.strerror}).")
        else:
            self._noted += len(refused)

    def _counts(self) -> str:
        seconds = time.monotonic() - self._began
        done = self.loaded.stored + self.loaded.known
        stored, refused = self.loaded.stored, len(self.loaded.refused)
        return (
            f"{stored} run{pluralize(stored)} stored, {self.loaded.known} known before,"
            f" {refused} line{pluralize(refused)} refused, {done / max(seconds, 0.001):.0f} runs/s"
        )

    def _tell(self) -> None:
        self._told = time.monotonic()
        share = self.position.done / self.position.total if self.position.total else None
        if not self._terminal:
            percent = "" if share is None else f"{share:.0%}: "
            self._write(percent + self._counts())
            return
        filled = round(BAR * min(share or 0.0, 1.0))
        bar = "" if share is None else f"[{'#' * filled}{'.' * (BAR - filled)}] {share:.0%} "
        print(f"\r\x1b[K{bar}{self._counts()}", end="", file=sys.stderr, flush=True)

    def _write(self, line: str) -> None:
        clean = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in line)
        print(f"\r\x1b[K{clean}" if self._terminal else clean, file=sys.stderr, flush=True)
