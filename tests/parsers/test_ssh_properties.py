"""What holds for every ssh text: lists and blocks read back, nothing raises, nothing is slow."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from parsers.ssh.names import mac_name
from parsers.ssh.units import number_of, number_style
from tests.cases import each
from tests.parsers.linear_time import TIMES_LONGER, is_linear
from tests.parsers.ssh_reading import codes, figures, rates, read, speed

CIPHERS = [
    "3des-cbc",
    "aes128-cbc",
    "aes192-cbc",
    "aes256-cbc",
    "aes128-ctr",
    "aes192-ctr",
    "aes256-ctr",
    "arcfour128",
    "arcfour256",
    "blowfish-cbc",
    "cast128-cbc",
    "rijndael-cbc@lysator.liu.se",
    "twofish256-ctr",
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "chacha20-poly1305@openssh.com",
]
MACS = ["hmac-md5", "hmac-sha1", "hmac-sha2-256-etm@openssh.com", "umac-64@openssh.com"]
UNITS = {
    "MB/s": 10**6,
    "MiB/s": 2**20,
    "MB/sec": 10**6,
    "Mbyte/s": 10**6,
    "MBps": 10**6,
    "GB/s": 10**9,
    "GiB/s": 2**30,
    "kB/s": 10**3,
    "KiB/s": 2**10,
    "Mbit/s": 125_000,
    "Gbit/s": 125_000_000,
    "bytes/s": 1,
}
LAYOUTS = (
    "{cipher}: {rate} {unit}",
    "{cipher} - {rate} {unit}",
    "{cipher}={rate}{unit}",
    "{cipher}\t\t{rate}\t{unit}",
    "{cipher}     {rate}  {unit}",
    "| {cipher} | {rate} {unit} |",
    "| **{cipher}** | {rate} | {unit} |",
    "{rate} {unit}  {cipher}",
    '"{cipher}": "{rate} {unit}"',
    "* `{cipher}` {rate} {unit}",
    "> {cipher}: {rate} {unit}",
)
ciphers = st.sampled_from(CIPHERS)
hundredths = st.integers(1, 99_999)


@given(
    layout=st.sampled_from(LAYOUTS),
    unit=st.sampled_from(sorted(UNITS)),
    comma=st.booleans(),
    rows=st.lists(st.tuples(ciphers, hundredths), min_size=1, max_size=12),
)
def test_a_list_reads_back_in_every_layout_and_unit(
    layout: str, unit: str, comma: bool, rows: list[tuple[str, int]]
) -> None:
    half = len(rows) // 2
    assume(rows[:half] != rows[half:])  # a list that was pasted twice counts once
    printed = [(cipher, f"{value / 100:.2f}") for cipher, value in rows]
    lines = [
        layout.format(cipher=cipher, rate=rate.replace(".", ",") if comma else rate, unit=unit)
        for cipher, rate in printed
    ]
    read_back = [(one.cipher, speed(one)) for one in figures(read("\n".join(lines)))]
    expected = [(cipher, float(rate) * UNITS[unit]) for cipher, rate in printed]
    assert [cipher for cipher, _ in read_back] == [cipher for cipher, _ in expected]
    assert [rate for _, rate in read_back] == pytest.approx([rate for _, rate in expected])


@given(
    rows=st.lists(ciphers, min_size=1, max_size=6, unique=True),
    macs=st.lists(st.sampled_from(MACS), min_size=2, max_size=4, unique=True),
    data=st.data(),
)
def test_a_matrix_of_ciphers_and_macs_reads_back(
    rows: list[str], macs: list[str], data: st.DataObject
) -> None:
    cells = {(row, mac): data.draw(hundredths) for row in rows for mac in macs}
    lines = ["MB/s:", f"| cipher | {' | '.join(macs)} |", "|---" * (len(macs) + 1) + "|"]
    for row in rows:
        values = " | ".join(f"{cells[row, mac] / 100:.2f}" for mac in macs)
        lines.append(f"| {row} | {values} |")
    found = {(one.cipher, one.mac): round(speed(one)) for one in figures(read("\n".join(lines)))}
    assert found == {(row, mac_name(mac)): value * 10**4 for (row, mac), value in cells.items()}


WORDS = (
    ("bytes", "copied", "s"),
    ("Bytes", "kopiert", "s"),
    ("octets", "copiés", "s"),
    ("byte", "kopierade", "s"),
    ("bytes", "copiados", "s"),
    ("bajtów", "skopiowane", "s"),
    ("байт", "скопировано", "s"),
    ("byte", "copiati", "s"),
)


@given(
    words=st.sampled_from(WORDS),
    comma=st.booleans(),
    binary=st.booleans(),
    blocks=st.lists(
        st.tuples(ciphers, st.integers(2**20, 2**40), st.integers(1, 10**7)), min_size=1, max_size=8
    ),
)
def test_dd_summaries_read_back_in_every_language(
    words: tuple[str, str, str], comma: bool, binary: bool, blocks: list[tuple[str, int, int]]
) -> None:
    lines: list[str] = []
    expected = []
    for number, (cipher, moved, milliseconds) in enumerate(blocks):
        seconds = f"{milliseconds / 1000:.6g}"
        sizes = f"{moved / 10**6:.0f} MB" + (f", {moved / 2**20:.0f} MiB" if binary else "")
        rate = f"{moved / float(seconds) / 10**6:.1f}"
        line = f"{moved} {words[0]} ({sizes}) {words[1]}, {seconds} {words[2]}, {rate} MB/s"
        summary = line.replace(".", ",") if comma else line
        lines += [f"Cipher: {cipher} (try {number})", "1+0 records in", "1+0 records out", summary]
        expected.append((cipher, moved, float(seconds)))
    found = [(one.cipher, one.bytes, one.seconds) for one in figures(read("\n".join(lines)))]
    assert found == expected


@given(
    style=st.sampled_from(["bash", "posix", "gnu", "busybox", "zsh"]),
    blocks=st.lists(st.tuples(ciphers, st.integers(1, 36_000_000)), min_size=1, max_size=8),
)
def test_times_read_back_from_every_shell(style: str, blocks: list[tuple[str, int]]) -> None:
    lines: list[str] = []
    for number, (cipher, hundredth) in enumerate(blocks):
        lines += [f"Cipher: {cipher} (try {number})", _time_block(style, hundredth)]
    part = read("\n".join(lines), transferred=2**30)
    found = figures(part)
    assert [one.cipher for one in found] == [cipher for cipher, _ in blocks]
    assert [one.seconds for one in found] == pytest.approx([value / 100 for _, value in blocks])
    assert codes(part) == ["wall_clock"]


def _time_block(style: str, hundredths_of_a_second: int) -> str:
    seconds = hundredths_of_a_second / 100
    minutes, rest = divmod(hundredths_of_a_second, 6000)
    if style == "bash":
        return f"real\t{minutes}m{rest / 100:.3f}s\nuser\t0m0.100s\nsys\t0m0.100s"
    if style == "posix":
        return f"real {seconds:.2f}\nuser 0.10\nsys 0.10"
    if style == "gnu":
        return f"0.10user 0.10system {minutes}:{rest / 100:05.2f}elapsed 14%CPU"
    if style == "busybox":
        return f"real\t{minutes}m {rest / 100:.2f}s\nuser\t0m 0.10s\nsys\t0m 0.10s"
    return f"ssh -c x localhost  0.10s user 0.10s system 14% cpu {seconds:.2f} total"


@given(st.floats(0.001, 1e6))
def test_numbers_read_back_with_either_decimal_mark(value: float) -> None:
    for printed in (f"{value:.4f}", f"{value:.2f}"):
        assert number_of(printed, None) == float(printed)
        comma = printed.replace(".", ",")
        assert number_of(comma, number_style([comma])) == float(printed)


FRAGMENTS = (
    *CIPHERS[:4],
    *MACS,
    *(
        "104.1",
        "MB/s",
        "1,234",
        "-",
        "|",
        ":",
        "\n",
        "\n",
        "\t",
        " ",
        "real",
        "0m3.3s",
        "user",
        "sys",
    ),
    *(
        "104857600 bytes (105 MB) copied, 0.34 s, 308 MB/s",
        "100+0 records in",
        "Cipher:",
        "(try 1)",
    ),
    *(
        "$ dd bs=1M count=100 | ssh -c aes128-ctr host",
        "OPENSSL_ia32cap=",
        "\\",
        "```",
        "\r",
        "\x1b[1m",
    ),
    *("flags : fpu aes", "Linux a 6.1 x86_64", "OpenSSH_9.2p1, OpenSSL 3", "100%", "0:03.3elapsed"),
    *(
        "#",
        "=",
        "---",
        "inf",
        "nan",
        "-1",
        "e9",
        "\u202f",
        "’",
        "١٢٣",
        "²",
        "İ",
        "(",
        ")",
        '"',
        "$",
    ),
)


@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=6), max_size=60).map("".join))
@settings(max_examples=150, deadline=None)
def test_no_text_raises_and_every_rate_is_positive(text: str) -> None:
    part = read(text, unit=None, transferred=10**9, cipher="aes128-ctr")
    lines = text.count("\n") + 1
    assert all(speed(figure) > 0 for figure in figures(part))
    assert all(1 <= figure.line <= lines for figure in figures(part))
    assert all(1 <= number <= lines for number in part.understood)
    assert all(1 <= remark.line <= lines for remark in part.remarks)


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=40).map(" ".join))
def test_a_text_without_a_cipher_has_no_figure(text: str) -> None:
    for cipher in CIPHERS:
        text = text.replace(cipher, "no-name")
    assert rates(read(text, transferred=10**9)) == []


NASTY = (
    "aes128-ctr ",
    "aes128-ctr: 1 MB/s\n",
    "aes128-ctr\n1048576 bytes (1 MB) copied, 1 s, 1.0 MB/s\n",
    "1048576 bytes (1 MB) copied, 1 s, 1.0 MB/s\n",
    "1 bytes (1 MB) copied, ",
    "1 bytes ",
    "1+0 records in ",
    "real 0m1.0s ",
    "real 1.00\n",
    "1:",
    "1.0user ",
    "a/",
    "a@b:",
    " ssh -c ",
    "$ ssh -c aes128-ctr localhost \\\n",
    "$ dd bs=1M count=100 | ssh -c aes128-ctr localhost |\n",
    "x=y ",
    "cipher | MB/s\n",
    "hmac-md5 | ",
    "OPENSSL_ia32cap=0x",
    "1,",
    "((((",
    "....",
    "- - - ",
    "\r100% 41MB 1.2MB/s 00:35",
    "Heading:\naes128-ctr: 5 MB/s\n",
    "Cipher: aes128-ctr (try 1)\nreal 1.00\n",
    "aes128-ctr: 1 MB/s 2 MB/s 1 MB/s\n",
    "aes128-ctr\n1 MB/s\nnetcat:\n",
    "nas$ dd if=x of=y\n",
    "dd if=x of=y | ",
    "ssh -c aes128-ctr nas 'dd if=x ",
    "aes128-ctr 1 -> 2 MB/s\n",
    "1 (a) ",
    "> 1 < 2 ",
    "cpu 45% cpu ",
    "cipher,MB/s\naes128-ctr,1\n",
    "cipher bits MB/s ",
    "Monday 1 day 2015-01-01 ",
)
SIZES = (5_000, 5_000 * TIMES_LONGER)


@pytest.mark.no_cover
@each("piece", NASTY)
def test_the_time_is_linear_in_the_length(piece: str) -> None:
    short, long = ((piece * (size // len(piece) + 1))[:size] for size in SIZES)
    assert is_linear(read, short, long)
