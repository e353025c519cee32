from dataclasses import replace
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cipherspeed.cipher_catalogue import STATUSES, cipher_catalogue
from cipherspeed.recommendation import MeasuredHost, Rate, Recommendation, link_payload
from tests.cases import each
from tests.cipherspeed.cipher_rates import (
    CHACHA,
    GCM128,
    GCM256,
    MODERN,
    OLD,
    UNPATCHED,
    advised,
    between,
    host,
    rate,
)

CATALOGUE = cipher_catalogue()
SSH = [cipher.name for cipher in CATALOGUE.ciphers if cipher.tool == "ssh"]
MEASURED_2015 = (  # the published Proxmox guest, MB/s
    rate("arcfour", 218.45),
    rate("blowfish-cbc", 83.89),
    rate("3des-cbc", 22.22),
    rate("aes128-cbc", 150.0),
    rate("aes128-ctr", 109.23),
    rate(GCM128, 388.36),
    rate(GCM256, 374.49),
)
NAS = host(rate(GCM128, 60), rate(CHACHA, 120), rate("aes128-ctr", 70), default_cipher=CHACHA)
DESKTOP = host(
    rate(GCM128, 900),
    rate(CHACHA, 280),
    rate("aes128-ctr", 500),
    name="desktop",
    default_cipher=GCM128,
)


def names(result: Recommendation) -> list[str]:
    return [place.cipher for place in result.order]


def why_not(result: Recommendation) -> dict[str, str]:
    return {entry.cipher: entry.reason for entry in result.excluded}


@each(
    ("policy", "order"),
    (
        ("modern", [GCM128, GCM256]),
        ("compatible", [GCM128, GCM256, "aes128-ctr"]),
        (
            "everything",
            [GCM128, GCM256, "aes128-ctr", "aes128-cbc", "arcfour", "blowfish-cbc", "3des-cbc"],
        ),
    ),
)
def test_the_published_guest_by_hand(policy: str, order: list[str]) -> None:
    guest = host(*MEASURED_2015, client=OLD, server=OLD, default_cipher="aes128-ctr")
    assert names(advised(guest, policy=policy)) == order


def test_the_gain_over_the_default_by_hand() -> None:
    first, default = rate(GCM128, 400, cpu=2.0), rate("aes128-ctr", 100, cpu=9.5)
    result = advised(host(first, default, default_cipher="aes128-ctr"))
    gain = result.gain
    assert gain is not None
    assert (gain.over, gain.ratio, gain.percent) == ("aes128-ctr", 4, 300)
    assert gain.lowest == pytest.approx(4 * 0.99 / 1.01)
    assert gain.highest == pytest.approx(4 * 1.01 / 0.99)
    assert gain.beyond_noise
    assert gain.cpu_seconds_saved_per_gb == 7.5
    assert (result.default, result.gain_unknown) == ("aes128-ctr", None)
    assert result.order[0].reason == (
        "4.00 times as fast as aes128-ctr, the OpenSSH 9.9 default (noise range 3.92–4.08). "
        "It uses 7.50 fewer CPU seconds per GB than the default"
    )


def test_a_default_that_is_the_best_gains_nothing() -> None:
    result = advised(host(rate(GCM128, 400), default_cipher=GCM128))
    assert result.gain is not None
    assert (result.gain.ratio, result.gain.lowest, result.gain.highest) == (1, 1, 1)
    assert result.order[0].reason == "the OpenSSH 9.9 default"


def test_a_gain_of_noisy_series_is_within_their_noise() -> None:
    # 2 · 1.2533 · s / √3: 149 MB/s ± 34.73 % against 60.8 MB/s ± 63.68 %
    first = Rate(GCM256, "pipeline", 149e6, 3, 0.24)
    default = Rate("aes128-ctr", "pipeline", 60.8e6, 3, 0.44)
    result = advised(host(first, default, default_cipher="aes128-ctr"))
    assert result.gain is not None
    assert result.gain.lowest == pytest.approx(149 * (1 - 0.3473) / (60.8 * 1.6368), rel=1e-3)
    assert not result.gain.beyond_noise
    assert "not measurably faster" in result.order[0].reason


@each(
    ("default", "why"),
    (
        (None, "no run reports the default cipher"),
        (CHACHA, f"the default, {CHACHA}, was not measured"),
    ),
)
def test_a_gain_that_cannot_be_known_says_why(default: str | None, why: str) -> None:
    result = advised(host(rate(GCM128, 400), default_cipher=default))
    assert result.gain is None
    assert result.gain_unknown == why


def test_within_the_noise_the_safer_goes_first() -> None:
    result = advised(host(rate(GCM128, 101.5), rate(GCM256, 100)))
    assert names(result) == [GCM256, GCM128]  # 101.5 - 1 % < 100 + 1 %
    assert result.order[0].ahead_of == GCM128
    assert result.order[0].reason == (
        f"ranked before {GCM128}, which is less secure and not measurably faster"
    )
    assert names(advised(host(rate(GCM128, 102.1), rate(GCM256, 100)))) == [GCM128, GCM256]
    noisy = rate(GCM256, 100, spread=0.4)
    assert names(advised(host(rate(GCM128, 105), noisy))) == [GCM256, GCM128]
    assert names(advised(host(rate(GCM128, 107), noisy))) == [GCM128, GCM256]


def test_a_safer_status_goes_before_a_faster_cipher_and_says_so() -> None:
    result = advised(host(rate(GCM128, 100), rate("aes128-ctr", 133)), policy="compatible")
    reason = "ranked before aes128-ctr, which is 1.33 times as fast but rated acceptable"
    assert result.order[0].reason == reason


@each(
    ("n", "spread", "noise"),
    ((2, 0.0, 0.05), (9, 0.0, 0.01), (9, 0.03, 0.025066), (3, 0.9, 0.9), (100, 0.04, 0.010026)),
)
def test_the_noise_by_hand(n: int, spread: float, noise: float) -> None:
    # 2 · 1.2533 · 0.03 / 3 = 0.025066; the limits are 1 % and 90 %; two tries have 5 %
    measured = Rate(GCM128, "pipeline", 1e8, n, spread)
    assert measured.noise == pytest.approx(noise, rel=1e-4)
    assert measured.speed.low == pytest.approx(1e8 * (1 - min(noise, 0.05)), rel=1e-4)


def test_terrapin_takes_chacha_out_of_the_modern_policy() -> None:
    rates = (rate(CHACHA, 300), rate(GCM128, 200))
    assert names(advised(host(*rates))) == [CHACHA, GCM128]
    unsafe = host(*rates, server=UNPATCHED)
    assert names(advised(unsafe)) == [GCM128]
    reason = "the modern policy excludes it because of Terrapin (OpenSSH 9.2 on nas)"
    assert why_not(advised(unsafe))[CHACHA] == reason
    assert names(advised(unsafe, policy="compatible")) == [GCM128, CHACHA]
    unknown = why_not(advised(host(*rates, server=None)))[CHACHA]
    how = (
        "the OpenSSH server version on nas is unknown; to record it, measure SSH there with the "
        "agent"
    )
    assert f"because of Terrapin ({how})" in unknown


def test_what_has_no_place_says_why() -> None:
    result = advised(
        host(
            rate(GCM128, 400),
            rate("arcfour", 300),
            rate("twofish-cbc", 200),
            rate("aes128-ctr", 500),
            rate("aes256-ctr", 403),
            replace(rate(GCM256, 300), method="steady"),
            not_offered=frozenset({"aes192-ctr"}),
        )
    )
    assert names(result) == [GCM128]
    reasons = why_not(result)
    assert "catalogue" in reasons["twofish-cbc"]
    acceptable = "the modern policy excludes it because it is rated acceptable"
    assert reasons["aes128-ctr"] == acceptable
    assert reasons[GCM256] == reasons[CHACHA] == "not measured on nas"
    assert result.unmeasured == [GCM256, CHACHA]
    assert (
        not {GCM128, "blowfish-cbc", "aes192-ctr"} & reasons.keys()
    )  # OpenSSH 9.9 has no blowfish
    assert [candidate.cipher for candidate in result.faster] == ["aes128-ctr", "aes256-ctr"]
    first, near = result.faster
    assert first.over_first
    assert near.over_first
    assert (first.rate, round(first.over_first.ratio, 9)) == (500e6, 1.25)
    assert (first.over_first.over, first.over_first.beyond_noise) == (GCM128, True)
    assert not near.over_first.beyond_noise


def test_of_an_unknown_openssh_what_was_measured_is_there() -> None:
    result = advised(host(rate(GCM128, 400), client=None, server="dropbear 2022.83"))
    assert names(result) == [GCM128]
    assert CHACHA not in why_not(result)


def test_the_method_is_that_by_which_more_can_be_ranked() -> None:
    old = [rate(name, 100) for name in ("3des-cbc", "aes128-cbc", "aes256-cbc")]
    result = advised(host(*old, replace(rate(GCM128, 400), method="steady")))
    assert (result.method, names(result)) == ("steady", [GCM128])
    assert between(NAS, host(replace(rate(GCM128, 9), method="steady"), name="b")).order == ()


def test_nothing_measured_gives_no_order() -> None:
    for result in (advised(), advised(host(default_cipher=CHACHA))):
        assert (result.order, result.gain) == ((), None)
        assert result.gain_unknown == "no cipher can be recommended"


def test_the_slower_end_of_a_pair_sets_the_pace() -> None:
    result = between(DESKTOP, NAS)
    assert [
        (candidate.cipher, candidate.speed.median, candidate.limited_by)
        for candidate in result.order
    ] == [
        (CHACHA, 120e6, "server"),
        (GCM128, 60e6, "server"),
    ]
    assert [rate.median for rate in result.order[0].rates] == [280e6, 120e6]
    assert result.order[0].fills == ("1 GbE",)
    assert result.gain is not None
    assert (result.gain.over, result.gain.ratio) == (GCM128, 2)
    assert between(NAS, DESKTOP).order[0].limited_by == "client"


def test_where_the_link_limits_all_the_safer_goes_first() -> None:
    # Payload of 1 GbE: 125 · 1448 / 1538 = 117.685 MB/s
    assert link_payload(1e9) == pytest.approx(117.685e6, rel=1e-5)
    rates = (rate(GCM128, 900), rate(GCM256, 200), rate(CHACHA, 280))
    result = between(host(*rates), host(*rates, name="desktop"), link=1e9)
    assert names(result) == [CHACHA, GCM256, GCM128]
    assert {candidate.limited_by for candidate in result.order} == {"link"}
    assert {candidate.speed.median for candidate in result.order} == {link_payload(1e9)}


def test_the_status_between_two_depends_on_both() -> None:
    old = host(*DESKTOP.rates, name="old", server=UNPATCHED)
    assert names(between(NAS, old)) == [GCM128]
    assert names(between(old, NAS)) == [CHACHA, GCM128]
    assert "Terrapin (OpenSSH 9.2 on old)" in why_not(between(NAS, old))[CHACHA]


def test_what_one_of_two_lacks_is_said() -> None:
    ancient = host(rate("arcfour", 200), rate(GCM128, 80), name="ancient", client=OLD, server=OLD)
    reasons = why_not(between(NAS, ancient, "everything"))
    assert reasons["arcfour"] == "not supported by OpenSSH on nas"
    assert reasons[GCM256] == "not measured on nas and 1 other host"


def test_what_a_safer_cipher_costs_is_said_with_its_reason() -> None:
    rates = (rate(GCM128, 62), rate(CHACHA, 100), rate("aes128-ctr", 200))
    laptop = host(*rates, name="laptop", default_cipher=CHACHA)
    (place,) = between(laptop, host(*rates, name="old", server=UNPATCHED)).order
    costs = "38 % slower than chacha20-poly1305, the OpenSSH 9.9 default, which"
    why = "the modern policy excludes because of Terrapin (OpenSSH 9.2 on old)"
    assert place.slower_than_default == place.reason == f"{costs} {why}"
    allowed = between(laptop, host(*rates, name="new"), "compatible").order
    assert [(cipher.cipher, cipher.slower_than_default) for cipher in allowed] == [
        (CHACHA, None),
        (GCM128, None),
        ("aes128-ctr", None),
    ]
    counter = replace(laptop, default_cipher="aes128-ctr")
    allowed = between(counter, host(*rates, name="new"), "compatible").order
    assert allowed[0].slower_than_default == (
        "50 % slower than aes128-ctr, the OpenSSH 9.9 default, which is less secure (rated "
        "acceptable)"
    )


def test_one_order_for_a_group_by_hand() -> None:
    # Shares: nas GCM 60/120 = 0.5, chacha 1; desktop GCM 1, chacha 280/900 = 0.3111.
    # Geometric means: GCM sqrt(0.5) = 0.7071, chacha sqrt(0.3111) = 0.5578.
    for result in (advised(NAS, DESKTOP), advised(DESKTOP, NAS)):
        shares = [(candidate.cipher, round(candidate.share or 0, 4)) for candidate in result.order]
        assert shares == [(GCM128, 0.7071), (CHACHA, 0.5578)]
        losses = {loss.host.name: (loss.own_best, round(loss.loss, 4)) for loss in result.losses}
        assert losses == {"nas": (CHACHA, 0.5), "desktop": (GCM128, 0)}
    assert result.order[0].rates == ()


def test_a_group_gains_over_the_default_of_each() -> None:
    fast = host(rate(GCM256, 400), rate(CHACHA, 100), name="fast", default_cipher=CHACHA)
    slow = host(rate(GCM256, 100), rate(CHACHA, 200), name="slow", default_cipher=CHACHA)
    own = replace(fast, name="own", default_cipher=GCM256)
    silent = replace(fast, name="silent", default_cipher=None)
    result = advised(fast, slow, own, silent)
    assert names(result)[0] == GCM256
    assert result.gain is not None
    assert result.gain.ratio == pytest.approx((4 * 0.5 * 1) ** (1 / 3))
    assert (result.gain.over, result.gain.hosts, result.gain.slower) == (None, 3, 1)
    assert "their default ciphers" in result.order[0].reason
    assert ", but slower on 1 of 3 hosts (slow)" in result.order[0].reason
    assert advised(silent).gain is None


@each(("megabytes", "first"), ((396, GCM256), (394, GCM128)))
def test_within_the_noise_of_a_group_the_stronger_goes_first(megabytes: float, first: str) -> None:
    # The mean of three hosts with margins of 1 % has a margin of 0.58 %.
    members = [host(rate(GCM128, 400), rate(GCM256, megabytes), name=name) for name in "abc"]
    assert names(advised(*members))[0] == first


def test_a_group_is_as_safe_as_its_least_safe_member() -> None:
    result = advised(NAS, DESKTOP, host(*NAS.rates, name="old", server=UNPATCHED))
    assert names(result) == [GCM128]
    assert "Terrapin (OpenSSH 9.2 on old)" in why_not(result)[CHACHA]
    assert why_not(result)[GCM256] == "not measured on nas and 2 other hosts"


@given(st.floats(0.01, 100))
def test_a_faster_host_has_no_more_say_in_its_group(factor: float) -> None:
    scaled = host(*(rate(known.cipher, known.median / 1e6 * factor) for known in NAS.rates))
    result = advised(scaled, DESKTOP)
    assert names(result) == [GCM128, CHACHA]
    assert result.order[0].share == pytest.approx(0.7071, abs=1e-4)


RATES = st.builds(
    Rate,
    cipher=st.sampled_from(SSH),
    method=st.just("pipeline"),
    median=st.integers(1_000_000, 4_000_000).map(lambda rate: rate * 64.0),
    n=st.integers(1, 20),
    spread=st.floats(0, 1),
    cpu_seconds_per_gb=st.none() | st.floats(0.1, 100),
    run_id=st.none(),
    started_at=st.none(),
    conditions=st.just(()),
)
RELEASES = st.sampled_from((MODERN, UNPATCHED, OLD, None))
HOSTS = st.builds(
    MeasuredHost,
    id=st.just(1),
    key=st.just("any"),
    name=st.just("any"),
    rates=st.lists(RATES, unique_by=lambda one: one.cipher).map(tuple),
    client=RELEASES,
    server=RELEASES,
    default_cipher=st.none() | st.sampled_from(SSH),
)
POLICIES = st.sampled_from(list(CATALOGUE.policies))


@given(HOSTS, POLICIES, st.randoms(), st.integers(-6, 6))
def test_neither_the_order_nor_the_unit_of_rates_matters(
    machine: MeasuredHost, policy: str, chance: Random, power: int
) -> None:
    expected = names(advised(machine, policy=policy))
    shuffled = [replace(known, median=known.median * 2.0**power) for known in machine.rates]
    chance.shuffle(shuffled)
    assert names(advised(replace(machine, rates=tuple(shuffled)), policy=policy)) == expected


@given(HOSTS, POLICIES)
def test_every_cipher_is_ranked_safest_first_or_says_why_not(
    machine: MeasuredHost, policy: str
) -> None:
    result = advised(machine, policy=policy)
    ranks = [STATUSES.index(place.assessment.status) for place in result.order]
    assert ranks == sorted(ranks)
    assert {STATUSES[rank] for rank in ranks} <= set(CATALOGUE.policies[policy].statuses)
    measured = {known.cipher for known in machine.rates}
    assert set(names(result)) | why_not(result).keys() >= measured
    assert not set(names(result)) & why_not(result).keys()


@given(HOSTS, RATES)
def test_a_slower_cipher_never_changes_the_first(machine: MeasuredHost, slower: Rate) -> None:
    # The added cipher is measurably slower and no more secure.
    before = advised(machine, policy="everything")
    assume(before.order)
    assume(slower.cipher not in {known.cipher for known in machine.rates})
    slower = replace(slower, median=before.order[0].speed.low / 1.06)
    after = advised(replace(machine, rates=(*machine.rates, slower)), policy="everything")
    status = {candidate.cipher: candidate.assessment.status for candidate in after.order}
    worst = STATUSES.index(before.order[0].assessment.status)
    assume(STATUSES.index(status.get(slower.cipher, "broken")) >= worst)
    assert after.order[0].cipher == before.order[0].cipher


@given(HOSTS)
def test_a_tie_never_costs_more_than_a_tenth(machine: MeasuredHost) -> None:
    order = advised(machine).order
    if order:
        best = max(candidate.speed.median for candidate in order)
        assert order[0].speed.median >= best * 0.95 / 1.05
