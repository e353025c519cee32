from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.text import Truncator
from django.views.generic import DetailView, TemplateView

from cipherspeed.choices import TOOL_NAMES
from cipherspeed.difference import Figure, Ratio, mean_ratio, ratio_of
from cipherspeed.environment_difference import differing_facts
from cipherspeed.tool_changes import ToolChange, breaks_between
from core.access import ReaderMixin
from core.page_query import PageAddress, search_text
from hosts.views.series import configuration, reading_order, section_label
from runs.models import Host, Measurement, Run, Series

FEWEST, MOST = 2, 4
BASELINE = "baseline"
ROWS = 100  # series per page

CHOICES = 50

NAME_LENGTH = 40


@dataclass(frozen=True)
class Side:
    """Describe one of the compared runs or hosts.

    `run`: the compared run, or the latest run of the compared host. `doubtful`: disturbed runs
    among the runs in which the results were measured.
    """

    key: str
    run: Run
    results: Sequence[Measurement]
    doubtful: Sequence[Run]


class Cell(NamedTuple):
    """Store a result, and the ratio of the result to the reference.

    `broken`: changes in `openssl speed` between the reference and the result. If there are changes,
    `ratio` is None unless the request has `across=1`.
    """

    result: Measurement
    ratio: Ratio | None
    broken: tuple[ToolChange, ...]


class Row(NamedTuple):
    series: Series
    cells: list[Cell | None]


class Mean(NamedTuple):
    """Store the geometric mean of `n` ratios.

    `faster`, `slower`: number of series that are measurably faster or slower than the reference.
    """

    ratio: float
    n: int
    faster: int
    slower: int


class Column(NamedTuple):
    """Describe the column of a compared run or host.

    `as_baseline`: URL with this column as the reference. `without`: URL without this column.
    """

    label: str
    side: Side
    means: list[Mean | None]
    as_baseline: str
    without: str


def run_side(run: Run) -> Side:
    results = list(run.measurements.filter(median__isnull=False).shown())
    return Side(str(run.run_id), run, results, [run] if run.conditions else [])


def host_side(host: Host) -> Side:
    counted = Run.objects.counted().filter(host=host)
    latest = counted.select_related("host", "document").latest_first()[0]
    results = list(Measurement.objects.latest_of(host.pk).shown())
    behind = {latest.pk, *(result.run_id for result in results)}
    doubtful = counted.filter(pk__in=behind).exclude(conditions=[]).order_by("-pk")
    return Side(host.slug, latest, results, list(doubtful))


class RunDiffChoice(ReaderMixin, DetailView):
    queryset = Run.objects.listed()
    slug_field = slug_url_kwarg = "run_id"
    template_name = "hosts/diff_choice.html"
    extra_context = {"kind": "run", "most": CHOICES}

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        named = search_text(self.request.GET)
        hosts = Host.objects.named_like(named) if named else [self.object.host_id]
        others = Run.objects.listed().counted().filter(host__in=hosts).exclude(pk=self.object.pk)
        return super().get_context_data(named=named, runs=others[:CHOICES], **context)


class HostDiffChoice(ReaderMixin, DetailView):
    queryset = Host.objects.counted()
    template_name = "hosts/diff_choice.html"
    extra_context = {"kind": "host", "most": CHOICES}

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        named = search_text(self.request.GET)
        hosts = hosts_beside(self.object, named)
        return super().get_context_data(named=named, hosts=hosts, **context)


def hosts_beside(host: Host, named: str) -> QuerySet[Host]:
    return Host.objects.listed().exclude(pk=host.pk).named_like(named)[:CHOICES]


class SideBySide(ReaderMixin, TemplateView):
    """Compare two to four runs or hosts.

    The parameter `baseline` selects the reference. The default is the oldest run, or the first host
    in the URL.
    """

    kind = "run"
    template_name = "hosts/side_by_side.html"

    def get(self, request: HttpRequest, **given: Any) -> HttpResponse:
        kind = self.kind
        named = given.values() or filter(None, request.GET.getlist(kind))
        keys = list(dict.fromkeys(map(str, named)))
        if not FEWEST <= len(keys) <= MOST:
            context = {"kind": kind, "chosen": len(keys), "fewest": FEWEST, "most": MOST}
            return self.render_to_response(context, status=400)
        known = _runs(keys) if kind == "run" else _hosts(keys)
        if missing := [key for key in keys if key not in known]:
            raise Http404(f"No visible {kind}: {', '.join(missing)}.")
        sides = list({side.key: side for side in known.values()}.values())
        chosen = request.GET.get(BASELINE, "")
        sides.sort(key=lambda side: side.key != chosen)
        return self.render_to_response({"kind": kind, **_context(request, kind, sides)})


def _runs(keys: Sequence[str]) -> dict[str, Side]:
    try:
        runs = Run.objects.listed().filter(run_id__in=map(UUID, keys))
    except ValueError:
        return {}
    dated = runs.select_related("document").order_by("started_at", "pk")  # undated runs last
    return {str(run.run_id): run_side(run) for run in dated}


def _hosts(keys: Sequence[str]) -> dict[str, Side]:
    hosts = Host.objects.by_reference(keys)
    return {key: host_side(hosts[key]) for key in keys if key in hosts and hosts[key].latest_run_id}


def _context(request: HttpRequest, kind: str, sides: Sequence[Side]) -> dict[str, Any]:
    across = request.GET.get("across") == "1"
    address, alone = PageAddress(request.GET), PageAddress(QueryDict())
    lists = reverse(f"{kind}-pages-diff")
    rows = _rows(sides, across)
    columns = [
        Column(
            label,
            side,
            [_mean(tool, number, rows) for tool in TOOL_NAMES],
            address.changed(baseline=side.key),
            lists + alone.changed(**{kind: tuple(s.key for s in sides if s is not side)}),
        )
        for number, (label, side) in enumerate(zip(labels_of(sides), sides, strict=True))
    ]
    page = Paginator(rows, ROWS).get_page(request.GET.get("page"))
    return {
        "columns": columns,
        "removable": len(sides) > FEWEST,
        "tools": list(TOOL_NAMES.values()),
        "facts": differing_facts(
            [side.run.document.environment for side in sides],
            hosts=len({side.run.host_id for side in sides}) > 1,
        ),
        "sections": [
            (section_label(members[0].series), members)
            for _, group in groupby(page, key=lambda row: configuration(row.series))
            for members in [list(group)]
        ],
        "page_obj": page,
        "alone": sum(len(side.results) for side in sides)
        - sum(cell is not None for row in rows for cell in row.cells),
        "crossed": _crossed(rows),
        "across": across,
    }


def labels_of(sides: Sequence[Side]) -> list[str]:
    """Return a label for each column, such as "nas, 2026-11-28".

    If labels would be equal, add the time to all labels, and the run ID if necessary.
    """
    labels: list[str] = []
    for pattern in ("%Y-%m-%d", "%Y-%m-%d %H:%M UTC", "%Y-%m-%d %H:%M UTC, run {run}"):
        labels = [
            f"{Truncator(side.run.name).chars(NAME_LENGTH)}, {_date(side, pattern)}"
            for side in sides
        ]
        if len(set(labels)) == len(labels):
            break
    return labels


def _date(side: Side, pattern: str) -> str:
    started = side.run.started_at
    dated = f"{started.astimezone(UTC):{pattern}}" if started else "undated"
    return dated.replace("{run}", str(side.run.run_id)[:8])


def _rows(sides: Sequence[Side], across: bool) -> list[Row]:
    """Return a row for each series that at least two columns measured, in display order."""
    results = [{result.series_id: result for result in side.results} for side in sides]
    shared = Counter(key for of_side in results for key in of_side)
    rows = []
    for key, count in shared.items():
        if count >= FEWEST:
            own = [of_side.get(key) for of_side in results]
            series = next(result.series for result in own if result)
            rows.append(Row(series, [_cell(own[0], result, across) for result in own]))
    return sorted(rows, key=lambda row: reading_order(row.series))


def _cell(baseline: Measurement | None, result: Measurement | None, across: bool) -> Cell | None:
    if result is None:
        return None
    if baseline is None or baseline is result:
        return Cell(result, None, ())
    broken: tuple[ToolChange, ...] = ()
    if result.series.tool == "openssl":
        broken = breaks_between(baseline.openssl, result.openssl, result.series.cipher)
    figures = _figure(baseline), _figure(result)
    ratio = None if broken and not across else ratio_of(*figures)
    return Cell(result, ratio, broken)


def _figure(result: Measurement) -> Figure:
    return Figure(result.median or 0.0, result.spread, result.n, result.try_seconds)


def _mean(tool: str, number: int, rows: Iterable[Row]) -> Mean | None:
    """Return the mean ratio of column `number`. Exclude series with AES hardware disabled."""
    ratios = [
        cell.ratio
        for row in rows
        if row.series.tool == tool and row.series.acceleration == "default"
        if (cell := row.cells[number]) and cell.ratio
    ]
    mean = mean_ratio(ratio.ratio for ratio in ratios)
    if mean is None:
        return None
    verdicts = Counter(ratio.verdict for ratio in ratios)
    return Mean(mean, len(ratios), verdicts["faster"], verdicts["slower"])


def _crossed(rows: Iterable[Row]) -> list[tuple[ToolChange, int]]:
    """Return (change, number of affected results) for each change in `openssl speed` in `rows`."""
    broken = [change for row in rows for cell in row.cells if cell for change in cell.broken]
    figures = Counter(change.id for change in broken)
    return [(change, figures[key]) for key, change in {item.id: item for item in broken}.items()]
