"""Times by the clock on the wall, from every shell, and the rates they make."""

import pytest

from parsers.ssh.time_blocks import spans
from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read, refused

SENT = 1_000_000_000
BLOCKS = (
    "real\t0m3.300s\nuser\t0m0.360s\nsys\t0m0.120s",
    "real    0m3,300s\nuser    0m0,360s\nsys     0m0,120s",
    "real 3.30\nuser 0.36\nsys 0.12",
    "real 0m 3.30s\nuser 0m 0.36s\nsys 0m 0.12s",
    "0.36user 0.12system 0:03.30elapsed 14%CPU (0avgtext+0avgdata 4384maxresident)k\n"
    "0inputs+0outputs (0major+2086minor)pagefaults 0swaps",
    "0.36 user\n0.12 system\n0:03.30 elapsed\n14% CPU (0avgtext+0avgdata 4384maxresident)k",
    "        3.30 real         0.36 user         0.12 sys",
    "0.360u 0.120s 0:03.30 14.5%\t0+0k 0+0io 0pf+0w",
    "Executed in    3.30 secs    fish           external",
    "\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:03.30\n\tExit status: 0",
    "ssh -c aes128-ctr localhost cat  0.36s user 0.12s system 14% cpu 3.300 total",
)


@each("block", BLOCKS)
def test_a_time_and_the_bytes_told_make_a_figure(block: str) -> None:
    part = read(f"aes128-ctr\n{block}\n", transferred=SENT)
    (figure,) = figures(part)
    assert (figure.cipher, figure.bytes, figure.seconds) == ("aes128-ctr", SENT, 3.3)
    assert codes(part) == ["wall_clock"]
    assert part.understood == set(range(1, 2 + len(block.splitlines())))


@each(
    ("text", "seconds"),
    (
        ("real 5m 13.44s", 313.44),
        ("real    1h2m3.5s", 3723.5),
        ("1:05.91elapsed", 65.91),
        ("1:01:05.91 elapsed", 3665.91),
    ),
)
def test_minutes_and_hours_count(text: str, seconds: float) -> None:
    ((_, _, span),) = spans(text)
    assert span.seconds == pytest.approx(seconds)


def test_the_command_says_how_many_bytes() -> None:
    part = read(f"$ time head -c 1024M /dev/zero | ssh -c aes128-ctr localhost cat\n{BLOCKS[0]}")
    assert rates(part) == [("aes128-ctr", round(1024 * 2**20 / 3.3))]


def test_a_loop_says_it_for_all_its_ciphers() -> None:
    part = read(
        "for c in aes128-ctr aes256-ctr; do echo $c\n"
        '  dd if=/dev/zero bs=1M count=100 | ssh -c $c attic "(time -p cat) >/dev/null"\n'
        "done\n"
        "aes128-ctr\nreal 1.00\nuser 0.10\nsys 0.01\naes256-ctr\nreal 2.00\nuser 0.10\nsys 0.01\n"
    )
    assert rates(part) == [("aes128-ctr", 104_857_600), ("aes256-ctr", 52_428_800)]
    assert {figure.target_name for figure in figures(part)} == {"attic"}


@each("words", ("photos over nfs:", "backup of photos", "unpacking it:"))
def test_a_time_of_another_thing_is_no_figure(words: str) -> None:
    assert figures(read(f"aes128-ctr\n{words} real 0m2.1s\n", transferred=10**8)) == []


def test_without_the_bytes_there_is_a_remark_and_no_figure() -> None:
    assert refused(f"aes128-ctr\n{BLOCKS[0]}") == ["no_amount"]


def test_without_a_cipher_there_is_a_remark_and_no_figure() -> None:
    part = read(BLOCKS[0], transferred=SENT)
    assert figures(part) == []
    assert codes(part) == ["no_cipher"]


def test_what_dd_says_goes_before_the_time_around_it() -> None:
    summary = "1000000000 bytes (1.0 GB, 954 MiB) copied, 3.25 s, 308 MB/s"
    for text in (f"{BLOCKS[2]}\n{summary}", f"{summary}\n{BLOCKS[2]}"):
        (figure,) = figures(read(f"Cipher: aes128-ctr (try 1)\n{text}\n"))
        assert figure.seconds == 3.25


def test_tries_of_one_cipher_are_figures_of_one_series() -> None:
    blocks = [
        f"Cipher: aes128-ctr (try {one})\nreal {one}.00\nuser 0.10\nsys 0.01" for one in (1, 2, 3)
    ]
    part = read("\n\n".join(blocks), transferred=SENT)
    assert rates(part) == [
        ("aes128-ctr", SENT),
        ("aes128-ctr", SENT // 2),
        ("aes128-ctr", 333_333_333),
    ]


def test_zsh_times_the_parts_of_a_pipeline_of_which_ssh_is_the_transfer() -> None:
    part = read(
        "$ dd if=/dev/zero bs=1M count=100 | ssh -c aes128-ctr localhost cat\n"
        "dd if=/dev/zero bs=1M count=100  0.00s user 0.05s system 14% cpu 0.306 total\n"
        "ssh -c aes128-ctr localhost cat  0.36s user 0.12s system 14% cpu 0.310 total\n"
    )
    assert rates(part) == [("aes128-ctr", round(104_857_600 / 0.31))]


LOOPED = "head -c 1G /dev/zero | ssh -c aes128-ctr h 'cat >/dev/null'"


@each(
    "timed",
    (
        f"$ time for i in 1 2 3; do {LOOPED}; done",
        f"$ time -p for i in $(seq 5); do {LOOPED}; done",
        f"$ i=0; time while [ $i -lt 4 ]; do {LOOPED}; i=$((i+1)); done",
        f"% time (repeat 3 {{ {LOOPED} }})",
        f"$ time (for i in 1 2 3; do {LOOPED}; done)",
        f'$ /usr/bin/time -p bash -c "for i in 1 2; do {LOOPED}; done"',
        f"$ time for i in 1 2 3; {LOOPED}; end",
        f"$ time for i in 1 2 3; do\n> {LOOPED}\n> done",
        f"$ time {{\n> for i in 1 2 3; do {LOOPED}; done; }}",
        f"for i in 1 2 3; do echo; time for i in 1 2 3; do\n{LOOPED}\ndone; done",
        "$ time for c in aes128-ctr aes256-ctr; do echo $c; head -c 1G /dev/zero | ssh -c $c h"
        " 'cat >/dev/null'; done\naes128-ctr\naes256-ctr",
    ),
)
def test_the_time_of_a_loop_is_no_transfers(timed: str) -> None:
    part = read(f"{timed}\nreal 29.90\nuser 4.10\nsys 1.20\n", transferred=SENT)
    assert figures(part) == []
    assert codes(part) == ["command_unclear"]
    after = read(f"{timed}\nreal 29.90\n$ time {LOOPED}\nreal 9.90\n")
    assert rates(after) == [("aes128-ctr", round(2**30 / 9.9))]


@each("name", ("{}", "Cipher: {}"))
@each("above", ("", f"3des-cbc\n{BLOCKS[0]}\n$ time ./bench.sh\n"))
def test_one_time_below_several_names_is_of_none(above: str, name: str) -> None:
    names = "\n".join(map(name.format, ("aes128-ctr", "aes256-ctr")))
    part = read(f"{above}{names}\n\n{BLOCKS[1]}\n", transferred=SENT)
    assert {one.cipher for one in figures(part)} <= {"3des-cbc"}
    assert "no_cipher" in codes(part)


@each("started", ("time ", "echo time for $c; time ", "time -p sudo "))
def test_a_loop_of_times_has_a_time_a_transfer(started: str) -> None:
    sent = "head -c 1G /dev/zero | ssh -c $c h 'cat >/dev/null'"
    part = read(
        f"$ for c in aes128-ctr aes256-ctr; do echo $c; {started}{sent}; done\n"
        "aes128-ctr\nreal 10.00\naes256-ctr\nreal 20.00\n"
    )
    assert rates(part) == [("aes128-ctr", 107_374_182), ("aes256-ctr", 53_687_091)]


D, W = "dd if=/dev/zero bs=1M count=1000 status=none", "ssh -c aes128-ctr h 'cat >/dev/null'"


@each(
    "timed",
    (
        f"time dd if=/dev/zero of=/tmp/z bs=1M count=1000 status=none && cat /tmp/z | {W}",
        f"{D} | {W}; time sync",
        f"time sync; {D} | {W}",
        f"time ({D} | {W}; sync)",
        f"time {{ {D} | {W}; sleep 2; }}",
        f"time {D} | ssh -c aes128-ctr h 'cat >/dev/null && sync'",
    ),
)
def test_the_time_of_more_than_the_transfer_is_none_of_it(timed: str) -> None:
    part = read(f"$ {timed}\nreal 10.00\nuser 4.10\nsys 1.20\n")
    assert figures(part) == []
    assert codes(part) == ["command_unclear"]


@each(
    "timed",
    (
        f"time {D} | {W}",
        f"time ({D} | {W})",
        f"time {{ {D} | {W}; }}",
        f"time {D} | {W} 2>&1",
        f'/usr/bin/time -p sh -c "{D} | {W}"',
        f"cd /tmp; time {D} | {W}; date",
    ),
)
def test_the_time_of_the_transfer_alone_is_its_time(timed: str) -> None:
    assert rates(read(f"$ {timed}\nreal 10.00\n")) == [("aes128-ctr", 104_857_600)]


@each("amount", ("bs=1M count=1GB", "bs=1M count=1000B", "bs=512B count=1M"))
def test_a_count_that_is_bytes_to_some_versions_of_dd_is_unknown(amount: str) -> None:
    part = read(f"$ time dd if=/dev/zero {amount} status=none | {W}\nreal 10.00\n")
    assert codes(part) == ["no_amount"]
