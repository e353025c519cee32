import pytest

from tests.agent import whole as agent
from tests.agent.running import STAND_IN, RunAgent, sound

SSH_CIPHERS = [f"cipher{number}" for number in range(10)]


def planned_seconds(depth: str) -> float:
    options = agent.run_options(agent.command_line({}).parse_args(["run", depth]))
    run = agent.Run(options, agent.Progress("none"))
    run.inspected = agent.Openssl("openssl", mask=("X", "y"))
    run.ssh, run.sshd, run.openssl = "ssh", "sshd", "openssl"
    ciphers = agent.OPENSSL_KNOWN if depth == "--thorough" else agent.OPENSSL_QUICK
    run.announce(run.plans(SSH_CIPHERS, ciphers), len(SSH_CIPHERS), len(ciphers))
    return run.progress.planned


@pytest.mark.parametrize(
    ("depth", "minutes", "most"), (("--quick", 1, 2), ("--standard", 4, 6), ("--thorough", 15, 24))
)
def test_each_depth_takes_about_the_time_it_promises(
    depth: str, minutes: float, most: float
) -> None:
    assert minutes * 60 <= planned_seconds(depth) <= most * 60


def series_of(rates: list[float]) -> agent.Series:
    series = agent.Series("openssl", **agent.SpeedCall("rc4")._asdict())
    series.samples = [{"bytes": int(rate), "seconds": 1.0} for rate in rates]
    return series


def test_a_series_ends_when_its_median_is_known_within_the_share() -> None:
    # 1.2533 * 1.4826 * MAD / sqrt(n) relative to the median is 1.8581 * 2 / 3 / 100.
    rates = [96e6, 97e6, 98e6, 98e6, 100e6, 102e6, 102e6, 103e6, 104e6]
    assert series_of(rates).uncertainty() == pytest.approx(1.2533 * 1.4826 * 0.02 / 3)
    assert series_of(rates).complete(0.02)
    assert not series_of(rates).complete(0.01)


def run_fast(run_agent: RunAgent, *words: str) -> list[agent.Json]:
    fast = ("--tools", "openssl", "--openssl", STAND_IN, "--progress", "plain")
    measurements: list[agent.Json] = sound(run_agent("run", *fast, *words))["measurements"]
    return measurements


def test_a_standard_run_measures_all_block_sizes_and_decryption(run_agent: RunAgent) -> None:
    found = run_fast(run_agent, "--standard", "--ciphers", "rc4")
    tries = {
        (measurement["operation"], measurement["block_size"]): len(measurement["samples"])
        for measurement in found
    }
    assert tries == {
        ("decrypt", 16384): 1,
        ("encrypt", 16384): 6,
        **{("encrypt", size): 1 for size in (16, 64, 256, 1024, 8192)},
    }


def test_a_thorough_run_stops_early_where_tries_agree(run_agent: RunAgent) -> None:
    found = run_fast(run_agent, "--thorough", "--ciphers", "rc4,aria-128-cbc")
    for cipher in ("rc4", "aria-128-cbc"):
        mine = [measurement for measurement in found if measurement["cipher"] == cipher]
        tries = {
            (measurement["operation"], measurement["block_size"]): len(measurement["samples"])
            for measurement in mine
        }
        assert len(tries) == 12
        assert tries["encrypt", 16384] == 5
        assert tries["decrypt", 64] == 1
