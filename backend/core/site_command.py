"""Define the base class of management commands."""

from django.core.management.base import BaseCommand


class SiteCommand(BaseCommand):
    """Skip Django's system checks.

    The checks import all views, which takes longer than most commands. They have already run at
    startup of the site.
    """

    requires_system_checks = ()
