"""The configuration lines: what they say, and that real OpenSSH takes them."""

import subprocess
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.ciphers.cipher_catalogue import cipher_catalogue, policies
from analysis.ciphers.host_ciphers import HostCiphers
from analysis.ciphers.recommendation import recommend
from analysis.ciphers.ssh_configuration import (
    Evidence,
    client_configuration,
    printable,
    server_configuration,
)
from tests.analysis.cipher_rates import CHACHA, GCM128, GCM256, MODERN, OLD, host, rate
from tests.cases import each

CATALOGUE = cipher_catalogue()
EVIDENCE = Evidence(
    made_on=date(2026, 11, 21),
    subject="nas",
    measured="run 0b8f3c1e of 2026-11-21, ssh pipeline, 5 tries a cipher",
    policy="modern",
    rules_version=CATALOGUE.rules_version,
    permalink="https://ciphermark.example/recommend/?host=7&policy=modern",
)
ALL = tuple(
    rate(cipher.name, 100 + place)
    for place, cipher in enumerate(CATALOGUE.ciphers)
    if cipher.tool == "ssh"
)


def both(
    machine: HostCiphers, policy: str = "modern", evidence: Evidence = EVIDENCE
) -> tuple[str, str]:
    """Client and server configuration of a host that has ciphers for both."""
    order = recommend(machine, policies()[policy], CATALOGUE).order
    client = client_configuration(order, machine, CATALOGUE, evidence)
    server = server_configuration(order, machine, CATALOGUE, evidence)
    assert client is not None
    assert server is not None
    return client, server


def settings(text: str) -> list[str]:
    """The lines that OpenSSH would read as settings."""
    return [line.strip() for line in text.split("\n") if line and not line.startswith("#")]


def test_the_lines_say_what_they_rest_on_and_where_they_go() -> None:
    machine = host(rate(GCM128, 400), client=MODERN, server=MODERN)
    measured = """\
# Ciphermark, 2026-11-21: ciphers for nas, policy modern, rules of 2026-11.
# Measured: run 0b8f3c1e of 2026-11-21, ssh pipeline, 5 tries a cipher.
"""
    decides = """\
# https://ciphermark.example/recommend/?host=7&policy=modern
# ssh uses the first cipher of the client's list that the server has too (RFC
# 4253, section 7.1): the client's order decides, the server's list only
# allows.
"""
    client, server = both(machine)
    assert (
        client
        == f"""\
{measured}{decides}# Put this before the other Host blocks: the first value found counts.
# It holds for every server: one that has none of these ciphers cannot be
# reached. Write names instead of * to limit it.
# Check: ssh -G HOST | grep '^ciphers ' shows this list.
# Check: ssh -v HOST true 2>&1 | grep 'kex: server' names the cipher that was
# agreed.
Host *
    Ciphers {GCM128}
"""
    )
    assert (
        server
        == f"""\
{measured}{decides}# Put this before the first Match block. It holds for every client: one that
# has none of these ciphers is turned away, so keep a session open until a new
# one works.
# Check: sudo sshd -t finds no fault; sudo sshd -T | grep '^ciphers ' shows
# this list.
Ciphers {GCM128}
"""
    )
    careful = both(machine, evidence=replace(EVIDENCE, caution="Measured while busy."))[1]
    assert careful.startswith(f"{measured}# Careful: Measured while busy.\n{decides}")


def listed(text: str) -> list[str]:
    return settings(text)[-1].removeprefix("Ciphers ").split(",")


@each("name", ("arcfour", "blowfish-cbc", "rijndael-cbc@lysator.liu.se"))
def test_what_this_openssh_has_no_more_is_not_listed(name: str) -> None:
    client, server_text = both(host(*ALL), "everything")
    assert name not in listed(client)
    assert name not in listed(server_text)
    old, _ = both(host(*ALL, client=OLD, server=OLD), "everything")
    assert name in listed(old)


def test_client_and_server_list_what_each_has() -> None:
    machine = host(rate(CHACHA, 300), rate(GCM128, 200), client=MODERN, server="OpenSSH_6.4")
    client, server_text = both(machine, "compatible")
    assert listed(client) == [GCM128, CHACHA]
    assert listed(server_text) == [GCM128]


def test_no_cipher_makes_no_line_rather_than_an_empty_one() -> None:
    machine = host(rate("aes128-ctr", 100))
    order = recommend(machine, policies()["modern"], CATALOGUE).order
    assert client_configuration(order, machine, CATALOGUE, EVIDENCE) is None
    assert server_configuration(order, machine, CATALOGUE, EVIDENCE) is None


def test_the_header_says_what_the_lines_rest_on() -> None:
    for text in both(host(rate(GCM128, 200), rate(GCM256, 210))):
        words = " ".join(text.replace("\n# ", " ").split())
        for fact in (
            "2026-11-21",
            "for nas",
            "policy modern",
            f"rules of {CATALOGUE.rules_version}",
            "run 0b8f3c1e of 2026-11-21, ssh pipeline, 5 tries a cipher",
            "https://ciphermark.example/recommend/?host=7&policy=modern",
            "the client's order decides",
        ):
            assert fact in words
        assert "Warning" not in words
        assert listed(text) == [GCM256, GCM128]


def test_the_client_is_told_to_ask_ssh_and_the_server_sshd() -> None:
    client, server_text = both(host(rate(GCM128, 200)))
    assert "ssh -G HOST" in client
    assert "sshd -T" in server_text
    old, _ = both(host(rate(GCM128, 200), client=OLD, server=OLD))
    assert "ssh -G" not in old  # 6.6 has no -G
    assert "ssh -v HOST" in old


def test_weak_ciphers_are_warned_of() -> None:
    client, server_text = both(host(rate(GCM128, 200), rate("3des-cbc", 20)), "everything")
    for text in (client, server_text):
        assert "Warning: weak ciphers are among these: 3des-cbc (broken)" in text


@each(
    ("count", "last"),
    ((1, "cipher-0."), (3, "cipher-2."), (5, "And 2 more, which the page lists.")),
)
def test_faster_ciphers_that_are_left_out_are_named_and_many_counted(count: int, last: str) -> None:
    evidence = replace(EVIDENCE, faster=tuple(f"cipher-{place}" for place in range(count)))
    for text in both(host(rate(GCM128, 400)), evidence=evidence):
        said = [line for line in text.split("\n") if "cipher-" in line or "more, which" in line]
        assert len(said) == min(count, 4)
        assert said[-1].endswith(last)


HOSTILE = (
    "nas\nCiphers arcfour",
    "nas\r\nProxyCommand touch owned",
    "nas\x0bHost *\x0cMatch all",
    "nas\x85Ciphers none\u2028Ciphers none\u2029Ciphers none",
    "nas\x00\x1b[2J\u202eevil",
    "x" * 5000 + " Ciphers arcfour",
    "\ud800lone",
)


@each("text", HOSTILE)
def test_hostile_names_stay_inside_the_comment(text: str) -> None:
    evidence = Evidence(date(2026, 11, 21), text, text, text, text, text, text)
    client, server_text = both(host(rate(GCM128, 200)), evidence=evidence)
    assert settings(client) == ["Host *", f"Ciphers {GCM128}"]
    assert settings(server_text) == [f"Ciphers {GCM128}"]


def test_real_ssh_reads_no_setting_out_of_hostile_names(ssh: str, tmp_path: Path) -> None:
    for text in HOSTILE:
        evidence = Evidence(date(2026, 11, 21), text, text, text, text, text, text)
        client, _ = both(host(rate(GCM128, 200)), evidence=evidence)
        file = tmp_path / "config"
        file.write_text(client, "utf-8")
        done = subprocess.run(
            [ssh, "-G", "-F", str(file), "example"], capture_output=True, text=True, check=True
        )
        assert f"ciphers {GCM128}" in done.stdout.splitlines()
        assert "proxycommand" not in done.stdout


@given(st.text(), st.text(max_size=3000))
def test_any_text_leaves_short_printable_comments(name: str, address: str) -> None:
    evidence = Evidence(date(2026, 11, 21), name, name, name, name, address)
    for text in both(host(rate(GCM128, 200)), evidence=evidence):
        *lines, last = text.split("\n")
        assert last == ""
        assert all(line.isprintable() and len(line.encode()) < 1000 for line in lines)
        assert len(settings(text)) == (2 if "Host *" in settings(text) else 1)


NAMED = (
    (("nas",), "nas"),
    (("nas.lan", "storage", "nas.lan"), "nas.lan storage"),
    (("fe80::1",), "fe80::1"),
    (("My NAS", "nas"), "nas"),
    (("My NAS",), "SERVER"),
    (("Bob's",), "SERVER"),
    (("münchen",), '"münchen"'),
    (("#1", "a=b"), '"#1" "a=b"'),
    (("-oProxyCommand=x",), "SERVER"),
    (("nas;reboot", "$(reboot)", "`reboot`"), "SERVER"),
    (("*",), "SERVER"),
    (("nas?", "storage"), "storage"),
    (("NAS.example.com", "nas-2"), "NAS.example.com nas.example.com nas-2"),
    (("!nas",), "SERVER"),
    (('nas" "*',), "SERVER"),
    (("nas\\",), "SERVER"),
    (("", "  "), "SERVER"),
    *(((name,), "SERVER") for name in HOSTILE if not name.startswith("xx")),
)
"""Names of a server, and what stands after `Host`."""


def between_two(names: tuple[str, ...]) -> str:
    machine = host(rate(GCM128, 200))
    order = recommend(machine, policies()["modern"], CATALOGUE).order
    text = client_configuration(order, machine, CATALOGUE, EVIDENCE, names)
    assert text is not None
    return text


@each(("names", "patterns"), NAMED)
def test_lines_for_two_are_about_one_server(names: tuple[str, ...], patterns: str) -> None:
    text = between_two(names)
    assert settings(text) == [f"Host {patterns}", f"Ciphers {GCM128}"]
    assert ("replace SERVER" in text.replace("\n# ", " ")) is (patterns == "SERVER")


@pytest.mark.parametrize(("names", "patterns"), NAMED)
def test_real_ssh_takes_them_for_this_server_alone(
    names: tuple[str, ...], patterns: str, ssh: str, tmp_path: Path
) -> None:
    def ciphers(server: str) -> list[str]:
        command = [ssh, "-G", "-F", str(file), "-p", "22", "--", server]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [one for one in done.stdout.splitlines() if one.startswith("ciphers ")]

    file = tmp_path / "config"
    file.write_text(between_two(names), "utf-8")
    written = [one for one in names if one.strip() and one in patterns]
    for name in written or ["SERVER"]:
        assert ciphers(name) == [f"ciphers {GCM128}"]
    assert ciphers("another.example") != [f"ciphers {GCM128}"]


def test_of_too_many_names_a_line_has_as_many_as_old_readers_take() -> None:
    first, _ = settings(between_two(tuple(f"server-{number:03}" for number in range(200))))
    assert first.startswith("Host server-000 server-001 ")
    assert 800 < len(first) < 1000


@given(st.lists(st.text(), min_size=1))
def test_no_name_makes_a_setting_or_a_pattern(names: list[str]) -> None:
    first, second = settings(between_two(tuple(names)))
    assert second == f"Ciphers {GCM128}"
    assert first.startswith("Host ")
    assert not set("*?!\\") & set(first)
    assert first.isprintable()
    assert first.count('"') % 2 == 0


def test_a_long_name_is_cut() -> None:
    assert printable("a \n b", 10) == "a b"
    assert len(printable("x" * 500, 80)) == 80
