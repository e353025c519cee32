"""Two runs or two hosts side by side, and what to put beside one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.utils.text import Truncator

from analysis.difference import Figure, Ratio, mean_ratio, ratio_of
from analysis.tool_changes import ToolChange, breaks_between
from documents.environment_difference import Difference, FlagsChanged, environment_difference
from pages.access import reader_page
from pages.formatting import data_size
from pages.hosts.series import TOOL_NAMES, configuration, reading_order, section_label
from pages.page_query import PageAddress, search_text
from results.hosts.diff_subjects import (
    CHOICES,
    Side,
    host_side,
    hosts_beside,
    run_side,
    runs_beside,
)
from results.hosts.latest import SERIES_FIELDS, LatestResult
from results.hosts.runs import MeasurementDetail
from store.models import Host, Run

NAME_LENGTH = 40


@reader_page
def run_diff(request: HttpRequest, run_id: UUID, other_id: UUID) -> HttpResponse:
    """Two runs, the older one as the baseline."""
    first, second = (run_side(one) for one in (run_id, other_id))
    if first and second:
        first, second = _older_first(first, second)
    return _diff(request, "run", first, second)


@reader_page
def host_diff(request: HttpRequest, host_id: int, other_id: int) -> HttpResponse:
    """Two hosts, each with its latest results, the first as the baseline."""
    return _diff(request, "host", host_side(host_id), host_side(other_id))


def _diff(request: HttpRequest, kind: str, first: Side | None, second: Side | None) -> HttpResponse:
    if first is None or second is None:
        raise Http404(f"There is no such {kind}.")
    context = {"kind": kind, **_context(first, second, request.GET)}
    return render(request, "pages/diff.html", context)


@reader_page
def run_diff_choice(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Runs to compare one with: of the same host, or of hosts whose name is searched for."""
    run = get_object_or_404(Run.objects.listed(), run_id=run_id)
    named = search_text(request.GET)
    context = {"kind": "run", "run": run, "runs": runs_beside(run, named)}
    return render(request, "pages/diff_choice.html", {**context, "named": named, "most": CHOICES})


@reader_page
def host_diff_choice(request: HttpRequest, host_id: int) -> HttpResponse:
    """Hosts to compare one with."""
    host = get_object_or_404(Host.objects.counted(), pk=host_id)
    named = search_text(request.GET)
    context = {"kind": "host", "host": host, "hosts": hosts_beside(host, named)}
    return render(request, "pages/diff_choice.html", {**context, "named": named, "most": CHOICES})


class Pair(NamedTuple):
    """One series that both sides have; `ratio` is withheld (None) across a change of the tool."""

    first: LatestResult
    second: LatestResult
    ratio: Ratio | None
    broken: tuple[ToolChange, ...]


@dataclass(frozen=True)
class Mean:
    """The geometric mean of the ratios of one tool's common series, and what they say.

    `n` series are in it; `masked` (AES instructions turned off) and `withheld` ones are not.
    """

    tool: str
    ratio: float
    n: int
    faster: int
    slower: int
    masked: int
    withheld: int


class Fact(NamedTuple):
    """A row of the table of differences: what only one side states is quiet."""

    what: str
    first: str
    second: str
    stated: bool


def _older_first(first: Side, second: Side) -> tuple[Side, Side]:
    """The older run, which is the baseline, and the newer; as they are where a date is unknown."""
    if first.started_at and second.started_at and second.started_at < first.started_at:
        return second, first
    return first, second


def labels_of(*sides: Side) -> list[str]:
    """What sides are called in headings: name and date, and what else tells them apart."""
    found: list[str] = []
    for detail in (_date, _minute, _run):
        found = [f"{Truncator(one.name).chars(NAME_LENGTH)}, {detail(one)}" for one in sides]
        if len(set(found)) == len(found):
            break
    return found


def _date(side: Side) -> str:
    return f"{side.started_at.astimezone(UTC):%Y-%m-%d}" if side.started_at else "date unknown"


def _minute(side: Side) -> str:
    known = side.started_at
    return f"{known.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if known else "date unknown"


def _run(side: Side) -> str:
    return f"{_minute(side)}, run {str(side.run_id)[:8]}"


def _context(first: Side, second: Side, params: QueryDict) -> dict[str, Any]:
    """Everything that the page of a difference shows; `first` is the baseline."""
    across = params.get("across") == "1"
    pairs = pairs_of(first, second, across)
    differences = environment_difference(
        first.environment,
        second.environment,
        unstated=True,
        hosts=first.host_id != second.host_id,
    )
    first_label, second_label = labels_of(first, second)
    return {
        "first": first,
        "second": second,
        "first_label": first_label,
        "second_label": second_label,
        "dated": first.started_at is not None and second.started_at is not None,
        "same": first.key == second.key,
        "facts": [_fact(one) for one in differences],
        "words": [one.words for one in differences if _stated(one)],
        "sections": _sections(pairs),
        "means": [mean for tool in TOOL_NAMES if (mean := mean_of(tool, pairs))],
        "crossed": crossed_by(pairs),
        "across": across,
        "across_address": PageAddress(params).changed(across=None if across else "1"),
        "only": [
            (label, lines)
            for label, side, other in (
                (first_label, first, second),
                (second_label, second, first),
            )
            if (lines := _only(side, other))
        ],
    }


def key_of(result: LatestResult) -> tuple[Any, ...]:
    return tuple(getattr(result.detail, name) for name in SERIES_FIELDS)


def pairs_of(first: Side, second: Side, across: bool) -> list[Pair]:
    others = {key_of(one): one for one in second.results}
    found = [(one, others[key_of(one)]) for one in first.results if key_of(one) in others]
    found.sort(key=lambda both: reading_order(both[0].detail))
    return [_pair(one, other, across) for one, other in found]


def _pair(first: LatestResult, second: LatestResult, across: bool) -> Pair:
    broken: tuple[ToolChange, ...] = ()
    if first.detail.tool == "openssl":
        broken = breaks_between(first.openssl, second.openssl, first.detail.cipher)
    one, other = _figure(first.detail), _figure(second.detail)
    known = one is not None and other is not None and (across or not broken)
    return Pair(first, second, ratio_of(one, other) if known and one and other else None, broken)


def _figure(detail: MeasurementDetail) -> Figure | None:
    if not detail.median:
        return None
    return Figure(detail.median, detail.spread, detail.n, detail.try_seconds)


def _sections(pairs: Sequence[Pair]) -> list[tuple[str, str, list[Pair]]]:
    """Tool, label and pairs of each configuration."""
    grouped = groupby(pairs, key=lambda pair: configuration(pair.first.detail))
    found = [list(members) for _, members in grouped]
    return [(one[0].first.detail.tool, section_label(one[0].first.detail), one) for one in found]


def mean_of(tool: str, pairs: Iterable[Pair]) -> Mean | None:
    of_tool = [pair for pair in pairs if pair.first.detail.tool == tool]
    usual = [pair for pair in of_tool if pair.first.detail.acceleration == "default"]
    ratios = [pair.ratio for pair in usual if pair.ratio]
    mean = mean_ratio(ratio.ratio for ratio in ratios)
    if mean is None:
        return None
    return Mean(
        tool=TOOL_NAMES[tool],
        ratio=mean,
        n=len(ratios),
        faster=sum(ratio.verdict == "faster" for ratio in ratios),
        slower=sum(ratio.verdict == "slower" for ratio in ratios),
        masked=len(of_tool) - len(usual),
        withheld=len(usual) - len(ratios),
    )


def crossed_by(pairs: Iterable[Pair]) -> list[tuple[ToolChange, Pair, int]]:
    """Changes of the tool that lie between the two sides: a pair, and how many there are."""
    found: dict[str, list[Pair]] = {}
    changes: dict[str, ToolChange] = {}
    for pair in pairs:
        for change in pair.broken:
            changes[change.id] = change
            found.setdefault(change.id, []).append(pair)
    return [(changes[id_], members[0], len(members)) for id_, members in found.items()]


def _only(side: Side, other: Side) -> list[tuple[str, list[str]]]:
    """What one side alone has measured: configuration, and the ciphers in it."""
    known = {key_of(one) for one in other.results}
    lacking = (one.detail for one in side.results if key_of(one) not in known)
    alone = sorted(lacking, key=reading_order)
    return [
        (section_label(members[0]), _with_sizes(members))
        for members in (list(group) for _, group in groupby(alone, key=configuration))
    ]


def _with_sizes(alone: Iterable[MeasurementDetail]) -> list[str]:
    """ "chacha20-poly1305 (64 B, 1 KiB blocks)": the other side may have further sizes."""
    sizes: dict[str, list[str]] = {}
    for one in alone:
        sizes.setdefault(one.cipher, []).extend(
            [data_size(one.block_size)] if one.block_size else []
        )
    return [f"{cipher} ({', '.join(of)} blocks)" if of else cipher for cipher, of in sizes.items()]


def _stated(one: Difference) -> bool:
    return isinstance(one, FlagsChanged) or (one.before is not None and one.after is not None)


def _fact(one: Difference) -> Fact:
    if isinstance(one, FlagsChanged):
        first, second = (
            f"only here: {flags}" if flags else "" for flags in (one.before, one.after)
        )
        return Fact(one.what, first, second, True)
    return Fact(one.what, one.before or "not stated", one.after or "not stated", _stated(one))
