"""What the pages that compare two runs, or two hosts, say."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC
from itertools import groupby
from typing import Any

from django.http import QueryDict
from django.utils.text import Truncator

from analysis.over_time.difference import Figure, Ratio, Verdict, mean_ratio, ratio_of
from analysis.over_time.tool_changes import ToolChange, breaks_between
from documents.environment_difference import Difference, FlagsChanged, environment_difference
from exports.palette import cipher_order
from pages.formatting import data_size, quantity, signed_percent
from pages.hosts.series import TOOL_NAMES, configuration, section_label
from pages.page_query import PageAddress
from results.hosts.diff_subjects import Side
from results.hosts.latest import SERIES_FIELDS, LatestResult
from results.hosts.runs import MeasurementDetail

VERDICTS: dict[Verdict, str] = {
    "faster": "faster",
    "slower": "slower",
    "same": "within the noise",
    "untold": "too few tries to tell",
}


@dataclass(frozen=True)
class Pair:
    """One series that both sides have; `ratio` is withheld (None) across a change of the tool."""

    first: LatestResult
    second: LatestResult
    ratio: Ratio | None
    broken: tuple[ToolChange, ...]

    @property
    def series(self) -> MeasurementDetail:
        """What was measured, the same on both sides."""
        return self.first.detail

    @property
    def percent(self) -> str:
        """ "+20.0 %"; empty where it is withheld."""
        return signed_percent(self.ratio.ratio) if self.ratio else ""

    @property
    def times(self) -> str:
        """ "1.20 ×"; empty where it is withheld."""
        return quantity(self.ratio.ratio, "ratio") if self.ratio else ""

    @property
    def verdict(self) -> str:
        """What the ratio means, in words."""
        return VERDICTS[self.ratio.verdict] if self.ratio else "tool changed"


@dataclass(frozen=True)
class PairSection:
    """Pairs that differ in cipher and block size alone."""

    tool: str
    label: str
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Mean:
    """The geometric mean of the ratios of one tool's common series, and what they say.

    `n` series are in it; `masked` (AES instructions turned off) and `withheld` ones are not.
    """

    tool: str
    times: str
    percent: str
    n: int
    faster: int
    slower: int
    masked: int
    withheld: int


@dataclass(frozen=True)
class Crossed:
    """A change of the tool that lies between the two sides, for so many series."""

    change: ToolChange
    releases: tuple[str, str]
    series: int


@dataclass(frozen=True)
class Fact:
    """A row of the table of differences: what only one side states is quiet."""

    what: str
    first: str
    second: str
    stated: bool


NAME_LENGTH = 40


def older_first(first: Side, second: Side) -> tuple[Side, Side]:
    """The older run, which is the baseline, and the newer; as they are where a date is unknown."""
    if first.started_at and second.started_at and second.started_at < first.started_at:
        return second, first
    return first, second


def labels(first: Side, second: Side) -> tuple[str, str]:
    """What the two are called in headings: name and date, and what else tells them apart."""
    for detail in (_date, _minute, _run):
        found = tuple(
            f"{Truncator(one.name).chars(NAME_LENGTH)}, {detail(one)}" for one in (first, second)
        )
        if found[0] != found[1]:
            break
    return found[0], found[1]


def _date(side: Side) -> str:
    return f"{side.started_at.astimezone(UTC):%Y-%m-%d}" if side.started_at else "date unknown"


def _minute(side: Side) -> str:
    known = side.started_at
    return f"{known.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if known else "date unknown"


def _run(side: Side) -> str:
    return f"{_minute(side)}, run {str(side.run_id)[:8]}"


def diff_context(first: Side, second: Side, params: QueryDict) -> dict[str, Any]:
    """Everything that the page of a difference shows; `first` is the baseline."""
    across = params.get("across") == "1"
    pairs = _pairs(first, second, across)
    differences = environment_difference(
        first.environment,
        second.environment,
        unstated=True,
        hosts=first.host_id != second.host_id,
    )
    first_label, second_label = labels(first, second)
    return {
        "first": first,
        "second": second,
        "first_label": first_label,
        "second_label": second_label,
        "dated": first.started_at is not None and second.started_at is not None,
        "same": first.key == second.key,
        "facts": [_fact(one) for one in differences],
        "words": [one.words for one in differences if _stated(one)],
        "sections": _sections(pairs),
        "means": [mean for tool in TOOL_NAMES if (mean := _mean(tool, pairs))],
        "crossed": _crossed(pairs),
        "across": across,
        "across_address": PageAddress(params).changed(across=None if across else "1"),
        "only": [
            (label, lines)
            for label, side, other in (
                (first_label, first, second),
                (second_label, second, first),
            )
            if (lines := _only(side, other))
        ],
    }


def _key(result: LatestResult) -> tuple[Any, ...]:
    return tuple(getattr(result.detail, name) for name in SERIES_FIELDS)


def _order(detail: MeasurementDetail) -> tuple[Any, ...]:
    return (*configuration(detail), cipher_order(detail.cipher), detail.block_size or 0)


def _pairs(first: Side, second: Side, across: bool) -> list[Pair]:
    others = {_key(one): one for one in second.results}
    found = [(one, others[_key(one)]) for one in first.results if _key(one) in others]
    found.sort(key=lambda both: _order(both[0].detail))
    return [_pair(one, other, across) for one, other in found]


def _pair(first: LatestResult, second: LatestResult, across: bool) -> Pair:
    broken: tuple[ToolChange, ...] = ()
    if first.detail.tool == "openssl":
        broken = breaks_between(first.openssl, second.openssl, first.detail.cipher)
    one, other = _figure(first.detail), _figure(second.detail)
    known = one is not None and other is not None and (across or not broken)
    return Pair(first, second, ratio_of(one, other) if known and one and other else None, broken)


def _figure(detail: MeasurementDetail) -> Figure | None:
    if not detail.median:
        return None
    return Figure(detail.median, detail.spread, detail.n, detail.try_seconds)


def _sections(pairs: Sequence[Pair]) -> list[PairSection]:
    grouped = groupby(pairs, key=lambda pair: configuration(pair.series))
    found = [tuple(members) for _, members in grouped]
    return [
        PairSection(members[0].series.tool, section_label(members[0].series), members)
        for members in found
    ]


def _mean(tool: str, pairs: Iterable[Pair]) -> Mean | None:
    of_tool = [pair for pair in pairs if pair.series.tool == tool]
    usual = [pair for pair in of_tool if pair.series.acceleration == "default"]
    ratios = [pair.ratio for pair in usual if pair.ratio]
    mean = mean_ratio(ratio.ratio for ratio in ratios)
    if mean is None:
        return None
    return Mean(
        tool=TOOL_NAMES[tool],
        times=quantity(mean, "ratio"),
        percent=signed_percent(mean),
        n=len(ratios),
        faster=sum(ratio.verdict == "faster" for ratio in ratios),
        slower=sum(ratio.verdict == "slower" for ratio in ratios),
        masked=len(of_tool) - len(usual),
        withheld=len(usual) - len(ratios),
    )


def _crossed(pairs: Iterable[Pair]) -> list[Crossed]:
    found: dict[str, list[Pair]] = {}
    changes: dict[str, ToolChange] = {}
    for pair in pairs:
        for change in pair.broken:
            changes[change.id] = change
            found.setdefault(change.id, []).append(pair)
    return [
        Crossed(changes[id_], (members[0].first.openssl, members[0].second.openssl), len(members))
        for id_, members in found.items()
    ]


def _only(side: Side, other: Side) -> list[tuple[str, list[str]]]:
    """What one side alone has measured: configuration, and the ciphers in it."""
    known = {_key(one) for one in other.results}
    alone = sorted((one.detail for one in side.results if _key(one) not in known), key=_order)
    return [
        (section_label(members[0]), _with_sizes(members))
        for members in (list(group) for _, group in groupby(alone, key=configuration))
    ]


def _with_sizes(alone: Iterable[MeasurementDetail]) -> list[str]:
    """ "chacha20-poly1305 (64 B, 1 KiB blocks)": the other side may have further sizes."""
    sizes: dict[str, list[str]] = {}
    for one in alone:
        sizes.setdefault(one.cipher, []).extend(
            [data_size(one.block_size)] if one.block_size else []
        )
    return [f"{cipher} ({', '.join(of)} blocks)" if of else cipher for cipher, of in sizes.items()]


def _stated(one: Difference) -> bool:
    return isinstance(one, FlagsChanged) or (one.before is not None and one.after is not None)


def _fact(one: Difference) -> Fact:
    if isinstance(one, FlagsChanged):
        first, second = (
            f"only here: {flags}" if flags else "" for flags in (one.before, one.after)
        )
        return Fact(one.what, first, second, True)
    return Fact(one.what, one.before or "not stated", one.after or "not stated", _stated(one))
