import pytest

from tests.agent import whole as agent

CONTEXT = (agent.STANDARD, agent.Skipped(), agent.Progress("none"))

LOG_92_CTR = """\
debug1: kex: algorithm: sntrup761x25519-sha512@openssh.com
debug1: kex: host key algorithm: ssh-ed25519
debug1: kex: server->client cipher: aes192-ctr MAC: hmac-sha2-256 compression: none
debug1: kex: client->server cipher: aes128-ctr MAC: umac-64-etm@openssh.com compression: none
"""
LOG_92_GCM = """\
debug1: kex: algorithm: curve25519-sha256
debug1: kex: client->server cipher: aes128-gcm@openssh.com MAC: <implicit> compression: none
"""


@pytest.mark.parametrize(
    ("log", "expected"),
    (
        (
            LOG_92_CTR,
            (
                "aes128-ctr",
                "umac-64-etm@openssh.com",
                "sntrup761x25519-sha512@openssh.com",
                "none",
            ),
        ),
        (LOG_92_GCM, ("aes128-gcm@openssh.com", None, "curve25519-sha256", "none")),
        ("debug1: Connecting to 127.0.0.1", (None, None, None, None)),
    ),
)
def test_negotiated_algorithms_are_those_of_the_upload_direction(
    log: str, expected: tuple[str | None, ...]
) -> None:
    assert tuple(agent.parse_negotiated(log)) == expected


@pytest.mark.parametrize(
    ("ssh_log", "sshd_log", "received", "words"),
    (
        ("Unable to negotiate: no matching cipher found.", "", "", "refused by this sshd"),
        ("Unknown cipher type 'foo'", "", "", "unknown to this ssh"),
        ("", "User x not allowed because account is locked", "", "the account is locked"),
        ("", "", "This account is currently not available.", "no login shell"),
        ("debug1: x\nsomething odd\ndebug1: y", "why", "", "something odd (sshd: why)"),
    ),
)
def test_failures_are_told_in_words(
    monkeypatch: pytest.MonkeyPatch, ssh_log: str, sshd_log: str, received: str, words: str
) -> None:
    monkeypatch.setattr(agent, "become_subreaper", lambda: False)
    server = agent.PrivateServer("ssh", "sshd")
    logs = {"ssh.log": ssh_log, "sshd.log": sshd_log}
    monkeypatch.setattr(server, "read", lambda name: logs[name])
    assert words in server.explain(received)


@pytest.mark.parametrize(
    ("text", "moved"),
    (
        (
            "32+0 records in\n32+0 records out\n33554432 bytes (34 MB, 32 MiB) copied, 0.1 s",
            33554432,
        ),
        ("32+0 records in\n32+0 records out\n", 33554432),
        ("31+1 records out\n", 0),
        ("", 0),
    ),
)
def test_bytes_are_those_that_dd_reports(text: str, moved: int) -> None:
    assert agent.parse_dd(text) == moved


def transfer(total: int, client: float, server: float | None, moved: int = 250) -> agent.Tried:
    usage = agent.Usage(setup_seconds=0.3, ended_at=0.0, client_cpu=client, server_cpu=server)
    return agent.Tried(moved=moved, seconds=0.5, total=total, usage=usage, foreign=0.01)


def cpu_seconds(tried: agent.Tried, *pilots: agent.Tried) -> tuple[object, object]:
    sample = agent.ssh_sample(tried, agent.reference_of(pilots))
    assert sample["bytes"] == 250
    return sample["client_cpu_seconds"], sample["server_cpu_seconds"]


# Warm-up transfers of 100 bytes, with medians of 0.08 and 0.22 CPU seconds
PILOTS = (transfer(100, 0.07, 0.20), transfer(100, 0.09, 0.24))


def test_cpu_seconds_are_the_slope_between_pilots_and_the_try() -> None:
    # The other 900 bytes cost 1.8 and 3.6 CPU seconds more. Of all bytes, 250 are timed.
    assert cpu_seconds(transfer(1000, 1.88, 3.82), *PILOTS) == (0.5, 1.0)


@pytest.mark.parametrize(
    "tried",
    (
        transfer(1000, 0.20, 0.40),  # too little CPU time for an error below 5 %
        transfer(1000, 0.05, 3.82),
        transfer(100, 5.0, 5.0),  # no more bytes than the pilots
        transfer(50, 5.0, 5.0),
    ),
)
def test_cpu_seconds_that_cannot_be_told_are_null(tried: agent.Tried) -> None:
    assert cpu_seconds(tried, *PILOTS) == (None, None)


@pytest.mark.parametrize(
    ("rate", "seconds", "mib"), ((1048576000, 1.0, 1000), (30e6, 1.0, 29), (1e6, 0.2, 8))
)
def test_tries_are_sized_by_time(rate: float, seconds: float, mib: int) -> None:
    assert agent.sized_mib(rate, seconds) == mib


def test_old_servers_get_what_they_need_and_nothing_unknown() -> None:
    old = agent.sshd_configuration("/f", (7, 4), False)
    new = agent.sshd_configuration("/f", (9, 2), False)
    assert "UsePrivilegeSeparation no" in old
    assert "SetEnv" not in old
    assert "UsePrivilegeSeparation" not in new
    assert "PermitUserRC no" in new


@pytest.mark.parametrize(
    ("foreign", "repeat_seconds", "kept"),
    (
        ([0.0], 4.0, 1),
        ([0.5, 0.0], 4.0, 2),
        ([0.5, 0.4, 0.3, 0.0], 4.0, 3),
        ([0.9, 0.0], 0.0, 1),  # no time left for repeats
    ),
)
def test_disturbed_tries_are_repeated_and_all_kept(
    foreign: list[float], repeat_seconds: float, kept: int
) -> None:
    samples: list[agent.Json] = []
    attempts = iter({"bytes": 1, "seconds": 1.0, "foreign_cpu": cores} for cores in foreign)
    plan = agent.Plan(*CONTEXT)
    plan.repeat_seconds = repeat_seconds
    plan.until_quiet(lambda: next(attempts), samples)
    assert len(samples) == kept
