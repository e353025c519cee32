"""Figures of one cipher that were measured differently are no tries of one series."""

from parsers.read_text import read_text
from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read, refused

DD = "1048576000 bytes (1.0 GB, 1000 MiB) copied, {} s\n"
SCP = "{}  100% 1000MB {}MB/s   00:09\n"
SEND = "$ dd if=/dev/zero bs=1M count=1000 | ssh -c {} nas 'cat >/dev/null'\n"


@each(
    ("numbers", "count"),
    (
        ((1, 1, 4, 4), 0),
        ((1, 2, 4, 8), 0),
        ((4, 4, 8, 8), 0),
        ((2020, 2020, 2024, 2024), 0),
        ((1, 2, 3, 4), 4),
        ((1, 1, 1, 1), 4),
    ),
)
def test_numbers_without_a_title_count_rows_only_one_by_one(
    numbers: tuple[int, ...], count: int
) -> None:
    names = ("aes128-ctr", "3des-cbc") * 2
    rows = zip(numbers, names, (104, 20, 390, 80), strict=True)
    part = read("".join(f"{number} {name} {rate} MB/s\n" for number, name, rate in rows))
    assert len(figures(part)) == count
    assert codes(part) == ([] if count else ["context_unclear"])


def test_numbers_of_rows_that_name_no_cipher_twice_matter_not() -> None:
    assert len(figures(read("4 aes128-ctr 104 MB/s\n9 3des-cbc 20 MB/s\n"))) == 2


@each(
    ("word", "other"),
    (
        ("bs=1M", "bs=4k"),
        ("count=1000", "count=1"),
        ("/dev/zero", "film.mkv"),
        ("ssh", "ssh -o MACs=hmac-md5,hmac-sha1"),
        ("ssh", "ssh -o IPQoS=throughput"),
        ("ssh", "ssh -p 2222"),
        ("| ssh", "| tee log | ssh"),
        ("| ssh", "| /opt/hpn/bin/ssh"),
    ),
)
def test_commands_that_differ_in_more_than_the_cipher_give_no_tries(word: str, other: str) -> None:
    first = SEND.format("aes128-ctr")
    part = read(first + DD.format(10) + first.replace(word, other) + DD.format(4))
    assert [figure.seconds for figure in figures(part)] == [10]
    assert codes(part) == ["context_unclear"]


@each("word", ("$ time dd", "me@box:~$ dd", "$  dd"))
def test_the_same_command_again_gives_another_try(word: str) -> None:
    first = SEND.format("aes128-ctr")
    part = read("$ uname -n\n" + first + DD.format(10) + first.replace("$ dd", word) + DD.format(9))
    assert len(figures(part)) == 2


@each(
    "command",
    (
        "./bench.sh 4k",
        "sudo ip link set eth0 mtu 9000",
        "sudo cpupower frequency-set -g performance",
        "echo 1 > /proc/sys/net/ipv4/tcp_low_latency",
        "ssh -V | tee ../version",
    ),
)
@each("rows", ("aes128-ctr 100 MB/s\n", SEND.format("aes128-ctr") + DD))
def test_a_command_between_that_may_change_something_ends_a_series(command: str, rows: str) -> None:
    part = read(f"$ ./bench.sh 1M\n{rows.format(10)}$ {command}\n{rows.format(4)}")
    assert len(figures(part)) == 1
    assert codes(part) == ["context_unclear"]


@each("command", ("sleep 5", "cat /proc/cpuinfo", "uptime", "sync"))
def test_a_command_between_that_changes_nothing_is_no_matter(command: str) -> None:
    rows = "aes128-ctr 100 MB/s\n"
    assert len(figures(read(f"$ ./bench.sh 1M\n{rows}$ {command}\n{rows}"))) == 2


@each("name", ("ftp", "disk.img", "wifi"))
@each("head", ("$ scp -c aes128-ctr f nas:\n", "aes128-ctr\n"))
def test_a_line_of_another_file_is_none_of_the_transfer(head: str, name: str) -> None:
    text = head + SCP.format("f", "105.0") + SCP.format(name, "12.0")
    assert [figure.line for figure in figures(read(text))] == [2]
    assert codes(read(text)) == ["context_unclear"] or read_text(text).unrecognised


@each("joint", ("; ", " && ", " & "))
@each("second", ("-c 3des-cbc", "-C -c aes128-ctr", ""))
def test_results_of_two_commands_on_one_line_are_not_shared_out(joint: str, second: str) -> None:
    sends = "dd if=/dev/zero bs=1M count=1000 | ssh {} nas 'cat >/dev/null'"
    command = joint.join(map(sends.format, ("-c aes128-ctr", second)))
    for results in (DD.format(10), DD.format(10) + DD.format(40)):
        part = read(f"$ {command}\n{results}")
        assert figures(part) == []
        assert codes(part)


def test_a_command_that_moves_nothing_beside_a_transfer_is_no_matter() -> None:
    command = "$ scp -c aes128-ctr f nas: && ssh nas rm f\n"
    assert len(figures(read(command + SCP.format("f", "105.0")))) == 1


@each("names", ("rot13-ctr", "aes256-ctr,3des-cbc"))
def test_an_unknown_cipher_takes_the_place_of_the_one_before(names: str) -> None:
    sends = "$ time dd if=/dev/zero bs=1M count=1000 | ssh -c {} nas 'cat >/dev/null'\n"
    part = read(sends.format("aes128-ctr") + sends.format(names) + "real 0m9.0s\n", cipher="3des")
    assert figures(part) == []
    assert codes(part) == ["no_cipher"]


def test_a_second_rate_of_one_connection_is_listed() -> None:
    log = (
        "debug1: kex: client->server cipher: aes128-ctr MAC: hmac-md5 compression: none\n"
        "Transferred: sent 1048576000, received 2000 bytes, in 10.0 seconds\n"
        "Bytes per second: sent 104857600.0, received 200.0\n"
    )
    again = "".join(log.replace("104857600.0", "52428800.0").splitlines(keepends=True)[1:])
    part = read(log + again)
    assert rates(part) == [("aes128-ctr", 104_857_600)]
    assert codes(part) == ["columns_unclear"]


@each(
    "command",
    (
        "scp -l 80000 -c aes128-ctr f nas:",
        "rsync --bwlimit=10000 -P -e 'ssh -c aes128-ctr' f nas:",
        "pv -L 10m f | ssh -c aes128-ctr nas 'cat >/dev/null'",
        "for c in aes128-ctr 3des; do pv -L 10m f | ssh -c $c nas 'cat >/dev/null'; done",
    ),
)
def test_a_transfer_with_a_limit_is_left_out_with_the_reason(command: str) -> None:
    for results in (SCP.format("f", "9.5"), "aes128-ctr\n" + DD.format(90)):
        part = read(f"$ {command}\n{results}")
        assert figures(part) == []
        assert "limited" in codes(part)


@each(
    ("amounts", "count"),
    ((("1GB", "10MB"), 0), (("1000 MB", "10 MB"), 0), (("1043 MB", "1050 MB"), 2)),
)
def test_rows_of_other_amounts_are_no_tries(amounts: tuple[str, str], count: int) -> None:
    part = read("".join(f"aes128-ctr {one} {104 - len(one)} MB/s\n" for one in amounts))
    assert len(figures(part)) == count
    assert codes(part) == ([] if count else ["context_unclear"])


@each("sent", ("256,000", "100,000,000"))
def test_a_file_of_which_rsync_sent_a_part_gives_no_rate(sent: str) -> None:
    text = (
        "$ rsync -P -e 'ssh -c aes128-ctr' f nas:\n"
        "  1,048,576,000 100%  899.00MB/s    0:00:01 (xfr#1, to-chk=0/1)\n"
        f"sent {sent} bytes  received 35 bytes  95,348,366.82 bytes/sec\n"
    )
    assert figures(read(text)) == []
    assert codes(read(text)) == ["not_a_rate"]
    assert len(figures(read(text.replace(sent, "1,048,832,000")))) == 1


@each("commands", ("vi sshd_config", "vi sshd_config\n$ sudo reboot"))
def test_the_same_script_below_a_change_gives_no_try(commands: str) -> None:
    rows = "$ ./bench.sh\naes128-ctr 100 MB/s\n"
    part = read(f"{rows}$ {commands}\n{rows}")
    assert len(figures(part)) == 1
    assert codes(part) == ["command_unclear"]


@each("titles", ("  read  write", "mode  read write", "          fast   slow"))
def test_rates_below_titles_that_are_not_known_are_no_tries(titles: str) -> None:
    assert refused(f"{titles}\naes128-ctr  104 MB/s  90 MB/s\naes256-ctr  94 MB/s  80 MB/s\n") == [
        "columns_unclear"
    ]
