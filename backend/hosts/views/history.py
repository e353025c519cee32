from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.text import Truncator

from changes.models import FleetChangeMember
from cipherspeed.choices import METRICS as NAMED_METRICS
from cipherspeed.choices import choice
from cipherspeed.cipher_catalogue import cipher_family
from cipherspeed.palette import colour_slot
from compare.views.filters import USUAL_CIPHERS
from core.formatting import data_size, signed_percent
from core.parameters import ParameterForm
from hosts.history import METRICS, History, HistoryForm, history
from hosts.models import Note
from hosts.views.series import reading_order, section_label
from runs.models import Host, Measurement, Series

LATEST_ROWS = 50
"""Default number of rows in the table of results. The chart always shows all results."""
NOTE_LABEL = 24
"""Maximum number of characters in the label of a note in the chart."""
HISTORY_METRICS = tuple(metric for metric in NAMED_METRICS if metric.key in METRICS)

SERIES_FIELDS = (
    *("tool", "cipher", "block_size", "operation", "threads", "method", "mac", "compression"),
    *("pinned", "target_kind", "target_name", "acceleration"),
)


class HistoryChoice(ParameterForm):
    metric = HistoryForm.base_fields["metric"]
    since = HistoryForm.base_fields["since"]
    until = HistoryForm.base_fields["until"]


def series_path(series: Series) -> str:
    """Return the value of the URL parameter `series`, such as "ssh/pipeline/aes128-ctr"."""
    parts = [series.tool, series.method or str(series.block_size or ""), series.cipher]
    parts += [series.acceleration] if series.acceleration != "default" else []
    parts += [series.operation] if series.operation != "encrypt" else []
    parts += [f"threads:{series.threads}"] if series.threads != 1 else []
    parts += [f"mac:{series.mac}"] if series.mac else []
    parts += ["compressed"] if series.compression else []
    parts += ["pinned"] if series.pinned else []
    parts += [f"to:{series.target_name}"] if series.target_name else []
    parts += [series.target_kind] if series.target_kind == "remote" else []
    return "/".join(parts)


def history_section(
    host: Host,
    results: Iterable[Measurement],
    params: QueryDict,
    notes: Sequence[Note] = (),
    changed: Iterable[Series] = (),
) -> dict[str, Any]:
    """Return the template context of the history section, with messages for invalid parameters.

    If the parameter `series` is absent or unknown, show the first series in `changed` that the host
    measured. If there is none, show the default series.
    """
    form = HistoryChoice(params)
    form.is_valid()
    measured = sorted((row.series for row in results), key=reading_order)
    known = {series_path(series): series for series in measured}
    key = params.get("series", "")
    shown_first = (known.get(series_path(series)) for series in changed)
    chosen = known.get(key) or next(filter(None, shown_first), None) or _default_series(measured)
    if chosen is None:
        return {}
    fields = {name: getattr(chosen, name) for name in SERIES_FIELDS}
    past = history(host, **fields, **form.given)
    every = params.get("rows") == "all"
    points = past.points[::-1]
    shown = points if every else points[:LATEST_ROWS]
    changes = {change.point.run.pk: change for change in past.changes}
    breaks = {change.point.run.pk for change in past.breaks}
    return {
        "history": past,
        "history_faults": {name: " ".join(map(str, said)) for name, said in form.errors.items()},
        "sections": [
            (section, [(key, _label(series)) for key, series in members])
            for section, members in groupby(known.items(), lambda item: section_label(item[1]))
        ],
        "chosen_key": series_path(chosen),
        "chosen": _label(chosen),
        "chosen_section": section_label(chosen),
        "unknown_series": key if key and key not in known else "",
        "metrics": HISTORY_METRICS,
        "metric": choice(HISTORY_METRICS, past.metric),
        "dates": [(name, params.get(name, "")[:10]) for name in ("since", "until")],
        # A chart with a single point is not useful.
        "history_chart": _chart(past, notes) if len(points) > 1 else None,
        "steps": _with_entries(past),
        "family_changes": [] if past.changes else _of_family(past).filter(run__host=host)[:3],
        "tool_breaks": past.breaks[::-1],
        "rows": [(point, changes.get(point.run.pk), point.run.pk in breaks) for point in shown],
        "more_rows": len(points) - len(shown),
        "api_address": _api_address(past),
    }


def _default_series(results: Sequence[Series]) -> Series | None:
    plain = [result for result in results if result.is_comparable]
    for tool, usual in USUAL_CIPHERS.items():
        for cipher in usual:
            candidates = [
                series for series in plain if (series.tool, series.cipher) == (tool, cipher)
            ]
            if candidates:
                return max(
                    candidates, key=lambda item: (item.method == "pipeline", item.block_size or 0)
                )
    return next(iter(results), None)


def _label(series: Series) -> str:
    size = f", {data_size(series.block_size)} blocks" if series.block_size else ""
    return series.cipher + size


def _with_entries(past: History) -> list[tuple[Any, FleetChangeMember | None]]:
    """Return (change, entry of `/changes/` or None) for each change, newest first."""
    members = _of_family(past).filter(run__in=[change.point.run for change in past.changes])
    entries = {member.run_id: member for member in members}
    return [(change, entries.get(change.point.run.pk)) for change in reversed(past.changes)]


def _of_family(past: History) -> QuerySet[FleetChangeMember]:
    tool, cipher = past.series["tool"], past.series["cipher"]
    members = FleetChangeMember.objects.filter(tool=tool, family=cipher_family(tool, cipher))
    return members.select_related("change").order_by("-at")


def _api_address(past: History) -> str:
    ssh = ("method", "mac", "target_kind", "target_name", "compression", "pinned")
    names = ssh if past.series["tool"] == "ssh" else ("block_size", "operation", "threads")
    question = {
        "host": past.host.slug,
        "metric": past.metric,
        **{name: past.series[name] for name in ("tool", "cipher", "acceleration", *names)},
    }
    query = {
        name: int(value) if isinstance(value, bool) else value
        for name, value in question.items()
        if value not in (None, "")
    }
    return f"{reverse('api:trends')}?{urlencode(query)}"


def _chart(past: History, notes: Iterable[Note]) -> dict[str, Any]:
    """Return the data of the chart, in the format of `HistoryView` in frontend/src/history.ts."""
    breaks = {change.index for change in past.breaks}
    return {
        "unit": past.unit,
        "slot": colour_slot(past.series["cipher"]),
        "points": [
            {
                "at": int(point.started_at.timestamp() * 1000),
                "median": point.value,
                "spread": point.spread,
                "n": point.n,
                "noisy": point.noisy,
                "conditions": len(point.run.conditions),
                "environment": point.environment,
                # Interrupt the line at a change of the tool.
                **({"apart": True} if index in breaks else {}),
            }
            for index, point in enumerate(past.points)
        ],
        "marks": [*_marks(past), *_note_marks(past, notes)],
    }


def _marks(past: History) -> list[dict[str, Any]]:
    steps = [
        (change.index, "change", signed_percent(change.step.ratio), change.words)
        for change in past.changes
    ]
    breaks = [
        (change.index, "break", "tool changed", change.broken.words) for change in past.breaks
    ]
    names = ("index", "kind", "label", "words")
    return [dict(zip(names, mark, strict=True)) for mark in (*steps, *breaks)]


def _note_marks(past: History, notes: Iterable[Note]) -> list[dict[str, Any]]:
    """Return the marks of the notes in the chart.

    `index`: first run after the note, or the last run. `at`: milliseconds of Unix time.
    """
    times = [point.started_at for point in past.points]
    return [
        {
            "index": min(bisect_left(times, note.at), len(times) - 1),
            "at": int(note.at.timestamp() * 1000),
            "kind": "note",
            "label": Truncator(note.text).chars(NOTE_LABEL),
            "words": f"Note, {note.at:%Y-%m-%d}: {note.text}",
        }
        for note in notes
    ]
