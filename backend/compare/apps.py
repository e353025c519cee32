from django.apps import AppConfig
from django.conf import settings


class CompareConfig(AppConfig):
    name = "compare"

    def ready(self) -> None:
        from compare.tasks import follow_soon
        from runs.signals import runs_changed

        if settings.CIPHERMARK_ANALYTICS_URL:
            runs_changed.connect(follow_soon, dispatch_uid="compare.follow_soon")
