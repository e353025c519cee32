import html
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

LENGTH_LIMIT = 10_000
PIECES_LIMIT = 50_000

_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_INVISIBLE = "\x00\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
_ADDED = re.compile(
    r"[\s|]##|[\u2580-\u259f■]"
    rf"|[\x00-\x1f\x7f>|`~*<&\[{_SPACES}{_INVISIBLE}]|//|%%|^#\S|^\s*(?:[-•]|\d{{1,3}}\.|:\w+:) "
    r"|\w\s+type\s+\d+ bytes|: openssl speed |^\d+\t"
)
_QUOTE = re.compile(r"(?:[ \t]{0,4}>)+[ \t]?")
_CHAT = re.compile(
    r"^\s{0,4}\[?(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d(?::\d\d)?\]?\s+<[@+ ]?[\w-]{1,20}>\s"
)
_BAR = re.compile(r"(?<!\s)\s{1,60}\|?(?:#{2,}|[\u2580-\u259f■]{2,})\s{1,60}")
_COMMENT = re.compile(
    r"\s{0,8}(?:(?:[*•-]|///?|%%|\d{1,3}\.|:header:)\s+(?=\S)|#(?=[^\s#!])"
    r"|\d{1,4}\t(?=type |Doing |[a-z][\w -]{2,20} +\d[\d.]+k))"
)
_FENCE = re.compile(r"[ \t]*(?:```|~~~)[\w+-]*[ \t]*|[ \t]*:::\w+[ \t]*|\s*:widths:.*")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")
_BOLD = re.compile(r"(?<![\w*])(\*\*\*?|`{1,2})(?=[^\s*`])([^*`]{1,400})(?<=[^\s*`])\1(?![\w*])")
_ATTRIBUTES = r"(?: [^<>\n]{0,200})?/?"
_CELL = re.compile(rf"<t[dh]{_ATTRIBUTES}>", re.I)
_MARKUP = re.compile(
    rf"</?(?:b|i|em|strong|code|tt|kbd|samp|span|font|small|a|t[dh]){_ATTRIBUTES}>"
    r"|\[/?(?:b|i|tt|size|font|color|code|quote)(?:=[^\[\]\n]{0,80})?\]",
    re.I,
)
_BREAK = re.compile(
    "[\x85\u2028\u2029]|\r"
    rf"|<(?:br|/?(?:p|pre|div|tr|li|ul|ol|blockquote|table|tbody|thead|h[1-6])){_ATTRIBUTES}>",
    re.I,
)

_FLAT = 90  # characters; a longer line may consist of several lines without their breaks
_PROMPT = (
    r"(?:~\ )?\[\w[\w.-]{0,30}@[\w.-]{1,40}(?:\ [^\s\]]{1,40})?\][$\#]\ "
    r"|\w[\w.-]{0,30}@[\w.-]{1,40}:[~/][^\s$\#]{0,60}[$\#]\ |[A-Z]:\\[^>\s]{0,60}>(?=\w)"
    r"|\w[\w.-]{0,30}(?:@[\w.-]{1,40}\ [~/]\S{0,60}|:[~/]\S{0,60}\ \w{1,20})\ ?[$%\#]\ "
)
_JOINT_OF_SHORT = re.compile(r"\w\s+type\s+\d{1,6} bytes|: openssl speed ")
_JOINT = re.compile(
    rf"""(?<=\s)(?=(?:Doing\ [^\s].{{0,30}}\ for\ \d|You\ have\ chosen\ to|To\ get\ the\ most\ acc
    |The\ .numbers.\ are\ in|type\s+\d{{1,6}}\ bytes|(?<=:\ )openssl\ speed
    |(?:OpenSSL|LibreSSL)\ \d+\.\d+\.\d\S*\s
    |built\ on:|options:|compiler:|CPUINFO:|available\ timing|timing\ function
    |(?:[\w@.-]{{4,40}}\ )?\d{{1,9}}\+\d{{1,9}}\ records\ |\d{{4,18}}\ bytes\ [(tc]
    |(?:real|user(?!\ \S+\ system)|sys)\ {{1,4}}\d
    |\S{{1,80}}\ {{1,9}}100%\ {{1,9}}\d|\d[\d.]{{0,9}}user\ |{_PROMPT}))
    |(?<=\d\.\d\dk)\ (?=[A-Za-z~\[])|(?<=\ [kMGT]B/s)\ (?=[A-Z]|\d[\d.]+user)
    |(?<=type)(?:\s+\d{{1,8}}\ bytes)+(?P<head>\s)(?=\S)""",
    re.X,
)

_NUMBERS = re.compile(r"\s*(?:-?\d[\d.]{0,14}k?(?:\s+|$))+")
_CELL_COUNT = re.compile(r"\d\.\d\dk?(?=\s|$)")
_WRAPPED_WIDTH = 60


class Line(NamedTuple):
    number: int
    text: str
    depth: int = 0


def lines_of(text: str) -> list[Line]:
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return list(_unwrapped(_pieces(enumerate(plain.split("\n"), start=1))))


def _pieces(lines: Iterable[tuple[int, str]]) -> Iterator[Line]:
    left = PIECES_LIMIT
    for number, line in lines:
        if not _ADDED.search(line) and len(line) <= _FLAT:
            yield Line(number, line.rstrip())
            continue
        for fragment in _broken(line):
            depth, text = _without_markup(fragment)
            is_flat = left > 0 and (len(text) > _FLAT or _JOINT_OF_SHORT.search(text))
            for piece in _unfolded(text) if is_flat else (text,):
                left -= 1
                yield Line(number, piece[:LENGTH_LIMIT].rstrip(), depth)


def _broken(line: str) -> list[str]:
    if "<" in line or "\r" in line or "\x85" in line or "\u2028" in line or "\u2029" in line:
        return [part for part in _BREAK.split(line) if part.strip()] or [""]
    return [line]


def _without_markup(line: str) -> tuple[int, str]:
    text = _ESCAPE.sub("", line) if "\x1b" in line else line
    if not text.isascii() or "\0" in text:
        text = re.sub(r"(?<=\d)[\xa0\u2009\u202f](?=\d{3}(?!\d))", "’", text)
        text = re.sub(f"[{_INVISIBLE}]", "", re.sub(f"[{_SPACES}]", " ", text))
    if "<" in text or "[" in text:
        text = _MARKUP.sub("", _CELL.sub("|", text))
    if "&" in text:
        text = html.unescape(text)
    text = _CHAT.sub("", _BAR.sub(" ", text))
    quote = _QUOTE.match(text)
    depth = quote[0].count(">") if quote else 0
    text = text[quote.end() :] if quote else text
    if _FENCE.fullmatch(text):
        return depth, ""
    if text[-1:] == "|" and text.lstrip()[:1] != "|":
        text = text.rstrip(" |\t")  # empty cells of a table
    if comment := _COMMENT.match(text):
        text = text[comment.end() :]
    if "**" in text or "`" in text:
        text = _BOLD.sub(r"\2", text).strip("`")
    return depth, text


def _unfolded(text: str) -> Iterator[str]:
    start = 0
    for joint in _JOINT.finditer(text):
        at = joint.start("head") if joint["head"] else joint.start()
        if at > start:
            yield text[start:at].strip()
            start = joint.end()
    yield text[start:].strip() if start else text


def _unwrapped(pieces: Iterable[Line]) -> Iterator[Line]:
    held: Line | None = None
    for line in pieces:
        if held is None:
            held = line
        elif (joined := _joined(held.text, line.text)) and held.depth in (line.depth, 1):
            held = held._replace(text=joined)
        else:
            yield held
            held = line
    if held is not None:
        yield held


def _joined(first: str, second: str) -> str:
    if not first or not second or len(first) + len(second) > LENGTH_LIMIT:
        return ""
    if first[-1] == "\\":
        return f"{first[:-1].rstrip()} {second.lstrip()}"
    return _joined_numbers(first, second)


def _joined_numbers(first: str, second: str) -> str:
    if second[-1:] not in "k0123456789s":
        return ""
    if _NUMBERS.fullmatch(second) and _CELL_COUNT.search(second) and first[-1] in "k0123456789":
        cells = len(_CELL_COUNT.findall(first))
        is_row = cells and cells + len(second.split()) <= 6 and len(first) >= _WRAPPED_WIDTH
        return f"{first} {second.strip()}" if is_row else ""
    if re.fullmatch(r"\s*(?:\d{1,8} )?bytes(?:\s+\d{1,8} bytes)*", second) and "type " in first:
        return f"{first} {second.strip()}"
    return ""
