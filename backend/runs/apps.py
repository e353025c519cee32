"""The app that owns every table."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Hosts, environments, runs and their measurements."""

    name = "runs"
    verbose_name = "Runs"
