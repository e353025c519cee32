"""What a downloaded picture of a chart says about itself: title, what it shows, source, date."""

from collections.abc import Iterable
from datetime import UTC, datetime

from django.utils.text import slugify

from analysis.comparison import Comparison
from pages.formatting import data_size
from results.comparison.facets import SOURCE_LABELS
from results.selection import ComparisonQuery

MOST_LETTERS = 400
"""Of what a picture says under its title: filters can be many and long."""


def picture_words(
    title: str, comparison: Comparison, how: str, narrowed: Iterable[str]
) -> dict[str, str]:
    """Title, subtitle, source, date (UTC) and the name of the file, without its ending.

    `how`: what was measured, in words.
    """
    subtitle = "; ".join((how, *_profile(comparison), *narrowed))
    return {
        "title": title,
        "subtitle": subtitle[:MOST_LETTERS],
        "source": f"Figures: {', '.join(_sources(comparison))}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "file": f"ciphermark-{slugify(title)[:80]}",
    }


def measured_how(query: ComparisonQuery) -> str:
    """The series in words: "method pipeline", "encrypt, 16 KiB blocks, 1 thread"."""
    if query.tool == "ssh":
        return f"method {query.method}"
    size = f", {data_size(query.block_size)} blocks" if query.block_size else ""
    return f"{query.operation}{size}, {query.threads} thread{'' if query.threads == 1 else 's'}"


def _profile(comparison: Comparison) -> tuple[str, ...]:
    return (f"reference profile {comparison.profile}",) if comparison.profile else ()


def _sources(comparison: Comparison) -> list[str]:
    found = {source for group in comparison.groups for source in group.sources}
    return [SOURCE_LABELS.get(source, source).lower() for source in sorted(found)]
