import textwrap
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from texts.context import Context
from texts.read import read_text
from texts.types import Hints

SSH_CIPHERS = ("aes128-ctr", "aes256-gcm@openssh.com", "3des-cbc", "arcfour256")
OPENSSL_CIPHERS = ("aes-128-cbc", "aes-256-gcm", "des-ede3-cbc", "chacha20-poly1305")
PIECES = (
    *SSH_CIPHERS, *OPENSSL_CIPHERS, "104.2 MB/s", "12,5 MiB/s", "90320.55k", "16 bytes", "type",
    "Doing aes-128-cbc for 3s on 16 size blocks: 1 aes-128-cbc's in 3.00s", "+F:22:aes-128-cbc:1.5",
    "real 0m1.0s", "104857600 bytes (105 MB) copied, 1 s, 105 MB/s", "$ ", "me@nas:~$ ", "> ", "| ",
    "ssh -c aes128-ctr nas", "openssl speed -evp aes-128-cbc", "w/o AES-NI:", "## NAS", ":", "\n",
    "\n\n", " ", "\t", ",", "flags : fpu vme de pse aes", "Modellname: Intel(R) Core(TM) i7-8565U",
    "OpenSSL 3.0.2 15 Mar 2022", "uname", "0.00", "-1.00k", "infk", "\\", "```", "é", "<td>",
)  # fmt: skip

texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=40).map("".join)
rates = st.floats(0.01, 5_000).map(lambda rate: round(rate, 2))


def test_a_row_that_fails_does_not_label_later_results(monkeypatch: pytest.MonkeyPatch) -> None:
    emit = Context.emit

    def fail_at_first(context: Context, *values: Any, **fields: Any) -> None:
        if "A53" in context.line.text:
            raise ValueError
        emit(context, *values, **fields)

    monkeypatch.setattr(Context, "emit", fail_at_first)
    rows = ("aes-128-cbc 9.00k (Cortex-A53)", "aes-192-cbc 8.00k", "aes-256-cbc 7.00k (Cortex-A72)")
    reading = read_text("\n".join(("type 16 bytes", *rows)))
    assert [remark.code for remark in reading.remarks] == ["parser_failed"]
    assert [section.label for section in reading.sections] == ["from line 3", "Cortex-A72"]


@given(texts)
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_without_a_failure(text: str) -> None:
    reading = read_text(text)
    assert not [remark for remark in reading.remarks if remark.code == "parser_failed"]
    keys = [figure.key for figure in reading.figures()]
    assert len(keys) == len(set(keys))
    for figure in reading.figures():
        assert figure.rate > 0
        assert 1 <= figure.line <= text.count("\n") + 1


@given(
    st.dictionaries(st.sampled_from(SSH_CIPHERS), rates, min_size=1), st.sampled_from(["MB", "MiB"])
)
@settings(max_examples=100, deadline=None)
def test_a_list_gives_each_rate_as_written(listed: dict[str, float], unit: str) -> None:
    text = "\n".join(f"{cipher}: {rate} {unit}/s" for cipher, rate in listed.items())
    scale = 1e6 if unit == "MB" else 2**20
    found = {figure.cipher: figure for figure in read_text(text).figures()}
    assert {cipher: figure.rate for cipher, figure in found.items()} == {
        cipher: pytest.approx(rate * scale) for cipher, rate in listed.items()
    }
    assert not any(figure.uncertain for figure in found.values())


@given(
    st.sampled_from(OPENSSL_CIPHERS),
    st.lists(st.floats(1, 9e6).map(lambda rate: round(rate, 2)), min_size=2, max_size=6),
)
@settings(max_examples=100, deadline=None)
def test_a_table_of_openssl_gives_each_cell_as_written(cipher: str, cells: list[float]) -> None:
    sizes = [16, 64, 256, 1024, 8192, 16384][: len(cells)]
    head = "type " + " ".join(f"{size:>9} bytes" for size in sizes)
    row = f"{cipher:<13}" + " ".join(f"{cell:11.2f}k" for cell in cells)
    figures = list(read_text(f"{head}\n{row}\n").figures())
    assert [figure.block_size for figure in figures] == sizes
    assert [figure.rate for figure in figures] == pytest.approx([cell * 1000 for cell in cells])


@given(st.integers(2**20, 2**40), st.floats(0.5, 900).map(lambda seconds: round(seconds, 3)))
@settings(max_examples=60, deadline=None)
def test_a_report_of_dd_keeps_bytes_and_seconds(size: int, seconds: float) -> None:
    command = "$ dd if=/dev/zero bs=1M | ssh -c aes128-ctr nas 'cat >/dev/null'"
    (figure,) = read_text(f"{command}\n{size} bytes copied, {seconds} s\n").figures()
    assert (figure.bytes, figure.seconds, figure.target_name) == (size, seconds, "nas")


def test_a_format_that_the_reader_names_is_the_only_one_read() -> None:
    both = "aes128-ctr: 2 MB/s\n\nreal    0m4.000s\n"
    hints = Hints(transferred=400, cipher="3des-cbc")
    for name in ("cipher-list", "time"):
        reading = read_text(both, replace(hints, format=name))
        assert [figure.format for figure in reading.figures()] == [name]


def test_a_text_without_figures_says_which_lines_came_nearest() -> None:
    reading = read_text("Hello\n\n105 MB/s\nreal 0m3.2s\nmars-cbc 12 MB/s\n")
    assert not reading.sections
    assert {(remark.line, remark.code) for remark in reading.remarks} == {
        (3, "no_cipher"), (4, "no_cipher"), (5, "no_cipher"),
    }  # fmt: skip
    assert [line.line for line in reading.unrecognised] == [1, 3, 4, 5]


FLAGS = (
    "fpu vme de pse tsc msr pae mce cx8 sep mtrr pge cmov pat clflush mmx fxsr sse sse2 ht syscall"
    " nx rdtscp constant_tsc pni pclmulqdq ssse3 cx16 sse4_1 sse4_2 x2apic movbe popcnt aes xsave"
    " avx f16c rdrand hypervisor lahf_lm abm bmi1 avx2 smep bmi2 erms rdseed adx smap"
)


@given(st.integers(50, 200), st.sampled_from(("Flags:              ", "flags\t\t: ")))
def test_a_list_of_flags_that_was_wrapped_is_read_to_its_end(width: int, key: str) -> None:
    line = key + FLAGS
    lines = [*textwrap.wrap(line, width), "", "aes128-ctr: 104.2 MB/s"]
    (section,) = read_text("\n".join(lines)).sections
    assert "aes" in section.environment["cpu"]["flags"]


RANGES = (
    "20-30 MB/s",
    "20.5 – 30 MB/s",
    "about 20 to 30 MB/s",
    "20..30 MB/s",
    "20MB/s~30MB/s",
    "20-30MB/s",
)


@pytest.mark.parametrize("rates", (*RANGES, "20 MB/s - 30 MB/s"))
def test_a_range_is_uncertain(rates: str) -> None:
    *_, figure = read_text(f"3des-cbc: {rates}").figures()
    assert (figure.rate, figure.uncertain) == (30e6, "a range, not a single rate")
    assert not list(read_text(f"3des-cbc: 20 {chr(177)}3 MB/s").figures())


@pytest.mark.parametrize("mark", ("- ", "1. ", "12. ", "// ", "> "))
def test_marks_of_lists_and_comments_are_no_part_of_a_line(mark: str) -> None:
    lines = ("type 16 bytes 64 bytes", "aes-128-cbc 90320.55k 101336.58k", "3des-cbc: 20.5 MB/s")
    figures = list(read_text("\n".join(mark + line for line in lines)).figures())
    assert [figure.rate for figure in figures] == [90320550.0, 101336580.0, 20.5e6]
    assert not any(figure.uncertain for figure in figures)


def test_a_cipher_that_the_command_does_not_measure_is_listed() -> None:
    reading = read_text("$ openssl speed -bytes 16 aes-128-cbc\nDES 90 MB/s\n")
    assert list(reading.figures()) == []
    assert [(remark.line, remark.code) for remark in reading.remarks] == [(2, "unknown_cipher")]
