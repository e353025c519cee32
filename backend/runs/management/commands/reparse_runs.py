"""manage.py reparse_runs [--all]"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from runs.importing import reparse, texts_to_reparse
from runs.processing import process_run


class Command(BaseCommand):
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
        totals = {"unchanged": 0, "changed": 0, "added": 0, "removed": 0}
        for text in texts:
            outcome, runs = reparse(text)
            for run in runs:
                process_run(run.pk)
            for name in totals:
                totals[name] += getattr(outcome, name)
        counts = ", ".join(f"{count} {name}" for name, count in totals.items())
        self.stdout.write(f"{len(texts)} texts read again; runs: {counts}.")
