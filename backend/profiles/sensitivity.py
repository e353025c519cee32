"""Brings stored results to `analysis.sensitivity`: does the order of groups hang on one family?"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from analysis.ciphers.host_ciphers import median_noise
from analysis.comparison import natural_key
from analysis.sensitivity import Indices, RankedRun, Sensitivity, sensitivity
from results.comparison.comparison import profile_of, vote_rows
from results.comparison.measured import resolve_block_size
from results.figures import class_series
from results.selection import ComparisonQuery
from store.models import BaselineLevel, Measurement
from store.outage import Unanswerable

MOST_VOTES = 20_000
"""Beyond that the rankings would take longer than anybody waits."""


@dataclass(frozen=True)
class QuerySensitivity:
    """The sensitivity of each cipher's ranking under `profile`; None on a site without any.

    `labels`: group key -> its label.
    """

    query: ComparisonQuery
    profile: str | None
    ciphers: Mapping[str, Sensitivity]
    labels: Mapping[str, str]


def query_sensitivity(query: ComparisonQuery) -> QuerySensitivity:
    """Rank the query's groups by each cipher, then without each family.

    `Unanswerable` when it names no profile of ours, or beyond `MOST_VOTES`.

    A few statements for the votes, their tries and levels, whatever the number of groups.
    """
    query = resolve_block_size(replace(query.plain, metric="normalised"))
    profile = profile_of(query)
    throughputs = replace(query, metric="throughput", profile=None)
    rows = vote_rows(throughputs, None, ("value", "run"), most=MOST_VOTES + 1)
    if len(rows) > MOST_VOTES:
        raise Unanswerable(
            "cipher",
            f"These are more than {MOST_VOTES:,} figures, the most that a ranking is made again of:"
            " narrow them by a filter or to fewer ciphers.",
        )
    runs = {row[-1] for row in rows}
    levels, tries = _levels(runs, query.tool), _tries(runs, query)
    of_cipher: defaultdict[str, list[RankedRun]] = defaultdict(list)
    for group, _, _, cipher, median, run in rows:
        noise = median_noise(*tries.get((run, cipher, median), (1, 0.0)))
        of_cipher[cipher].append(RankedRun(str(run), group, median, levels.get(run, {}), noise))
    reference = profile.levels.get(query.tool, {}) if profile else {}
    indices: Indices = {}
    return QuerySensitivity(
        query=query,
        profile=profile.name if profile else None,
        ciphers={
            cipher: sensitivity(of_cipher[cipher], reference, indices)
            for cipher in sorted(of_cipher, key=natural_key)
        },
        labels={key: label for key, label, *_ in sorted(rows, reverse=True)},
    )


def _levels(runs: set[int], tool: str) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = {}
    for row in BaselineLevel.objects.filter(run_id__in=runs, tool=tool).order_by("family"):
        found.setdefault(row.run_id, {})[row.family] = row.level
    return found


def _tries(
    runs: set[int], query: ComparisonQuery
) -> dict[tuple[int, str, float], tuple[int, float]]:
    """Run, cipher and median of votes -> their number of tries and spread.

    Of two series with one median the tries that are further apart.
    """
    series = class_series(query).choice(query)
    rows = (
        Measurement.objects.filter(run__in=runs, series__in=series.ids, median__isnull=False)
        .order_by("spread")
        .values_list("run_id", "series__cipher", "median", "n", "spread")
    )
    return {
        (run, cipher, median or 0.0): (n or 1, spread or 0.0)
        for run, cipher, median, n, spread in rows
    }
