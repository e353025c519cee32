"""The app that owns every table."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class StoreConfig(AppConfig):
    """Hosts, environments, runs and their measurements; in the database they are named `runs_*`."""

    name = "store"
    label = "runs"
    verbose_name = "Runs"

    def ready(self) -> None:
        """Make the roles once `migrate` has made the permissions."""
        from store.roles import make_roles

        post_migrate.connect(make_roles, sender=self, dispatch_uid="store.make_roles")
