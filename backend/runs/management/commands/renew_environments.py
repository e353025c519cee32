"""manage.py renew_environments"""

from typing import Any

from django.core.management.base import BaseCommand

from runs.environments import renew_environments


class Command(BaseCommand):
    """Derive environments anew that an older version of the program recognised differently."""

    help = "Derive environments anew after an update; nothing to do costs one query."

    def handle(self, **_: Any) -> None:
        """Say how many runs it was."""
        renewed = renew_environments()
        if renewed:
            self.stdout.write(f"{renewed} runs have their environment of today.")
