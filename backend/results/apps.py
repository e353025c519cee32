"""The app of the commands about the columnar copy. It has no tables."""

from django.apps import AppConfig


class ResultsConfig(AppConfig):
    """Found by Django for its commands."""

    name = "results"
