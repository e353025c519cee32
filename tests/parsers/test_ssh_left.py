"""How far a machine's name and versions hold: no further than the text may have left it."""

import pytest

from parsers.types import Part
from tests.parsers.ssh_reading import codes, figures, read

DD = "dd if=/dev/zero bs=1M count=1024 | ssh -c {} localhost 'cat >/dev/null'\n"
DONE = "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 9.5 s, 113 MB/s\n"
FIRST = f"tom@desk:~$ {DD.format('aes128-ctr')}{DONE}"
SECOND = DD.format("aes256-ctr") + DONE
LIST = "aes256-ctr: 33 MB/s\n"
VERSION = "OpenSSH_8.4p1 Debian-5+deb11u3, OpenSSL 1.1.1w  11 Sep 2023\n"


def hosts(part: Part) -> list[tuple[str | None, list[str]]]:
    """Each section's machine with its ciphers."""
    return [(one.host, [figure.cipher for figure in one.figures]) for one in part.sections]


@pytest.mark.parametrize(
    "second",
    (
        f"On my NAS:\n$ {SECOND}",
        f"\nAt work.\n\n$ {SECOND}",
        f"\nBob wrote:\n> {LIST}",
        f"\nBob:\n{LIST}",
        f"tom@desk:~$ ssh nas\n$ {SECOND}",
        f"tom@desk:~$ ssh nas\nLast login: Sun Mar  3 11:02:44\n$ {SECOND}",
        f"tom@desk:~$ docker exec -it alpine sh\n/ # {SECOND}",
        f"tom@desk:~$ sudo docker exec alpine ./bench\n{LIST}",
        f"tom@desk:~$ virsh console vm1\n$ {SECOND}",
        f"tom@desk:~$ telnet nas\n# {SECOND}",
        f"tom@desk:~$ tail -n +1 *.txt\n==> nas.txt <==\n{LIST}",
        f"tom@desk:~$ cat nas.txt pi.txt\n{LIST}",
        f"$ {SECOND}",
        f"> {LIST}",
    ),
)
def test_a_machine_keeps_its_name_only_until_the_text_may_have_left_it(second: str) -> None:
    part = read(FIRST + second)
    assert hosts(part) == [("desk", ["aes128-ctr"]), (None, ["aes256-ctr"])]
    assert part.sections[1].label


@pytest.mark.parametrize(
    "before",
    (
        "tom@desk:~$ ssh nas\n$ ",
        "tom@desk:~$ docker exec -it alpine sh\n/ # ",
        "tom@desk:~$ tail -n +1 *.txt\n==> nas.txt <==\n",
        "tom@desk:~$ uname\n$ ",
    ),
)
def test_a_prompt_before_another_one_names_no_machine(before: str) -> None:
    what = SECOND if before[-2:] in ("$ ", "# ") else LIST
    assert hosts(read(before + what)) == [(None, ["aes256-ctr"])]


@pytest.mark.parametrize(
    "second",
    (
        f"tom@desk:~$ {SECOND}",
        f"tom@desk:~$ sleep 5\ntom@desk:~$ {SECOND}",
        f"root@desk:~# {SECOND}",
        f"tom@desk:~$ ./sshbench\nTesting.\n\n{LIST}",
        f"3des-cbc: 4 MB/s\n{LIST}",
    ),
)
def test_a_name_holds_where_nothing_says_otherwise(second: str) -> None:
    assert {host for host, _ in hosts(read(FIRST + second))} == {"desk"}


def test_a_machine_that_is_named_again_is_the_same_one() -> None:
    part = read(f"{FIRST}tom@desk:~$ ssh nas\n$ {SECOND}{FIRST}")
    assert hosts(part) == [("desk", ["aes128-ctr"]), (None, ["aes256-ctr"])]
    assert codes(part) == ["context_unclear"]


@pytest.mark.parametrize(
    "between",
    (
        "root@web:~# apt-get dist-upgrade -y\nroot@web:~# ",
        "Now after the upgrade to Debian 12:\nroot@web:~# ",
        "root@web:~# ./configure\nroot@web:~# ",
    ),
)
def test_versions_hold_until_something_may_have_changed_them(between: str) -> None:
    first = f"root@web:~# ssh -V\n{VERSION}root@web:~# {DD.format('aes128-ctr')}{DONE}"
    one, two = read(first + between + SECOND).sections
    assert (one.host, two.host) == ("web", "web")
    assert one.environment
    assert two.environment == {}


def test_versions_of_a_list_hold_until_a_heading_that_is_not_understood() -> None:
    part = read(f"{VERSION}aes128-ctr: 412 MB/s\n\nafter the upgrade:\n{LIST}")
    assert [bool(one.environment) for one in part.sections] == [True, False]


def test_a_cipher_again_is_of_the_same_machine_as_long_as_it_may_be() -> None:
    part = read(f"{FIRST}Something else:\n$ {DD.format('aes128-ctr')}{DONE}")
    assert len(figures(part)) == 1
    assert codes(part) == ["context_unclear"]
