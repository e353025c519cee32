"""What the commands of `manage.py` have in common."""

from django.core.management.base import BaseCommand


class SiteCommand(BaseCommand):
    """A command that starts without Django's checks.

    They import all views and pages, which takes longer than most commands do, and say nothing that
    the site's own start has not said.
    """

    requires_system_checks = ()
