"""pv, scp, sftp, rsync and `ssh -v`: one figure for each transfer that they print a rate of."""

import pytest

from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read, refused, speed

MIB = 2**20
PV_COMMAND = "$ pv big | ssh -c aes128-ctr nas 'cat > /dev/null'\n"


@each(
    ("line", "rate"),
    (
        ("1GiB 0:00:02 [ 498MiB/s]", 498),
        ("1.00GiB 0:00:02 [ 498MiB/s] [    <=>          ]", 498),
        ("1.00GiB 0:00:02 [ 498MiB/s] [================>] 100%            ", 498),
        ("1,00GiB 0:00:02 [98,2MiB/s] [========>] 100%", 98.2),
        ("[ 498MiB/s]", 498),
        ("[ 512MiB/s] [ 498MiB/s]", 498),
        ("0:00:02 [ 512MiB/s] [ 498MiB/s]", 498),
        ("1GiB 0:00:02 [ 512MiB/s] [ 498MiB/s] [====>] 100%", 498),
        ("1GiB [ 498MiB/s]", 498),
        ("[ 498MiB/s] [=========>] 100%", 498),
        ("512MiB 0:00:01 [ 502MiB/s]\r1.00GiB 0:00:02 [ 498MiB/s]", 498),
        ("512MiB 0:00:01 [ 502MiB/s]\n1.00GiB 0:00:02 [ 498MiB/s]", 498),
    ),
)
@each("before", (PV_COMMAND, "aes128-ctr\n", "aes128-ctr: "))
def test_pv_gives_one_figure_in_all_its_shapes(line: str, rate: float, before: str) -> None:
    part = read(before + line)
    assert [one.cipher for one in figures(part)] == ["aes128-ctr"]
    assert speed(figures(part)[0]) == pytest.approx(rate * MIB)
    assert codes(part) == []


@each("line", ("1.00GiB", "10\n50\n100", "1GiB 0:00:02", "100%"))
def test_pv_without_a_rate_gives_none(line: str) -> None:
    part = read(PV_COMMAND + line)
    assert figures(part) == []
    assert part.understood == {1}


def test_tries_of_pv_are_told_from_one_transfer_that_goes_on() -> None:
    part = read(
        PV_COMMAND
        + " 512MiB 0:00:01 [ 502MiB/s]\n   1GiB 0:00:02 [ 498MiB/s]\n   1GiB 0:00:02 [ 490MiB/s]\n"
    )
    assert [speed(one) / MIB for one in figures(part)] == pytest.approx([498, 490])


def test_several_bare_rates_of_pv_may_be_one_transfer() -> None:
    assert refused(PV_COMMAND + "[ 502MiB/s]\n[ 498MiB/s]\n") == ["columns_unclear"]


def test_the_summary_of_dd_counts_more_than_pv_beside_it() -> None:
    part = read(
        "$ dd if=/dev/zero bs=1M count=1024 | pv | ssh -c aes128-ctr localhost 'cat > /dev/null'\n"
        "1024+0 records in\n1024+0 records out\n"
        "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.16 s, 497 MB/s\n"
        "   1GiB 0:00:02 [ 474MiB/s]\n"
    )
    assert [(one.bytes, one.seconds) for one in figures(part)] == [(1073741824, 2.16)]


def test_a_rate_of_pv_without_a_cipher_is_said() -> None:
    part = read("1GiB 0:00:02 [ 498MiB/s]\n")
    assert (figures(part), codes(part)) == ([], ["no_cipher"])


@each(
    ("line", "rate"),
    (
        ("big.iso                100% 1024MB 109.5MB/s   00:09", 109.5 * MIB),
        ("big.iso                100% 1024KB 109.5KB/s   00:09", 109.5 * 2**10),
        ("big.iso  45%  461MB 100.0MB/s   00:05 ETA\rbig.iso 100% 1024MB 109.5MB/s 00:09", None),
        ("sftp> put big.iso\nUploading big.iso to /big\nbig.iso 100% 1024MB 109.5MB/s 00:09", None),
        ("  1,073,741,824 100%  109.54MB/s    0:00:09 (xfr#1, to-chk=0/1)", 109.54 * MIB),
        ("  1.073.741.824 100%  109,54MB/s    0:00:09 (xfer#1, to-check=0/1)", 109.54 * MIB),
        ("  1.07G 100%  109.54MB/s    0:00:09 (xfr#1, to-chk=0/1)", 109.54 * MIB),
        ("sent 1,074,004,068 bytes  received 35 bytes  107,400,410.30 bytes/sec", 107_400_410.3),
        ("sent 35 bytes  received 1.07G bytes  107.40M bytes/sec", 107.4e6),
    ),
)
def test_files_copied_give_the_rate_at_their_end(line: str, rate: float | None) -> None:
    for command in (
        "scp -c aes128-ctr big.iso nas:",
        "rsync -e 'ssh -c aes128-ctr' big.iso me@nas:",
    ):
        (figure,) = figures(read(f"$ {command}\n{line}\n"))
        assert speed(figure) == pytest.approx(rate or 109.5 * MIB)
        assert (figure.target_kind, figure.target_name) == ("remote", "nas")


def test_the_rate_of_a_whole_rsync_is_no_second_try_of_its_file() -> None:
    part = read(
        "$ rsync -a --progress -e 'ssh -c aes128-ctr' big.iso nas:/tmp/\n"
        "sending incremental file list\nbig.iso\n"
        "         32,768   0%    0.00kB/s    0:00:00\n"
        "  1,073,741,824 100%  109.54MB/s    0:00:09 (xfr#1, to-chk=0/1)\n\n"
        "sent 1,074,004,068 bytes  received 35 bytes  107,400,410.30 bytes/sec\n"
        "total size is 1,073,741,824  speedup is 1.00\n"
    )
    assert [speed(one) for one in figures(part)] == pytest.approx([109.54 * MIB])
    assert part.understood == {1, 2, 4, 5, 7, 8}


def test_a_small_file_says_nothing_of_a_cipher() -> None:
    part = read("$ scp -c aes128-ctr notes nas:\nnotes 100%   12KB  1.2MB/s   00:00\n")
    assert (figures(part), codes(part)) == ([], ["not_a_rate"])


def log(cipher: str, moved: int, rate: str) -> str:
    return (
        "OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.15 3 Sep 2024\n"
        f"debug1: kex: server->client cipher: {cipher} MAC: hmac-sha2-256 compression: none\n"
        f"debug1: kex: client->server cipher: {cipher} MAC: hmac-sha2-256 compression: none\n"
        f"Transferred: sent {moved}, received 122840 bytes, in 9.8 seconds\n"
        f"Bytes per second: sent {rate}, received 12534.7\n"
    )


def test_the_log_of_each_connection_gives_a_figure() -> None:
    text = log("aes128-ctr", 1_074_267_452, "109619127.1") + log("3des-cbc", 1 << 28, "24000000.0")
    assert rates(read(text)) == [("aes128-ctr", 109_619_127), ("3des-cbc", 24_000_000)]


def test_what_comes_in_is_a_rate_as_well() -> None:
    text = log("aes128-ctr", 20_000, "2000.0").replace("122840", "1073741824")
    assert rates(read(text.replace("12534.7", "98000000.0"))) == [("aes128-ctr", 98_000_000)]


@each(("moved", "rate"), ((3164, "178023.0"), (5_000_000, "1400.0")))
def test_a_session_at_a_keyboard_is_no_benchmark(moved: int, rate: str) -> None:
    part = read(log("aes128-ctr", moved, rate))
    assert (figures(part), codes(part)) == ([], ["not_a_rate"])


def test_a_rate_of_an_unknown_amount_is_left_out() -> None:
    text = log("aes128-ctr", 1 << 30, "109619127.1")
    part = read("\n".join(line for line in text.split("\n") if "Transferred" not in line))
    assert (figures(part), codes(part)) == ([], ["no_amount"])


def test_pv_at_both_ends_shows_one_transfer() -> None:
    part = read(
        "$ pv -s 1000m -S /dev/zero | ssh -c aes128-ctr nas 'pv >/dev/null'\n"
        "1000MiB 0:00:03 [ 341MiB/s] [====>] 100%\n1000MiB 0:00:03 [ 339MiB/s] [ <=> ]\n"
    )
    assert rates(part) == [("aes128-ctr", 341 * MIB)]
    assert codes(part) == ["repeated"]
