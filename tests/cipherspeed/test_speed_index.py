import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cipherspeed.baselines import MeasuredSeries, baseline_levels, speed_index
from cipherspeed.reference_profile import PROFILE
from cipherspeed.types import Series
from tests.cases import each

MIB = 1.048576
# Rates of three hosts in MB/s (10^6 bytes per second), published in 2015
PUBLISHED = {
    "proxmox": {
        "arcfour": 208.333 * MIB,
        "arcfour128": 208.333 * MIB,
        "arcfour256": 188.679 * MIB,
        "blowfish-cbc": 80 * MIB,
        "3des-cbc": 21.1864 * MIB,
        "aes128-ctr": 104.167 * MIB,
        "aes128-gcm@openssh.com": 370.37 * MIB,
        "aes256-gcm@openssh.com": 357.143 * MIB,
    },
    "fedora": {
        "arcfour": 178.52,
        "arcfour128": 177.52,
        "arcfour256": 178.50,
        "blowfish-cbc": 66.75,
        "3des-cbc": 18.34,
        "aes128-ctr": 230.26,
        "aes128-gcm@openssh.com": 328.37,
        "aes256-gcm@openssh.com": 317.49,
    },
    "macos": {
        "arcfour": 133.93,
        "arcfour128": 133.99,
        "arcfour256": 133.93,
        "blowfish-cbc": 39.96,
        "3des-cbc": 14.98,
        "aes128-ctr": 87.18,
    },
}

REFERENCE = PROFILE.levels["ssh"]


def ssh(cipher: str, rate: float, **changes: Any) -> MeasuredSeries:
    series = Series("ssh", cipher, method="pipeline", target_kind="loopback")._replace(**changes)
    return MeasuredSeries(series, rate)


def openssl(cipher: str, rate: float, block_size: int = 16384) -> MeasuredSeries:
    return MeasuredSeries(Series("openssl", cipher, block_size=block_size), rate)


def levels_of(machine: str) -> dict[str, float]:
    measured = [ssh(cipher, rate * 1e6) for cipher, rate in PUBLISHED[machine].items()]
    return baseline_levels("ssh", measured)


@each(
    ("machine", "arcfour", "blowfish", "triple_des", "index"),
    (
        ("proxmox", 211.355, 83.886, 22.216, 1.2177),
        ("fedora", 178.179, 66.750, 18.340, 1.0000),
        ("macos", 133.950, 39.960, 14.980, 0.7163),
    ),
)
def test_levels_and_speed_index_of_the_worked_example(
    machine: str, arcfour: float, blowfish: float, triple_des: float, index: float
) -> None:
    levels = levels_of(machine)
    assert levels["arcfour"] == pytest.approx(arcfour * 1e6, rel=1e-5)
    assert levels["blowfish"] == pytest.approx(blowfish * 1e6, rel=1e-5)
    assert levels["3des"] == pytest.approx(triple_des * 1e6, rel=1e-4)
    speed = speed_index(levels, REFERENCE)
    assert speed is not None
    assert speed.index == pytest.approx(index, abs=0.00006)
    assert speed.families == ("arcfour", "blowfish", "3des")


@each(
    ("machine", "cipher", "expected"),
    (
        ("proxmox", "aes128-ctr", 89.70),
        ("proxmox", "aes128-gcm@openssh.com", 318.92),
        ("proxmox", "aes256-gcm@openssh.com", 307.53),
        ("fedora", "aes128-ctr", 230.26),
        ("fedora", "aes128-gcm@openssh.com", 328.37),
        ("fedora", "aes256-gcm@openssh.com", 317.49),
        ("macos", "aes128-ctr", 121.70),
    ),
)
def test_normalised_rates_of_the_worked_example(machine: str, cipher: str, expected: float) -> None:
    speed = speed_index(levels_of(machine), REFERENCE)
    assert speed is not None
    rate = PUBLISHED[machine][cipher] * 1e6 / speed.index
    assert rate == pytest.approx(expected * 1e6, rel=0.0002)


def test_the_gcm_of_two_machines_agrees_within_three_percent_once_normalised() -> None:
    rates = []
    for machine in ("proxmox", "fedora"):
        speed = speed_index(levels_of(machine), REFERENCE)
        assert speed is not None
        rates.append(PUBLISHED[machine]["aes128-gcm@openssh.com"] / speed.index)
    assert rates[0] / rates[1] == pytest.approx(1, abs=0.03)


def test_without_two_families_the_index_rests_on_the_third() -> None:
    speed = speed_index({"3des": levels_of("proxmox")["3des"]}, REFERENCE)
    assert speed is not None
    assert speed.index == pytest.approx(1.1616, abs=0.0001)
    assert speed.uncertainty is None


def test_a_run_without_baseline_has_no_index() -> None:
    assert baseline_levels("ssh", [ssh("aes128-ctr", 2e8)]) == {}
    assert speed_index({}, REFERENCE) is None


def test_a_family_that_the_profile_does_not_know_does_not_count() -> None:
    assert speed_index({"rot13": 1e9}, REFERENCE) is None


@each(
    "change",
    (
        *({"acceleration": "masked"}, {"compression": True}, {"target_kind": "remote"}),
        {"mac": "hmac-md5"},
    ),
)
def test_only_plain_loopback_series_are_a_yardstick(change: dict[str, object]) -> None:
    assert baseline_levels("ssh", [ssh("3des-cbc", 2e7, **change)]) == {}


@each("change", ({"operation": "decrypt"}, {"threads": 2}))
def test_only_one_encrypting_thread_is_a_yardstick(change: dict[str, Any]) -> None:
    plain = openssl("rc4", 9e8)
    other = MeasuredSeries(plain.series._replace(**change), 2e9)
    assert baseline_levels("openssl", [other]) == {}
    assert baseline_levels("openssl", [plain, other]) == pytest.approx({"arcfour": 9e8})


def test_ssh_levels_prefer_the_pipeline_and_never_mix_methods() -> None:
    both = [ssh("3des-cbc", 20e6), ssh("3des-cbc", 30e6, method="steady")]
    assert baseline_levels("ssh", both) == {"3des": pytest.approx(20e6)}
    assert baseline_levels("ssh", both[1:]) == {"3des": pytest.approx(30e6)}


def test_a_pinned_series_is_a_yardstick_only_where_there_is_no_other() -> None:
    pinned = ssh("3des-cbc", 40e6, pinned=True)
    plain = ssh("3des-cbc", 10e6)
    assert baseline_levels("ssh", [plain, pinned]) == pytest.approx({"3des": 10e6})
    assert baseline_levels("ssh", [pinned]) == pytest.approx({"3des": 40e6})


def test_openssl_levels_are_those_of_the_largest_block() -> None:
    measured = [openssl("rc4", 5e8, 64), openssl("rc4", 9e8), openssl("bf-cbc", 1e8)]
    assert baseline_levels("openssl", measured) == {
        "arcfour": pytest.approx(9e8),
        "blowfish": pytest.approx(1e8),
    }


def test_levels_of_one_tool_leave_the_other_out() -> None:
    assert baseline_levels("openssl", [ssh("3des-cbc", 2e7)]) == {}


families = st.dictionaries(
    st.sampled_from(["arcfour", "blowfish", "3des"]),
    st.floats(min_value=1e5, max_value=1e10),
    min_size=1,
)


@given(families, st.floats(min_value=0.01, max_value=100))
def test_a_machine_twice_as_fast_has_twice_the_index(
    levels: dict[str, float], factor: float
) -> None:
    speed = speed_index(levels, REFERENCE)
    faster = speed_index({f: level * factor for f, level in levels.items()}, REFERENCE)
    assert speed is not None
    assert faster is not None
    assert faster.index == pytest.approx(speed.index * factor)


@given(families, st.floats(min_value=1, max_value=1e11), st.floats(min_value=0.01, max_value=100))
def test_a_machine_twice_as_fast_has_the_same_normalised_rates(
    levels: dict[str, float], rate: float, factor: float
) -> None:
    speed = speed_index(levels, REFERENCE)
    faster = speed_index({f: level * factor for f, level in levels.items()}, REFERENCE)
    assert speed is not None
    assert faster is not None
    assert rate * factor / faster.index == pytest.approx(rate / speed.index)


@given(families, st.randoms(use_true_random=False))
def test_the_order_of_families_never_matters(
    levels: dict[str, float], order: random.Random
) -> None:
    shuffled = dict(order.sample(list(levels.items()), len(levels)))
    plain, other = speed_index(levels, REFERENCE), speed_index(shuffled, REFERENCE)
    assert plain is not None
    assert other is not None
    assert other.index == plain.index
    assert other.uncertainty == plain.uncertainty


@given(families)
def test_uncertainty_is_a_factor_of_at_least_one(levels: dict[str, float]) -> None:
    speed = speed_index(levels, REFERENCE)
    assert speed is not None
    assert (speed.uncertainty is None) == (len(levels) == 1)
    assert speed.uncertainty is None or speed.uncertainty >= 1
