"""Leaving one family out of the yardstick: hand-worked rankings, and what holds for any."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.profiles.reference_profiles import initial_profile
from analysis.sensitivity import MOST_LISTED, RankedRun, sensitivity

REFERENCE = {"arcfour": 200.0, "blowfish": 50.0, "3des": 20.0}
PUBLISHED = {
    "Proxmox guest": (388.36, {"arcfour": 211.355, "blowfish": 83.886, "3des": 22.216}),
    "Fedora 21": (328.37, {"arcfour": 178.179, "blowfish": 66.750, "3des": 18.340}),
}
"""aes128-gcm and the baseline levels of two machines of 2015, 10^6 bytes per second."""


def test_a_ranking_that_hangs_on_one_family_says_so() -> None:
    """By hand: b has an RC4 eight times as fast for its other speed, so S(b) = 2, else 1.

    a: S = 1, y = 100. b: y = 150 / 2 = 75, but 150 without arcfour. Without blowfish
    S(b) = sqrt(8) and y = 53.0.
    """
    runs = [
        RankedRun("1", "a", 100.0, REFERENCE),
        RankedRun("2", "b", 150.0, {"arcfour": 1600.0, "blowfish": 50.0, "3des": 20.0}),
    ]
    found = sensitivity(runs, REFERENCE)
    assert found.full.order == ("a", "b")
    assert found.full.values["b"].median == pytest.approx(75)
    without = {one.ranking.without: one for one in found.left_out}
    assert without["arcfour"].ranking.order == ("b", "a")
    assert without["arcfour"].swapped == (("a", "b"),)
    assert without["arcfour"].sentence({}) == "Without arcfour a and b change places."
    assert without["blowfish"].ranking.values["b"].median == pytest.approx(53.033, abs=1e-3)
    assert without["blowfish"].sentence({}) == "Without blowfish the order stays the same."
    # b rose by 2 and a stayed: sqrt(2) each way from their geometric mean.
    assert without["arcfour"].largest_shift == pytest.approx(2**0.5)
    assert not found.robust


def test_the_published_gcm_of_two_machines_agrees_whichever_family_is_left_out() -> None:
    runs = [RankedRun(name, name, *figures) for name, figures in PUBLISHED.items()]
    reference = {f: level / 1e6 for f, level in initial_profile().levels["ssh"].items()}
    found = sensitivity(runs, reference)
    for ranking in (found.full, *(one.ranking for one in found.left_out)):
        guest, fedora = (ranking.values[name].median for name in PUBLISHED)
        assert guest / fedora == pytest.approx(1, abs=0.05)
    assert found.full.values["Proxmox guest"].median == pytest.approx(318.92, abs=0.02)
    # Leaving arcfour out: S = sqrt(83.886/63.538 * 22.216/19.126) = 1.2384, y = 313.6.
    assert found.left_out[0].ranking.values["Proxmox guest"].median == pytest.approx(313.6, abs=0.1)
    assert found.robust


def test_a_run_that_loses_its_only_family_is_excluded_and_not_guessed() -> None:
    runs = [RankedRun("1", "a", 100.0, {"3des": 20.0}), RankedRun("2", "b", 90.0, REFERENCE)]
    left_out = {one.ranking.without: one for one in sensitivity(runs, REFERENCE).left_out}
    assert left_out["3des"].ranking.excluded == ("1",)
    assert left_out["3des"].ranking.order == ("b",)
    assert left_out["3des"].swapped == ()


def test_nothing_to_rank_is_an_empty_ranking() -> None:
    found = sensitivity([RankedRun("1", "a", 1.0, {"3des": 2.0})], {"3des": 1.0, "arcfour": 1.0})
    assert found.left_out[0].ranking.order == ()
    assert found.left_out[0].largest_shift == 1
    assert sensitivity([], REFERENCE).full.order == ()


levels = st.dictionaries(
    st.sampled_from(sorted(REFERENCE)), st.floats(min_value=1, max_value=1e4), min_size=1
)
votes = st.lists(
    st.tuples(st.sampled_from("abcd"), st.floats(min_value=1, max_value=1e5), levels), max_size=8
)


@given(votes, st.floats(min_value=0.01, max_value=100), st.randoms(use_true_random=False))
def test_neither_a_machines_speed_nor_the_order_of_uploads_matters(
    drawn: list[tuple[str, float, dict[str, float]]], k: float, order: random.Random
) -> None:
    runs = [RankedRun(str(i), *vote) for i, vote in enumerate(drawn)]
    faster = [
        RankedRun(one.run, one.group, one.throughput * k, {f: b * k for f, b in one.levels.items()})
        for one in order.sample(runs, len(runs))
    ]
    plain, scaled = sensitivity(runs, REFERENCE), sensitivity(faster, REFERENCE)
    for group, summary in plain.full.values.items():
        assert scaled.full.values[group].median == pytest.approx(summary.median)
    assert sensitivity(order.sample(runs, len(runs)), REFERENCE) == plain


medians = st.sampled_from((1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
speeds = st.sampled_from((1.0, 2.0, 4.0))


noises = st.floats(min_value=0, max_value=0.5)


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(medians, speeds, noises)))
def test_swaps_are_those_found_by_looking_at_every_pair(
    groups: dict[str, tuple[float, float, float]],
) -> None:
    """`speed` is that of blowfish alone: leaving it out multiplies the value by its root."""
    runs = [
        RankedRun(name, name, rate, {"3des": 1.0, "blowfish": speed}, noise)
        for name, (rate, speed, noise) in groups.items()
    ]
    found = sensitivity(runs, {"3des": 1.0, "blowfish": 1.0})
    for one in found.left_out:
        full, other = found.full.bounds, one.ranking.bounds
        pairs = {
            (ahead, behind)
            for ahead in groups
            for behind in groups
            if full[ahead][0] > full[behind][1] and other[ahead][1] < other[behind][0]
        }
        assert set(one.swapped) == pairs
        assert one.swaps.count == len(one.swapped) == len(pairs)
        assert one.swaps.groups == {name for pair in pairs for name in pair}


def test_of_very_many_pairs_some_are_listed_and_all_are_counted() -> None:
    """Without blowfish, at which its rate to the fourth is each one's, all stand upside down."""
    runs = [
        RankedRun(str(rate), f"host {rate}", float(rate), {"3des": 1.0, "blowfish": rate**4.0})
        for rate in range(1, 1001)
    ]
    (blowfish, _) = sensitivity(runs, {"3des": 1.0, "blowfish": 1.0}).left_out
    assert blowfish.swaps.count == 1000 * 999 // 2
    assert len(blowfish.swapped) == MOST_LISTED
    assert len(blowfish.swaps.groups) == 1000
    assert blowfish.sentence({}).endswith("and 499495 more pairs change places.")


def test_what_differs_by_less_than_its_noise_is_a_tie() -> None:
    def ranked(noise: float) -> list[int]:
        rates = {"a": 502.0, "b": 502.0, "c": 499.0, "d": 495.0}
        runs = [RankedRun(name, name, rate, REFERENCE, noise) for name, rate in rates.items()]
        full = sensitivity(runs, REFERENCE).full
        return [full.places[name] for name in rates]

    assert ranked(0.01) == [1, 1, 1, 1]  # 495 * 1.01 = 499.95, 502 * 0.99 = 496.98
    assert ranked(0.004) == [1, 1, 1, 4]  # 495 * 1.004 = 496.98, 502 * 0.996 = 499.99
    assert ranked(0.001) == [1, 1, 3, 4]
    assert ranked(0.0) == [1, 1, 3, 4]


def test_a_tie_is_no_order_that_could_change() -> None:
    rates = {"a": 300.0, "b": 310.0}
    levels = {"a": {**REFERENCE, "blowfish": 33.0}, "b": REFERENCE}
    for noise, swaps in ((0.0, 1), (0.05, 0)):
        runs = [RankedRun(name, name, rate, levels[name], noise) for name, rate in rates.items()]
        found = sensitivity(runs, REFERENCE)
        assert sum(one.swaps.count for one in found.left_out) == swaps
        assert found.robust is (swaps == 0)


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(medians, noises), min_size=1))
def test_places_by_definition(groups: dict[str, tuple[float, float]]) -> None:
    """The first of a place is told from the first of the place before; all others tie with it."""
    runs = [RankedRun(name, name, rate, REFERENCE, noise) for name, (rate, noise) in groups.items()]
    full = sensitivity(runs, REFERENCE).full
    assert sorted(full.order, key=lambda one: full.places[one]) == list(full.order)
    leader = full.order[0]
    for number, group in enumerate(full.order, start=1):
        (rate, noise), (best, its_noise) = groups[group], groups[leader]
        if rate * (1 + noise) < best * (1 - its_noise) * (1 - 1e-12):
            assert full.places[group] == number
            leader = group
        else:
            assert full.places[group] == full.places[leader]
    shared = [one for one in full.order if list(full.places.values()).count(full.places[one]) > 1]
    assert full.tied == set(shared)
