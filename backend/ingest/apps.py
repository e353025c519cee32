"""The app of the commands about what is stored. It has no tables."""

from django.apps import AppConfig


class IngestConfig(AppConfig):
    """Found by Django for its commands."""

    name = "ingest"
