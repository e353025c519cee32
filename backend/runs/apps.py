"""The app that owns every table."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class RunsConfig(AppConfig):
    """Hosts, environments, runs and their measurements."""

    name = "runs"
    verbose_name = "Runs"

    def ready(self) -> None:
        """After `migrate` has made the permissions, make the roles; note lock-outs."""
        from runs.lock_outs import note_lock_outs
        from runs.roles import make_roles

        post_migrate.connect(make_roles, sender=self, dispatch_uid="runs.make_roles")
        note_lock_outs()
