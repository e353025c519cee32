from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts.models import ApiToken
from accounts.tokens import NameTaken, create_token
from core.site_command import SiteCommand

MOST_DAYS = 36_500


class Command(SiteCommand):
    help = "Create an API token and print only the token. It cannot be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="Token description, such as the host name.")
        parser.add_argument("--scope", required=True, choices=ApiToken.Scope.values)
        parser.add_argument(
            "--expires-days",
            type=int,
            help="Number of days until the token expires (default: never).",
        )
        parser.add_argument(
            "--host", default="", metavar="NAME", help="Restrict uploads to this host."
        )

    def handle(
        self, *, name: str, scope: str, expires_days: int | None, host: str, **_: Any
    ) -> None:
        if expires_days is not None and not 1 <= expires_days <= MOST_DAYS:
            raise CommandError(f"--expires-days must be between 1 and {MOST_DAYS}.")
        if not 0 < len(name) <= 100:
            raise CommandError("NAME must have 1 to 100 characters.")
        if len(host) > 200 or (host and scope != ApiToken.Scope.UPLOAD):
            raise CommandError("--host requires --scope upload and a name of up to 200 characters.")
        try:
            self.stdout.write(create_token(name, scope, expires_days, host_name=host.strip()))
        except NameTaken as refusal:
            raise CommandError(str(refusal)) from None
