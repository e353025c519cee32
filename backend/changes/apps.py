from django.apps import AppConfig


class ChangesConfig(AppConfig):
    name = "changes"

    def ready(self) -> None:
        from changes.outbox import notify_of_rejection
        from runs.signals import run_rejected

        run_rejected.connect(notify_of_rejection, dispatch_uid="changes.notify_of_rejection")
