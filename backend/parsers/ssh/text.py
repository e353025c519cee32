"""The way in: text around ssh transfers, such as lists of ciphers, dd, times, loops of tries."""

import re
from collections.abc import Sequence
from dataclasses import replace

from parsers.lines import QUOTE, Line
from parsers.ssh.figures import Figures
from parsers.ssh.hints import COMMAND, FAILURE, NAME, hints_of
from parsers.ssh.lines import joined
from parsers.ssh.lists.cipher_loops import ListReader
from parsers.ssh.names import cipher_name, is_about_ssh
from parsers.ssh.reading_state import ReadingState
from parsers.ssh.sequence import SshSequence
from parsers.ssh.units import Megabyte
from parsers.types import Part, Remark

_MARK = re.compile(r"\[/?quote|</?blockquote", re.I)
MOST_READ = 1_400_000
"""Characters of lines with a word of ssh, dd or time that are read: 50,000 lines of a list."""
_TOO_MANY = "more lines, figures or machines than one text has: those from here are not read"


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
    written = [
        (line.number, text, hints_of(text))
        for line in lines
        for text in line.pieces or (line.text,)
        if text.strip()
    ]
    candidates = (text for _, text, hints in written if hints & (NAME | COMMAND))
    about_ssh = cipher is not None or any(map(is_about_ssh, candidates))
    quoted = ((line.number, QUOTE.match(line.given)) for line in lines if ">" in line.given[:40])
    depths = {number: found[0].count(">") for number, found in quoted if found}
    sequence = SshSequence(ListReader(about_ssh), ReadingState(depths), _gaps(lines))
    left, cut = MOST_READ, []
    for numbers, text, hint in joined(written):
        left -= len(text) if hint & ~FAILURE else 0
        if left < 0 or sequence.state.is_full:
            cut = [Remark(numbers[0], "too_many", _TOO_MANY)]
            break
        sequence.read(numbers, text, hint)
    sequence.state.end()
    given = cipher_name(cipher) if cipher else None
    part = Figures(sequence, unit, transferred, given).part()
    in_part = {line.number for line in lines if line.pieces} & sequence.missed
    return replace(part, understood=part.understood - in_part, remarks=(*part.remarks, *cut))


def _gaps(lines: Sequence[Line]) -> frozenset[int]:
    """The first lines behind such as another parser has understood, or a mark of quotation."""
    gaps, last, is_gap = set(), 0, False
    for line in lines:
        is_mark = "quote" in line.given.lower() and _MARK.search(line.given) is not None
        is_gap |= is_mark or line.number != last + 1
        last = line.number
        if is_gap and line.text.strip():
            gaps.add(line.number)
            is_gap = is_mark
    return frozenset(gaps)
