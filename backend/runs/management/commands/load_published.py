from typing import Any

from django.template.defaultfilters import pluralize

from core.site_command import SiteCommand
from runs.published import load_published


class Command(SiteCommand):
    help = "Load the published results (five public pages of 2013 to 2015). Safe to repeat."

    def handle(self, **_: Any) -> None:
        done = load_published()
        self.stdout.write(
            f"Published results: {done.loaded} run{pluralize(done.loaded)} loaded,"
            f" {done.unchanged} unchanged, {done.nameless} result{pluralize(done.nameless)}"
            " skipped (no cipher in the source)."
        )
