import pytest

from tests.agent import whole as agent
from tests.agent.running import ONCE, RunAgent, sound

GCM = "aes128-gcm@openssh.com"


def test_macs_multiply_only_the_ciphers_that_have_one() -> None:
    macs = ("hmac-sha1", "default")
    assert agent.ssh_channels(["aes128-ctr", GCM], macs, compression=False) == [
        agent.Channel("aes128-ctr", "hmac-sha1"),
        agent.Channel("aes128-ctr"),
        agent.Channel(GCM),
    ]


def test_compression_is_measured_beside_none() -> None:
    assert agent.ssh_channels([GCM], (), compression=True) == [
        agent.Channel(GCM),
        agent.Channel(GCM, compression=True),
    ]


def test_a_dry_run_names_the_options_of_every_channel(run_agent: RunAgent) -> None:
    done = run_agent("run", "--dry-run", "--macs", "hmac-sha1", "--compression")
    assert "-o Compression=no -c CIPHER -m hmac-sha1" in done.out
    assert "-o Compression=yes -c CIPHER -m hmac-sha1" in done.out


@pytest.mark.parametrize(
    ("used", "words"),
    (
        (("aes128-ctr", "hmac-sha1", None, "zlib@openssh.com"), None),
        (("aes256-ctr", "hmac-sha1", None, "zlib"), "aes256-ctr instead of aes128-ctr"),
        (("aes128-ctr", "hmac-md5", None, "zlib"), "hmac-md5 instead of hmac-sha1"),
        (("aes128-ctr", "hmac-sha1", None, "none"), "compression none"),
    ),
)
def test_anything_else_than_asked_for_is_noticed(
    used: tuple[str | None, ...], words: str | None
) -> None:
    asked = agent.Channel("aes128-ctr", "hmac-sha1", compression=True)
    assert asked.difference(agent.Negotiated(*used)) == words


def test_macs_and_compression_are_measured_and_verified(
    run_agent: RunAgent, sshd_option: tuple[str, str]
) -> None:
    # No current sshd offers hmac-md5 by default.
    done = run_agent(
        "run", *sshd_option, "--tools", "ssh", "--ciphers", "aes128-ctr", "--tries", "1",
        "--seconds", "0.1", "--macs", "hmac-md5", "--compression", before=ONCE,
    )  # fmt: skip
    document = sound(done)
    assert document["skipped"] == []
    found = {
        (measurement["compression"], measurement["method"])
        for measurement in document["measurements"]
    }
    assert found == {(a, b) for a in (False, True) for b in ("pipeline", "steady")}
    for measurement in document["measurements"]:
        assert measurement["mac"] == measurement["negotiated"]["mac"] == "hmac-md5"
        assert (measurement["negotiated"]["compression"] != "none") is measurement["compression"]
    assert "aes128-ctr with hmac-md5 compressed" in done.err
