"""The bars by their numbers in quality.md; plans are looked at beside them."""

from collections.abc import Callable, Mapping

from tests.bench import plans
from tests.bench.bars import (
    comparison,
    csv_export,
    fleet_changes,
    following,
    page,
    processing,
    readers,
    start,
    upload,
    validation,
    web_start,
    xlsx_export,
)
from tests.bench.figures import Figure
from tests.bench.fleet.size import Size

BARS: Mapping[str, Callable[[Size], list[Figure]]] = {
    "1": upload.figures,
    "2": processing.figures,
    "3": validation.figures,
    "6": comparison.repeated,
    "7": comparison.growth,
    "8": csv_export.figures,
    "9": xlsx_export.figures,
    "10": page.figures,
    "16": comparison.comparisons,
    "20": comparison.relating,
    "pages": comparison.pages,
    "17": following.figures,
    "18": web_start.figures,
    "19": readers.figures,
    "21": fleet_changes.figures,
    "plans": plans.figures,
    "11": start.figures,
}
"""The start comes last: it makes the machine's disk cache forget the database."""
