"""Reading made-up ssh texts in the tests."""

from parsers.lines import numbered_lines
from parsers.ssh.text import read_ssh_text
from parsers.ssh.units import Megabyte
from parsers.types import Figure, Part


def read(
    text: str,
    *,
    unit: Megabyte | None = "MB",
    transferred: int | None = None,
    cipher: str | None = None,
) -> Part:
    """A text as an importer reads it who was told that MB is 10^6 bytes."""
    return read_ssh_text(numbered_lines(text), unit=unit, transferred=transferred, cipher=cipher)


def figures(part: Part) -> list[Figure]:
    """Every figure of every section."""
    return [figure for section in part.sections for figure in section.figures]


def rates(part: Part) -> list[tuple[str, float]]:
    """Cipher and bytes per second of every figure, to the byte."""
    return [(figure.cipher, round(speed(figure))) for figure in figures(part)]


def speed(figure: Figure) -> float:
    """Bytes per second."""
    if figure.bytes is not None and figure.seconds:
        return figure.bytes / figure.seconds
    return figure.bytes_per_second or 0.0


def codes(part: Part) -> list[str]:
    """The codes of the remarks."""
    return sorted(remark.code for remark in part.remarks)


def refused(text: str) -> list[str]:
    """The codes of the remarks on a text that has no figure."""
    part = read(text)
    assert figures(part) == []
    return codes(part)
