"""The app that owns every table."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class StoreConfig(AppConfig):
    """Hosts, environments, runs and their measurements; in the database they are named `runs_*`."""

    name = "store"
    label = "runs"
    verbose_name = "Runs"

    def ready(self) -> None:
        """After `migrate` has made the permissions, make the roles; keep the server's settings."""
        from store.roles import make_roles
        from store.server_settings import keep_settings

        for make in (make_roles, keep_settings):
            post_migrate.connect(make, sender=self, dispatch_uid=f"store.{make.__name__}")
