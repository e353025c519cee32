"""A text as numbered lines, freed of what pasting adds around them."""

import re
from dataclasses import dataclass

BOM = "\ufeff"
LINE_LIMIT = 10_000
"""Characters of a line that are looked at: no tool prints more of what matters here."""

QUOTE = re.compile(r"^(?:[ \t]{0,3}[>|][ \t]?)+(?=\S)")
FENCE = re.compile(r"^[ \t>]*(?:```|~~~)[\w+-]*[ \t]*$")
ADDED = re.compile("[\x00\r\t\x1b\xa0>|`~*]")
"""What only lines have that something was added to; most have none and are left as they are."""
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")


@dataclass(frozen=True)
class Line:
    """One line: its number in the text as given, its text as given, and what is left of it."""

    number: int
    given: str
    text: str


def numbered_lines(text: str) -> list[Line]:
    """Every line of a text; linear in its length.

    Freed of the byte order mark, line ends of any system, terminal colours, quotation marks of
    mail and forums, Markdown fences (left empty) and bold; tabs become spaces. A carriage return
    within a line is what a progress display leaves: each piece counts as text of that line.
    """
    ends_unified = text.removeprefix(BOM).replace("\r\n", "\n")
    return [
        Line(number, given.rstrip("\r"), _bare(given[:LINE_LIMIT]))
        for number, given in enumerate(ends_unified.split("\n"), start=1)
    ]


def _bare(given: str) -> str:
    if not ADDED.search(given):
        return given.rstrip()
    text = ESCAPE.sub("", given).replace("\x00", "").replace("\r", " ").expandtabs(8)
    if FENCE.match(text):
        return ""
    text = QUOTE.sub("", text).replace("**", "").replace("\u00a0", " ")
    return text.rstrip()
