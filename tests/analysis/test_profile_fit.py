"""The least-squares fit of a profile: the worked example, gaps, and fleets of known truth."""

import math
import random
from dataclasses import dataclass
from statistics import fmean, geometric_mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.profiles.profile_fit import ProfileFit, fit_profile, index_uncertainty
from tests.cases import each

FAMILIES = ("arcfour", "blowfish", "3des")
PROXMOX = {"arcfour": 211.355e6, "blowfish": 83.886e6, "3des": 22.216e6}
FEDORA = {"arcfour": 178.179e6, "blowfish": 66.750e6, "3des": 18.340e6}
MACOS = {"arcfour": 133.950e6, "blowfish": 39.960e6, "3des": 14.980e6}
TABLE = {"proxmox": PROXMOX, "fedora": FEDORA, "macos": MACOS}


def levels(fit: ProfileFit) -> dict[str, float]:
    return {family: one.level for family, one in fit.levels.items()}


def test_the_worked_example() -> None:
    fit = fit_profile(TABLE, "fedora")
    assert fit.levels["arcfour"].level == pytest.approx(179.492e6, rel=1e-5)
    assert fit.levels["blowfish"].level == pytest.approx(63.538e6, rel=2e-5)
    assert fit.levels["3des"].level == pytest.approx(19.126e6, rel=3e-5)
    assert fit.machines["fedora"].speed == pytest.approx(1)
    assert fit.machines["proxmox"].speed == pytest.approx(1.2177, abs=0.00006)
    assert fit.machines["macos"].speed == pytest.approx(0.7163, abs=0.00006)
    assert (fit.unknown, fit.left_out, fit.cells, fit.spare) == ({}, (), 9, 4)


def test_residuals_say_how_far_a_machine_is_from_the_fit() -> None:
    fit = fit_profile(TABLE, "fedora")
    # Blowfish on OS X: 39.960 / (63.538 * 0.7163) = 0.878, on the guest 83.886 / 77.37 = 1.0842.
    assert math.exp(fit.machines["macos"].residuals["blowfish"]) == pytest.approx(0.878, abs=1e-3)
    assert math.exp(fit.machines["proxmox"].residuals["blowfish"]) == pytest.approx(1.084, abs=1e-3)
    squares = [e * e for machine in fit.machines.values() for e in machine.residuals.values()]
    assert fit.rms == pytest.approx(math.sqrt(sum(squares) / 9))
    assert fit.scatter == pytest.approx(math.sqrt(sum(squares) / 4))
    assert fit.levels["3des"].uncertainty is not None
    assert fit.levels["3des"].uncertainty > 1
    assert fit.machines["fedora"].uncertainty == pytest.approx(1)


def test_a_gap_is_filled_by_nobody() -> None:
    """By hand: B(macos) and the levels come from the two complete rows alone.

    B(macos) = geometric mean of 133.95/178.179, 39.96/66.75, 14.98/18.34 = 0.71635;
    a(arcfour) = sqrt(178.179 * 133.95 / 0.71635) = 182.53; the guest then has
    22.216 / a(3des), a(3des) = sqrt(18.34 * 14.98 / 0.71635) = 19.584: 1.1344.
    """
    fit = fit_profile({**TABLE, "proxmox": {"3des": PROXMOX["3des"]}}, "fedora")
    assert fit.machines["macos"].speed == pytest.approx(0.71635, abs=2e-5)
    assert fit.levels["arcfour"].level == pytest.approx(182.53e6, rel=1e-4)
    assert fit.levels["3des"].level == pytest.approx(19.584e6, rel=1e-4)
    assert fit.machines["proxmox"].speed == pytest.approx(1.1344, abs=1e-4)
    assert (fit.cells, fit.spare) == (7, 2)


def test_a_chain_of_machines_carries_the_scale() -> None:
    """a(3des) = 20, b is twice as fast (40), so its blowfish of 120 is 60 on the reference."""
    fit = fit_profile({"a": {"3des": 20.0}, "b": {"3des": 40.0, "blowfish": 120.0}}, "a")
    assert levels(fit) == pytest.approx({"3des": 20, "blowfish": 60})
    assert fit.unknown == {"arcfour": "No machine measured it."}
    assert fit.scatter is None
    assert fit.levels["3des"].uncertainty is None


def test_families_on_another_island_stay_unknown_and_say_why() -> None:
    table = {"old": {"arcfour": 200.0, "blowfish": 80.0}, "new": {"3des": 30.0}}
    fit = fit_profile(table, "new")
    assert levels(fit) == pytest.approx({"3des": 30})
    assert set(fit.unknown) == {"arcfour", "blowfish"}
    assert "the reference machine new" in fit.unknown["arcfour"]
    assert fit.left_out == ("old",)


def test_a_fleet_is_fitted_where_most_of_its_machines_are() -> None:
    table = {"a": {"3des": 20.0}, "b": {"3des": 45.0}, "old": {"arcfour": 200.0}}
    fit = fit_profile(table)
    assert levels(fit) == pytest.approx({"3des": 30})  # the geometric mean: B averages to 0
    assert fit.left_out == ("old",)
    assert "most machines of the fleet" in fit.unknown["arcfour"]


def test_islands_of_one_size_are_chosen_by_families_and_then_by_name() -> None:
    islands = {"a": {"3des": 20.0}, "b": {"arcfour": 200.0, "blowfish": 80.0}}
    assert set(levels(fit_profile(islands))) == {"arcfour", "blowfish"}
    twins = {"a": {"blowfish": 20.0}, "b": {"arcfour": 200.0}}
    assert set(levels(fit_profile(twins))) == {"arcfour"}


@each(
    ("table", "reference"),
    (({}, None), ({"a": {}}, None), (TABLE, "nobody"), ({"a": {"rot13": 5.0}}, "a")),
)
def test_nothing_to_fit_is_refused(
    table: dict[str, dict[str, float]], reference: str | None
) -> None:
    with pytest.raises(ValueError, match="needs levels"):
        fit_profile(table, reference)


@each("level", (0.0, -1.0, math.inf, math.nan))
def test_a_level_that_is_none_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="no level"):
        fit_profile({"a": {"3des": level}})


rows = st.dictionaries(
    st.sampled_from(FAMILIES), st.floats(min_value=1e5, max_value=1e10), min_size=1
)
tables = st.dictionaries(st.sampled_from("abcdefgh"), rows, min_size=1)


@given(tables, st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_uploads_never_matters(
    table: dict[str, dict[str, float]], order: random.Random, fleet: bool
) -> None:
    reference = None if fleet else min(table)
    shuffled = {
        machine: dict(order.sample(list(table[machine].items()), len(table[machine])))
        for machine in order.sample(list(table), len(table))
    }
    assert fit_profile(table, reference) == fit_profile(shuffled, reference)


@given(tables, st.floats(min_value=0.01, max_value=100))
def test_a_machine_k_times_as_fast_has_k_times_the_speed_and_moves_no_level(
    table: dict[str, dict[str, float]], k: float
) -> None:
    faster = {**table, "x": {"3des": 3e7, "arcfour": 3e8}, "r": dict.fromkeys(FAMILIES, 1e7)}
    before = fit_profile(faster, "r")
    faster["x"] = {family: level * k for family, level in faster["x"].items()}
    after = fit_profile(faster, "r")
    assert after.machines["x"].speed == pytest.approx(before.machines["x"].speed * k)
    assert levels(after) == pytest.approx(levels(before))


@given(rows, st.lists(st.floats(min_value=0.05, max_value=20), min_size=1, max_size=6))
def test_machines_that_agree_are_recovered_exactly(
    truth: dict[str, float], speeds: list[float]
) -> None:
    table = {
        f"machine {i}": {family: level * speed for family, level in truth.items()}
        for i, speed in enumerate(speeds)
    }
    fit = fit_profile({**table, "reference": truth}, "reference")
    assert levels(fit) == pytest.approx(truth)
    for i, speed in enumerate(speeds):
        assert fit.machines[f"machine {i}"].speed == pytest.approx(speed)
    assert fit.rms == pytest.approx(0, abs=1e-9)


@given(st.floats(min_value=0, max_value=1), st.integers(min_value=1, max_value=5))
def test_a_missing_family_only_widens_the_uncertainty(scatter: float, families: int) -> None:
    wider = index_uncertainty(scatter, families)
    assert wider >= index_uncertainty(scatter, families + 1) >= 1


FLEETS = 2000
"""Of so many an uncertainty that holds for 95 % shows 94 to 96 % by chance (two deviations)."""


@dataclass
class Fleet:
    """A table of levels and the truth behind it."""

    table: dict[str, dict[str, float]]
    levels: dict[str, float]
    speeds: dict[str, float]

    @property
    def mean_speed(self) -> float:
        return geometric_mean(self.speeds.values())


def simulated(chance: random.Random) -> Fleet:
    """8 to 20 machines and a reference; families disagree by 10 %, a quarter of the cells lack."""
    truth = {family: math.exp(chance.uniform(16, 20)) for family in FAMILIES}
    fleet = Fleet({}, truth, {})
    for name in ["reference", *(f"m{number}" for number in range(chance.randint(8, 20)))]:
        speed = 1.0 if name == "reference" else math.exp(chance.gauss(0, 0.7))
        kept = [f for f in FAMILIES if f == "3des" or name == "reference" or chance.random() < 0.6]
        fleet.table[name] = {f: truth[f] * speed * math.exp(chance.gauss(0, 0.1)) for f in kept}
        fleet.speeds[name] = speed
    return fleet


def within(found: float, uncertainty: float | None, truth: float) -> bool:
    assert uncertainty is not None
    return found / uncertainty <= truth <= found * uncertainty


@pytest.mark.no_cover
@each("reference", ("reference", None))
def test_fleets_of_known_truth_are_recovered_within_the_stated_uncertainty(
    reference: str | None,
) -> None:
    chance = random.Random(2015)
    recovered, machines = 0, []
    for _ in range(FLEETS):
        fleet = simulated(chance)
        fit = fit_profile(fleet.table, reference)
        # On the fleet's scale a level is that of a machine of the fleet's mean speed.
        unit = 1.0 if reference else fleet.mean_speed
        recovered += all(
            within(one.level, one.uncertainty, fleet.levels[family] * unit)
            for family, one in fit.levels.items()
        )
        machines += [
            within(one.speed, one.uncertainty, fleet.speeds[name] / unit)
            for name, one in fit.machines.items()
            if name != "reference"
        ]
    chance_alone = 2 * math.sqrt(FLEETS * 0.95 * 0.05)
    assert recovered >= 0.95 * FLEETS - chance_alone
    assert recovered <= 0.98 * FLEETS, "an uncertainty that always holds says too little"
    assert fmean(machines) == pytest.approx(0.95, abs=0.01)


@settings(max_examples=20, deadline=None)
@given(tables)
def test_levels_of_a_fleet_lie_between_its_machines(table: dict[str, dict[str, float]]) -> None:
    fit = fit_profile(table)
    logs = [math.log(one.speed) for one in fit.machines.values()]
    assert sum(logs) == pytest.approx(0, abs=1e-6)
