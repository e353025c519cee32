from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Tasks and commands; the models, and the label `runs`, are those of `store`."""

    name = "runs"
    label = "runs_app"
