"""Query parameters of `trends/`: the comparison's, for one host and one cipher."""

from typing import Any

from django.http import QueryDict
from rest_framework.exceptions import ValidationError

from questions.near_names import none_of
from questions.parameters import FALSE, MAX_LENGTH, TRUE
from questions.requested_ciphers import asked_comparison
from results.hosts.history import METRICS, HistoryQuery
from results.selection import ComparisonQuery


def history_query(params: QueryDict) -> HistoryQuery:
    """The history that the parameters ask for; raises DRF's `ValidationError`, naming faults."""
    query = asked_comparison(params)
    faults = _faults(params, query)
    if faults:
        raise ValidationError(faults)
    pinned = params.get("pinned", "").lower()
    return HistoryQuery(
        query,
        pinned=pinned in TRUE if pinned else None,
        target_name=params.get("target_name", ""),
    )


def _faults(params: QueryDict, query: ComparisonQuery) -> dict[str, Any]:
    faults: dict[str, Any] = {}
    if len(query.filters.get("host", ())) != 1:
        faults["host"] = "Name one host by its key, as /api/v1/hosts/ lists it."
    if len(query.ciphers) != 1:
        faults["cipher"] = "Name one cipher: a history is that of one series."
    if not params.get("tool"):
        faults["tool"] = "Name the tool, ssh or openssl."
    if query.metric not in METRICS:
        faults["metric"] = none_of(query.metric, METRICS)
    if params.get("pinned", "").lower() not in TRUE | FALSE:
        faults["pinned"] = f"{params['pinned'][:50]!r} is neither 1 nor 0."
    target = params.get("target_name", "")
    if len(target) > MAX_LENGTH or "\x00" in target:
        faults["target_name"] = f"A value has at most {MAX_LENGTH} printable characters."
    return faults
