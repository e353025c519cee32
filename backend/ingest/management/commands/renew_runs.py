"""manage.py renew_runs: rows derived again from stored documents (`ingest.edits.recompute`)."""

from typing import Any

from django.template.defaultfilters import pluralize

from ingest.edits.recompute import renew_runs
from store.site_command import SiteCommand


class Command(SiteCommand):
    """Derive the rows of runs anew after an update that derives them differently."""

    help = "Derive rows anew after an update; where there is nothing to do it costs one query."

    def handle(self, **_: Any) -> None:
        """Say how many runs it was."""
        renewed = renew_runs()
        if renewed.runs:
            self.stdout.write(
                f"{renewed.runs} run{pluralize(renewed.runs, ' was,s were')} derived again."
            )
        if renewed.kept:
            self.stderr.write(
                f"{renewed.kept} run{pluralize(renewed.kept, ' keeps,s keep')} what an older"
                " version derived: see the log, and call renew_runs again."
            )
