from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    """Create the roles. Must be the last app, so that all permissions exist by then."""

    name = "accounts"

    def ready(self) -> None:
        """Create the roles after `migrate`, and record lock-outs in the audit log."""
        from accounts.lock_outs import note_lock_outs
        from accounts.roles import make_roles

        post_migrate.connect(make_roles, sender=self, dispatch_uid="accounts.make_roles")
        note_lock_outs()
