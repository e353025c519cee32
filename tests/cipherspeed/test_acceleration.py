import json
from collections import defaultdict
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cipherspeed.acceleration import acceleration_verdict, first_openssl_with_aes, software_aes
from cipherspeed.baselines import MeasuredSeries
from cipherspeed.types import Acceleration, Series
from tests.cases import each

PUBLISHED = json.loads(
    (Path(__file__).parents[2] / "backend/runs/data/published.json").read_text("utf-8")
)["runs"]

NO_AES = ["fpu", "sse2", "ssse3"]
WITH_AES = [*NO_AES, "aes", "pclmulqdq"]
IVY_BRIDGE = {
    "model": "Intel(R) Core(TM) i7-3770 CPU @ 3.40GHz",
    "vendor": "GenuineIntel",
    "architecture": "x86_64",
    "family": 6,
    "model_id": 0x3A,
    "stepping": 9,
}


def openssl(
    cipher: str, mb: float, acceleration: Acceleration = "default", block_size: int = 8192
) -> MeasuredSeries:
    series = Series("openssl", cipher, block_size=block_size, acceleration=acceleration)
    return MeasuredSeries(series, mb * 1e6)


def ssh(cipher: str, mb: float, acceleration: Acceleration = "default") -> MeasuredSeries:
    series = Series(
        "ssh", cipher, method="pipeline", target_kind="loopback", acceleration=acceleration
    )
    return MeasuredSeries(series, mb * 1e6)


# This host is as fast as the reference host, on which software AES reaches 375 MB/s.
BASELINES = [openssl("rc4", 842.1), openssl("bf-cbc", 158.7), openssl("des-ede3-cbc", 31.29)]


def environment(flags: list[str] | None, version: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "cpu": {**IVY_BRIDGE, "flags": flags, **more.pop("cpu", {})},
        "openssl": {"version_text": version},
        **more,
    }


def published_hosts() -> dict[str, tuple[list[MeasuredSeries], dict[str, Any]]]:
    series: defaultdict[str, list[MeasuredSeries]] = defaultdict(list)
    facts: dict[str, dict[str, Any]] = {}
    for run in PUBLISHED:
        host = f"{run['host']}, {run['environment']['os']['name']}"
        facts[host] = run["environment"]
        series[host] += [
            measured(measurement) for measurement in run["measurements"] if measurement["cipher"]
        ]
    return {host: (series[host], facts[host]) for host in facts}


def measured(one: dict[str, Any]) -> MeasuredSeries:
    (sample,) = one["samples"]
    rate = sample.get("bytes_per_second") or sample["bytes"] / sample["seconds"]
    is_ssh = one["tool"] == "ssh"
    series = Series(
        tool=one["tool"],
        cipher=one["cipher"],
        block_size=one.get("block_size"),
        method="pipeline" if is_ssh else None,
        target_kind=one["target"]["kind"] if is_ssh else None,
        acceleration=one.get("acceleration", "default"),
    )
    return MeasuredSeries(series, rate)


@each(
    ("host", "verdict", "words"),
    (
        ("Workstation (ossman), Linux", "hardware", "aes-128-cbc from 753 to 390 MB/s"),
        ("Windows 7 lab machine, 32-bit build, Windows", "unknown", "flags are unknown"),
        ("Windows 7 lab machine, 64-bit build, Windows", "unknown", "flags are unknown"),
        ("scilla (astrand), Linux", "unknown", "flags are unknown"),
        ("Synology DS415+, Synology DSM", "unknown", "CPU flags reported: aes."),
        ("Proxmox guest (M. Turecki), Linux", "unknown", "aes128-cbc reaches 191 MB/s, 1.3 times"),
        ("MacBookPro8,2, Fedora", "unknown", "AES-128 was not measured both with and"),
        ("MacBookPro8,2, Mac OS X", "unknown", "aes128-cbc reaches 88 MB/s, 1.0 times"),
        ("Desktop (Effektiv SSH), Linux", "unknown", "or a baseline cipher is missing"),
    ),
)
def test_the_published_hosts(host: str, verdict: str, words: str) -> None:
    found = acceleration_verdict(*published_hosts()[host])
    assert found.verdict == verdict
    assert words in found.evidence


def test_the_i7_3770_gains_a_factor_of_about_1_9() -> None:
    found = acceleration_verdict(*published_hosts()["Workstation (ossman), Linux"])
    assert found.factor == pytest.approx(1.93, abs=0.005)  # 752.94 / 389.79 at 8 KiB


def test_os_x_leaves_about_half_of_the_cpus_aes_unused() -> None:
    # The normalised rate of aes128-ctr, 121.70 MB/s, is 53 % of Fedora's 230.26 MB/s.
    rates = {run["id"]: {} for run in PUBLISHED}  # type: dict[str, dict[str, float]]
    for run in PUBLISHED:
        rates[run["id"]] = {m["cipher"]: measured(m).median for m in run["measurements"]}
    fedora, macos = rates["002-fedora21"], rates["002-macosx"]
    speed = geometric_mean(
        [
            geometric_mean([macos[c] / fedora[c] for c in ("arcfour", "arcfour128", "arcfour256")]),
            macos["blowfish-cbc"] / fedora["blowfish-cbc"],
            macos["3des-cbc"] / fedora["3des-cbc"],
        ]
    )
    assert speed == pytest.approx(0.7163, abs=1e-4)
    assert macos["aes128-ctr"] / speed / fedora["aes128-ctr"] == pytest.approx(0.53, abs=0.005)


def test_a_mask_that_slows_aes_proves_the_hardware() -> None:
    found = acceleration_verdict(
        [openssl("aes-128-gcm", 4400), openssl("aes-128-gcm", 315, "masked")]
    )
    assert found.verdict == "hardware"
    assert found.factor == pytest.approx(13.97, abs=0.01)
    assert found.evidence == (
        "Disabling AES hardware slows aes-128-gcm from 4,400 to 315 MB/s (a factor of 14.0)."
    )
    assert found.advice is None


def test_a_masked_ssh_proves_it_too() -> None:
    found = acceleration_verdict([ssh("aes128-cbc", 452), ssh("aes128-cbc", 199, "masked")])
    assert (found.verdict, round(found.factor or 0, 2)) == ("hardware", 2.27)


def test_the_largest_block_decides_and_other_ciphers_do_not() -> None:
    small = [
        openssl("aes-128-cbc", 700, block_size=16),
        openssl("aes-128-cbc", 100, "masked", 16),
    ]
    large = [openssl("aes-128-cbc", 400), openssl("aes-128-cbc", 390, "masked")]
    other = [openssl("aes-128-ctr", 9000), openssl("aes-128-ctr", 700, "masked")]
    assert acceleration_verdict(small + large).verdict == "unknown"
    assert acceleration_verdict(large + small).verdict == "unknown"
    assert acceleration_verdict(other).verdict == "unknown"


def test_speed_alone_proves_it_where_software_could_not_reach_it() -> None:
    # At the speed of the reference host, 1,418 MB/s is 3.8 times the 375 MB/s of software AES.
    found = acceleration_verdict([*BASELINES, openssl("aes-128-cbc", 1418)])
    assert found.verdict == "hardware"
    assert found.factor == pytest.approx(3.78, abs=0.01)
    assert "3.8 times the 375 MB/s estimated for AES without hardware" in found.evidence
    fast = [baseline._replace(median=baseline.median * 4) for baseline in BASELINES]
    found = acceleration_verdict([*fast, openssl("aes-128-cbc", 4 * 1418)])
    assert "3.8 times the 1,500 MB/s estimated for AES" in found.evidence


@each(("masked", "verdict"), ((200, "hardware"), (200.1, "unknown")))
def test_a_factor_of_one_and_a_half_is_the_least_that_proves_it(
    masked: float, verdict: str
) -> None:
    run = [openssl("aes-128-cbc", 300), openssl("aes-128-cbc", masked, "masked")]
    assert acceleration_verdict(run).verdict == verdict


def test_ssh_speed_is_judged_where_openssl_was_not_measured() -> None:
    # OpenSSH 7.4: S = cbrt(2.223 * 2.062 * 1.574) = 1.932, 573 / S / 122.96 = 2.41
    run = [
        ssh("arcfour", 399),
        ssh("blowfish-cbc", 131),
        ssh("3des-cbc", 30.1),
        ssh("aes128-cbc", 573),
    ]
    found = acceleration_verdict(run)
    assert found.verdict == "hardware"
    assert found.factor == pytest.approx(2.41, abs=0.01)


def test_a_machine_four_times_as_fast_in_everything_has_no_aes_by_that() -> None:
    fast = [baseline._replace(median=baseline.median * 4) for baseline in BASELINES]
    found = acceleration_verdict(
        [*fast, openssl("aes-128-cbc", 1418)], environment(NO_AES, cpu={"model_id": 0x1A})
    )
    assert (found.verdict, round(found.factor or 0, 2)) == ("software", 0.95)


def test_aes_that_is_there_and_not_used() -> None:
    run = [
        *BASELINES,
        openssl("aes-128-cbc", 380),
        openssl("aes-128-cbc", 378, "masked"),
    ]
    found = acceleration_verdict(run, environment(WITH_AES, "OpenSSL 0.9.8y 5 Feb 2013"))
    assert found.verdict == "unused"
    assert "reports aes, but disabling AES hardware has no effect" in found.evidence
    assert "380 MB/s, 1.0 times" in found.evidence
    assert found.advice == (
        "OpenSSL 0.9.8y is too old to use AES hardware. Update to OpenSSL 1.0.1 or newer."
    )


@each(
    ("version", "advice"),
    (
        ("OpenSSL 1.0.1e-fips 11 Feb 2013", "may have been built with no-asm"),
        ("LibreSSL 3.8.2", "LibreSSL 3.8.2 supports AES hardware but does not"),
        (None, "OpenSSL does not use AES hardware"),
    ),
)
def test_the_advice_names_the_openssl(version: str | None, advice: str) -> None:
    skipped = [{"tool": "openssl", "cipher": "aes-128-cbc", "reason": "mask had no effect"}]
    found = acceleration_verdict(
        [*BASELINES, openssl("aes-128-cbc", 380)], environment(WITH_AES, version), skipped
    )
    assert found.verdict == "unused"
    assert advice in (found.advice or "")


def test_an_idle_mask_beside_fast_aes_is_a_mask_that_does_not_work() -> None:
    skipped = [{"tool": "openssl", "cipher": "aes-128-cbc", "reason": "mask had no effect"}]
    fast = [*BASELINES, openssl("aes-128-cbc", 1418)]
    assert acceleration_verdict(fast, environment(WITH_AES), skipped).verdict == "hardware"
    unjudged = acceleration_verdict([openssl("aes-128-cbc", 380)], environment(WITH_AES), skipped)
    assert unjudged.verdict == "unknown"
    assert "has no effect" in unjudged.evidence


def test_an_idle_mask_without_the_plain_series_is_no_evidence() -> None:
    skipped = [{"tool": "openssl", "cipher": "aes-128-cbc", "reason": "mask had no effect"}]
    found = acceleration_verdict(
        [*BASELINES, openssl("aes-256-cbc", 380)], environment(WITH_AES), skipped
    )
    assert found.verdict == "unknown"
    assert "has no effect" not in found.evidence


def test_a_hypervisor_hides_what_the_model_has() -> None:
    found = acceleration_verdict(
        [*BASELINES, openssl("aes-128-cbc", 380)], environment(NO_AES, virtualization="kvm")
    )
    assert found.verdict == "hidden"
    assert found.evidence.startswith(
        "The Intel Core i7-3770 (ivybridge) has AES hardware, but the system"
    )
    assert "host-passthrough" in (found.advice or "")


def test_on_bare_metal_the_firmware_hides_it() -> None:
    found = acceleration_verdict([], environment(NO_AES, virtualization="none"))
    assert found.verdict == "hidden"
    assert "BIOS" in (found.advice or "")


def test_only_a_known_model_can_be_hidden() -> None:
    nameless = {"model": "Intel(R) Pentium(R) CPU G2020 @ 2.90GHz"}
    assert acceleration_verdict([], environment(NO_AES, cpu=nameless)).verdict == "software"
    virtual = acceleration_verdict([], environment(NO_AES, cpu={"model": "Common KVM processor"}))
    assert virtual.verdict == "software"
    assert "the physical CPU may have AES hardware" in (virtual.advice or "")


def test_speed_outweighs_flags_that_lack_it() -> None:
    fast = [*BASELINES, openssl("aes-128-cbc", 1418)]
    assert acceleration_verdict(fast, environment(NO_AES)).verdict == "hardware"


@each(
    "run",
    (
        [],
        [openssl("aes-128-gcm", 4400)],
        [openssl("aes-128-gcm", 315, "masked")],
        [openssl("aes-128-gcm", 400), openssl("aes-128-gcm", 315, "masked")],
        [*BASELINES, openssl("aes-256-cbc", 4400)],
    ),
)
def test_without_proof_nothing_is_claimed(run: list[MeasuredSeries]) -> None:
    for flags in (None, WITH_AES):
        found = acceleration_verdict(run, environment(flags))
        assert found.verdict == "unknown"
        assert found.evidence
    assert acceleration_verdict(run).verdict == "unknown"


@given(st.floats(min_value=0.01, max_value=100), st.floats(min_value=10, max_value=5000))
def test_a_faster_machine_gets_the_same_verdict(factor: float, aes: float) -> None:
    run = [*BASELINES, openssl("aes-128-cbc", aes)]
    faster = [measurement._replace(median=measurement.median * factor) for measurement in run]
    plain, scaled = acceleration_verdict(run), acceleration_verdict(faster)
    if abs((aes / 375) - 1.5) > 1e-3:
        assert scaled.verdict == plain.verdict


def test_facts_have_their_sources() -> None:
    assert all(reference.source for reference in software_aes())
    assert first_openssl_with_aes()["x86_64"] == "1.0.1"
