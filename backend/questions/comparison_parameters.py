"""What an address asks of the comparison, for files and the recommendation."""

from datetime import time

from django.http import QueryDict

from compare.question import (
    ComparisonForm,
    ComparisonQuery,
)
from questions.parameters import Parameter, choice, moment, text
from runs.filters import FILTERS
from runs.parameters import checked, described

COMPARISON_PARAMETERS = described(ComparisonForm())


def _tag(value: str) -> str:
    if ":" not in text(value):
        raise ValueError(f"{value[:50]!r} must be KEY:VALUE.")
    return value


_TAG_HELP = (
    "KEY:VALUE; may be repeated: any value of one key matches, and all keys must match "
    "(tag=env:prod&tag=dc:fra&tag=dc:ams: production in either data centre)."
)
_FILTER_HELP = "Key of a value; may be repeated, any of them matches."

_SPECIAL = {
    "tag": Parameter("tag", _tag, _TAG_HELP, many=True),
    "disturbed": choice("disturbed", ("no", "yes"), "no: of runs without conditions.", many=True),
}

NARROWING = [
    *(_SPECIAL.get(name) or Parameter(name, text, _FILTER_HELP, many=True) for name in FILTERS),
    Parameter("since", moment(time.min), "Started on or after: date or time."),
    Parameter("until", moment(time.max), "Started on or before."),
]
"""What chooses runs."""


def asked_comparison(params: QueryDict) -> ComparisonQuery:
    """Return the question; `ValidationError` names every fault."""
    query: ComparisonQuery = checked(ComparisonForm(params)).query
    return query
