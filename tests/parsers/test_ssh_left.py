"""How far a machine's name and versions hold: no further than the text may have left it."""

from parsers.read_text import read_text
from parsers.types import Part
from tests.cases import each
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


@each(
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


@each(
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


@each(
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


@each(
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


def test_headings_of_places_above_commands_are_two_machines() -> None:
    first, second = DD.format("aes128-ctr") + DONE, SECOND
    part = read(f"On my desktop:\n$ {first}\nOn my NAS:\n$ {second}")
    assert hosts(part) == [(None, ["aes128-ctr"]), (None, ["aes256-ctr"])]
    assert [one.label for one in part.sections] == ["On my desktop", "On my NAS"]


@each("heading", ("CBC:", "Run 2:", "Upload:", "AES-NI on:", "No compression:"))
def test_a_heading_that_is_known_to_name_no_machine_leaves_none(heading: str) -> None:
    part = read(f"tom@desk:~$ ./sshbench\naes128-ctr: 330 MB/s\n\n{heading}\n{LIST}")
    assert {host for host, _ in hosts(part)} == {"desk"}


@each("heading", ("AES-NI off:", "With AES-NI disabled in the BIOS:"))
def test_a_heading_about_the_mask_holds_for_commands_below_it(heading: str) -> None:
    first = DD.format("aes128-ctr") + DONE
    part = read(f"{heading}\n\n$ {first}\nAES-NI on:\n\n$ {SECOND}")
    assert [one.acceleration for one in figures(part)] == ["masked", "default"]


@each("ending", ("enabled:", "back to normal:", "without:", "Now the normal way"))
@each("heading", ("AES-NI off:", "With compression:", "MAC umac-64@openssh.com:"))
@each("row", ("{c}: 50 MB/s\n", "$ " + DD.replace("{}", "{c}") + DONE))
def test_below_a_heading_that_may_end_a_setting_no_figure_counts(
    ending: str, heading: str, row: str
) -> None:
    part = read(f"{heading}\n{row.format(c='aes128-ctr')}\n{ending}\n{row.format(c='aes256-ctr')}")
    assert [one.cipher for one in figures(part)] == ["aes128-ctr"]
    assert codes(part) == ["context_unclear"]


def test_a_setting_ends_at_a_heading_that_speaks_of_it() -> None:
    text = f"With compression:\naes128-ctr: 9 MB/s\nodd:\n{LIST}Default:\naes192-ctr: 30 MB/s\n"
    part = read(text)
    assert [(one.cipher, one.compression) for one in figures(part)] == [
        ("aes128-ctr", True),
        ("aes192-ctr", False),
    ]


@each("ending", ("$ unset OPENSSL_ia32cap\n", "$ echo\n"))
def test_a_mask_that_a_shell_exports_is_seen_by_every_reader(ending: str) -> None:
    export = "$ export OPENSSL_ia32cap=~0x200000200000000\n"
    text = f"{export}$ {DD.format('aes128-ctr')}{DONE}{ending}$ {SECOND}"
    (section,) = read_text(text).sections
    ended = "default" if "unset" in ending else "masked"
    assert [one.acceleration for one in section.figures] == ["masked", ended]


@each("program", ("/opt/openssh-9.8/bin/ssh", "LD_LIBRARY_PATH=/opt/openssl-3.3/lib ssh"))
def test_versions_are_of_no_other_ssh(program: str) -> None:
    other = SECOND.replace("ssh", program, 1)
    first = DD.format("aes128-ctr") + DONE
    one, two = read(f"$ ssh -V\n{VERSION}$ {first}$ {other}").sections
    assert one.environment
    assert two.environment == {}
