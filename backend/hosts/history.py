from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from itertools import pairwise
from typing import Any

from django.db.models import Count, Prefetch, QuerySet
from django.utils.timesince import timesince

from cipherspeed.changes import Observation, Step, find_steps
from cipherspeed.environment_difference import Difference, environment_difference
from cipherspeed.reference_profile import PROFILE
from cipherspeed.summary import NOISY_MINIMUM_TRIES, NOISY_SPREAD
from cipherspeed.tool_changes import ToolBreak, find_breaks, tool_state
from core.parameters import (
    Choice,
    Line,
    Moment,
    Number,
    ParameterForm,
    Switch,
    Text,
    fault,
    unmeasured,
)
from runs.models import (
    Environment,
    Host,
    Measurement,
    Run,
    RunDocument,
    RunSpeedIndex,
    Series,
)

LATEST_POINTS = 1000
EXPLAINED_CHANGES = 50
"""Number of the latest steps for which the environments before and after the step are compared."""

EARLIER = timedelta(days=14)
EARLIER_RUNS = 14
"""Maximum time (`EARLIER`) and number of runs between an environment change and a later step."""

METRICS = {"throughput": "B/s", "normalised": "B/s", "cpu_seconds_per_gb": "s/GB"}

CPU_COST = "cpu_seconds_per_gb"

DEFAULTS = {
    "ssh": {"method": "pipeline", "mac": "", "compression": False, "target_kind": "loopback"},
    "openssl": {"operation": "encrypt", "threads": 1},
}


class HistoryForm(ParameterForm):
    host = Text(required=True, help_text="Key or number of the host.")
    tool = Choice(tuple(DEFAULTS), required=True)
    cipher = Text(required=True)
    metric = Choice(tuple(METRICS), help_text="Default: throughput.")
    block_size = Number(help_text="Only openssl: bytes. Default: most common, else the largest.")
    operation = Choice(("encrypt", "decrypt"), help_text="Only openssl. Default: encrypt.")
    threads = Number(help_text="Only openssl. Default: 1.")
    method = Choice(("pipeline", "steady"), help_text="Only ssh. Default: pipeline.")
    mac = Text(help_text="Only ssh: requested MAC. Default: chosen by the client.")
    compression = Switch(help_text="Only ssh. Default: off.")
    target_kind = Choice(("loopback", "remote"), help_text="Only ssh. Default: loopback.")
    target_name = Line(help_text="Only ssh: name of a remote target.")
    pinned = Switch(help_text="Only ssh: 1 or 0. Default: 0, else 1.")
    acceleration = Choice(("default", "masked"), help_text="masked: AES hardware disabled.")
    since = Moment(help_text="Earliest start (date or time).")
    until = Moment(time.max, help_text="Latest start (date or time).")

    def clean(self) -> None:
        super().clean()
        if (cipher := self.cleaned_data.get("cipher")) and (tool := self.cleaned_data.get("tool")):
            for sentence in unmeasured(tool, [cipher]):
                self.add_error("cipher", fault(sentence))


@dataclass(frozen=True)
class Point:
    """Describe the result of a run.

    `value`: in the unit of the metric. `spread`: fraction of the value. `seconds`: duration of a
    try. `openssl`: library that did the encryption, such as "OpenSSL 3.0.15".
    """

    run: Run
    started_at: datetime
    value: float
    spread: float | None
    n: int
    seconds: float | None
    openssl: str
    environment: str

    @property
    def noisy(self) -> bool:
        return (self.spread or 0.0) > NOISY_SPREAD and self.n >= NOISY_MINIMUM_TRIES


@dataclass(frozen=True)
class Change:
    index: int
    previous: Point
    point: Point


@dataclass(frozen=True)
class StepChange(Change):
    """Describe a lasting change in speed.

    `environment`: environment differences between the runs before and after the step. None if the
    step is not one of the latest `EXPLAINED_CHANGES`.
    """

    step: Step[Any]
    direction: str
    environment: Sequence[Difference] | None

    @property
    def earlier(self) -> list[str]:
        time_before, differences = recent_upgrade(self.point.run.host_id, self.point.started_at)
        return [f"{each.words}, {time_before} earlier" for each in differences]

    @property
    def before(self) -> float:
        return next(iter(self.step.before.values()))

    @property
    def after(self) -> float:
        return next(iter(self.step.after.values()))

    @property
    def words(self) -> str:
        sentence = (
            f"{abs(self.step.ratio - 1):.1%} {self.direction} than the median of the previous"
            f" {self.step.window} runs (threshold {self.step.threshold:.1%})."
        )
        return sentence.replace("%", " %")


@dataclass(frozen=True)
class BreakChange(Change):
    """Describe a change in `openssl speed`. Earlier and later results are not comparable."""

    broken: ToolBreak


@dataclass(frozen=True)
class History:
    """Describe the history of a series on a host, oldest run first.

    `cut`: only the latest 1,000 runs are included. `undated`: number of runs without a start time.
    `without_value`: number of runs without a value of the metric. These runs have no point.
    """

    host: Host
    metric: str
    series: Mapping[str, Any]
    points: Sequence[Point]
    changes: Sequence[StepChange]
    breaks: Sequence[BreakChange]
    cut: bool
    undated: int
    without_value: int

    @property
    def unit(self) -> str:
        return METRICS[self.metric]

    @property
    def profile(self) -> str | None:
        return PROFILE.name if self.metric == "normalised" else None


def history(
    host: Host,
    *,
    tool: str,
    metric: str = "throughput",
    since: datetime | None = None,
    until: datetime | None = None,
    **series: Any,
) -> History:
    """Return the history of a series. Absent fields of `series` have the values in `DEFAULTS`.

    The default `block_size` of openssl is the block size in the most runs.
    """
    fields = {"acceleration": "default", "target_name": "", **DEFAULTS[tool], **series}
    measured = _measured(host, {"tool": tool, **fields}, since, until)
    if tool == "openssl" and "block_size" not in fields:
        sizes = measured.values_list("series__block_size").annotate(runs=Count("run"))
        common = sizes.order_by("-runs", "-series__block_size").first()
        fields["block_size"] = common and common[0]
        measured = measured.filter(series__block_size=fields["block_size"])
    environments = Environment.objects.select_related("openssl", "ssh_library", *_NAMED)
    latest = (
        measured.filter(run__started_at__isnull=False)
        .select_related("run")
        .only(*_SHOWN)
        .prefetch_related(Prefetch("run__environment", environments))
        .order_by("-run__started_at", "-run_id", "series__pinned")
    )
    # If `pinned` is not given, a run can have a pinned and an unpinned row.
    most = (LATEST_POINTS + 1) * (1 if "pinned" in fields else 2)
    rows = {row.run_id: row for row in reversed(list(latest[:most]))}
    cut = len(rows) > LATEST_POINTS
    shown = list(rows.values())[-LATEST_POINTS:]
    points = list(_points(shown, tool, metric))
    return History(
        host=host,
        metric=metric,
        series={"tool": tool, **fields},
        points=points,
        changes=_changes(points, tool, fields["cipher"], metric),
        breaks=_breaks(points, fields["cipher"]) if tool == "openssl" else [],
        cut=cut,
        undated=measured.filter(run__started_at=None).values("run").distinct().count(),
        without_value=len(shown) - len(points),
    )


def _measured(
    host: Host, series: Mapping[str, Any], since: datetime | None, until: datetime | None
) -> QuerySet[Measurement]:
    chosen = list(Series.objects.filter(**series).values_list("pk", flat=True))
    counted = Measurement.objects.filter(
        run__host=host,
        run__status=Run.Status.READY,
        run__hidden=False,
        series__in=chosen,
        implausible=False,
    )
    if since is not None:
        counted = counted.filter(run__started_at__gte=since)
    return counted if until is None else counted.filter(run__started_at__lte=until)


_NAMED = ("openssh", "os_version", "cpu")
_SHOWN = (
    *("n", "median", "spread", "try_seconds", CPU_COST, f"{CPU_COST}_spread"),
    *(f"run__{name}" for name in ("run_id", "host", "started_at", "conditions", "environment")),
)


def _points(rows: Sequence[Measurement], tool: str, metric: str) -> Iterator[Point]:
    indices: Mapping[int, float] = {}
    if metric == "normalised":
        known = RunSpeedIndex.objects.filter(run__in=[row.run_id for row in rows], tool=tool)
        indices = dict(known.values_list("run_id", "index"))
    for row in rows:
        value, spread, seconds = row.median, row.spread, row.try_seconds
        if metric == "normalised":
            value = value / indices[row.run_id] if value and row.run_id in indices else None
        elif metric == CPU_COST:
            value, spread, seconds = row.cpu_seconds_per_gb, row.cpu_seconds_per_gb_spread, None
        environment = row.run.environment
        if not value or environment is None or row.run.started_at is None:
            continue
        library = environment.library(tool).label
        names = [library, *(getattr(environment, name).label for name in _NAMED)]
        yield Point(
            run=row.run,
            started_at=row.run.started_at,
            value=value,
            spread=spread,
            n=row.n,
            seconds=seconds,
            openssl=library,
            environment=", ".join(names),
        )


def _changes(points: Sequence[Point], tool: str, cipher: str, metric: str) -> list[StepChange]:
    calm = [index for index, point in enumerate(points) if not point.run.conditions]
    steps = find_steps(
        [
            {
                tool_state(points[index].openssl, cipher) if tool == "openssl" else (): Observation(
                    points[index].value, points[index].spread or 0.0, points[index].seconds
                )
            }
            for index in calm
        ]
    )
    words = ("dearer", "cheaper") if metric == CPU_COST else ("faster", "slower")
    pairs = [(step, points[calm[step.index - 1]], points[calm[step.index]]) for step in steps]
    explained = {point.run.pk for _, *both in pairs[-EXPLAINED_CHANGES:] for point in both}
    documents = RunDocument.objects.in_bulk(explained)
    stated = {pk: document.environment for pk, document in documents.items()}
    return [
        StepChange(
            index=calm[step.index],
            previous=previous,
            point=point,
            step=step,
            direction=words[step.ratio < 1],
            environment=(
                environment_difference(stated[previous.run.pk], stated[point.run.pk], tool=tool)
                if {previous.run.pk, point.run.pk} <= stated.keys()
                else None
            ),
        )
        for step, previous, point in pairs
    ]


def recent_upgrade(host: int | None, at: datetime) -> tuple[str, Sequence[Difference]]:
    """Return the age and the differences of the latest environment change before `at`.

    The age is text, such as "2 days". `EARLIER` and `EARLIER_RUNS` limit the search. Without a
    change, return an empty string and an empty tuple.
    """
    earlier = Run.objects.counted().filter(host=host, started_at__lt=at)
    latest = earlier.select_related("document").order_by("-started_at")[: EARLIER_RUNS + 1]
    for after, before in pairwise(latest):
        if after.started_at is None or at - after.started_at > EARLIER:
            break
        documents = before.document, after.document
        if differences := environment_difference(*(each.environment for each in documents)):
            return timesince(after.started_at, at), differences
    return "", ()


def _breaks(points: Sequence[Point], cipher: str) -> list[BreakChange]:
    breaks = find_breaks([point.openssl for point in points], cipher)
    return [BreakChange(it.index, points[it.index - 1], points[it.index], it) for it in breaks]
