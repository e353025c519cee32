"""The JSON of a comparison, written without a serializer's visit to each of thousands of figures.

`ComparisonSerializer` describes the same shape for the OpenAPI document; a test compares them.
"""

from typing import Any

import orjson

from analysis.comparison import Comparison, Group
from analysis.groups import GroupSummary


def comparison_json(comparison: Comparison) -> bytes:
    """The answer of `GET /api/v1/comparison/`."""
    answer = {
        "tool": comparison.tool,
        "group_by": comparison.group_by,
        "metric": comparison.metric,
        "unit": comparison.unit,
        "profile": comparison.profile,
        "ciphers": comparison.ciphers,
        "groups": [_group(group) for group in comparison.groups],
        "excluded": dict(comparison.excluded),
    }
    return orjson.dumps(answer)


def _group(group: Group) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "key": group.key,
        "label": group.label,
        "hosts": group.hosts,
        "values": {cipher: _summary(value) for cipher, value in group.values.items()},
    }
    if group.uncertainty:
        shown["uncertainty"] = group.uncertainty
    if group.doubtful:
        shown["doubtful"] = group.doubtful
    return shown


def _summary(value: GroupSummary) -> dict[str, float]:
    return {
        "median": value.median,
        "q1": value.q1,
        "q3": value.q3,
        "min": value.minimum,
        "max": value.maximum,
        "n": value.n,
    }
