"""Configuration lines: their content, and that no name can add a setting."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cipherspeed.ssh_configuration import ssh_config, sshd_config
from tests.cases import each
from tests.cipherspeed.cipher_rates import GCM128, advised, host, rate

ORDER = advised(host(rate(GCM128, 400))).order
HEADER = (
    "Ciphermark, 2026-11-21: ciphers for nas, policy modern, rules of 2026-11.",
    "https://ciphermark.example/recommend/?host=7&policy=modern",
)


def settings(text: str) -> list[str]:
    """Return the lines that OpenSSH would parse as settings."""
    return [line.strip() for line in text.split("\n") if line and not line.startswith("#")]


def test_the_lines_say_what_they_rest_on_and_where_they_go() -> None:
    header = """\
# Ciphermark, 2026-11-21: ciphers for nas, policy modern, rules of 2026-11.
# https://ciphermark.example/recommend/?host=7&policy=modern
# ssh uses the first cipher of the client's list that the server has too (RFC
# 4253, section 7.1): the client's order decides, the server's list only
# allows.
"""
    assert (
        ssh_config(ORDER, HEADER)
        == f"""\
{header}# Put this before the other Host blocks: the first value found counts.
# It holds for every server: one that has none of these ciphers cannot be
# reached.
# Check: ssh -v HOST true 2>&1 | grep 'kex: server' names the cipher that was
# agreed.
Host *
    Ciphers {GCM128}
"""
    )
    assert (
        sshd_config(ORDER, HEADER)
        == f"""\
{header}# Put this before the first Match block. It holds for every client: one that
# has none of these ciphers is turned away, so keep a session open until a new
# one works.
# Check: sudo sshd -t finds no fault; sudo sshd -T | grep '^ciphers ' shows
# this list.
Ciphers {GCM128}
"""
    )


def test_weak_ciphers_are_warned_of() -> None:
    weak = advised(host(rate(GCM128, 200), rate("3des-cbc", 20)), policy="everything").order
    for text in (ssh_config(weak, ()), sshd_config(weak, ())):
        assert "Warning: weak ciphers are among these: 3des-cbc (broken)" in text
        assert text.endswith(f"Ciphers {GCM128},3des-cbc\n")


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
def test_real_ssh_reads_no_setting_out_of_hostile_names(
    text: str, ssh: str, tmp_path: Path
) -> None:
    assert settings(sshd_config(ORDER, [text])) == [f"Ciphers {GCM128}"]
    file = tmp_path / "config"
    file.write_text(ssh_config(ORDER, [text]), "utf-8")
    done = subprocess.run(
        [ssh, "-G", "-F", str(file), "example"], capture_output=True, text=True, check=True
    )
    assert f"ciphers {GCM128}" in done.stdout.splitlines()
    assert "proxycommand" not in done.stdout


@given(st.text(max_size=3000), st.lists(st.text(), min_size=1))
def test_any_text_leaves_short_printable_lines(text: str, names: list[str]) -> None:
    for config in (ssh_config(ORDER, [text], names), sshd_config(ORDER, [text])):
        *lines, last = config.split("\n")
        assert last == ""
        assert all(line.isprintable() and len(line.encode()) < 1000 for line in lines)
    first, second = settings(ssh_config(ORDER, [text], names))
    assert second == f"Ciphers {GCM128}"
    assert first.startswith("Host ")
    assert not set('*?!\\"') & set(first)


NAMED = (
    (("nas",), "nas"),
    (("nas.lan", "storage", "nas.lan"), "nas.lan storage"),
    (("fe80::1",), "fe80::1"),
    (("My NAS", "nas"), "nas"),
    (("NAS.example.com", "nas-2"), "NAS.example.com nas.example.com nas-2"),
    *(((name,), "SERVER") for name in ("My NAS", "-oProxyCommand=x", "$(reboot)", "*", "!nas", "")),
)
"""Names of a server, and the resulting `Host` patterns."""


@pytest.mark.parametrize(("names", "patterns"), NAMED)
def test_lines_for_two_are_about_one_server(
    names: tuple[str, ...], patterns: str, ssh: str, tmp_path: Path
) -> None:
    def ciphers(server: str) -> list[str]:
        command = [ssh, "-G", "-F", str(file), "-p", "22", "--", server]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [line for line in done.stdout.splitlines() if line.startswith("ciphers ")]

    text = ssh_config(ORDER, (), names)
    assert settings(text) == [f"Host {patterns}", f"Ciphers {GCM128}"]
    assert ("Replace SERVER" in text) is (patterns == "SERVER")
    file = tmp_path / "config"
    file.write_text(text, "utf-8")
    for name in patterns.split():
        assert ciphers(name) == [f"ciphers {GCM128}"]
    assert ciphers("another.example") != [f"ciphers {GCM128}"]
