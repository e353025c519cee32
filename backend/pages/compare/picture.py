"""What a downloaded picture of a chart says of itself."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.utils.text import slugify

from analysis.comparison import Comparison
from compare.facets import SOURCE_LABELS

PICTURE_GROUPS = 40
"""Groups of one picture file of a chart; further groups are in further files."""

READINGS = {
    "bars": "Bar: median; whisker: quartiles; ring: a single host; ?: low confidence",
    "relative": "Bar: difference from the reference; whisker: 95 % interval, of six hosts or more",
}
"""What the marks of a picture mean."""

MOST_LETTERS = 400
"""Of what a picture says under its title: filters can be many and long."""


def picture_words(
    kind: str, title: str, comparison: Comparison, narrowed: Sequence[str], how: str
) -> dict[str, Any]:
    """What a downloaded picture of the chart says of itself; its file's name without an ending.

    `how`: what was measured, in words.
    """
    profile = [f"reference profile {comparison.profile}"] if comparison.profile else []
    sources = {source for group in comparison.groups for source in group.sources}
    named = [SOURCE_LABELS.get(source, source).lower() for source in sorted(sources)]
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    return {
        "title": title,
        "subtitle": "; ".join((how, *profile, *narrowed))[:MOST_LETTERS],
        "source": f"Figures: {', '.join(named)}",
        "date": date,
        "file": f"ciphermark-{slugify(title)[:80]}-{date}",
        "groups": PICTURE_GROUPS,
        "reading": READINGS[kind],
    }
