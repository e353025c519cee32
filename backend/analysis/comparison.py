"""A comparison: votes of machines, grouped and summarised (docs/method.md, section 3)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from natsort import natsort_keygen, ns

from analysis.groups import GroupSummary, percentile, summarise_group
from documents.naming import UNKNOWN_KEY

UNITS: Mapping[str, str] = {
    "throughput": "B/s",
    "normalised": "B/s",
    "vs_arcfour": "ratio",
    "vs_blowfish": "ratio",
    "vs_3des": "ratio",
    "cpu_seconds_per_gb": "s/GB",
    "cpu_bound_throughput": "B/s",
    "cpu_bound_normalised": "B/s",
}
"""Every metric with its unit; a ratio has the unit "ratio"."""

NEEDS_PROFILE = frozenset({"normalised", "cpu_bound_normalised"})
NEEDS_BASELINE = NEEDS_PROFILE | {"vs_arcfour", "vs_blowfish", "vs_3des"}


@dataclass(frozen=True)
class Vote:
    """What one host in one group says about one cipher.

    `value` is in the metric's unit, or None where this run has no value in it. `uncertainty` of
    a normalised value is the factor of its run's speed index, None where it is unknown.
    """

    group_key: str
    group_label: str
    host_id: int
    cipher: str
    value: float | None
    source: str
    uncertainty: float | None = None


@dataclass(frozen=True)
class Group:
    """One bar group.

    `hosts` counts the hosts that belong to it, `n` of a value those among them that measured this
    cipher. `uncertainty` of normalised values, by cipher: the median of
    the votes' factors, of those that are known; a cipher where none is known is absent.
    `doubtful`, by cipher: how many votes are noisy or of a disturbed run, where any is; only
    of figures of up to `FEW_VOTES` votes, and not filled by `build_comparison`.
    """

    key: str
    label: str
    hosts: int
    values: Mapping[str, GroupSummary]
    sources: tuple[str, ...]
    uncertainty: Mapping[str, float] = field(default_factory=dict)
    doubtful: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """The answer of `GET /api/v1/comparison/` (contract, section 5)."""

    tool: str
    group_by: str
    metric: str
    unit: str
    profile: str | None
    ciphers: tuple[str, ...]
    groups: tuple[Group, ...]
    excluded: Mapping[str, int]


_natural_key = natsort_keygen(alg=ns.IGNORECASE)


@lru_cache(maxsize=20_000)
def natural_key(text: str) -> Any:
    """What sorts texts as people do: `OpenSSL 1.0.2` before `OpenSSL 1.0.10`.

    Kept, because the labels of a site are sorted again for every answer.
    """
    return _natural_key(text)


def group_order(key: str, label: str) -> tuple[bool, object, str]:
    """What sorts groups: by natural order of labels, what is unknown last."""
    return (key == UNKNOWN_KEY, natural_key(label), key)


def _group(key: str, votes: list[Vote], hosts: int) -> Group:
    values: defaultdict[str, list[float]] = defaultdict(list)
    factors: defaultdict[str, list[float]] = defaultdict(list)
    for vote in votes:
        if vote.value is not None:
            values[vote.cipher].append(vote.value)
            if vote.uncertainty is not None:
                factors[vote.cipher].append(vote.uncertainty)
    return Group(
        key=key,
        label=min(vote.group_label for vote in votes),
        hosts=hosts,
        values={cipher: summarise_group(values[cipher]) for cipher in sorted(values)},
        sources=tuple(sorted({vote.source for vote in votes})),
        uncertainty={
            cipher: percentile(sorted(factors[cipher]), 0.5) for cipher in sorted(factors)
        },
    )


def build_comparison(
    votes: Iterable[Vote],
    hosts: Mapping[str, int],
    *,
    tool: str,
    group_by: str,
    metric: str,
    profile: str | None,
) -> Comparison:
    """Group the votes, one for each (group, host, cipher), and summarise each group.

    `hosts` says how many hosts each group has. Votes without a value do not count; for a metric
    that needs a baseline, `excluded["no_baseline"]` counts the hosts that have none.
    """
    valued: defaultdict[str, list[Vote]] = defaultdict(list)
    compared: set[int] = set()
    without: set[int] = set()
    for vote in votes:
        if vote.value is None:
            without.add(vote.host_id)
        else:
            compared.add(vote.host_id)
            valued[vote.group_key].append(vote)
    return comparison_of(
        [_group(key, members, hosts[key]) for key, members in valued.items()],
        tool=tool,
        group_by=group_by,
        metric=metric,
        profile=profile,
        no_baseline=len(without - compared),
    )


def comparison_of(
    groups: Iterable[Group],
    *,
    tool: str,
    group_by: str,
    metric: str,
    profile: str | None,
    no_baseline: int,
) -> Comparison:
    """The comparison that groups make, in natural order, with the machines left out of it."""
    ordered = tuple(sorted(groups, key=lambda group: group_order(group.key, group.label)))
    ciphers = {cipher for group in ordered for cipher in group.values}
    return Comparison(
        tool=tool,
        group_by=group_by,
        metric=metric,
        unit=UNITS[metric],
        profile=profile if metric in NEEDS_PROFILE else None,
        ciphers=tuple(sorted(ciphers, key=natural_key)),
        groups=ordered,
        excluded={"no_baseline": no_baseline if metric in NEEDS_BASELINE else 0},
    )
