"""The app that watches the whole site. It has no tables."""

from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    """Brings the system checks."""

    name = "monitoring"

    def ready(self) -> None:
        """Register the checks once settings and all apps are loaded."""
        import monitoring.checks  # noqa: F401 - registers them
