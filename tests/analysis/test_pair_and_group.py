"""Two machines and several: predicted rates, one order, what it costs each, links filled."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.ciphers.cipher_catalogue import cipher_catalogue, policies
from analysis.ciphers.group_recommendation import GroupRecommendation, recommend_group
from analysis.ciphers.host_ciphers import CipherRate, HostCiphers
from analysis.ciphers.link_saturation import link_payload, saturated_links
from analysis.ciphers.pair_recommendation import PairRecommendation, recommend_pair
from tests.analysis.cipher_rates import CHACHA, GCM128, GCM256, OLD, UNPATCHED, host, rate
from tests.cases import each

CATALOGUE = cipher_catalogue()
NAS = host(
    rate(GCM128, 60), rate(CHACHA, 120), rate("aes128-ctr", 70), name="nas", default_cipher=CHACHA
)
DESKTOP = host(
    rate(GCM128, 900),
    rate(CHACHA, 280),
    rate("aes128-ctr", 500),
    name="desktop",
    default_cipher=GCM128,
)
GIGABIT = link_payload(1e9)


def pair(
    client: HostCiphers, server: HostCiphers, policy: str = "modern", link: float | None = None
) -> PairRecommendation:
    return recommend_pair(client, server, policies()[policy], CATALOGUE, link)


def group(*hosts: HostCiphers, policy: str = "modern") -> GroupRecommendation:
    return recommend_group(hosts, policies()[policy], CATALOGUE)


def test_the_slower_end_sets_the_pace() -> None:
    found = pair(DESKTOP, NAS)
    assert [(one.cipher, one.rate, one.limited_by) for one in found.order] == [
        (CHACHA, 120e6, "server"),
        (GCM128, 60e6, "server"),
    ]
    assert found.order[0].reason == (
        "120.0 MB/s expected: desktop alone reaches 280.0 MB/s, nas 120.0 MB/s."
    )
    assert found.gain is not None
    assert (found.gain.over, found.gain.ratio) == (GCM128, 2)
    assert pair(NAS, DESKTOP).order[0].limited_by == "client"


def test_where_the_link_limits_all_the_safer_and_then_the_faster_goes_first() -> None:
    both = (rate(GCM128, 900), rate(GCM256, 800), rate(CHACHA, 280))
    found = pair(host(*both), host(*both, name="desktop"), link=GIGABIT)
    assert [one.cipher for one in found.order] == [GCM256, CHACHA, GCM128]
    assert {one.limited_by for one in found.order} == {"link"}
    assert {one.rate for one in found.order} == {GIGABIT}
    assert "the link 117.7 MB/s" in found.order[0].reason


def test_the_status_between_two_depends_on_both() -> None:
    old = host(*DESKTOP.rates, name="old", server=UNPATCHED)
    assert [one.cipher for one in pair(NAS, old).order] == [GCM128]
    assert [one.cipher for one in pair(old, NAS).order] == [CHACHA, GCM128]
    why = {one.cipher: one.reason for one in pair(NAS, old).unranked}
    assert "acceptable" in why[CHACHA]


def test_what_one_of_two_lacks_is_said() -> None:
    ancient = host(rate("arcfour", 200), rate(GCM128, 80), name="ancient", client=OLD, server=OLD)
    found = pair(NAS, ancient, "everything")
    why = {one.cipher: one.reason for one in found.unranked}
    assert why["arcfour"] == "nas does not have it"
    assert why[GCM256] == "not measured on both by one method"
    assert "ancient does not have it" in {
        one.reason for one in pair(NAS, host(name="ancient", server="OpenSSH_6.1")).unranked
    }


@each(
    ("client", "why"),
    (
        (host(name="new"), "no cipher in common"),
        (host(rate(GCM128, 60), name="new"), "not known which cipher new"),
        (
            host(rate(GCM128, 60), name="new", default_cipher=GCM256),
            f"{GCM256}, the default of new",
        ),
    ),
)
def test_a_gain_between_two_that_cannot_be_told_says_why(client: HostCiphers, why: str) -> None:
    found = pair(client, DESKTOP)
    assert found.gain is None
    assert found.gain_unknown is not None
    assert why in found.gain_unknown


TERRAPIN = (
    "38 % slower than chacha20-poly1305, the default of OpenSSH 9.9, which the modern policy "
    "excludes "
    "because of Terrapin (OpenSSH 9.2 on the server)"
)


def test_what_a_safer_cipher_costs_is_said_with_its_reason() -> None:
    both = (rate(GCM128, 62), rate(CHACHA, 100), rate("aes128-ctr", 30))
    client = host(*both, name="laptop", default_cipher=CHACHA)
    found = pair(client, host(*both, name="old", server=UNPATCHED))
    assert [one.slower_than_default for one in found.order] == [TERRAPIN]
    assert found.order[0].reason.endswith(f"; {TERRAPIN}.")
    assert found.order[0].gain == found.gain
    twice = pair(replace(client, client=UNPATCHED), host(*both, server=UNPATCHED)).order[0]
    assert (twice.slower_than_default or "").endswith("Terrapin (OpenSSH 9.2 at both ends)")
    mixed = pair(replace(client, client="OpenSSH_8.0p1"), host(*both, server=None)).order[0]
    assert (mixed.slower_than_default or "").endswith(
        "(OpenSSH 8.0 on the client and unknown OpenSSH on the server)"
    )


def test_slower_ones_cost_nothing_where_the_default_itself_is_preferred() -> None:
    both = (rate(GCM128, 62), rate(CHACHA, 100), rate("aes128-ctr", 200))
    client = host(*both, name="laptop", default_cipher=CHACHA)
    allowed = pair(client, host(*both, name="new"), "compatible").order
    assert [(one.cipher, one.slower_than_default) for one in allowed] == [
        (CHACHA, None),
        (GCM128, None),
        ("aes128-ctr", None),
    ]
    by_counter = replace(client, default_cipher="aes128-ctr")
    less_safe = "aes128-ctr, the default of OpenSSH 9.9, which is less safe (rated acceptable)"
    compatible = pair(by_counter, host(*both, name="new"), "compatible").order
    assert [one.slower_than_default for one in compatible] == [
        f"50 % slower than {less_safe}",
        f"69 % slower than {less_safe}",
        None,
    ]
    modern = pair(by_counter, host(*both, name="new")).order[0].slower_than_default or ""
    assert modern.endswith("which the modern policy excludes because it is rated acceptable")


def test_within_the_noise_of_two_hosts_the_safer_goes_first() -> None:
    both = (rate(GCM128, 101), rate(GCM256, 100))
    first = pair(host(*both), host(*both, name="desktop")).order[0]
    assert (first.cipher, first.ahead_of) == (GCM256, GCM128)
    assert f"before {GCM128}" in first.reason


def test_two_methods_are_never_mixed() -> None:
    steady = CipherRate(GCM128, 900e6, 9, 0.0, "steady")
    assert pair(NAS, host(steady, name="desktop")).order == ()
    assert group(NAS, host(steady, name="desktop")).method is None


def test_one_order_for_a_group_by_hand() -> None:
    """Shares: nas GCM 60/120 = 0.5, chacha 1; desktop GCM 1, chacha 280/900 = 0.3111.

    Geometric means: GCM sqrt(0.5) = 0.7071, chacha sqrt(0.3111) = 0.5578.
    """
    found = group(NAS, DESKTOP)
    assert [(one.cipher, round(one.share, 4)) for one in found.order] == [
        (GCM128, 0.7071),
        (CHACHA, 0.5578),
    ]
    assert [(loss.own_best, round(loss.loss, 4)) for loss in found.losses] == [
        (CHACHA, 0.5),
        (GCM128, 0),
    ]
    assert found.order[0].reason == (
        "70.7% of the rate of each host's own best cipher (geometric mean of 2), "
        "least on nas: 50.0%."
    )


@each(("megabytes", "first"), ((396, GCM256), (394, GCM128)))
def test_within_the_noise_of_a_group_the_stronger_goes_first(megabytes: float, first: str) -> None:
    """Margins of 1 % on three hosts are 0.58 % of their mean."""
    members = [host(rate(GCM128, 400), rate(GCM256, megabytes), name=name) for name in "abc"]
    assert group(*members).order[0].cipher == first


def test_a_group_is_as_safe_as_its_least_safe_member() -> None:
    old = host(*NAS.rates, name="old", server=UNPATCHED)
    found = group(NAS, DESKTOP, old)
    assert [one.cipher for one in found.order] == [GCM128]
    why = {one.cipher: one.reason for one in found.unranked}
    assert "acceptable" in why[CHACHA]
    assert why[GCM256] == "not measured on nas and 2 more"


def test_a_group_without_a_common_cipher_has_no_order() -> None:
    ancient = host(rate("arcfour", 200), name="ancient", client=OLD, server=OLD)
    found = group(NAS, ancient, policy="everything")
    assert (found.order, found.losses) == ((), ())
    assert "not in the OpenSSH of nas" in {one.reason for one in found.unranked}


@given(st.floats(0.01, 100))
def test_a_faster_host_has_no_more_say_in_its_group(factor: float) -> None:
    scaled = host(*(rate(one.cipher, one.median / 1e6 * factor) for one in NAS.rates), name="nas")
    found = group(scaled, DESKTOP)
    assert [one.cipher for one in found.order] == [GCM128, CHACHA]
    assert found.order[0].share == pytest.approx(0.7071, abs=1e-4)


def test_the_order_of_the_hosts_does_not_matter() -> None:
    assert group(NAS, DESKTOP).order == group(DESKTOP, NAS).order


def test_links_by_hand() -> None:
    """1 GbE carries 125 * 1448 / 1538 = 117.685 MB/s of payload, 10 GbE 1176.85."""
    assert link_payload(1e9) == pytest.approx(117.685e6, rel=1e-5)
    assert saturated_links(300e6, 330e6) == {
        "1 GbE": True,
        "2.5 GbE": True,  # 294.2
        "10 GbE": False,
        "25 GbE": False,
    }
    assert saturated_links(290e6, 310e6)["2.5 GbE"] is None  # within the noise


@given(st.floats(1e6, 1e10))
def test_a_cipher_that_fills_a_link_fills_every_slower_one(bytes_per_second: float) -> None:
    filled = [bool(one) for one in saturated_links(bytes_per_second, bytes_per_second).values()]
    assert filled == sorted(filled, reverse=True)


@each("bits", (0.0, -1e9, float("nan")))
def test_a_link_that_moves_nothing_is_refused(bits: float) -> None:
    with pytest.raises(ValueError, match="link"):
        link_payload(bits)
