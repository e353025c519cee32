"""Changes of cipher families: what noise makes and what a step makes, run by run."""

import json
from dataclasses import asdict, replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.ciphers.cipher_catalogue import family_of_series
from analysis.over_time.family_changes import (
    ObservedRun,
    Step,
    Watch,
    fixed_by,
    size_of,
    verdict_changes,
)
from documents.types import Series

AES = dict.fromkeys(range(6), "openssl aes-gcm")


def history(
    levels: list[float], noise: float = 0.0, seed: int = 0, families: dict[int, str] = AES
) -> list[ObservedRun]:
    random = Random(seed)
    return [
        ObservedRun(
            key,
            {one: 1e9 * (one + 1) * level * random.gauss(1, noise) for one in families},
            {"openssl": "OpenSSL 3.0.11"},
        )
        for key, level in enumerate(levels)
    ]


def steps(runs: list[ObservedRun], families: dict[int, str] = AES) -> list[Step]:
    """What is confirmed, and what the latest run suggests."""
    watch, found = Watch(), []
    for at, run in enumerate(runs):
        found += [
            one for one in watch.observe(run, families) if one.confirmed or at == len(runs) - 1
        ]
    return found


def upgraded(runs: list[ObservedRun], at: int) -> list[ObservedRun]:
    """The same with another library from that run on."""
    later = {"openssl": "OpenSSL 3.0.19"}
    return [replace(one, library=later) if one.key >= at else one for one in runs]


def test_a_step_is_confirmed_by_the_third_run_and_dated_to_the_first() -> None:
    (found,) = steps(history([1.0] * 6 + [0.9] * 4))
    assert (found.family, found.first, found.shown) == ("openssl aes-gcm", 6, (6, 7, 8))
    assert found.before == (0, 1, 2, 3, 4, 5)


def test_a_step_that_comes_with_another_library_is_confirmed_by_the_second_run() -> None:
    (found,) = steps(upgraded(history([1.0] * 6 + [0.9] * 4), at=6))
    assert (found.first, found.shown) == (6, (6, 7))


@pytest.mark.parametrize("low", ([0.8], [0.8, 0.8], [0.8, 1.0, 0.8]))
def test_runs_that_were_slow_for_a_while_are_no_change(low: list[float]) -> None:
    assert steps(history([1.0] * 6 + low + [1.0] * 4)) == []


def test_a_step_that_is_seen_late_is_dated_to_the_library_that_came_with_it() -> None:
    """7 % in a scatter of 3 %, of which two series tell little."""
    one = dict.fromkeys(range(2), "ssh aes-gcm")
    dated = []
    for seed in range(80):
        runs = history([1.0] * 12 + [0.93] * 20, 0.03, seed, one)
        moved = [replace(run, library={"ssh": "1.1.1" if run.key < 12 else "3.0"}) for run in runs]
        dated += [found.first for found in steps(moved, one) if found.confirmed]
    assert len(dated) > 40
    assert sum(at == 12 for at in dated) >= 0.95 * len(dated), dated


def test_a_step_soon_after_another_is_dated_to_its_first_run() -> None:
    first, second = steps(history([1.0] * 6 + [0.9, 0.9] + [0.25] * 3))
    assert (first.first, second.first) == (6, 8)
    assert second.before == (6, 7)


def test_the_latest_run_alone_suggests_one() -> None:
    (found,) = steps(history([1.0] * 6 + [0.9]))
    assert not found.confirmed


def test_before_three_runs_nothing_is_told() -> None:
    assert steps(history([1.0, 1.0, 0.5])) == []
    assert len(steps(history([1.0, 1.0, 1.0, 0.5, 0.5]))) == 1


@given(st.integers(0, 10_000))
def test_a_change_that_single_series_hide_shows_in_the_family(seed: int) -> None:
    """7 % in a scatter of 2 %: at most a run late, and nothing else is found."""
    found = steps(history([1.0] * 12 + [0.93] * 8, noise=0.02, seed=seed))
    assert len(found) <= 2
    assert any(abs(one.first - 12) <= 1 for one in found)


@given(st.integers(0, 10_000), st.floats(0.001, 0.03))
def test_noise_is_no_change(seed: int, noise: float) -> None:
    assert len(steps(history([1.0] * 30, noise, seed))) <= 1


@given(st.lists(st.sampled_from((1.0, 0.93, 0.7)), min_size=8, max_size=14), st.integers(0, 99))
def test_what_is_known_of_a_host_survives_being_stored(levels: list[float], seed: int) -> None:
    runs = history(levels, 0.01, seed)
    kept, stored = Watch(), Watch()
    for run in runs:
        found = kept.observe(run, AES)
        assert stored.observe(run, AES) == found
        stored = Watch.of(json.loads(json.dumps(asdict(stored))))


@given(st.floats(1e-3, 1e3), st.integers(0, 99))
def test_the_unit_of_the_rates_does_not_matter(unit: float, seed: int) -> None:
    levels = [1.0] * 8 + [0.8] * 4
    runs = history(levels, 0.01, seed)
    other = [
        ObservedRun(one.key, {key: rate * unit for key, rate in one.rates.items()}, one.library)
        for one in runs
    ]
    assert [one.first for one in steps(runs)] == [one.first for one in steps(other)]


def test_a_series_that_is_new_moves_no_level() -> None:
    runs = history([1.0] * 8)
    few = {0: AES[0], 1: AES[1]}
    short = [ObservedRun(one.key, {0: one.rates[0]}, one.library) for one in runs[:4]]
    assert steps([*short, *runs[4:]], few) == []


def test_what_the_tool_measures_differently_is_compared_from_there_on_only() -> None:
    runs = history([1.0] * 5 + [0.4] * 5)
    runs[5] = ObservedRun(5, runs[5].rates, runs[5].library, renewed=tuple(AES))
    assert steps(runs) == []


def test_a_host_measured_with_several_builds_in_turn_has_no_changes() -> None:
    runs = [
        ObservedRun(one.key, one.rates, {"openssl": f"OpenSSL 3.{one.key % 2}.0"})
        for one in history([1.0, 0.6] * 8)
    ]
    assert [one for one in steps(runs) if one.confirmed] == []


def test_a_rate_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="above zero"):
        Watch().observe(ObservedRun(1, {0: 0.0}, {}), AES)


def test_the_size_of_a_step_is_that_of_its_middle_series() -> None:
    def figures(*rates: float) -> list[tuple[float, float | None]]:
        return [(rate, None) for rate in rates]

    size = size_of(
        [
            (figures(100, 101, 99), figures(80, 82)),
            (figures(10), figures(8)),
            (figures(5), figures(5)),
            (figures(7), []),
        ]
    )
    assert size is not None
    assert size.ratio == pytest.approx(0.81)
    assert (size.series, size.agreeing) == (3, 2)
    assert size_of([(figures(100), figures(98))]) is None
    assert size_of([]) is None


def test_tries_of_another_length_alone_are_no_change() -> None:
    """0.1 s of slow start are 12.5 % of a try of 0.8 s and 3.3 % of one of 3 s."""
    assert size_of([([(100.0, 3.0)], [(91.0, 0.8)])]) is None
    assert size_of([([(100.0, 3.0)], [(80.0, 0.8)])]) is not None


def test_a_later_change_that_leads_back_fixes_one() -> None:
    assert fixed_by([0.8, 1.25]) == (1, None)
    assert fixed_by([0.8, 0.9, 1.4]) == (2, None, None)
    assert fixed_by([0.8, 1.1]) == (None, None)


def test_verdicts_change_when_a_second_run_says_so() -> None:
    assert verdict_changes(list("aaabbb")) == ((3, True),)
    assert verdict_changes(list("aaab")) == ((3, False),)
    assert verdict_changes(list("aabaa")) == ()
    assert verdict_changes(list("aabbaa")) == ((2, True), (4, True))
    assert verdict_changes([]) == ()


def test_families_leave_out_what_says_nothing_of_the_host() -> None:
    series = Series("ssh", "aes128-gcm@openssh.com")
    assert family_of_series(series) == "ssh aes-gcm"
    assert family_of_series(series._replace(acceleration="masked")) is None
    assert family_of_series(series._replace(target_kind="remote")) is None
    assert family_of_series(Series("openssl", "rc4")) == "openssl arcfour"
    assert family_of_series(Series("openssl", "kuznyechik")) == "openssl kuznyechik"
