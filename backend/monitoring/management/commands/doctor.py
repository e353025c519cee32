"""manage.py doctor [--json]: every check of `monitoring.doctor`, in words or as JSON."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.color import Style

from monitoring.checks.finding import STATES, Finding
from monitoring.doctor import CHECKS, examine
from store.site_command import SiteCommand

WIDTH = max(len(check.name) for check in CHECKS)


class Command(SiteCommand):
    """Look at every part of the site, and end with 1 when something is wrong."""

    help = "Check database, Redis, worker, beat, clock, disk, proxies, e-mail and backups."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One."""
        parser.add_argument("--json", action="store_true", help="One JSON object, for programs.")

    def handle(self, *, json: bool, **_: Any) -> None:
        """A line for each check, and below it what to do."""
        found: list[tuple[str, Finding]] = []
        for name, finding in examine():
            found.append((name, finding))
            if not json:
                self._show(name, finding)
        worst = max((finding.state for _, finding in found), key=STATES.index)
        if json:
            self.stdout.write(_as_json(worst, found))
        if worst == "wrong":
            raise SystemExit(1)

    def _show(self, name: str, finding: Finding) -> None:
        style: Style = self.style
        paint = {"ok": style.SUCCESS, "warning": style.WARNING, "wrong": style.ERROR}[finding.state]
        self.stdout.write(f"{paint(f'{finding.state:7}')}  {name:{WIDTH}}  {finding.found}")
        if finding.to_do:
            self.stdout.write(f"{'':7}  {'':{WIDTH}}  -> {finding.to_do}")


def _as_json(worst: str, found: list[tuple[str, Finding]]) -> str:
    checks = [{"name": name, **asdict(finding)} for name, finding in found]
    return json.dumps({"state": worst, "checks": checks}, indent=1)
