from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts.lock_outs import note_lock_outs
        from accounts.roles import make_roles

        # This app must be the last one, because the roles need the permissions of all apps.
        post_migrate.connect(make_roles, sender=self, dispatch_uid="accounts.make_roles")
        note_lock_outs()
