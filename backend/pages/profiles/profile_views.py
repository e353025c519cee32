"""Comparisons of profiles and sensitivities made ready to show."""

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.sensitivity import MOST_NAMED, Ranking, Sensitivity
from exports.palette import cipher_order, colour_slot
from pages.formatting import exact, three_digits, throughput
from pages.page_query import Display
from profiles.profile_comparison import ProfileComparison
from profiles.sensitivity import QuerySensitivity


@dataclass(frozen=True)
class PairedRow:
    """A cipher's normalised median under two profiles, as text and exactly."""

    cipher: str
    slot: str
    first: str
    exact_first: str
    second: str
    exact_second: str
    ratio: str
    n: int


@dataclass(frozen=True)
class PairedGroup:
    """A group under two profiles."""

    key: str
    label: str
    rows: tuple[PairedRow, ...]


def paired_groups(compared: ProfileComparison, shown: Display) -> tuple[PairedGroup, ...]:
    """The groups side by side, at most `shown.top` of them."""
    pairs = zip(compared.under_first.groups, compared.under_second.groups, strict=True)
    return tuple(
        PairedGroup(
            one.key,
            one.label,
            tuple(
                _paired_row(
                    cipher,
                    one.values[cipher].median,
                    other.values[cipher].median,
                    one.values[cipher].n,
                )
                for cipher in sorted(one.values, key=cipher_order)
            ),
        )
        for one, other in list(pairs)[: shown.top]
    )


def _paired_row(cipher: str, first: float, second: float, n: int) -> PairedRow:
    return PairedRow(
        cipher=cipher,
        slot=colour_slot(cipher),
        first=throughput(first),
        exact_first=exact(first, "B/s"),
        second=throughput(second),
        exact_second=exact(second, "B/s"),
        ratio=three_digits(second / first),
        n=n,
    )


MOST_GROUPS = 200
"""Groups of one cipher on the sensitivity page, whatever is asked for; the API has them all."""


@dataclass(frozen=True)
class Place:
    """A group's place in one ranking; `median` is empty where it is not ranked."""

    place: int
    median: str
    moved: bool
    tie: bool


@dataclass(frozen=True)
class RankedGroup:
    """A group with its place under the whole yardstick and without each family."""

    key: str
    label: str
    n: int
    places: tuple[Place, ...]


@dataclass(frozen=True)
class RankedCipher:
    """One cipher's ranking: what it says in words, and the places of its first groups.

    `hidden` counts the groups that are not shown.
    """

    cipher: str
    slot: str
    verdict: str
    ties: str
    robust: bool
    sentences: tuple[str, ...]
    families: tuple[str, ...]
    shifts: tuple[str, ...]
    groups: tuple[RankedGroup, ...]
    hidden: int
    excluded: int


def ranked_ciphers(found: QuerySensitivity, top: int | None) -> list[RankedCipher]:
    """Every cipher of the sensitivity, in the palette's order."""
    most = min(top or MOST_GROUPS, MOST_GROUPS)
    return [
        _ranked_cipher(cipher, found.ciphers[cipher], found, most)
        for cipher in sorted(found.ciphers, key=cipher_order)
    ]


def _verdict(one: Sensitivity) -> str:
    groups = len(one.full.order)
    if not one.left_out:
        return "The profile knows no baseline that these hosts measured: nothing is ranked."
    if groups < 2:
        return "There are fewer than two groups to rank."
    if len(one.left_out) == 1:
        return f"Only {one.left_out[0].ranking.without} is known: nothing can be left out."
    if one.robust:
        return f"The ranking of the {groups} groups is the same whichever family is left out."
    return "The ranking depends on one baseline: do not rely on the pairs that change places."


def _place(ranking: Ranking, key: str, swapped: frozenset[str]) -> Place:
    if key not in ranking.places:
        return Place(0, "", False, False)
    median = throughput(ranking.values[key].median)
    return Place(ranking.places[key], median, key in swapped, key in ranking.tied)


def _ties(ranking: Ranking, labels: Mapping[str, str]) -> str:
    """ "a, b and c are a tie: ..."; empty where no groups tie."""
    if not ranking.ties:
        return ""
    first, *more = ranking.ties
    named = [labels[key] for key in first[:MOST_NAMED]]
    if len(first) > len(named):
        named.append(f"{len(first) - len(named)} more")
    words = f"{', '.join(named[:-1])} and {named[-1]} are a tie: noise does not tell them apart."
    return f"{words} Other ties: {len(more)}." if more else words


def _ranked_cipher(
    cipher: str, one: Sensitivity, found: QuerySensitivity, top: int
) -> RankedCipher:
    # A ranking without the only family there is has nothing to say.
    left_out = one.left_out if len(one.left_out) > 1 else ()
    rankings = (one.full, *(each.ranking for each in left_out))
    moved = [frozenset[str](), *(each.swaps.groups for each in left_out)]
    shown = one.full.order[:top]
    groups = tuple(
        RankedGroup(
            key,
            found.labels[key],
            one.full.values[key].n,
            tuple(
                _place(ranking, key, swapped)
                for ranking, swapped in zip(rankings, moved, strict=True)
            ),
        )
        for key in shown
    )
    return RankedCipher(
        cipher=cipher,
        slot=colour_slot(cipher),
        verdict=_verdict(one),
        ties=_ties(one.full, found.labels),
        robust=one.robust,
        sentences=tuple(each.sentence(found.labels) for each in left_out if each.swapped),
        families=tuple(each.ranking.without or "" for each in left_out),
        shifts=tuple(three_digits(each.largest_shift) for each in left_out),
        groups=groups,
        hidden=len(one.full.order) - len(shown),
        excluded=len(one.full.excluded),
    )
