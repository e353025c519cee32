"""The app of rights: the administration's pages, and what is noted of sign-ins."""

from django.apps import AppConfig


class AccessConfig(AppConfig):
    """It has no tables."""

    name = "access"

    def ready(self) -> None:
        """Note lock-outs in the audit log."""
        from access.lock_outs import note_lock_outs

        note_lock_outs()
