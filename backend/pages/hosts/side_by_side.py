"""Several runs or hosts side by side, ticked in their lists: one of them is the baseline."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from documents.environment_difference import differing_facts
from pages.access import reader_page
from pages.hosts.diff import Mean, Pair, crossed_by, key_of, labels_of, mean_of, pairs_of
from pages.hosts.series import TOOL_NAMES, configuration, reading_order, section_label
from pages.page_query import PageAddress
from pages.paging import numbered_page
from results.hosts.diff_subjects import Side, host_side, run_side
from results.hosts.latest import LatestResult
from results.hosts.runs import MeasurementDetail
from store.models import Host

FEWEST, MOST = 2, 12
BASELINE = "baseline"
ROWS = 100
"""Series on one page, each with a figure of every side."""

Found = Mapping[str, Side | None]


class Cell(NamedTuple):
    """One side's result of a series, and as a pair with the baseline's where both have it."""

    result: LatestResult | None
    pair: Pair | None


class Row(NamedTuple):
    """One series: what it is, and what each side has of it."""

    detail: MeasurementDetail
    cells: list[Cell]


@dataclass(frozen=True)
class Column:
    """One side: what the address calls it, its pairs with the baseline, and their means by tool."""

    key: str
    label: str
    side: Side
    pairs: Mapping[tuple[Any, ...], Pair]
    means: list[Mean | None]
    as_baseline: str
    without: str


@reader_page
def hosts_side_by_side(request: HttpRequest) -> HttpResponse:
    """Hosts by their latest results, in the order of the address, the first as the baseline."""

    def found(keys: Sequence[str]) -> Found:
        hosts = Host.objects.by_reference(keys)
        return {key: host_side(hosts[key].pk) if key in hosts else None for key in keys}

    return _side_by_side(request, "host", found)


@reader_page
def runs_side_by_side(request: HttpRequest) -> HttpResponse:
    """Runs, the oldest first, which is the baseline."""

    def found(keys: Sequence[str]) -> Found:
        sides = {key: _run(key) for key in keys}
        return dict(sorted(sides.items(), key=lambda one: _age(one[1])))

    return _side_by_side(request, "run", found)


def _run(key: str) -> Side | None:
    try:
        return run_side(UUID(key))
    except ValueError:
        return None


def _age(side: Side | None) -> tuple[bool, float]:
    """Orders runs by date; those without one come last."""
    started = side.started_at if side else None
    return (started is None, started.timestamp() if started else 0)


def _side_by_side(
    request: HttpRequest, kind: str, find: Callable[[Sequence[str]], Found]
) -> HttpResponse:
    """The page; two alone have one of their own, which says more about them."""
    keys = list(dict.fromkeys(key for key in request.GET.getlist(kind) if key))
    if not FEWEST <= len(keys) <= MOST:
        context = {"kind": kind, "chosen": len(keys), "fewest": FEWEST, "most": MOST}
        return render(request, "pages/side_by_side.html", context, status=400)
    known: dict[str, Side] = {key: side for key, side in find(keys).items() if side}
    missing = [key for key in keys if key not in known]
    if missing:
        raise Http404(f"No {kind} that counts is named {', '.join(missing)}.")
    asked = request.GET.get(BASELINE, "")
    baseline = asked if asked in known else next(iter(known))
    ordered = {baseline: known[baseline], **known}
    if len(ordered) == FEWEST:
        across = {"across": "1"} if request.GET.get("across") == "1" else {}
        address = reverse(f"{kind}-page-diff", args=[side.key for side in ordered.values()])
        return redirect(f"{address}?{urlencode(across)}" if across else address)
    context = {"kind": kind, **_context(request, kind, ordered)}
    return render(request, "pages/side_by_side.html", context)


def _context(request: HttpRequest, kind: str, sides: Mapping[str, Side]) -> dict[str, Any]:
    across = request.GET.get("across") == "1"
    address = PageAddress(request.GET)
    columns = _columns(kind, sides, across, address)
    rows = _rows(columns)
    page = numbered_page(len(rows), ROWS, request.GET)
    every = list(sides.values())
    facts = differing_facts(
        [side.environment for side in every],
        hosts=len({side.host_id for side in every}) > 1,
    )
    return {
        "columns": columns,
        "tools": list(TOOL_NAMES.values()),
        "facts": facts,
        "sections": _sections(rows[page.first - 1 : page.last]),
        **asdict(page),
        "total": len(rows),
        "alone": sum(len(side.results) for side in every) - _cells(rows),
        "crossed": crossed_by(pair for one in columns for pair in one.pairs.values()),
        "across": across,
        "across_address": address.changed(across=None if across else "1"),
    }


def _columns(
    kind: str, sides: Mapping[str, Side], across: bool, address: PageAddress
) -> list[Column]:
    """A column for each side, the baseline first; it has no pairs with itself."""
    every = list(sides.values())
    found = []
    for number, (key, label) in enumerate(zip(sides, labels_of(*every), strict=True)):
        pairs = pairs_of(every[0], every[number], across) if number else []
        found.append(
            Column(
                key,
                label,
                every[number],
                {key_of(pair.second): pair for pair in pairs},
                [mean_of(tool, pairs) for tool in TOOL_NAMES],
                address.changed(baseline=key),
                address.without(kind, key),
            )
        )
    return found


def _rows(columns: Sequence[Column]) -> list[Row]:
    """The series that at least two sides have."""
    results = [{key_of(one): one for one in column.side.results} for column in columns]
    shared = Counter(key for of_side in results for key in of_side)
    details = {key: one.detail for of_side in reversed(results) for key, one in of_side.items()}
    rows = [
        Row(
            details[key],
            [
                Cell(of_side.get(key), column.pairs.get(key))
                for of_side, column in zip(results, columns, strict=True)
            ],
        )
        for key, sides in shared.items()
        if sides >= FEWEST
    ]
    return sorted(rows, key=lambda row: reading_order(row.detail))


def _cells(rows: Sequence[Row]) -> int:
    return sum(cell.result is not None for row in rows for cell in row.cells)


def _sections(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Label and rows of each configuration."""
    grouped = groupby(rows, key=lambda row: configuration(row.detail))
    found = [list(members) for _, members in grouped]
    return [(section_label(members[0].detail), members) for members in found]
