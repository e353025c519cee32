"""Compute the statistics of a comparison (docs/method.md, section 3)."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from natsort import natsort_keygen, ns

from cipherspeed.naming import UNKNOWN_KEY
from cipherspeed.reference_profile import PROFILE

FEW_VOTES = 5
"""Maximum number of results in a group for which low-confidence results are counted."""


class GroupSummary(NamedTuple):
    """Summarise `n` results of a cipher in a group, in the unit of the metric.

    `low`, `high`: confidence interval of the median (at least 95 %), or None for fewer than six
    results.
    """

    median: float
    q1: float
    q3: float
    minimum: float
    maximum: float
    n: int
    low: float | None = None
    high: float | None = None


def interpolated(n: int, fraction: float, below: float, above: float) -> float:
    """Interpolate linearly between two sorted results, like PostgreSQL's percentile_cont.

    `n`: number of all results. `fraction`: for example 0.25 for the first quartile. `below`,
    `above`: the results on either side of the quantile.
    """
    rank = fraction * (n - 1)
    return below + (above - below) * (rank - int(rank))


class Ratio(NamedTuple):
    """Store the ratio of a group's results to the reference's results, for `n` hosts.

    `low`, `high`: confidence interval of the ratio (at least 95 %), or None. `tool_changed`:
    whether the ratio can be the effect of a change in `openssl speed` rather than of a difference
    in cipher speed.
    """

    ratio: float
    low: float | None
    high: float | None
    n: int
    tool_changed: bool = False

    @property
    def beyond_noise(self) -> bool | None:
        if self.low is None or self.high is None or self.tool_changed:
            return None
        return self.low > 1 or self.high < 1


def ratio_of_medians(group: GroupSummary, reference: GroupSummary, *, exact: bool) -> Ratio | None:
    """Return the median of a group divided by the median of a reference with different hosts.

    Return None if a result is zero or negative. MOVER combines the confidence intervals on a
    logarithmic scale (Zou and Donner, Statistics in Medicine 27, 2008, 1693-1702). `exact`: the
    reference is one host, whose median has no margin of error.
    """
    if min(group.minimum, reference.minimum) <= 0:
        return None
    ratio = group.median / reference.median
    own = _log_margins(group)
    other = (0.0, 0.0) if exact else _log_margins(reference)
    if own is None or other is None:
        return Ratio(ratio, None, None, group.n)
    low = ratio * math.exp(-math.hypot(own[0], other[1]))
    high = ratio * math.exp(math.hypot(own[1], other[0]))
    return Ratio(ratio, low, high, group.n)


def _log_margins(summary: GroupSummary) -> tuple[float, float] | None:
    if summary.low is None or summary.high is None:
        return None
    return math.log(summary.median / summary.low), math.log(summary.high / summary.median)


def ratio_of_hosts(summary: GroupSummary) -> Ratio:
    """Convert a summary of ratios (one ratio for each host) to a `Ratio`."""
    return Ratio(summary.median, summary.low, summary.high, summary.n)


UNITS: Mapping[str, str] = {
    "throughput": "B/s",
    "normalised": "B/s",
    "vs_arcfour": "ratio",
    "vs_blowfish": "ratio",
    "vs_3des": "ratio",
    "cpu_seconds_per_gb": "s/GB",
}

NEEDS_PROFILE = frozenset({"normalised"})
NEEDS_BASELINE = NEEDS_PROFILE | {"vs_arcfour", "vs_blowfish", "vs_3des"}


def group_title(label: str, split_label: str) -> str:
    return f"{label} · {split_label}" if split_label else label


@dataclass(frozen=True)
class Group:
    """Store the results of a group of hosts. The keys of all mappings are ciphers.

    `uncertainty`: median of the uncertainty factors of the hosts. `families`: baseline families
    that are the only measured family of some hosts. `doubtful`: number of low-confidence results
    (see `FEW_VOTES`). `ratios`: empty for the reference.
    """

    key: str
    label: str
    hosts: int
    values: Mapping[str, GroupSummary]
    sources: tuple[str, ...]
    uncertainty: Mapping[str, float] = field(default_factory=dict)
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    doubtful: Mapping[str, int] = field(default_factory=dict)
    split_key: str = ""
    split_label: str = ""
    ratios: Mapping[str, Ratio] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.key} {self.split_key}" if self.split_key else self.key

    @property
    def name(self) -> str:
        return group_title(self.label, self.split_label)


@dataclass(frozen=True)
class Reference:
    """Identify the group or host by whose results other results are divided.

    `label`: None if the reference has no results.
    """

    key: str
    label: str | None
    is_host: bool = False


@dataclass(frozen=True)
class Comparison:
    """Store the response of `GET /api/v1/comparison/` (docs/api.md).

    `hosts`: number of hosts with a result. A host in several groups counts once.
    """

    tool: str
    group_by: str
    metric: str
    unit: str
    profile: str | None
    ciphers: tuple[str, ...]
    groups: tuple[Group, ...]
    excluded: Mapping[str, int]
    split_by: str | None = None
    relative_to: Reference | None = None
    matched: bool = False
    hosts: int = 0

    def is_reference(self, group: Group) -> bool:
        reference = self.relative_to
        if reference is None or self.split_by or (reference.is_host and self.group_by != "host"):
            return False
        return group.key == reference.key


_natural_key = natsort_keygen(alg=ns.IGNORECASE)


# Every response sorts the same labels.
@lru_cache(maxsize=20_000)
def natural_key(text: str) -> Any:
    """Return a sort key that puts `OpenSSL 1.0.2` before `OpenSSL 1.0.10`."""
    return _natural_key(text)


def group_order(key: str, label: str) -> tuple[bool, object, str]:
    return (key == UNKNOWN_KEY, natural_key(label), key)


GroupKey = tuple[str, str]
"""Keys of a group for `group_by` and `split_by`, such as ("debian", "kvm") or ("debian", "")."""


def reference_among(groups: Iterable[Group], key: str) -> Reference:
    return Reference(key, next((group.label for group in groups if group.key == key), None))


def relative(groups: Iterable[Group], reference: Reference) -> list[Group]:
    """Add to each group the ratios to the reference group with the same `split_key`."""
    groups = list(groups)
    bases = {group.split_key: group.values for group in groups if group.key == reference.key}
    return [
        group
        if group.key == reference.key
        else against(group, bases.get(group.split_key, {}), exact=False)
        for group in groups
    ]


def against(group: Group, base: Mapping[str, GroupSummary], *, exact: bool) -> Group:
    ratios = {
        cipher: ratio
        for cipher, summary in group.values.items()
        if cipher in base and (ratio := ratio_of_medians(summary, base[cipher], exact=exact))
    }
    return replace(group, ratios=ratios)


def comparison_of(
    groups: Iterable[Group],
    *,
    tool: str,
    group_by: str,
    metric: str,
    hosts: int = 0,
    no_baseline: int = 0,
    no_block_size: int = 0,
    split_by: str | None = None,
    relative_to: Reference | None = None,
    matched: bool = False,
) -> Comparison:
    ordered = sorted(
        groups,
        key=lambda group: (
            group_order(group.key, group.label),
            group_order(group.split_key, group.split_label),
        ),
    )
    ciphers = {cipher for group in ordered for cipher in group.values}
    excluded = {"no_baseline": no_baseline if metric in NEEDS_BASELINE else 0}
    if tool == "openssl":
        excluded["no_block_size"] = no_block_size
    return Comparison(
        tool=tool,
        group_by=group_by,
        metric=metric,
        unit=UNITS[metric],
        profile=PROFILE.name if metric in NEEDS_PROFILE else None,
        ciphers=tuple(sorted(ciphers, key=natural_key)),
        groups=tuple(ordered),
        excluded=excluded,
        split_by=split_by,
        relative_to=relative_to,
        matched=matched,
        hosts=hosts,
    )


def answer(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as JSON for the API and the charts (see `compare.serializers`)."""
    document: dict[str, Any] = {
        "tool": comparison.tool,
        "group_by": comparison.group_by,
        "metric": comparison.metric,
        "unit": comparison.unit,
        "profile": comparison.profile,
        "ciphers": comparison.ciphers,
        "groups": [_group(group) for group in comparison.groups],
        "excluded": comparison.excluded,
        "split_by": comparison.split_by,
        "relative_to": comparison.relative_to and asdict(comparison.relative_to),
        "matched": comparison.matched,
    }
    return _without_empty(document, "split_by", "relative_to", "matched")


def _group(group: Group) -> dict[str, Any]:
    document = {
        "key": group.key,
        "label": group.label,
        "hosts": group.hosts,
        "values": {cipher: _summary(value) for cipher, value in group.values.items()},
        "split": group.split_key and {"key": group.split_key, "label": group.split_label},
        "relative": {cipher: _ratio(ratio) for cipher, ratio in group.ratios.items()},
        "uncertainty": group.uncertainty,
        "single_baseline": group.families,
        "doubtful": group.doubtful,
    }
    optional = ("split", "relative", "uncertainty", "single_baseline", "doubtful")
    return _without_empty(document, *optional)


def _without_empty(document: dict[str, Any], *optional: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if value or name not in optional}


def _ratio(ratio: Ratio) -> dict[str, Any]:
    document = {**ratio._asdict(), "beyond_noise": ratio.beyond_noise}
    return _without_empty(document, "tool_changed")


def _summary(value: GroupSummary) -> dict[str, Any]:
    return {
        "median": value.median,
        "q1": value.q1,
        "q3": value.q3,
        "min": value.minimum,
        "max": value.maximum,
        "n": value.n,
    }
