"""Text around ssh transfers: lists of ciphers, dd summaries, times, loops of tries."""

from collections.abc import Sequence

from parsers.lines import Line
from parsers.ssh.cipher_loops import ListReader
from parsers.ssh.figures import Figures
from parsers.ssh.hints import COMMAND, NAME, hints_of
from parsers.ssh.lines import joined
from parsers.ssh.names import cipher_name, is_about_ssh
from parsers.ssh.sequence import SshSequence
from parsers.ssh.units import Megabyte
from parsers.types import Part


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
    return Figures(sequence, unit, transferred, given).part()
