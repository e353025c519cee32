from django.core.management.base import BaseCommand


class SiteCommand(BaseCommand):
    """Run a management command without Django's system checks.

    The checks have already run at the start of the site. The checks import all views, which takes
    longer than most commands.
    """

    requires_system_checks = ()
