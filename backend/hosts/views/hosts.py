from collections.abc import Iterable
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.generic import DetailView, RedirectView, TemplateView

from changes.models import FleetChangeMember
from compare.standing import latest_results, standings
from core.access import ReaderMixin
from core.first_steps import agent_command
from core.page_query import PageAddress
from core.paging import page_of
from hosts.filters import NEWEST, TITLES, HostFilter
from hosts.models import Note
from hosts.views.history import history_section
from hosts.views.notes import NoteForm
from hosts.views.series import series_page, standing_tables, tool_charts
from recommend.advice import advise
from recommend.forms import Question
from runs.filters import UNACCELERATED, VERDICTS
from runs.models import Host, Run
from runs.views.environment_facts import environment_facts

COLUMNS = {
    "name": "Host",
    "acceleration": "AES acceleration",
    "-speed_index": "Speed index",
    "cpu": "CPU",
    "os": "Operating system",
    "openssl": "OpenSSL",
    "openssh": "OpenSSH",
    "-runs": "Runs",
    "-last_run_at": "Latest run",
}
"""Column headings by sort order. The first click on "Runs" sorts by `-runs`, in descending
order."""

NUMBERS = ("speed_index", "runs")


class Heading(NamedTuple):
    field: str
    label: str
    number: bool
    address: str
    sorted: str


class HostList(ReaderMixin, TemplateView):
    template_name = "hosts/hosts.html"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        params = self.request.GET
        hosts = HostFilter(params, Host.objects.counted().order_by("-pk"))
        if hosts.errors:
            return {"faults": hosts.faults()}
        facets, selected, text = hosts.facets(), hosts.selected, hosts.given.get("q", "")
        ids = list(hosts.qs.values_list("pk", flat=True))
        page = page_of(ids, params, by_age=hosts.order == NEWEST)
        counts = {option.key: option.hosts for option in facets["verdict"]}
        chosen = selected.get("verdict", ())
        return {
            "hosts": Host.objects.listed_as(page.rows),
            "page_obj": page,
            "text": text,
            "ordering": hosts.order,
            "facets": [
                (name, title, facets[name], selected.get(name, ()))
                for name, title in TITLES.items()
            ],
            "verdicts": [(key, counts[key], key in chosen) for key in VERDICTS if key in counts],
            "lost": [(name, counts[name]) for name in UNACCELERATED if counts.get(name)],
            "lost_count": sum(counts.get(name, 0) for name in UNACCELERATED),
            "lost_shown": bool(chosen) and set(chosen) <= set(UNACCELERATED),
            "lost_address": PageAddress(params).changed(verdict=UNACCELERATED, cursor=None),
            "total": len(ids),
            "narrowed": bool(selected or text),
            "published": Host.objects.counted().filter(published=True).count(),
            "headings": list(_headings(hosts.order, params)),
            "agent_command": agent_command(self.request),
        }


def _headings(ordering: str, params: QueryDict) -> Iterable[Heading]:
    for first, label in COLUMNS.items():
        field = first.removeprefix("-")
        is_sorted = ordering.removeprefix("-") == field
        turned = field if ordering.startswith("-") else f"-{field}"
        address = PageAddress(params).changed(ordering=turned if is_sorted else first, cursor=None)
        direction = "descending" if ordering.startswith("-") else "ascending"
        yield Heading(field, label, field in NUMBERS, address, direction if is_sorted else "")


class HostPage(ReaderMixin, DetailView):
    queryset = Host.objects.listed()
    template_name = "hosts/host.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.object = self.get_queryset().filter(pk=kwargs["pk"]).first()
        if self.object is None:
            return redirect(_host_url(str(kwargs["pk"])))
        return self.render_to_response(self.get_context_data())

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        host, params = self.object, self.request.GET
        notes = list(Note.objects.filter(host=host))
        latest = latest_results(host.pk)
        open_changes = FleetChangeMember.objects.open_on(host.pk)
        changed = [member.series for member in open_changes if member.series]
        past = history_section(host, latest, params, notes, changed)
        charts = tool_charts(latest)
        return super().get_context_data(
            facts=environment_facts(host.latest_run.document.environment),
            **series_page(latest, params),
            charts=charts,
            runs=Run.objects.recent_of(host),
            standings=standing_tables(standings(host.pk, latest)),
            doubts=any(chart.doubts for chart in charts),
            open_changes=open_changes,
            advice=advise(Question((host.slug,)), reverse("recommend")),
            notes=notes,
            note_form=NoteForm(auto_id="note-%s"),
            faults=past.get("history_faults"),
            **past,
        )


class HostByKey(ReaderMixin, RedirectView):
    def get_redirect_url(self, key: str) -> str:
        return _host_url(key)


def _host_url(key: str) -> str:
    host = Host.objects.find(key)
    if host is None or host.latest_run_id is None:
        raise Http404("This host does not exist or has no visible runs.")
    return reverse("host-page", args=[host.pk])
