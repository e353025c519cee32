"""The JSON of a comparison, written without a serializer's visit to each of thousands of figures.

`ComparisonSerializer` describes the same shape for the OpenAPI document; a test compares them.
"""

from dataclasses import asdict
from typing import Any

import orjson

from analysis.comparison import Comparison, Group
from analysis.groups import GroupSummary, Ratio


def comparison_json(comparison: Comparison) -> bytes:
    """The answer of `GET /api/v1/comparison/`."""
    answer: dict[str, Any] = {
        "tool": comparison.tool,
        "group_by": comparison.group_by,
        "metric": comparison.metric,
        "unit": comparison.unit,
        "profile": comparison.profile,
        "ciphers": comparison.ciphers,
        "groups": [_group(group) for group in comparison.groups],
        "excluded": dict(comparison.excluded),
    }
    if comparison.split_by:
        answer["split_by"] = comparison.split_by
    if comparison.relative_to:
        answer["relative_to"] = asdict(comparison.relative_to)
    if comparison.matched:
        answer["matched"] = True
    return orjson.dumps(answer)


def _group(group: Group) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "key": group.key,
        "label": group.label,
        "hosts": group.hosts,
        "values": {cipher: _summary(value) for cipher, value in group.values.items()},
    }
    if group.split_key:
        shown["split"] = {"key": group.split_key, "label": group.split_label}
    if group.ratios:
        shown["relative"] = {cipher: _ratio(one) for cipher, one in group.ratios.items()}
    if group.uncertainty:
        shown["uncertainty"] = group.uncertainty
    if group.families:
        shown["single_baseline"] = group.families
    if group.doubtful:
        shown["doubtful"] = group.doubtful
    return shown


def _ratio(one: Ratio) -> dict[str, float | bool | None]:
    shown = {**one._asdict(), "beyond_noise": one.beyond_noise}
    if not one.tool_changed:
        del shown["tool_changed"]
    return shown


def _summary(value: GroupSummary) -> dict[str, Any]:
    return {
        "median": value.median,
        "q1": value.q1,
        "q3": value.q3,
        "min": value.minimum,
        "max": value.maximum,
        "n": value.n,
    }
