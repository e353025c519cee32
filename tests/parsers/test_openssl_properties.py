"""Properties of the `openssl speed` and sbc-bench parsers: what holds for any text."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsers.lines import numbered_lines
from parsers.openssl.cipher_names import canonical_cipher
from parsers.openssl.speed import read_openssl_speed
from parsers.sbc_bench.reports import read_sbc_bench
from tests.cases import each
from tests.parsers.linear_time import TIMES_LONGER, is_linear
from tests.parsers.openssl_texts import (
    CLASSIC,
    MODERN,
    NUMBERS,
    capture,
    doing,
    figures,
    header,
    rates,
    read,
    row,
)

LABELS = (
    "rc4", "des cbc", "des ede3", "blowfish cbc", "aes-128 cbc", "aes-256-cbc", "AES-128-GCM",
    "ChaCha20-Poly1305", "camellia-128-cbc", "CAMELLIA-256-CBC", "idea cbc", "rc5-32/12 cbc",
)  # fmt: skip
SIZES = (
    CLASSIC, MODERN, (8, 64, 256, 1024, 8192), (2, 31, 136, 1024, 8192, 16384), (1420,), (1048576,),
)  # fmt: skip
VERSIONS = ("", "SSLeay 0.8.2a 04-Sep-1997", "OpenSSL 0.9.8zh 14 Jan 2016", "version: 3.5.0")

FIGURE = st.integers(1_000_001, 10**13).map(lambda tens: tens / 100 * 10)
"""Bytes per second that are printed in thousands without being rounded."""


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[int], dict[str, list[float]], list[str]]:
    """Block sizes, rates by label, and the lines of a table of them."""
    blocks = draw(st.sampled_from(SIZES))
    labels = draw(
        st.lists(st.sampled_from(LABELS), min_size=1, max_size=6, unique_by=canonical_cipher)
    )
    rows = {
        label: [draw(FIGURE.map(lambda rate: round(rate, -1))) for _ in blocks] for label in labels
    }
    lines = [draw(st.sampled_from(VERSIONS)), NUMBERS, header(blocks)]
    return list(blocks), rows, lines + [row(label, rows[label]) for label in labels]


def _indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]


def _quoted(lines: Sequence[str]) -> list[str]:
    return ["> " + line for line in lines]


def _collapsed(lines: Sequence[str]) -> list[str]:
    return [" ".join(line.split()) for line in lines]


def _fenced(lines: Sequence[str]) -> list[str]:
    return ["Here it is:", "```", *lines, "```", "Any thoughts?"]


def _wrapped(lines: Sequence[str]) -> list[str]:
    return [line[at : at + 80] for line in lines for at in range(0, max(1, len(line)), 80)]


def _windows(lines: Sequence[str]) -> list[str]:
    return ["\ufeff" + lines[0] + "\r", *(line + "\r" for line in lines[1:])]


def _as_it_is(lines: Sequence[str]) -> list[str]:
    return list(lines)


SHAPES = (_as_it_is, _indented, _quoted, _collapsed, _fenced, _wrapped, _windows)


@given(tables(), st.sampled_from(SHAPES))
def test_a_table_in_any_shape_is_read_as_it_was_made(
    table: tuple[list[int], dict[str, list[float]], list[str]],
    shape: Callable[[Sequence[str]], list[str]],
) -> None:
    blocks, rows, lines = table
    part = read(*shape(lines))
    found = {(one.cipher, one.block_size): one.bytes_per_second for one in figures(part)}
    assert found == {
        (canonical_cipher(label), block): pytest.approx(rate, rel=1e-9)
        for label, values in rows.items()
        for block, rate in zip(blocks, values, strict=True)
    }
    # Random rates need not fit each other; that is said (test_impossible_rows.py), nothing else.
    assert {remark.code for remark in part.remarks} <= {"implausible"}


@given(tables())
def test_machine_output_is_read_as_it_was_made(
    table: tuple[list[int], dict[str, list[float]], list[str]],
) -> None:
    blocks, rows, _ = table
    part = read(
        "+H:" + ":".join(map(str, blocks)),
        *(
            f"+F:{number}:{label}:" + ":".join(f"{rate:.2f}" for rate in values)
            for number, (label, values) in enumerate(rows.items())
        ),
    )
    assert rates(part) == pytest.approx([rate for values in rows.values() for rate in values])


@given(
    st.sampled_from(LABELS),
    st.sampled_from(MODERN),
    st.integers(1, 10**9),
    st.integers(1, 10**4),
)
def test_counts_are_read_as_they_were_made(
    label: str, block: int, count: int, hundredths: int
) -> None:
    part = read(doing(label, block, count, hundredths / 100))
    assert [(one.bytes, one.seconds) for one in figures(part)] == [
        (block * count, hundredths / 100)
    ]


@given(st.data())
def test_a_text_cut_anywhere_yields_no_other_figures(data: st.DataObject) -> None:
    name = data.draw(
        st.sampled_from(("098-classic.human.out", "1.1.1w-multi2.mr.out",
                         "3.5.0-evp-chacha20-poly1305.human.out"))
    )  # fmt: skip
    text = capture(name)
    whole = {(one.cipher, one.block_size, one.bytes_per_second) for one in figures(read(text))}
    cut = read(text[: data.draw(st.integers(0, len(text)))])
    assert {(one.cipher, one.block_size, one.bytes_per_second) for one in figures(cut)} <= whole


WORDS = st.sampled_from(
    (
        *LABELS, "Doing", "for", "3s", "on", "16", "size", "blocks:", "in", "2.99s", "type",
        "bytes",
        "+F:22:", "+H:16:64", "+DT:aes-128-cbc:3:16", "+R:1:aes-128-cbc:1.000000", "Got:", "from 1",
        "1234.56k", "12.34", "-1.00k", "infk", "nan", "0.00", "version:", "OpenSSL 1.1.1d",
        "CPUINFO:", "OPENSSL_ia32cap=~0x2", "openssl speed", "-multi", "-evp", "rsa 512 bits", "|",
        "sbc-bench v0.9", "Distributor ID:", "Model name:", "#" * 70, "\n", "\n", "\t", "`", "*",
    )
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(WORDS, max_size=60).map(" ".join)))
@example("type " + "9" * 5000 + " bytes\nrc4 " + "9" * 5000 + ".00k")
@example("+H:16\n+F:22:rc4:" + "9" * 400 + ".00")
@example("OPENSSL_ia32cap=~0x openssl speed -multi 0 -bytes 0\nrc4 1.00k")
@example("sbc-bench v1 (Sun, 01 Jan 0001 00:00:00 +2359)\n" + "#" * 70 + "\nrc4 1.00k")
@settings(max_examples=150)
def test_no_text_raises_and_each_figure_is_usable(text: str) -> None:
    lines = numbered_lines(text)
    report = read_sbc_bench(lines)
    for part in (read_openssl_speed(lines), *([] if report is None else [report])):
        assert part.understood <= {line.number for line in lines}
        assert all(0 < rate < float("inf") for rate in rates(part))
        for one in figures(part):
            assert one.block_size is not None
            assert one.block_size > 0
            assert one.threads > 0
            assert canonical_cipher(one.label) in (one.cipher, None)
            assert one.bytes is None or one.bytes < 2**63


def _read(text: str) -> None:
    lines = numbered_lines(text)
    read_openssl_speed(lines)
    read_sbc_bench(lines)


LINES = 250
TITLE = "sbc-bench v0.9 Board\n" + "#" * 74 + "\n"
NASTY: tuple[Callable[[int], str], ...] = (
    lambda n: doing("rc4", 16, 9) + "\n" + (doing("rc4", 16, 9)[:-3] + "\n") * n,
    lambda n: "".join(doing("rc4", size + 1, 9) + "\n" for size in range(n))
    + (row("rc4", [1e6] * 5) + "\n") * n,
    lambda n: (row("rc4", [1e6] * 5) + "\n") * n,
    lambda n: header() + "\n16 bytes\n" * n,
    lambda n: header() + "\n" + "rc4\n" + "1.00k\n" * n,
    lambda n: "compiler: gcc\n-O2\n" * n,
    lambda n: "compiler: gcc\n" + "-O2\n" * n,
    lambda n: "Got: +F:22:rc4:1.00 from 1\n" * n,
    lambda n: "".join(f"Forked child {number}\n" for number in range(n)),
    lambda n: f"{header()}\nOne more:\n{row('rc4', [1e6] * 6)}\n" * (n // 3),
    lambda n: ("type 16 bytes " + "1" * 9_000 + "\n") * (n // 100),
    lambda n: ("rc4" + " " * 4_000 + "1" * 5_000 + "\n") * (n // 100),
    lambda n: ("_a" * 4_900 + "\n") * (n // 100),
    lambda n: ("# " * 4_900 + "openssl\n") * (n // 100),
    lambda n: ("Linux 6.1 (a) " + "_" * 9_900 + "\n") * (n // 100),
    lambda n: TITLE + ("sbc-bench v1 " + " " * 9_900 + "x\n") * (n // 100),
    lambda n: TITLE + header() + "\n" + "".join(
        row("rc4", [1e6 + 10 * one] * 6) + f" (Core {one})\n" for one in range(n // 4)
    ),
)  # fmt: skip


@pytest.mark.no_cover
@each("shape", NASTY)
def test_reading_takes_time_in_proportion_to_the_length(shape: Callable[[int], str]) -> None:
    assert is_linear(_read, shape(LINES), shape(LINES * TIMES_LONGER))
