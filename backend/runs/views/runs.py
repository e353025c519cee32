from typing import Any

from django.views.generic import DetailView

from compare.views.filters import FILTER_TITLES
from core.access import ReaderMixin
from core.first_steps import agent_command
from core.views.generic import FilteredListView
from hosts.views.series import series_page
from runs.filters import FILTERS, VERDICTS, RunFilter
from runs.models import Run
from runs.views.environment_facts import environment_facts

OWN_FIELDS = ("source", "verdict")


class RunList(FilteredListView):
    queryset = Run.objects.listed()
    ordering = ("-moment", "-id")
    filterset_class = RunFilter
    chips = {name: FILTER_TITLES[name] for name in FILTERS if name not in OWN_FIELDS}
    context_object_name = "runs"
    template_name = "runs/runs.html"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        context = super().get_context_data(**context)
        # The unfiltered first page refreshes itself.
        watches = not (context["narrowed"] or context["page_obj"].newer)
        return context | {
            "watches": watches,
            "latest_at": context["runs"][0].received_at if watches and context["runs"] else None,
            "verdicts": VERDICTS,
            "sources": dict(Run.Source.choices),
            "statuses": Run.Status.values,
            "agent_command": agent_command(self.request),
        }


class RunPage(ReaderMixin, DetailView):
    queryset = Run.objects.detailed()
    slug_field = slug_url_kwarg = "run_id"
    template_name = "runs/run.html"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        measurements = list(self.object.measurements.shown(tries=True))
        return super().get_context_data(
            facts=environment_facts(self.object.document.environment),
            **series_page(measurements, self.request.GET),
            noisy=sum(row.noisy for row in measurements),
            implausible=sum(row.implausible for row in measurements),
            **context,
        )
