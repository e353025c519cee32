"""Where a host's latest results stand among those of all comparable machines."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.percentile import Standing, standing_of_counts
from analysis.tool_changes import tool_changes
from runs.models import DimensionValue
from runs.queries.latest import LatestResult
from runs.queries.machine_results import LATEST_FIRST
from runs.queries.ranks import standings_by_rollup
from runs.queries.runs import MeasurementDetail
from runs.queries.statements import fetch_rows


@dataclass(frozen=True)
class SeriesStanding:
    """A result, and its standing among the other machines; None when there is no other."""

    result: LatestResult
    standing: Standing | None


def is_comparable(detail: MeasurementDetail) -> bool:
    """Whether machines are compared by such a series: nothing turned off, added or on the way."""
    if detail.median is None or detail.acceleration != "default":
        return False
    if detail.tool == "openssl":
        return detail.operation == "encrypt" and detail.threads == 1
    return detail.target_kind == "loopback" and not detail.compression and not detail.mac


def standings(host_id: int, results: Iterable[LatestResult]) -> tuple[SeriesStanding, ...]:
    """The standing of each comparable result: one vote a machine, of its latest run.

    openssl: at each cipher's largest block, and for ciphers that `openssl speed` measures
    otherwise since some release only among machines on the same side of that change. Those are
    counted; the others come from the sorted values of all machines, which are a rollup.
    """
    chosen = _chosen(results)
    known: dict[LatestResult, Standing | None] = {}
    for releases, members in _by_comparable_releases(chosen).items():
        if releases is None:
            known |= standings_by_rollup(host_id, members)
        else:
            known |= _standings(host_id, members, releases)
    return tuple(SeriesStanding(one, known[one]) for one in chosen)


def _chosen(results: Iterable[LatestResult]) -> list[LatestResult]:
    """Of a cipher the unpinned series, and for openssl the largest block."""
    chosen: dict[tuple[str, str, str], LatestResult] = {}
    for one in results:
        detail = one.detail
        if is_comparable(detail):
            key = (detail.tool, detail.method, detail.cipher)
            chosen[key] = max(chosen.get(key, one), one, key=_preference)
    return list(chosen.values())


def _preference(result: LatestResult) -> tuple[int, bool]:
    return (result.detail.block_size or 0, not result.detail.pinned)


def _by_comparable_releases(
    results: Sequence[LatestResult],
) -> dict[frozenset[int] | None, list[LatestResult]]:
    """The results by the OpenSSL releases they may be compared with; None: with any."""
    batches: dict[frozenset[int] | None, list[LatestResult]] = {}
    touched = [one for one in results if one.detail.tool == "openssl" and _changes(one)]
    releases = (
        dict(DimensionValue.objects.filter(dimension="openssl").values_list("pk", "label"))
        if touched
        else {}
    )
    for one in results:
        same_side = None
        if one in touched:
            own = _side(one, one.openssl)
            same_side = frozenset(pk for pk, label in releases.items() if _side(one, label) == own)
        batches.setdefault(same_side, []).append(one)
    return batches


def _changes(result: LatestResult) -> bool:
    return any(change.touches(result.detail.cipher) for change in tool_changes())


def _side(result: LatestResult, release: str) -> tuple[bool | None, ...]:
    """Which changes of the tool for this cipher a release has; None where nobody knows."""
    cipher = result.detail.cipher
    return tuple(change.in_release(release) for change in tool_changes() if change.touches(cipher))


_COUNTS = f"""
SELECT mine.position, count(*) FILTER (WHERE other.value < mine.value),
    count(*) FILTER (WHERE other.value = mine.value), count(*)
FROM unnest(%s::int[], %s::text[], %s::text[], %s::text[], %s::int[], %s::float8[])
    AS mine (position, tool, method, cipher, block_size, value)
CROSS JOIN LATERAL (
    SELECT DISTINCT ON (k.host_id) l.median AS value
    FROM runs_series s
    JOIN runs_latest l ON l.series_id = s.id
    JOIN runs_machine k ON k.id = l.machine_id
    JOIN runs_environment e ON e.id = k.environment_id
    WHERE s.tool = mine.tool AND s.method = mine.method AND s.cipher = mine.cipher
        AND coalesce(s.block_size, 0) = mine.block_size
        AND s.operation = 'encrypt' AND s.threads = 1 AND s.acceleration = 'default'
        AND s.mac = '' AND NOT s.compression AND s.target_kind <> 'remote'
        AND k.host_id <> %s AND e.openssl_id = ANY(%s::int[])
    ORDER BY k.host_id, {LATEST_FIRST}, s.pinned, l.series_id
) other
GROUP BY mine.position
"""  # noqa: S608 - closed lists


def _standings(
    host_id: int, results: Sequence[LatestResult], releases: frozenset[int]
) -> dict[LatestResult, Standing | None]:
    details = [one.detail for one in results]
    rows = fetch_rows(
        _COUNTS,
        [
            list(range(len(details))),
            [one.tool for one in details],
            [one.method for one in details],
            [one.cipher for one in details],
            [one.block_size or 0 for one in details],
            [one.median for one in details],
            host_id,
            sorted(releases),
        ],
    )
    counted = {position: counts for position, *counts in rows}
    return {
        one: standing_of_counts(*counted.get(number, (0, 0, 0)))
        for number, one in enumerate(results)
    }
