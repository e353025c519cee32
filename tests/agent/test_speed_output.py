import re
from pathlib import Path

import pytest

from tests.agent import whole as agent
from tests.agent.running import write_program

CAPTURES = Path(__file__).parent / "captures"
RUNS = sorted(path.name[: -len(".mr.err")] for path in CAPTURES.glob("*-evp-*.mr.err"))


def printed_rates(out: str) -> list[float]:
    match = re.search(r"^\+F:\d+:[^:]+:(.+)$", out, re.M)
    return [float(word) for word in match.group(1).split(":")] if match else []


@pytest.mark.parametrize("name", RUNS)
def test_rates_agree_with_those_openssl_prints(name: str) -> None:
    cipher = name.split("-evp-")[1]
    err = (CAPTURES / f"{name}.mr.err").read_text()
    expected = printed_rates((CAPTURES / f"{name}.mr.out").read_text())
    rates = [agent.rate(sample) for sample in agent.parse_speed(err, cipher).values()]
    assert rates == pytest.approx(expected, rel=1e-4)
    assert len(rates) == (
        1 if cipher in {"rc4", "bf-cbc"} and name[:2] in {"1.", "3."} else len(expected)
    )
    assert rates


def test_block_sizes_are_those_of_the_lines() -> None:
    err = (CAPTURES / "3.0.19-evp-aes-128-gcm.mr.err").read_text()
    results = agent.parse_speed(err, "aes-128-gcm")
    assert list(results) == [16, 64, 256, 1024, 8192, 16384]
    assert results[16384] == {"bytes": 16384 * 273194, "seconds": 1.0}


@pytest.mark.parametrize(
    ("said", "words"),
    (
        (
            "speed: unable to load provider legacy\nHint: use -provider-path option",
            "OpenSSL's legacy provider is not installed",
        ),
        ("Error setting cipher\nunsupported:crypto/evp", "not supported by this OpenSSL"),
        ("rc4 is an unknown cipher or digest", "unknown to this OpenSSL"),
        ("speed: Unknown algorithm rc4", "unknown to this OpenSSL"),
        ("out of memory", "openssl speed failed: out of memory"),
    ),
)
def test_why_openssl_failed_is_told_in_words(tmp_path: Path, said: str, words: str) -> None:
    fake = write_program(tmp_path / "openssl", f"import sys; sys.exit({said!r})")
    with pytest.raises(agent.TryFailed, match=f"^{words}$"):
        agent.openssl_try(agent.Openssl(fake), agent.SpeedCall("rc4"), 1)


def test_long_names_of_old_versions_are_the_same_cipher() -> None:
    text = "+DT:id-aes128-GCM:3:8192\n+R:1769289:id-aes128-GCM:3.000000\n"
    sample = {"bytes": 8192 * 1769289, "seconds": 3.0}
    assert agent.parse_speed(text, "aes-128-gcm") == {8192: sample}


V1_0 = agent.Openssl("openssl", seconds=False, providers=False)
V1_1 = agent.Openssl("openssl", seconds=True, providers=False)
V3_0 = agent.Openssl("openssl")


@pytest.mark.parametrize(
    ("able", "asked", "words"),
    (
        (
            V3_0,
            agent.SpeedCall("rc4"),
            "-seconds 1 -bytes 16384 -provider legacy -provider default -evp rc4",
        ),
        (V1_1, agent.SpeedCall("rc4"), "-seconds 1 -bytes 16384 -evp rc4"),
        (V3_0, agent.SpeedCall("aes-128-gcm"), "-seconds 1 -bytes 16384 -evp aes-128-gcm"),
        (V1_0, agent.SpeedCall("aes-128-cbc"), "-evp aes-128-cbc"),
        (
            V1_1,
            agent.SpeedCall("rc4", operation="decrypt"),
            "-seconds 1 -bytes 16384 -decrypt -evp rc4",
        ),
        (V1_1, agent.SpeedCall("rc4", block_size=None), "-seconds 1 -evp rc4"),
    ),
)
def test_each_version_is_told_what_it_understands_and_what_is_asked_for(
    able: agent.Openssl, asked: agent.SpeedCall, words: str
) -> None:
    command = agent.speed_command(able, asked, 1)
    assert " ".join(command) == "openssl speed -mr " + words


def speed_series(acceleration: str, rate: float) -> agent.Series:
    series = agent.Series("openssl", "aes-128-gcm", acceleration)
    series.samples.append({"bytes": int(rate), "seconds": 1.0})
    return series


@pytest.mark.parametrize(("masked", "worked"), ((300e6, True), (4000e6, False), (4500e6, False)))
def test_a_mask_counts_from_a_tenth_of_effect(masked: float, worked: bool) -> None:
    plain = speed_series("default", 4300e6)
    fault = agent.mask_fault(plain, speed_series("masked", masked))
    assert fault == ("" if worked else "mask had no effect")


def test_an_interrupted_plan_says_of_each_series_that_it_was_not_come_to() -> None:
    # The interrupt comes between the masked and the plain try of GCM: the mask is not judged.
    skipped = agent.Skipped()
    ciphers = ("aes-128-cbc", "aes-128-gcm")
    context = (agent.QUICK, skipped, agent.Progress("none"))
    plan = agent.OpensslPlan(V3_0, ciphers, ciphers, *context)
    masked = agent.SpeedCall("aes-128-gcm", "masked")
    plan.series[masked] = speed_series("masked", 300e6)
    assert plan.results() == []
    assert sorted((entry["cipher"], entry["reason"]) for entry in skipped.entries.values()) == [
        ("aes-128-cbc", "not tried: interrupted"),
        ("aes-128-cbc", "with AES hardware disabled: not tried: interrupted"),
        ("aes-128-gcm", "not tried: interrupted"),
    ]


@pytest.mark.parametrize(
    ("machine", "settings", "expected"),
    (
        ("x86_64", None, ("OPENSSL_ia32cap", agent.MASK_X86)),
        ("aarch64", "OPENSSL_armcap=0xbd", ("OPENSSL_armcap", "0x99")),
        ("aarch64", None, None),
        ("riscv64", None, None),
    ),
)
def test_the_mask_takes_the_aes_hardware_away_and_nothing_else(
    machine: str, settings: str | None, expected: tuple[str, str] | None
) -> None:
    assert agent.mask_variable(machine, settings) == expected
