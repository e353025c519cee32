"""Query parameters of exports: those of comparisons, and how the file is to be written."""

import re
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import QueryDict
from django.utils import timezone
from rest_framework.exceptions import ValidationError

from analysis.group_view import CIPHER_SORT, MOST_GROUPS, SCALES, SORTS, GroupView
from exports.columns import MEASUREMENTS as MEASUREMENT_COLUMNS
from exports.columns import SAMPLES as SAMPLE_COLUMNS
from exports.columns import StoredColumn, chosen
from exports.csv_dialect import CsvDialect
from questions.near_names import LONGEST_NAMED, did_you_mean, none_of
from questions.parameters import FALSE, MAX_LENGTH, MAX_VALUES, TRUE
from questions.requested_ciphers import asked_comparison
from reports.exporting import COMPARISON, SAMPLES, Export
from reports.rows.export_selection import SERIES_FIELDS, Selection, votes_of
from results.selection import ComparisonQuery
from store.models import Run
from store.reference_profiles import UnknownProfile, usable_profile

STATUSES = tuple(Run.Status.values)

OWN_MAC = "default"
"""As a MAC: those series alone in which the client chose its own."""

LAYOUT = ("bom", "excel", "columns", "format")
"""Parameters that change how a file is written, and none of its figures."""


def _flag(params: QueryDict, name: str) -> bool:
    text = params.get(name, "").lower()
    if text not in TRUE | FALSE:
        raise ValidationError({name: f"{text[:50]!r} is neither 1 nor 0."})
    return text in TRUE


def _dialect(params: QueryDict) -> CsvDialect:
    """`bom=1`: the mark alone; `excel=1`: the mark, semicolons and decimal commas."""
    excel = _flag(params, "excel")
    return CsvDialect(bom=excel or _flag(params, "bom"), decimal_comma=excel)


def _columns(params: QueryDict, kind: str) -> tuple[StoredColumn, ...]:
    known = SAMPLE_COLUMNS if kind == SAMPLES else MEASUREMENT_COLUMNS
    names = tuple(
        dict.fromkeys(
            name for text in params.getlist("columns") for name in text.split(",") if name
        )
    )
    try:
        return chosen(known, names)
    except KeyError as error:
        name = str(error.args[0])
        near = did_you_mean(name, [column.name for column in known])
        said = f"{name[:LONGEST_NAMED]!r} is no column of {kind}{near}"
        raise ValidationError({"columns": said}) from None


def _runs(params: QueryDict) -> tuple[UUID, ...]:
    texts = [text for text in params.getlist("run") if text]
    if len(texts) > MAX_VALUES:
        raise ValidationError({"run": f"At most {MAX_VALUES} values; there are {len(texts)}."})
    try:
        return tuple(UUID(text) for text in texts)
    except ValueError:
        raise ValidationError({"run": "Each value is the id of a run, a UUID."}) from None


def _statuses(params: QueryDict) -> tuple[str, ...]:
    asked = tuple(status for status in params.getlist("status") if status)
    for status in asked:
        if status not in STATUSES:
            raise ValidationError({"status": none_of(status, STATUSES)})
    return asked


def _text(params: QueryDict) -> str:
    text = params.get("q", "").strip()
    if len(text) > MAX_LENGTH or "\x00" in text:
        raise ValidationError({"q": f"At most {MAX_LENGTH} printable characters."})
    return text


def _view(params: QueryDict) -> GroupView:
    """Which groups, in which order, and those of the chart."""
    sort, top, page = (params.get(name, "") for name in ("sort", "top", "page"))
    scale, search = params.get("scale", ""), params.get("group", "").strip()
    if sort and sort not in SORTS and not sort.startswith(CIPHER_SORT):
        raise ValidationError({"sort": none_of(sort, SORTS, f" and {CIPHER_SORT}NAME")})
    if scale not in ("", *SCALES):
        raise ValidationError({"scale": none_of(scale, SCALES)})
    if len(search) > MAX_LENGTH or "\x00" in search:
        raise ValidationError({"group": f"At most {MAX_LENGTH} printable characters."})
    every = top == "all"
    return GroupView(
        sort=sort or SORTS[0],
        search=search,
        top=None if every else _count("top", top, GroupView.top or MOST_GROUPS, MOST_GROUPS),
        page=_count("page", page, 1, 999_999),
        logarithmic=scale == SCALES[1],
    )


def _count(name: str, text: str, usual: int, most: int) -> int:
    if not text:
        return usual
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text) or int(text) > most:
        raise ValidationError({name: f"{text[:50]!r} is no whole number from 1 to {most}."})
    return int(text)


def _selection(params: QueryDict, query: ComparisonQuery) -> Selection:
    """What is named counts; nothing has a default as it has in comparisons."""
    series: dict[str, tuple[Any, ...]] = {
        name: (getattr(query, name),)
        for name in SERIES_FIELDS
        if name not in ("cipher", "mac") and any(params.getlist(name))
    }
    own = query.mac == OWN_MAC
    series |= {"cipher": query.ciphers, "mac": ("",) if own else ()}
    return Selection(
        filters=query.filters,
        since=query.since,
        until=query.until,
        runs=_runs(params),
        statuses=_statuses(params),
        text=_text(params),
        series=series,
        mac=None if own else query.mac,
        latest=_flag(params, "latest"),
    )


def export_of(kind: str, params: QueryDict, site: str, *, workbook: bool = False) -> Export:
    """The export that the parameters ask for; DRF's `ValidationError` names what cannot be."""
    query = asked_comparison(params)
    try:
        profile = usable_profile(query.profile)
    except UnknownProfile as error:
        raise ValidationError({"profile": error.sentence}) from None
    view = _view(params)
    if view.search and kind != COMPARISON and not _flag(params, "latest"):
        raise ValidationError({"group": "Groups have what votes in them: add latest=1."})
    selection = votes_of(query) if kind == COMPARISON else _selection(params, query)
    if kind != COMPARISON and query.mac == OWN_MAC:
        query = replace(query, mac=None)  # which comparisons make of it
    whole = not (selection.runs or selection.statuses or selection.text)
    return Export(
        kind=kind,
        selection=selection,
        query=query,
        compared=kind == COMPARISON or (workbook and whole),
        columns=_columns(params, kind),
        dialect=_dialect(params),
        profile=profile,
        site=site,
        link=_link(kind, params, site),
        asked_at=timezone.now(),
        view=view,
    )


def _link(kind: str, params: QueryDict, site: str) -> str:
    """The page that shows the same question."""
    asked = params.copy()
    for name in LAYOUT:
        asked.pop(name, None)
    for text in asked.pop("group", []):
        if kind == COMPARISON:
            asked["q"] = text  # as the page calls it
    return f"{site}/{'' if kind == COMPARISON else 'runs/'}?{asked.urlencode()}"


def file_name(kind: str, query: ComparisonQuery, ending: str) -> str:
    """What a browser calls the file: of closed words alone."""
    words = f"{query.tool}-{query.metric}" if kind == COMPARISON else kind
    return f"ciphermark-{words}.{ending}"
