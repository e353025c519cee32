from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    """Configure the app. It must be the last one, because its roles refer to all permissions."""

    name = "accounts"

    def ready(self) -> None:
        """Create the roles after `migrate`; record lock-outs in the audit log."""
        from accounts.lock_outs import note_lock_outs
        from accounts.roles import make_roles

        post_migrate.connect(make_roles, sender=self, dispatch_uid="accounts.make_roles")
        note_lock_outs()
