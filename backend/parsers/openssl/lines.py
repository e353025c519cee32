"""Lines of `openssl speed` as the tool printed them: unfolded where they were lost or wrapped."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from parsers.lines import Line
from parsers.openssl.build_facts import is_wrapping_fact
from parsers.openssl.cipher_names import kind_of
from parsers.openssl.commands import is_command
from parsers.openssl.doing import is_doing, is_unfinished, read_doing
from parsers.openssl.tables import (
    COLUMNS_LIMIT,
    celled_figures,
    cells_of,
    has_figures,
    may_be_row,
    read_header,
    read_row,
    tidy,
)

_JOINTS = re.compile(
    r"(?<=\s)(?=Doing \S|(?:OpenSSL|LibreSSL|SSLeay) \d|version: ?\d|built on:|options:|compiler:"
    r"|CPUINFO:|The .numbers. are|type +\d+ +bytes|You have chosen)"
    r"|(?<=\d bytes )(?=[A-Za-z])|(?<=\dk )(?=[A-Za-z])|(?<=\ds )(?=[A-Za-z+])"
)
_HEADER_GOES_ON = re.compile(r"\d{0,6}\s*b?y?t?e?s(?:\s+\d{1,9}\s+bytes)*")
_FIGURES_GO_ON = re.compile(r"\d*(?:\.\d*)?k?(?:\s+-?\d+\.\d\dk?)*")
_WHOLE_FIGURE = re.compile(r"(?:^|\s)-?\d+\.\d\dk$")
_NEXT_FACT = re.compile(
    r"\s*(?:built on|options:|compiler:|C flags|CPUINFO|The .numbers|type |available timing"
    r"|timing function|Doing |OPENSSLDIR|evp |\+)"
)
_MACHINE_RATES = ("+F:", "Got: +F:", "Got: +H:", "+H:")
_RATES_GO_ON = re.compile(r"[\d.:]+(?: from \d+)?|from \d+")
_FIGURE_STARTS = frozenset("0123456789.-k")

_LOOP_BEGINS = re.compile(
    r"(?:.{0,120}(?:[#$%>] |\|))?\s*(?:time )?"
    r"(?:for(?:each)?\s*(?:\w+\s+in\b|\w*\s?\(|[%/])|(?:while|until) \S)"
)
_LOOP_WORDS = ("for", "while ", "until ")
_LOOP_ENDS = re.compile(r"\s*(?:done|end|\}|\))(?!\w)")
_PROMPTS_ON = re.compile(r"\s*(?:for|foreach|while|until)> ")
"""Of zsh, before the further lines of a loop."""
LOOP_LINES = 30
"""Lines of one loop of a script."""
LOOP_DEPTH = 4
"""Loops within one another: more are none."""
WRAP_LIMIT = 12
"""Lines over which one build fact is wrapped at most."""
DOING_WRAPS = 2
"""Lines onto which the rest of a `Doing` line is wrapped at most."""
MACHINE_WRAP_WIDTH = 60
"""Shorter lines of machine output are not wrapped."""
WRAP_WIDTH = 79
"""Columns from which on a line is taken to be wrapped amid a word by a terminal."""


LABEL_LIMIT = 40
"""No label that the tool prints has so many characters."""
SHORTEST_PIECE = 24
"""Characters that what the tool prints on one line has on average, and more."""


class Printed(NamedTuple):
    """One line as the tool printed it, with the numbers of the lines of the text it is on."""

    numbers: tuple[int, ...]
    text: str

    @property
    def line(self) -> int:
        """Where it starts."""
        return self.numbers[0]


def printed_lines(lines: Sequence[Line]) -> list[Printed]:
    """All lines, blank ones with an empty text."""
    pieces = [
        piece
        for line in lines
        for text in line.pieces or (line.text,)
        for piece in _pieces(line.number, text)
    ]
    result: list[Printed] = []
    at, columns = 0, 0
    while at < len(pieces):
        taken, text = _joined(pieces, at, columns)
        if taken == 1:
            result.append(pieces[at])
        else:
            numbers = tuple(dict.fromkeys(piece.line for piece in pieces[at : at + taken]))
            result.append(Printed(numbers, text))
        if "bytes" in text:
            header = read_header(text)
            columns = len(header.blocks) if header else columns
        at += taken
    return result


def _pieces(number: int, text: str) -> list[Printed]:
    """A line split where line breaks were lost."""
    text = tidy(text)
    if "|" in text and not is_command(text):
        text = _without_idle_bars(text)
    parts = _JOINTS.split(text) if _is_flat(text) else [text]
    if len(parts) * SHORTEST_PIECE > max(len(text), 4 * SHORTEST_PIECE):
        parts = [text]
    return [Printed((number,), part) for part in parts if part.strip()] or [Printed((number,), "")]


def _is_flat(text: str) -> bool:
    """Whether several lines may have become one."""
    return (" bytes" in text and "k" in text) or text.count("Doing ") > 1


def _without_idle_bars(text: str) -> str:
    """A line without its bars, unless they say which figure stands where."""
    cells = cells_of(text)
    if not cells:
        return text
    if "bytes" not in text and not may_be_row(text):
        return text.replace("|", " ")
    if len(list(islice(filter(has_figures, cells), 2))) > 1:
        return text
    header = read_header(text)
    celled = (header is not None and header.cells) or (may_be_row(text) and celled_figures(text))
    return text if celled else text.replace("|", " ")


def _joined(pieces: list[Printed], at: int, columns: int) -> tuple[int, str]:
    """How many pieces make up the printed line that starts at one, and its text."""
    text = pieces[at].text
    if not text:
        return 1, ""
    if is_doing(text):
        return _join_doing(pieces, at)
    if _begins_loop(text):
        return _join_loop(pieces, at)
    if is_wrapping_fact(text):
        return _join_fact(pieces, at)
    if "bytes" in text and read_header(text):
        return _join_header(pieces, at)
    after = _following(pieces, at + 1).lstrip()
    if text.startswith(_MACHINE_RATES) and len(text) >= MACHINE_WRAP_WIDTH:
        return (2, text + after) if _RATES_GO_ON.fullmatch(after) else (1, text)
    # Figures are all that a wrapped row can go on with.
    return _join_row(pieces, at, columns) if after and after[0] in _FIGURE_STARTS else (1, text)


def _following(pieces: list[Printed], at: int) -> str:
    return pieces[at].text if at < len(pieces) else ""


def _join_doing(pieces: list[Printed], at: int) -> tuple[int, str]:
    """A `Doing` line with its rest, where the two together make sense."""
    texts = [pieces[at].text]
    for taken in range(1, DOING_WRAPS + 1):
        after = _following(pieces, at + taken).strip()
        if not is_unfinished(texts[0]) or not after or is_doing(after):
            break
        # A number broken in two is one again only without a space: that is tried first.
        texts = [text + joint + after for text in texts for joint in ("", " ")]
        whole = next((text for text in texts if read_doing(0, text)), None)
        if whole is not None:
            return taken + 1, whole
    return 1, pieces[at].text


def _begins_loop(text: str) -> bool:
    return any(word in text for word in _LOOP_WORDS) and _LOOP_BEGINS.match(text) is not None


def _join_loop(pieces: list[Printed], at: int) -> tuple[int, str]:
    """A loop around `openssl speed` over several lines as it would stand on one.

    One whose end is missing goes as far as the last command in it.
    """
    parts: list[str] = []
    depth = taken = 0
    for piece in pieces[at : at + LOOP_LINES]:
        text = _PROMPTS_ON.sub("", piece.text).strip()
        if is_doing(text) or ("bytes" in text and read_header(text)):
            break
        parts.append("" if text.startswith("# ") and parts else text)
        depth += _begins_loop(text)
        depth -= _LOOP_ENDS.match(text) is not None or re.search(r";\s*done\b", text) is not None
        if is_command(text) or (depth <= 0 and taken):
            taken = len(parts)
        if not 0 < depth <= LOOP_DEPTH:
            break
    if taken < 2:
        return 1, pieces[at].text
    lines = (
        part.removesuffix("\\") + (" " if part.endswith("\\") else " ; ")
        for part in parts[:taken]
        if part
    )
    return taken, "".join(lines).removesuffix(" ; ")


def _join_fact(pieces: list[Printed], at: int) -> tuple[int, str]:
    """A build fact with its wrapped rest, if a line that must follow it comes soon enough."""
    text, end = pieces[at].text, at + 1
    while end < min(len(pieces), at + WRAP_LIMIT) and pieces[end].text:
        if _NEXT_FACT.match(pieces[end].text) or read_row(pieces[end].text):
            return end - at, text
        amid_word = len(pieces[end - 1].text) >= WRAP_WIDTH
        text += ("" if amid_word else " ") + pieces[end].text.strip()
        end += 1
    return 1, pieces[at].text


def _join_header(pieces: list[Printed], at: int) -> tuple[int, str]:
    text, end = pieces[at].text, at + 1
    while end - at <= COLUMNS_LIMIT and (after := _following(pieces, end).strip()):
        if not _HEADER_GOES_ON.fullmatch(after):
            break
        text += (" " if text.endswith("bytes") else "") + after
        end += 1
    return end - at, text


def _join_row(pieces: list[Printed], at: int, columns: int) -> tuple[int, str]:
    """A row with the figures that were wrapped onto further lines."""
    text, end = pieces[at].text, at + 1
    while end - at <= columns and _FIGURES_GO_ON.fullmatch(_following(pieces, end).strip() or "-"):
        row = read_row(text)
        whole = _WHOLE_FIGURE.search(text) is not None
        complete = row is not None and (row.rest or (whole and len(row.cells) >= columns))
        label_alone = row is None and end == at + 1 and _is_label(text)
        if complete or (row is None and not label_alone):
            break
        text += (" " if whole or label_alone else "") + pieces[end].text.strip()
        end += 1
    return end - at, text


def _is_label(text: str) -> bool:
    return len(text) < LABEL_LIMIT and kind_of(text) != "unknown"
