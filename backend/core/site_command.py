from django.core.management.base import BaseCommand


class SiteCommand(BaseCommand):
    """Skip Django's system checks, which have already run at the startup of the site.

    The checks import all views, which takes longer than most commands.
    """

    requires_system_checks = ()
