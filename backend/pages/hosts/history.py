"""A host's history on its page: the series to choose from, the chart's marks, the table."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import time
from functools import partial
from itertools import groupby
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.text import Truncator

from compare.question import ComparisonQuery
from pages.compare.filters import USUAL_CIPHERS
from pages.formatting import data_size, signed_percent
from pages.hosts.history_lines import (
    FIND_HOST,
    Line,
    SeriesOption,
    further_lines,
    lines_of,
    offered,
    points_by_date,
)
from pages.hosts.listed_changes import listed_changes
from pages.hosts.series import reading_order, section_label
from pages.metrics import METRICS, choice
from pages.page_query import PageAddress, search_text
from results.hosts import history as histories
from results.hosts.history import History, HistoryQuery
from results.hosts.runs import MeasurementDetail
from results.hosts.standing import is_comparable
from runs.parameters import Choice, Moment, ParameterForm, checked
from store.models import Note, Series

SERIES, ROWS, FIND = "series", "rows", "find-series"
DATES = ("since", "until")
LATEST_ROWS = 50
"""Rows of the table unless all are asked for; the chart has every point."""
NOTE_LABEL = 24
"""Characters of a note beside its line."""
MOST_OPTIONS = 150
"""Series that are offered at once; a host that has more of them offers to search."""

HISTORY_METRICS = tuple(one for one in METRICS if one.key in histories.METRICS)


class PeriodForm(ParameterForm):
    """What is shown of a series, and of when."""

    metric = Choice(histories.METRICS)
    since = Moment()
    until = Moment(time.max)


def series_key(detail: MeasurementDetail | Series) -> str:
    """A series in an address: "ssh/pipeline/aes128-ctr", "openssl/16384/aes-128-gcm/masked"."""
    parts = [detail.tool, detail.method or str(detail.block_size or ""), detail.cipher]
    parts += [detail.acceleration] if detail.acceleration != "default" else []
    parts += [detail.operation] if detail.operation != "encrypt" else []
    parts += [f"threads:{detail.threads}"] if detail.threads != 1 else []
    parts += [f"mac:{detail.mac}"] if detail.mac else []
    parts += ["compressed"] if detail.compression else []
    parts += ["pinned"] if detail.pinned else []
    parts += [f"to:{detail.target_name}"] if detail.target_name else []
    parts += [detail.target_kind] if detail.target_kind == "remote" else []
    return "/".join(parts)


def _options(results: Iterable[MeasurementDetail]) -> list[SeriesOption]:
    """All series, those of a configuration together."""
    measured = (one for one in results if one.median is not None)
    return [_option(one) for one in sorted(measured, key=reading_order)]


def _option(detail: MeasurementDetail) -> SeriesOption:
    size = f", {data_size(detail.block_size)} blocks" if detail.block_size else ""
    return SeriesOption(series_key(detail), section_label(detail), detail.cipher + size, detail)


def _picker(options: Iterable[SeriesOption], chosen: SeriesOption, text: str) -> dict[str, Any]:
    """The first of those whose name has every word of the text, and the chosen one."""
    every = list(options)
    words = text.lower().split() if len(every) > MOST_OPTIONS else []
    found = [one for one in every if all(word in one.words for word in words)]
    offered = {one.key for one in (*found[:MOST_OPTIONS], chosen)}
    by_section = groupby((one for one in every if one.key in offered), key=lambda one: one.section)
    groups = [(section, list(members)) for section, members in by_section]
    return {
        "groups": groups,
        "text": text,
        "found": len(found),
        "total": len(every),
        "searchable": len(every) > MOST_OPTIONS,
        "unseen": max(0, len(found) - MOST_OPTIONS),
    }


def _default_series(results: Sequence[MeasurementDetail]) -> MeasurementDetail | None:
    """What most readers come for: the first of the usual ciphers, ssh before openssl."""
    plain = [one for one in results if is_comparable(one)]
    for tool, usual in USUAL_CIPHERS.items():
        for cipher in usual:
            found = [one for one in plain if (one.tool, one.cipher) == (tool, cipher)]
            if found:
                return max(found, key=lambda one: (one.method == "pipeline", one.block_size or 0))
    return next((one for one in results if one.median is not None), None)


def history_context(
    host: str,
    results: Sequence[MeasurementDetail],
    params: QueryDict,
    notes: Sequence[Note] = (),
) -> dict[str, Any]:
    """The section of the host's page; raises `ValidationError` for a metric or date that is none.

    A series that the host does not have (any longer) is said to be so, and the default is shown.
    """
    known = {option.key: option for option in _options(results)}
    default = _default_series(results)
    asked = params.get(SERIES, "")
    chosen = known.get(asked) or (known[series_key(default)] if default else None)
    if chosen is None:
        return {}
    further = further_lines(host, chosen, known, params)
    found = histories.history(_query(host, chosen.detail, params))
    ask = partial(_query, params=params)
    lines, no_hosts = lines_of(found, chosen, further, ask)
    drawn = [line for line in lines if line.history.points]
    return {
        "picker": _picker(known.values(), chosen, search_text(params, FIND)),
        "chosen": chosen,
        "unknown_series": asked if asked and asked not in known else "",
        "unknown_lines": [*further.unknown, *no_hosts],
        "lines_left_out": further.left_out,
        "lines": lines,
        "offered": offered(found.host_id, lines, known, further, params),
        "metrics": HISTORY_METRICS,
        "metric": choice(HISTORY_METRICS, found.query.series.metric),
        "dates": [(name, params.get(name, "")[:10]) for name in DATES],
        "history": found,
        # One point would be an empty axis.
        "history_chart": (
            _chart_view(drawn, notes) if any(len(one.history.points) > 1 for one in drawn) else None
        ),
        "steps": listed_changes(found, chosen.detail),
        "tool_breaks": list(reversed(found.breaks)),
        **_table(lines, params),
        "csv_address": _csv_address(found, params),
    }


def _query(host: str, detail: MeasurementDetail, params: QueryDict) -> HistoryQuery:
    series = ComparisonQuery(
        **checked(PeriodForm(params)).given,
        tool=detail.tool,
        ciphers=(detail.cipher,),
        block_size=detail.block_size,
        operation=detail.operation,
        method=detail.method,
        mac=detail.mac or None,
        compression=detail.compression,
        target_kind=detail.target_kind,
        acceleration=detail.acceleration,
        threads=detail.threads,
        filters={"host": (host,)},
    )
    pinned = detail.pinned if detail.tool == "ssh" else None
    return HistoryQuery(series, pinned=pinned, target_name=detail.target_name)


def _table(lines: Sequence[Line], params: QueryDict) -> dict[str, Any]:
    every = params.get(ROWS) == "all"
    points = points_by_date(lines)
    shown = points if every else points[:LATEST_ROWS]
    marks = {
        line.option.key + line.history.query.host: (
            {one.point.run_id: one.change for one in line.history.changes},
            {one.point.run_id for one in line.history.breaks},
        )
        for line in lines
    }
    rows = []
    for line, one in shown:
        changes, breaks = marks[line.option.key + line.history.query.host]
        rows.append((line, one, changes.get(one.run_id), one.run_id in breaks))
    return {
        # Line and run, with the change that it begins and whether the tool changed before it.
        "rows": rows,
        "more_rows": len(points) - len(shown),
        "all_rows": len(points),
        "all_rows_address": PageAddress(params).changed(rows="all") + "#history",
        "api_addresses": [(line, _api_address(line.history)) for line in lines],
    }


def _api_address(found: History) -> str:
    """The same history as the API gives it."""
    series = found.query.series
    ssh = ("method", "mac", "target_kind")
    names = ssh if series.tool == "ssh" else ("block_size", "operation", "threads")
    asked = {
        "host": found.query.host,
        "tool": series.tool,
        "cipher": found.query.cipher,
        "metric": series.metric,
        **{name: getattr(series, name) for name in (*names, "acceleration")},
        "compression": "1" if series.compression else None,
        "pinned": None if found.query.pinned is None else str(int(found.query.pinned)),
        "target_name": found.query.target_name,
        **{name: moment.isoformat() for name in DATES if (moment := getattr(series, name))},
    }
    query = urlencode({name: value for name, value in asked.items() if value not in (None, "")})
    return f"{reverse('api:trends')}?{query}"


def _note_marks(found: History, notes: Iterable[Note]) -> list[dict[str, Any]]:
    """Notes on the time axis; read out with the first run that began after them."""
    times = [point.started_at for point in found.points]
    return [
        {
            "index": min(bisect_left(times, note.at), len(times) - 1),
            "at": int(note.at.timestamp() * 1000),
            "kind": "note",
            "label": Truncator(note.text).chars(NOTE_LABEL),
            "words": f"Note of {note.at:%Y-%m-%d}: {note.text}",
        }
        for note in notes
    ]


def _chart_view(lines: Sequence[Line], notes: Iterable[Note]) -> dict[str, Any]:
    """What the chart draws (`HistoryView` in frontend/src/history.ts); marks are of the first."""
    found = lines[0].history
    return {
        "unit": found.unit,
        "lines": [
            {
                "label": line.label,
                "slot": line.slot,
                "dash": line.dash,
                "points": _points(line.history),
            }
            for line in lines
        ],
        "marks": [*_change_marks(found), *_note_marks(found, notes)],
    }


def _points(found: History) -> list[dict[str, Any]]:
    breaks = {one.broken.index for one in found.breaks}
    return [
        {
            "at": int(point.started_at.timestamp() * 1000),
            "median": point.median,
            "spread": point.spread,
            "n": point.n,
            "noisy": point.noisy,
            "conditions": len(point.conditions),
            "environment": point.environment,
            # No line may lead here across a change of the tool.
            **({"apart": True} if index in breaks else {}),
        }
        for index, point in enumerate(found.points)
    ]


def _change_marks(found: History) -> list[dict[str, Any]]:
    return [
        *(
            {
                "index": change.index,
                "kind": "change" if change.confirmed else "unconfirmed",
                "label": signed_percent(change.ratio),
                "words": change.words,
            }
            for change in (one.change for one in found.changes)
        ),
        *(
            {
                "index": broken.index,
                "kind": "break",
                "label": "tool changed",
                "words": broken.words,
            }
            for broken in (one.broken for one in found.breaks)
        ),
    ]


def _csv_address(found: History, params: QueryDict) -> str:
    """All of it as a file."""
    return reverse("host-history-csv", args=[found.host_id]) + PageAddress(params).changed(
        **dict.fromkeys((ROWS, FIND, FIND_HOST, "page"))
    )
