"""Lines of lscpu and /proc/cpuinfo that a terminal has wrapped, joined again.

A list of flags that is cut would say that a CPU has no AES instructions.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from parsers.lines import LINE_LIMIT, Line
from parsers.ssh.machine_facts import KNOWN_FLAGS

_BEGINS = re.compile(
    r"\s*(?P<flags>[Ff]lags|Features)\s*:\s+"
    r"|\s*[A-Z][\w ./-]{1,40}:\s+(?=Mitigation|Not affected|Vulnerable|KVM)"
)
_SIGNS = ("lags", "Features", "Mitigation", "Not affected", "Vulnerable", "KVM")
"""Without any of these no such line begins; most lines have none."""
_WRAPPED_AT = 40
"""Characters of the shortest line that a terminal wraps."""
_WORDS = re.compile(r" ?[a-z0-9_]+(?: [a-z0-9_]+)* ?")
ROWS_LIMIT = 100
"""Of one list: no CPU has so many flags."""


def whole_lines(lines: Sequence[Line], text: str) -> list[Line]:
    """A text's lines; a wrapped one is whole in its first line, and its others are empty."""
    whole = list(lines)
    if not any(sign in text for sign in _SIGNS):
        return whole
    place = 0
    while place < len(whole):
        first = whole[place].text
        found = _BEGINS.match(first) if any(sign in first for sign in _SIGNS) else None
        indent, rows = _rows(whole, place, found) if found else (0, [first])
        if len(rows) > 1:
            joined = first[:indent] + _joined(rows)
            whole[place] = replace(whole[place], text=joined[:LINE_LIMIT])
            for other in range(place + 1, place + len(rows)):
                whole[other] = replace(whole[other], text="")
        place += len(rows)
    return whole


def _rows(lines: Sequence[Line], place: int, found: re.Match[str]) -> tuple[int, list[str]]:
    """The column where rows begin, and the first row with those that go on with it.

    They stand below its value, or, of flags that a terminal has wrapped, at its very beginning.
    """
    first, *others = map(_with_blank, lines[place : place + 2])
    is_below = bool(others) and _is_below(others[0], found.end())
    column = found.end() if is_below else 0
    rows = [first[column:]]
    if is_below or (found["flags"] and len(first) >= _WRAPPED_AT):
        for number in range(place + 1, min(place + ROWS_LIMIT, len(lines))):
            text = _with_blank(lines[number])
            if not (_is_below(text, column) if is_below else _are_flags(text)):
                break
            rows.append(text[column:])
    return column, rows


def _is_below(text: str, column: int) -> bool:
    return text[:column].isspace() and not text.isspace()


def _are_flags(text: str) -> bool:
    """Whether a line may be of flags alone; a word that is none may be a cipher's name."""
    words = text.split()
    return _WORDS.fullmatch(text) is not None and (len(words) > 1 or words[0] in KNOWN_FLAGS)


def _with_blank(line: Line) -> str:
    """Its text with a blank at its end, if one was given there."""
    return f"{line.text} " if line.text and line.given[-1:] == " " else line.text


def _joined(rows: Sequence[str]) -> str:
    """Rows end within a word or with a blank, which may be lost: so say the words, or the width."""
    width = max(map(len, rows[:-1]))
    text = rows[0]
    for row, following in pairwise(rows):
        end, start = row.rpartition(" ")[2], following.partition(" ")[0]
        if end + start in KNOWN_FLAGS:
            parted = False
        else:
            parted = {end, start} <= KNOWN_FLAGS or len(row) < width
        text += f" {following}" if parted else following
    return text
