"""The questions that are timed: what the compare page asks, by the program's own functions."""

from collections.abc import Callable, Mapping
from typing import Any

from pages.compare.filters import USUAL_CIPHERS
from results.comparison.comparison import compare
from results.comparison.facets import facets
from results.selection import ComparisonQuery

Question = Callable[[], Any]

_TWO_SERIES = {"openssl_series": ("1.1.1", "3.0")}
_SSH = USUAL_CIPHERS["ssh"]


def _comparison(query: ComparisonQuery) -> Question:
    return lambda: compare(query)


QUESTIONS: Mapping[str, Question] = {
    "by CPU": _comparison(ComparisonQuery(ciphers=_SSH)),
    "normalised, by OpenSSL version": _comparison(
        ComparisonQuery(group_by="openssl", metric="normalised", ciphers=_SSH)
    ),
    "one CPU vendor, by system": _comparison(
        ComparisonQuery(group_by="os", ciphers=_SSH, filters={"cpu_vendor": ("amd",)})
    ),
    "matched hosts of two OpenSSL series": _comparison(
        ComparisonQuery(group_by="openssl_series", ciphers=_SSH, filters=_TWO_SERIES, matched=True)
    ),
    "filters with their counts": lambda: facets(ComparisonQuery()),
}
"""Each with the ciphers that the compare page shows at first."""
