"""The machine at the other end of the connections, as far as a text says it."""

from parsers.read_text import read_text
from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, read

LIST = "aes128-ctr 611 MB/s\naes256-ctr 500 MB/s\n"
SENT = "dd if=/dev/zero bs=1M count=1000 | ssh -c $c {} 'cat >/dev/null'"
Target = tuple[str | None, str | None]


def targets(text: str) -> set[Target]:
    """What is said of every figure's."""
    return {(one.target_kind, one.target_name) for one in figures(read(text))}


@each("command", (SENT, "$ " + SENT, "all: " + SENT.replace("-c", "[-C] -c")))
@each(
    ("operand", "target"),
    (("me@t480", ("remote", "t480")), ("localhost", ("loopback", None)), ("$host", (None, None))),
)
def test_the_only_command_names_the_target_of_figures_above_it(
    command: str, operand: str, target: Target
) -> None:
    assert targets(f"{LIST}\n{command.format(operand)}\n") == {target}


def test_of_several_targets_or_machines_none_is_that_of_figures_above() -> None:
    several = f"{SENT.format('nas')}\n{SENT.format('pi')}\n"
    assert targets(LIST + several) == {(None, None)}
    machines = f"Server 1:\n{LIST}\nServer 2:\n{LIST}\n{SENT.format('nas')}\n"
    assert targets(machines) == {(None, None)}


@each(
    ("heading", "far"),
    (
        ("# from: hpc-login   to: hpc-dtn   (100GbE)   2 GiB each", "hpc-dtn"),
        ("Measured from web1 to web2 over 10GbE:", "web2"),
        ("scp speeds from my laptop to the NAS over WiFi 6:", "NAS"),
        ("web1 -> web2", "web2"),
        ("web1 → web2 (10GbE)", "web2"),
        ("3 runs each, web1 -> web2, dd 1000 MB", "web2"),
        ("# ssh rates, client=web1 server=web2, 2023-11-05", "web2"),
        ("client `web1`, server `web2`:", "web2"),
        ("The speeds rise from 100 to 200 MB/s here:", None),
        ("Upgraded from stretch to buster:", None),
        ("before -> after", None),
        ("ssh rates, from old to new:", None),
    ),
)
def test_a_heading_may_name_the_machines_at_both_ends(heading: str, far: str | None) -> None:
    assert targets(f"{heading}\n{LIST}") <= {("remote" if far else None, far)}
    assert far is None or len(figures(read(f"{heading}\n{LIST}"))) == 2


def test_a_command_says_more_than_a_heading() -> None:
    assert targets(f"web1 -> web2\n{SENT.format('nas')}\n{LIST}") == {("remote", "nas")}


def test_what_went_the_other_way_is_no_further_try() -> None:
    part = read(f"web1 -> web2\n{LIST}web2 -> web1\naes128-ctr 300 MB/s\n")
    assert len(figures(part)) == 2
    assert codes(part) == ["context_unclear"]


def test_a_target_that_is_only_assumed_is_remarked() -> None:
    said = f"$ {SENT.format('localhost')}\n{LIST}"
    for text, expected in ((LIST, True), (said, False), ("nothing at all", False)):
        codes_of_all = [one.code for one in read_text(text).remarks]
        assert ("target_assumed" in codes_of_all) is expected


@each(
    ("source", "sink"),
    (
        ("dd if=/dev/sda bs=1M", "cat >/dev/null"),
        ("cat /dev/nvme0n1", "cat >/dev/null"),
        ("head -c 1G /mnt/usb/big", "cat >/dev/null"),
        ("dd if=/dev/zero bs=1M", "cat > /mnt/usb/zero"),
        ("dd if=/dev/zero bs=1M", "dd of=/dev/sdb"),
    ),
)
def test_the_speed_of_a_disk_is_no_ciphers(source: str, sink: str) -> None:
    dd = "1048576000 bytes (1.0 GB, 1000 MiB) copied, 9.30223 s, 113 MB/s\n"
    part = read(f"$ {source} | ssh -c aes128-ctr nas '{sink}'\n{dd}")
    assert figures(part) == []
    assert codes(part) == ["command_unclear"]
    for plain in ("/dev/zero", "/dev/urandom", "/dev/shm/zeros"):
        whole = f"$ dd if={plain} bs=1M | ssh -c aes128-ctr nas 'cat >/dev/null' 2>/mnt/log\n{dd}"
        assert len(figures(read(whole))) == 1
