"""manage.py reparse_runs [--all]: stored texts parsed again (`ingest.arrival.reparsing`)."""

from argparse import ArgumentParser
from collections import Counter
from dataclasses import asdict, fields
from typing import Any

from django.core.management.base import CommandError

from ingest.arrival.reparsing import NotReparsed, Reparsed, reparse, texts_to_reparse
from ingest.processing.run_processing import process_run
from store.site_command import SiteCommand


class Command(SiteCommand):
    """Read imported texts again, after a parser was mended, and rebuild the rows of their runs."""

    help = "Read imported texts again with the parsers of today and rebuild the rows of their runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which texts."""
        parser.add_argument(
            "--all", action="store_true", help="Also texts that these very parsers read."
        )

    def handle(self, **options: Any) -> None:
        """Each text in a transaction of its own, so that an interrupted call goes on later."""
        texts = texts_to_reparse(options["all"])
        totals, failed = Counter[str](), 0
        for text in texts:
            try:
                outcome, runs = reparse(text)
            except NotReparsed as error:
                self.stderr.write(str(error))
                failed += 1
                continue
            for run in runs:
                process_run(run.pk)
            totals.update(asdict(outcome))
        self.stdout.write(_summary(len(texts) - failed, totals))
        if failed:
            raise CommandError(
                f"{_texts(failed)} could not be read again; the runs they made stay as they are."
            )


def _summary(read: int, totals: Counter[str]) -> str:
    counts = ", ".join(f"{totals[one.name]} {one.name}" for one in fields(Reparsed))
    return f"{_texts(read)} read again; runs: {counts}."


def _texts(count: int) -> str:
    return "1 text" if count == 1 else f"{count} texts"
