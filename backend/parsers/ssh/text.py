"""Text around ssh transfers: lists of ciphers, dd summaries, times, loops of tries."""

from collections.abc import Sequence
from dataclasses import replace

from parsers.lines import Line
from parsers.ssh.cipher_loops import ListReader
from parsers.ssh.figures import Figures
from parsers.ssh.hints import COMMAND, FAILURE, NAME, hints_of
from parsers.ssh.lines import joined
from parsers.ssh.names import cipher_name, is_about_ssh
from parsers.ssh.sequence import SshSequence
from parsers.ssh.units import Megabyte
from parsers.types import Part, Remark

MOST_READ = 3 * 1024 * 1024 // 2
"""Characters of lines with a word of ssh, dd or time that are read: 50,000 lines of a list."""
_TOO_MANY = "so many lines speak of ciphers, commands and rates that those from here are not read"


def read_ssh_text(
    lines: Sequence[Line],
    *,
    unit: Megabyte | None,
    transferred: int | None,
    cipher: str | None = None,
) -> Part:
    """Every ssh figure of a text.

    `unit` is what MB means, if the reader was told; `transferred` the bytes of a transfer whose
    text only has its time; `cipher` the cipher of a transfer whose text names none.
    """
    written = [line for line in lines if line.text.strip()]
    hints = hints_of([line.text for line in written])
    end = _end(written, hints)
    cut = [] if end == len(written) else [Remark(written[end].number, "too_many", _TOO_MANY)]
    written = written[:end]
    hints = hints[:end]
    candidates = (
        line for line, hint in zip(written, hints, strict=True) if hint & (NAME | COMMAND)
    )
    about_ssh = cipher is not None or any(is_about_ssh(line.text) for line in candidates)
    sequence = SshSequence(ListReader(about_ssh))
    numbered = zip(written, hints, strict=True)
    for numbers, text, hint in joined((line.number, line.text, hint) for line, hint in numbered):
        sequence.read(numbers, text, hint)
    sequence.end()
    given = cipher_name(cipher) if cipher else None
    part = Figures(sequence, unit, transferred, given).part()
    return replace(part, remarks=(*part.remarks, *cut))


def _end(lines: Sequence[Line], hints: Sequence[int]) -> int:
    """How many of the lines are read."""
    left = MOST_READ
    for number, (line, hint) in enumerate(zip(lines, hints, strict=True)):
        left -= len(line.text) if hint & ~FAILURE else 0
        if left < 0:
            return number
    return len(lines)
