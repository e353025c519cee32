"""Excluded ciphers: which of them would be faster than the first place, and why they have none."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.ciphers.excluded import UnrankedCipher
from tests.analysis.cipher_rates import CHACHA, GCM128, GCM256, OLD, UNPATCHED, host, rate
from tests.analysis.test_pair_and_group import group, pair
from tests.analysis.test_recommendation import recommended

RATES = st.floats(1, 5000)


def excluded(unranked: tuple[UnrankedCipher, ...]) -> dict[str, UnrankedCipher]:
    return {one.cipher: one for one in unranked}


@given(RATES, RATES)
def test_faster_is_what_has_the_higher_rate(first: float, other: float) -> None:
    found = recommended(host(rate(GCM256, first), rate("aes128-ctr", other)))
    one = excluded(found.unranked)["aes128-ctr"]
    assert one.is_faster == (other > first)
    assert one.rate == other * 1e6
    assert one.over_first is not None
    assert one.over_first.ratio == pytest.approx(other / first)


def test_the_reason_stands_beside_the_figures() -> None:
    found = recommended(host(rate(GCM256, 600), rate("aes128-ctr", 700)))
    one = excluded(found.unranked)["aes128-ctr"]
    assert one.words == (
        f"1.17 times the rate of {GCM256}; rated acceptable; the modern policy excludes it"
    )
    near = recommended(host(rate(GCM256, 600), rate("aes128-ctr", 603)))
    assert ", within the noise;" in excluded(near.unranked)["aes128-ctr"].words


def test_a_flaw_that_lowers_the_status_is_named() -> None:
    rates = (rate(GCM256, 600), rate(CHACHA, 700))
    found = recommended(host(*rates, client=UNPATCHED, server=UNPATCHED))
    assert excluded(found.unranked)[CHACHA].reason == (
        "rated acceptable because of Terrapin (OpenSSH 9.2 at both ends); the modern policy "
        "excludes it"
    )


def test_what_was_not_measured_may_be_faster_and_has_no_rate() -> None:
    one = excluded(recommended(host(rate(GCM256, 600))).unranked)[GCM128]
    assert (one.rate, one.is_faster, one.is_unmeasured) == (None, False, True)
    assert one.words == "not measured on this host"


def test_without_a_first_place_nothing_is_faster() -> None:
    one = excluded(recommended(host(rate("aes128-ctr", 700))).unranked)["aes128-ctr"]
    assert (one.rate, one.over_first, one.is_faster) == (700e6, None, False)


def test_of_two_hosts_one_alone_says_what_a_cipher_could_reach_at_most() -> None:
    client = host(rate(GCM128, 300), rate("arcfour", 900), name="attic", client=OLD, server=OLD)
    server = host(rate(GCM128, 250), name="nas")
    one = excluded(pair(client, server, "everything").unranked)["arcfour"]
    assert (one.alone, one.rate, one.is_faster) == ("attic", 900e6, True)
    assert one.words == (f"3.60 times the rate of {GCM128} on attic alone; nas does not have it")
    assert excluded(pair(client, server, link=30e6).unranked)["arcfour"].rate == 30e6


def test_of_a_group_shares_are_compared() -> None:
    hosts = [
        host(rate(GCM256, 300), rate("aes128-ctr", 600), name=f"h{number}") for number in range(3)
    ]
    one = excluded(group(*hosts).unranked)["aes128-ctr"]
    assert one.rate == pytest.approx(2)
    assert one.is_faster


def test_a_group_gains_over_the_default_of_each() -> None:
    fast = host(rate(GCM256, 400), rate(CHACHA, 100), name="fast", default_cipher=CHACHA)
    slow = host(rate(GCM256, 100), rate(CHACHA, 200), name="slow", default_cipher=CHACHA)
    own = replace(fast, name="own", default_cipher=GCM256)
    silent = replace(fast, name="silent", default_cipher=None)
    found = group(fast, slow, own, silent)
    assert found.order[0].cipher == GCM256
    assert found.gain is not None
    assert found.gain.ratio == pytest.approx((4 * 0.5 * 1) ** (1 / 3))
    assert (found.gain.hosts, found.gain.slower) == (3, 1)
    assert group(silent).gain is None
