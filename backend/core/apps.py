from django.apps import AppConfig


class CoreConfig(AppConfig):
    """App without tables."""

    name = "core"

    def ready(self) -> None:
        import core.checks  # noqa: F401 - registers them
