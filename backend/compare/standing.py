from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cipherspeed.percentile import Standing, standing
from cipherspeed.tool_changes import tool_state
from compare.engine import Session, analytics
from compare.figures import PLACES, add_series, class_series, runs_statement
from compare.question import ComparisonQuery
from runs.models import DimensionValue, Measurement


@dataclass(frozen=True)
class SeriesStanding:
    result: Measurement
    standing: Standing | None


_LATEST = """
SELECT arg_max(r.id, r.moment), s.series FROM run r
JOIN series_of_set s ON s.series_set = r.series_set
WHERE r.host = $host GROUP BY s.series
"""


def latest_results(host_id: int) -> list[Measurement]:
    """Return the latest result of each series that the host measured.

    Unlike `Measurement.objects.latest_of`, this function finds the keys in the analytics copy,
    without reading all results of the host.
    """
    with analytics() as db:
        keys = db(_LATEST, {"host": host_id})
    return list(Measurement.objects.filter(pk__in=keys).shown())


def standings(host_id: int, results: Iterable[Measurement]) -> tuple[SeriesStanding, ...]:
    """Return the percentile of each result among the latest results of other hosts.

    Omit results for which `Series.is_comparable` is False. For openssl, use only the largest block
    size of each cipher, and compare only with hosts whose `openssl speed` measures the cipher in
    the same way.
    """
    chosen = _one_per_cipher(results)
    known: dict[Measurement, Standing | None] = {}
    with analytics() as db:
        for of, members in _by_comparable(chosen).items():
            known |= _standings(db, host_id, of, members)
    return tuple(SeriesStanding(result, known[result]) for result in chosen)


def _one_per_cipher(results: Iterable[Measurement]) -> list[Measurement]:
    chosen: dict[tuple[str, str, str], Measurement] = {}
    for measurement in results:
        series = measurement.series
        if series.is_comparable:
            key = (series.tool, series.method, series.cipher)
            chosen[key] = max(
                chosen.get(key, measurement),
                measurement,
                key=lambda result: (result.series.block_size or 0, not result.series.pinned),
            )
    return list(chosen.values())


class _Comparable(NamedTuple):
    tool: str
    method: str
    block_size: int | None
    releases: tuple[str, ...] | None


def _by_comparable(results: Iterable[Measurement]) -> dict[_Comparable, list[Measurement]]:
    batches: dict[_Comparable, list[Measurement]] = {}
    labels: dict[str, str] = {}
    for result in results:
        series, same_side = result.series, None
        if series.tool == "openssl" and tool_state(result.openssl, series.cipher):
            labels = labels or dict(
                DimensionValue.objects.filter(dimension="openssl").values_list("key", "label")
            )
            own = tool_state(result.openssl, series.cipher)
            same_side = tuple(
                key for key, label in labels.items() if tool_state(label, series.cipher) == own
            )
        of = _Comparable(series.tool, series.method, series.block_size, same_side)
        batches.setdefault(of, []).append(result)
    return batches


_RESULTS = f"""
    SELECT x.median, s.slot, r.host, r.turn - s.place AS rank
    FROM result x JOIN series s ON s.id = x.series JOIN (
        SELECT *, row_number() OVER (ORDER BY moment) * {PLACES} AS turn FROM runs
    ) r ON r.id = x.run
"""  # noqa: S608 - constants

_COUNTS = """
SELECT mine.number, count(*) FILTER (WHERE other.value < mine.value),
    count(*) FILTER (WHERE other.value = mine.value), count(*)
FROM (
    SELECT host, slot, arg_max(median, rank) AS value
    FROM results WHERE host <> $of_host GROUP BY host, slot
) other JOIN (
    SELECT unnest($numbers::INTEGER[]) AS number, unnest($of_slots::INTEGER[]) AS slot,
        unnest($values::DOUBLE[]) AS value
) mine USING (slot)
GROUP BY mine.number
"""


def _standings(
    db: Session, host_id: int, of: _Comparable, results: Sequence[Measurement]
) -> dict[Measurement, Standing | None]:
    query = ComparisonQuery(
        tool=of.tool,
        method=of.method,
        ciphers=tuple(result.series.cipher for result in results),
        block_size=of.block_size,
        filters={} if of.releases is None else {"openssl": of.releases},
    )
    series = class_series(query)
    places = {slot.cipher: place for place, slot in enumerate(series.slots) if slot.is_in(query)}
    statement = runs_statement(query)
    add_series(statement, series.choice(query))
    statement.ctes["results"] = _RESULTS
    statement.parameters |= {
        "of_host": host_id,
        "of_slots": [places[cipher] for cipher in query.ciphers],
        "numbers": list(range(len(results))),
        "values": [result.median for result in results],
    }
    counted = {
        number: counts for number, *counts in db(statement.sql(_COUNTS), statement.parameters)
    }
    return {row: standing(*counted.get(number, (0, 0, 0))) for number, row in enumerate(results)}
