"""dd's closing words, in every version and language, and whose cipher they belong to."""

from parsers.ssh.dd_lines import amount_of, summaries
from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read, refused

SUMMARIES = (
    "104857600 bytes (105 MB) copied, 0.34 s, 308 MB/s",
    "104857600 bytes (105 MB, 100 MiB) copied, 0.34 s, 308 MB/s",
    "104857600 bytes (105 MB) copied, 0,34 s, 308 MB/s",
    "104857600 bytes (105 MB) copied, 0.34 seconds, 308 MB/s",
    "104857600 bytes (100.0MB) copied, 0.340000 seconds, 294.1MB/s",
    "104857600 bytes transferred in 0.34 secs (308404705 bytes/sec)",
    "104857600 bytes transferred in 0.340000 seconds (308404705 bytes/sec)",
    "104857600 Bytes (105 MB, 100 MiB) kopiert, 0,34 s, 308 MB/s",
    "104857600 octets (105 Mo, 100 Mio) copiés, 0,34 s, 308 Mo/s",
    "104857600 byte (105 MB, 100 MiB) kopierade, 0,34 s, 308 MB/s",
    "104857600 bytes (105 MB, 100 MiB) copiados, 0,34 s, 308 MB/s",
    "104857600 bajtów (105 MB, 100 MiB) skopiowane, 0,34 s, 308 MB/s",
    "104857600 байт (105 MB, 100 MiB) скопирован, 0,34 s, 308 MB/s",
    "104857600 バイト (105 MB, 100 MiB) コピーされました、 0.34 s、 308 MB/s",
    "104857600字节（105 MB，100 MiB）已复制，0.34 s，308 MB/s",
    "104857600 tavua (105 MB, 100 MiB) kopioitu, 0,34 s, 308 MB/s",
)


@each("line", SUMMARIES)
def test_bytes_and_seconds_are_exact_in_every_language(line: str) -> None:
    (figure,) = figures(read(f"aes128-ctr\n{line}\n"))
    assert (figure.cipher, figure.bytes, figure.seconds) == ("aes128-ctr", 104_857_600, 0.34)
    assert figure.bytes_per_second is None


@each(
    "line",
    (
        "64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.040 ms",
        "Transferred: sent 104900000, received 4000 bytes, in 3.4 seconds",
        "sent 1,048,576 bytes  received 35 bytes  299,000.00 bytes/sec",
        "Doing aes-128-cbc for 3s on 16 size blocks: 98734 aes-128-cbc's in 3.00s",
        "AES-CCM-Enc         45 MB took 1.095 seconds,   41.081 MB/s",
        "wrote 4096 bytes in 3 s",
    ),
)
def test_other_bytes_and_seconds_are_no_summary(line: str) -> None:
    assert summaries(line) == []


def test_a_summary_that_contradicts_itself_is_damaged() -> None:
    assert refused("aes128-ctr\n104857600 bytes (105 MB) copied, 3.4 s, 308 MB/s") == ["damaged"]


def test_a_summary_that_breaks_off_is_damaged() -> None:
    assert refused("aes128-ctr\n104857600 bytes (105 MB) copied, 3.4") == ["damaged"]


def test_without_a_cipher_there_is_a_remark_and_no_figure() -> None:
    text = "100+0 records in\n100+0 records out\n" + SUMMARIES[0]
    part = read(text)
    assert figures(part) == []
    assert codes(part) == ["no_cipher"]
    assert part.understood == {1, 2, 3}
    assert rates(read(text, cipher="aes128-ctr")) == [("aes128-ctr", 308_404_706)]


def test_a_command_names_cipher_mac_compression_and_target() -> None:
    ssh = 'ssh -C -c aes128-ctr -m hmac-md5 me@attic "cat >/dev/null"'
    command = f"$ dd if=/dev/zero bs=1M count=100 | {ssh}"
    (figure,) = figures(read(f"{command}\n{SUMMARIES[0]}"))
    assert (figure.cipher, figure.mac, figure.compression) == ("aes128-ctr", "hmac-md5", True)
    assert (figure.target_kind, figure.target_name) == ("remote", "attic")


@each("target", ("localhost", "me@127.0.0.1", "::1", "root@localhost"))
def test_this_machine_is_no_remote_target(target: str) -> None:
    command = f"$ dd if=/dev/zero bs=1M count=100 | ssh -oCiphers=aes128-ctr {target} cat"
    (figure,) = figures(read(f"{command}\n{SUMMARIES[0]}"))
    assert (figure.target_kind, figure.target_name) == ("loopback", None)


def test_both_ends_of_one_transfer_count_once() -> None:
    command = "$ dd if=/dev/zero bs=1M count=100 | ssh -c aes128-ctr attic dd of=/dev/null"
    part = read(f"{command}\n{SUMMARIES[0]}\n104857600 bytes (105 MB) copied, 0.39 s, 269 MB/s")
    assert rates(part) == [("aes128-ctr", 308_404_706)]
    assert codes(part) == ["repeated"]


def test_unlike_tries_under_a_name_each_count() -> None:
    part = read(f"aes128-ctr\n{SUMMARIES[0]}\n104857600 bytes (105 MB) copied, 0.39 s, 269 MB/s")
    assert len(figures(part)) == 2


def test_progress_is_not_counted() -> None:
    part = read(
        "aes128-ctr\n52428800 bytes (52 MB, 50 MiB) copied, 1 s, 52.4 MB/s\n"
        "100+0 records in\n100+0 records out\n"
        "104857600 bytes (105 MB, 100 MiB) copied, 2.01 s, 52.2 MB/s\n"
    )
    assert rates(part) == [("aes128-ctr", 52_167_960)]


def test_what_a_failed_connection_took_is_no_figure() -> None:
    part = read(f"Cipher: arcfour (try 1)\nno matching cipher found\n{SUMMARIES[0]}")
    assert figures(part) == []
    assert part.understood == {1, 2, 3}


def test_a_dd_that_does_not_go_through_ssh_is_no_figure() -> None:
    part = read(
        f"$ dd if=/dev/zero bs=1M count=100 | ssh -c aes128-ctr localhost cat\n{SUMMARIES[0]}\n"
        f"$ dd if=/dev/zero of=/tmp/file bs=1M count=100\n{SUMMARIES[0]}\n"
    )
    assert len(figures(part)) == 1


def test_few_bytes_are_implausible() -> None:
    (figure,) = figures(read("aes128-ctr\n65536 bytes (66 kB) copied, 0.001 s, 65.5 MB/s"))
    assert figure.implausible


def test_a_listing_of_ciphers_is_no_heading() -> None:
    assert refused(
        f"$ ssh -Q cipher\n3des-cbc\naes128-ctr\n$ dd bs=1M | ssh nas cat\n{SUMMARIES[0]}"
    ) == ["no_cipher"]


def test_the_log_of_ssh_names_the_cipher() -> None:
    part = read(
        "$ dd if=/dev/zero bs=1M count=100 | ssh -v localhost cat\n"
        "debug1: kex: client->server cipher: aes256-ctr MAC: hmac-sha1 compression: none\n"
        f"{SUMMARIES[0]}\n"
    )
    assert rates(part) == [("aes256-ctr", 308_404_706)]


def test_a_text_that_lost_its_line_breaks_reads_like_one_that_has_them() -> None:
    lines = [
        "Cipher: aes128-cbc (try 1)",
        "real 0.41",
        "user 0.21",
        "sys 0.06",
        "100+0 records in",
        "100+0 records out",
        SUMMARIES[1],
        "Cipher: aes128-ctr (try 1)",
        SUMMARIES[1],
    ]
    assert rates(read(" ".join(lines))) == rates(read("\n".join(lines)))
    assert len(rates(read(" ".join(lines)))) == 2


@each(
    ("command", "amount"),
    (
        ("dd if=/dev/zero bs=1M count=100", 104_857_600),
        ("dd count=1000 bs=1000000 if=/dev/zero", 1_000_000_000),
        ("dd if=/dev/zero bs=4MB count=2", 8_000_000),
        ("dd if=/dev/zero count=4", 2048),
        ("dd if=/dev/zero bs=64k", None),
        ("dd if=/dev/zero bs=$BS count=100", None),
        ("cat /dev/zero | head -c 1024M", 1_073_741_824),
    ),
)
def test_a_command_says_how_many_bytes_it_sends(command: str, amount: int | None) -> None:
    assert amount_of(command) == amount


@each(
    "line",
    (
        "104857600 bytes transferred in 1e999 secs",
        "104857600 bytes transferred in 1e999 secs (0 bytes/sec)",
        "104857600 bytes transferred in 1e-999 secs",
        "104857600 bytes (105 MB) copied, 1e-323 s",
        "104857600 bytes (105 MB) copied, 1e300 s",
    ),
)
def test_seconds_that_no_clock_counts_make_no_rate(line: str) -> None:
    part = read(f"aes128-ctr\n{line}\n")
    assert figures(part) == []
    assert codes(part) in (["not_a_rate"], ["damaged"])


def test_an_amount_beyond_any_disk_is_none() -> None:
    assert amount_of("dd if=/dev/zero bs=999999999999T count=999999999999T") is None


@each("name", ("Cifrado: {}", "加密算法：{}", "*** {} ***", "** {} **"))
def test_a_name_is_a_heading_in_other_words_and_frames(name: str) -> None:
    dd = (
        "记录了1000+0 的读入\n记录了1000+0 的写出\n1048576000字节(1.0 GB)已复制，10 秒，105 MB/秒\n"
    )
    ciphers = ("aes128-ctr", "aes256-ctr")
    loop = "u@nas:~$ for c in aes128-ctr aes256-ctr; do dd | ssh -c $c pi 'cat >/dev/null'; done\n"
    part = read(loop + "".join(f"{name.format(one)}\n{dd}" for one in ciphers))
    assert rates(part) == [(one, 104_857_600) for one in ciphers]
    assert [one.host for one in part.sections] == ["nas"]
