"""The Django app of what people see. It has no tables."""

from django.apps import AppConfig


class PagesConfig(AppConfig):
    name = "pages"
