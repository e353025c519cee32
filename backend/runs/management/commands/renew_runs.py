from typing import Any

from django.template.defaultfilters import pluralize

from core.outage import UNREACHABLE
from core.site_command import SiteCommand
from runs.models import Environment, Host, HostWatch, Run
from runs.processing import DERIVED_VERSION, renew_run


class Command(SiteCommand):
    help = (
        "Process runs again after an update that changes their rows. Each run is a transaction, so "
        "an interrupted command can be repeated."
    )

    def handle(self, **_: Any) -> None:
        outdated = Run.objects.filter(status=Run.Status.READY, derived_version__lt=DERIVED_VERSION)
        keys = list(outdated.order_by("pk").values_list("pk", flat=True))
        failed = 0
        for key in keys:
            try:
                renew_run(key)
            except UNREACHABLE:
                raise
            except Exception as error:  # noqa: BLE001 - a failed run must not block the others
                self.stderr.write(f"Cannot process run {key}; its rows are unchanged: {error!r}")
                failed += 1
        if keys:
            HostWatch.objects.mark_due(Host.objects.values_list("pk", flat=True))
            Environment.objects.filter(runs__isnull=True).delete()
            count = len(keys) - failed
            self.stdout.write(f"{count} run{pluralize(count, ' was,s were')} processed again.")
