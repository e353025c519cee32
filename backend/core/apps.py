from django.apps import AppConfig


class CoreConfig(AppConfig):
    """App without tables."""

    name = "core"

    def ready(self) -> None:
        """Register the system checks once settings and all apps are loaded."""
        import core.checks  # noqa: F401 - registers them
