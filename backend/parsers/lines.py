"""A text as numbered lines, freed of what pasting adds around them."""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

BOM = "\ufeff"
LINE_LIMIT = 10_000
"""Characters of a line that are looked at: no tool prints more of what matters here."""
BREAKS_LIMIT = 50_000
"""Breaks within lines that are looked at: as many as an upload may have lines."""

QUOTE = re.compile(r"(?:[ \t]{0,4}[>|])+(?![ \t]{0,4}[>|])[ \t]?(?=\S)|(?:[ \t]{0,4}>)+[ \t]?")
"""Marks of quotation; behind the last one, code keeps the blanks it was indented with."""
FENCE = re.compile(r"^[ \t>]*(?:(?:```|~~~)[\w+-]*|=~=~[=~]* PuTTY log [\d.: ]+[=~]+)[ \t]*$")
CONTROLS = re.compile(r"(?:\^[?-\]_]|[\x00-\x20\x7f])+")
"""Nothing but keys that were pressed (`^C`), as a terminal shows them or as they are."""
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")

_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_INVISIBLE = "\x00\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
ADDED = re.compile(rf"[\x00-\x1f\x7f>|`~^*<&\[{_SPACES}{_INVISIBLE}]")
"""What only lines have that something was added to; most have none and are left as they are."""
SPACES = re.compile(f"[{_SPACES}]")
INVISIBLE = re.compile(f"[{_INVISIBLE}]")
"""Marks without a width, that programs put around what is copied from them."""

TYPED_COMMENT = re.compile(
    r"^\s{0,8}(?:[^\s#]{0,80}[$%>#]|\[?[\w.-]{1,40}@[\w.-]{1,80}(?:[ :]\S{0,80}){0,2}\]?\s?[$%>#]"
    r"|[\w.-]{1,40}:[~/]\S{0,60} #)\s+(?=#\s)"
)
"""A prompt before nothing but a comment: the comment is a line of words."""
BOLD = re.compile(r"(?<![\w*])(\*\*\*?)(?=[^\s*])(.{1,400}?)(?<=[^\s*])\1(?![\w*])")
"""Of Markdown; two stars without a partner are a footnote's."""

_ATTRIBUTES = r"(?: [^<>\n]{0,200})?/?"
BREAK = re.compile(
    "[\x85\u2028\u2029]"
    rf"|<(?:br|/?(?:p|pre|div|tr|li|ul|ol|blockquote|table|tbody|thead|h[1-6])){_ATTRIBUTES}>"
    r"|\[/?(?:code|pre|quote)(?:=[^\[\]\n]{0,80})?\]",
    re.I,
)
"""Ends of lines other than the usual ones: of Unicode, of HTML, of forums' [code]."""
BREAK_SIGNS = ("\x85", "\u2028", "\u2029", "<", "[/", "[code", "[CODE", "[pre", "[quote")
CELL = re.compile(rf"<t[dh]{_ATTRIBUTES}>", re.I)
MARKUP = re.compile(
    rf"</?(?:b|i|em|strong|code|tt|kbd|samp|span|font|small|t[dh]){_ATTRIBUTES}>"
    r"|\[/?(?:b|i|tt|size|font|color)(?:=[^\[\]\n]{0,80})?\]",
    re.I,
)
ENTITY = re.compile(r"&(?:nbsp|ensp|emsp|thinsp|lt|gt|amp|quot|apos|#160|#39|#34|#xa0|#x27);", re.I)


@dataclass(frozen=True)
class Line:
    """One line: its number in the text as given, its text as given, and what is left of it."""

    number: int
    given: str
    text: str
    pieces: tuple[str, ...] = ()
    """What stands between breaks of another kind in it (Unicode's, HTML's), if it has any."""


def numbered_lines(text: str) -> list[Line]:
    """Every line of a text; linear in its length.

    Freed of the byte order mark, line ends of any system, terminal colours, quotation marks of
    mail and forums, Markdown fences and keys such as ^C (left empty), bold, HTML; tabs become
    spaces. A carriage return within a line is what a progress display leaves: each piece counts as
    text of that line. So does each piece between ends of lines of another kind; the numbers are
    those of editors.
    """
    ends_unified = text.removeprefix(BOM).replace("\r\n", "\n")
    given = enumerate(ends_unified.split("\n"), start=1)
    if not any(sign in text for sign in BREAK_SIGNS):
        return [_line(number, line) for number, line in given]
    left = BREAKS_LIMIT
    lines = []
    for number, line in given:
        parts = BREAK.split(line, maxsplit=left) if left else [line]
        left -= len(parts) - 1
        lines.append(_line(number, line) if len(parts) == 1 else _divided(number, line, parts))
    return lines


def _line(number: int, given: str) -> Line:
    return Line(number, given.rstrip("\r"), _bare(given[:LINE_LIMIT]))


def _divided(number: int, given: str, parts: Iterable[str]) -> Line:
    """A line with breaks in it."""
    pieces = tuple(_bare(part[:LINE_LIMIT]) for part in parts if part.strip())
    text = " ".join(pieces)[:LINE_LIMIT].rstrip()
    return Line(number, given.rstrip("\r"), text, pieces if len(pieces) > 1 else ())


def _bare(given: str) -> str:
    text = _freed(given) if ADDED.search(given) else given.rstrip()
    return TYPED_COMMENT.sub("", text) if " # " in text else text


def _freed(given: str) -> str:
    """A line without what quoting and markup have added."""
    text = _plain(given)
    if FENCE.match(text):
        return ""
    quoted = QUOTE.match(text)
    text = text[quoted.end() :] if quoted else text
    text = BOLD.sub(r"\2", text) if "**" in text else text
    return "" if CONTROLS.fullmatch(text) else text.rstrip()


def _plain(given: str) -> str:
    """A line without colours, markup and what cannot be seen."""
    text = INVISIBLE.sub("", ESCAPE.sub("", given))
    if "<" in text or "[" in text:
        text = MARKUP.sub("", CELL.sub("|", text))
    if "&" in text:
        text = ENTITY.sub(lambda entity: html.unescape(entity[0].lower()), text)
    # A tab parts cells: it leaves two spaces at least.
    return SPACES.sub(" ", text.replace("\r", " ")).replace("\t", " \t").expandtabs(8)
