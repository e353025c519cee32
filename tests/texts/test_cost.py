import time
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from texts.read import read_text

LINES = 49_000
SECONDS = 3.0
MARKUP = '<p class="host">aes128-ctr: 90 MB/s</p>\n' * 20_000
MARKUP_SECONDS = 0.075
"""CPU seconds to parse `MARKUP` on the host to which `SECONDS` applies."""
BYTES = 2 * 2**20

KINDS: dict[str, Callable[[int], str]] = {
    "rows": lambda n: f"aes-128-cbc  {n}.55k  112751.42k  114742.10k  115345.41k  113988.95k",
    "list": lambda n: f"aes128-ctr: {n}.4 MB/s",
    "prose": lambda n: (
        f"The fox number {n} jumps over the lazy dog and then runs around the house."
    ),
    "headings": lambda n: f"Host {n}:" if n % 2 else "aes128-ctr: 90 MB/s",
    "doing": lambda n: f"Doing aes-128-cbc for 3s on {n} size blocks: {n} aes-128-cbc's in 3.00s",
    "Markdown": lambda n: f"| aes128-ctr | {n} MB/s | {n % 7} |",
    "quoted": lambda n: f"{'> ' * (n % 9)}aes128-ctr: {n} MB/s",
    "titles": lambda n: f"| a{n} | b | c |",
    "sizes": lambda n: (
        f"word {n} of no cipher" if n < 40 else f"16 B\t{n}.55k\t9.50k" if n > 40 else "Size\tA\tB"
    ),
    "flags": lambda _: "fpu vme de pse tsc msr pae mce cx8 sep mtrr pge mca",
    "cut": lambda _: "Doing x: 1",
    "loops": lambda n: f"for x{n} in y; do",
}
PIECES = (
    "a",
    "-",
    "#",
    " ",
    "|",
    "0",
    "Doing ",
    "16 bytes ",
    "(",
    "> ",
    "$ ",
    "aes-128-cbc ",
    "1.2 MB/s ",
    '"',
    "\t",
)


def _slowness() -> float:
    """Return how many times slower than usual this host is now, at least 1."""
    begin = time.process_time()
    HTMLParser().feed(MARKUP)
    return max(1.0, (time.process_time() - begin) / MARKUP_SECONDS)


def _seconds(text: str) -> float:
    """Return the lowest CPU seconds of three measurements, for a host of usual speed."""
    best = float("inf")
    for _ in range(3):
        before = _slowness()
        begin = time.process_time()
        read_text(text)
        spent = time.process_time() - begin
        best = min(best, spent / ((before + _slowness()) / 2))
        if best < SECONDS:
            break  # fast enough without repeats
    return best


@pytest.mark.parametrize("kind", KINDS)
def test_many_lines_are_read_in_three_seconds(kind: str) -> None:
    text = "\n".join(map(KINDS[kind], range(LINES)))[:BYTES]
    assert _seconds(text) < SECONDS


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_one_long_line_is_read_in_three_seconds(piece: str) -> None:
    assert _seconds(piece * (BYTES // len(piece))) < SECONDS
