"""Machines by both tools: which rates belong together."""

from analysis.comparison import Comparison, Vote, comparison_of, groups_of
from analysis.openssl_against_ssh import both_tools, own_cipher, ssh_ciphers
from tests.cases import each

GCM = "aes128-gcm@openssh.com"


def comparison(tool: str, rates: dict[tuple[str, str], float]) -> Comparison:
    hosts = sorted({host for host, _ in rates})
    votes = [
        Vote(host, host.upper(), hosts.index(host), cipher, rate, "agent")
        for (host, cipher), rate in rates.items()
    ]
    return comparison_of(
        groups_of(votes, {(host, ""): 1 for host in hosts}),
        tool=tool,
        group_by="host",
        metric="throughput",
        profile=None,
        no_baseline=0,
    )


def test_a_cipher_stands_against_its_own_algorithm_on_the_same_machine() -> None:
    ssh = comparison("ssh", {("nas", GCM): 5e8, ("nas", "3des-cbc"): 3e7, ("web", GCM): 9e8})
    alone = comparison(
        "openssl",
        {("nas", "aes-128-gcm"): 2e9, ("nas", "des-ede3-cbc"): 3e7, ("nas", "aes-256-gcm"): 1e9},
    )
    found = {(one.host_label, one.ssh_cipher): one.share for one in both_tools(ssh, alone)}
    assert found == {("NAS", "3des-cbc"): 1.0, ("NAS", GCM): 0.25}


def test_a_rate_of_nothing_has_no_share() -> None:
    """`openssl speed rc4` of OpenSSL 3 prints 0.00 without -evp."""
    ssh = comparison("ssh", {("nas", "arcfour"): 2e8})
    assert both_tools(ssh, comparison("openssl", {("nas", "rc4"): 0.0})) == ()


@each("cipher", ("aes-128-gcm", "aes-256-cbc", "rc4"))
def test_the_ssh_ciphers_of_an_algorithm_lead_back_to_it(cipher: str) -> None:
    names = ssh_ciphers(cipher)
    assert names
    assert {own_cipher(name) for name in names} == {cipher}


def test_most_ciphers_of_openssl_have_none_in_ssh() -> None:
    assert ssh_ciphers("aria-128-gcm") == ()
