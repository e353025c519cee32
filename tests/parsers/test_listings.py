"""Flags of a CPU are read whole, however narrow the terminal was that showed them."""

import textwrap

from hypothesis import example, given
from hypothesis import strategies as st

from parsers.read_text import read_text
from tests.cases import each
from tests.parsers.openssl_texts import header, rising, row

FLAGS = (
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse"
    " sse2 ss ht syscall nx pdpe1gb rdtscp lm constant_tsc arch_perfmon rep_good nopl xtopology"
    " nonstop_tsc cpuid pni pclmulqdq ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave avx f16c"
    " rdrand hypervisor lahf_lm abm 3dnowprefetch fsgsbase bmi1 avx2 smep bmi2 erms invpcid rdseed"
    " adx smap clflushopt clwb sha_ni xsaveopt xsavec xgetbv1 vaes vpclmulqdq rdpid"
)
TABLE = f"{header()}\n{row('aes-128-cbc', rising(4e8))}\n"
SPEEDS = {"openssl": TABLE, "ssh": "aes128-ctr: 100 MB/s\n"}


def flags(text: str) -> list[str]:
    """Of the CPU of the only section."""
    (section,) = read_text(text).sections
    found: list[str] = section.environment["cpu"]["flags"]
    return found


def wrapped(line: str, width: int, indent: int) -> str:
    """As lscpu parts a line for a terminal: wherever the width ends."""
    rows = [line[:width]]
    for begin in range(width, len(line), width - indent):
        rows.append(" " * indent + line[begin : begin + width - indent])
    return "\n".join(rows)


@each("tool", tuple(SPEEDS))
@given(width=st.integers(60, 400), stripped=st.booleans())
@example(width=80, stripped=True)
def test_what_lscpu_parts_is_whole(tool: str, width: int, stripped: bool) -> None:
    text = wrapped(f"    Flags:                   {FLAGS}", width, 29)
    text = "\n".join(map(str.rstrip, text.split("\n"))) if stripped else text
    below = "\n  Indirect target selection: Mitigation; Aligned branch/return thunks\n"
    text = f"Architecture:  x86_64\n{text}{below}{SPEEDS[tool]}"
    assert read_text(text).unrecognised == ()
    assert "aes" in flags(text)
    if not stripped:
        assert flags(text) == FLAGS.split()


@each("tool", tuple(SPEEDS))
@given(width=st.integers(60, 400))
def test_what_a_terminal_parts_is_whole(tool: str, width: int) -> None:
    line = f"flags\t\t: {FLAGS}".expandtabs()
    below = f"\nbugs : spectre_v1\n{SPEEDS[tool]}"
    found = flags(wrapped(line, width, 0) + below)
    # The last row may be a piece of a word, which may be anything.
    assert found[:-1] == FLAGS.split()[: len(found) - 1]
    assert len(found) >= len(FLAGS.split()) - 1
    assert "aes" in flags(textwrap.fill(line, width) + below)  # as mail and editors do


def test_a_mitigation_that_goes_on_is_one_line() -> None:
    text = (
        "  Spec store bypass:         Mitigation; Speculative Store Bypass disabl\n"
        "                             ed via prctl\n"
    )
    (section,) = read_text(f"Architecture:  x86_64\n{text}{TABLE}").sections
    assert section.label is None
    assert section.figures[0].acceleration == "default"


def test_a_cipher_below_flags_is_no_flag() -> None:
    rate = "104857600 bytes (105 MB) copied, 2.0 s, 52 MB/s"
    reading = read_text(f"flags\t\t: {FLAGS}\narcfour\n{rate}\naes128-ctr\n{rate}\n")
    (section,) = reading.sections
    assert [one.cipher for one in section.figures] == ["arcfour", "aes128-ctr"]
    assert section.environment["cpu"]["flags"] == FLAGS.split()
