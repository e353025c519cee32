"""Output of `openssl speed` made up for tests, and our own captures of it."""

from collections.abc import Sequence
from pathlib import Path

from parsers.lines import numbered_lines
from parsers.openssl.speed import read_openssl_speed
from parsers.types import Figure, Part

CAPTURES = Path(__file__).parent / "captures"

CLASSIC = (16, 64, 256, 1024, 8192)
MODERN = (*CLASSIC, 16384)

NUMBERS = "The 'numbers' are in 1000s of bytes per second processed."


def header(blocks: Sequence[int] = MODERN) -> str:
    """A header as the tool prints it."""
    return "type        " + "".join(f" {block:>6} bytes" for block in blocks)


def row(label: str, rates: Sequence[float]) -> str:
    """A row as the tool prints it; rates in bytes per second."""
    return f"{label:<13}" + "".join(
        f" {rate / 1000:11.2f}k" if rate > 10_000 else f" {rate:11.2f} " for rate in rates
    )


def doing(label: str, block: int, count: int, seconds: float = 3.0, asked: int = 3) -> str:
    """A line of progress as the tool prints it up to 3.1."""
    return f"Doing {label} for {asked}s on {block} size blocks: {count} {label}'s in {seconds:.2f}s"


def rising(start: float, columns: int = 6) -> list[float]:
    """Rates that rise with the block size, in whole tens as the tool prints them."""
    return [start + 1_000_000 * column for column in range(columns)]


def read(*lines: str) -> Part:
    """What is understood of lines."""
    return read_openssl_speed(numbered_lines("\n".join(lines)))


def figures(part: Part) -> list[Figure]:
    """All figures of all sections."""
    return [figure for section in part.sections for figure in section.figures]


def rates(part: Part) -> list[float]:
    """Bytes per second of all figures, as printed or counted."""
    return [
        figure.bytes / figure.seconds
        if figure.bytes is not None and figure.seconds
        else figure.bytes_per_second or 0.0
        for figure in figures(part)
    ]


def codes(part: Part) -> list[str]:
    """The codes of all remarks."""
    return [remark.code for remark in part.remarks]


def capture(name: str) -> str:
    """One of our own captures."""
    return (CAPTURES / name).read_text(encoding="utf-8")
