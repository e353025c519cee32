"""From an upload's bytes to a text; archives and whatever is none are refused with the reason."""

from dataclasses import dataclass

MAX_BYTES = 4 * 1024 * 1024
MAX_LINES = 50_000

ARCHIVES = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"PK\x03\x04", "a zip archive (or an Office document)"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a rar archive"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
)
WAY_OUT = {
    "a picture": "Send the text that it shows.",
    "a PDF document": "Send the text that it shows.",
    "a program": "Send what it prints.",
}
TAR_MAGIC = slice(257, 262)
WIDE_BOMS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x1b\f\b\a"))
MOST_CONTROLS = 0.01
"""The share of control characters above which a file is no text."""


class NotAText(ValueError):
    """These bytes are no text that figures could be read from; says why, for people."""


class TextTooLarge(NotAText):
    """More than is read in one go."""


@dataclass(frozen=True)
class ReceivedText:
    """A text, and the encoding that it was taken for."""

    text: str
    encoding: str


def received_text(body: bytes) -> ReceivedText:
    """The text of an upload: UTF-8, UTF-16 with its mark, else Latin-1 (every byte is a letter).

    Raises `NotAText` for archives, programs, pictures and other binary files, and `TextTooLarge`
    above 4 MiB or 50,000 lines.
    """
    if len(body) > MAX_BYTES:
        raise TextTooLarge(f"The text has {len(body):,} bytes; {MAX_BYTES:,} are read at most.")
    kind = _binary_kind(body)
    if kind:
        way_out = WAY_OUT.get(kind, "Unpack it, and send the text inside.")
        raise NotAText(f"This is {kind}, not a text. {way_out}")
    encoding = next((name for mark, name in WIDE_BOMS if body.startswith(mark)), "utf-8")
    text, encoding = _decoded(body, encoding)
    if encoding != "utf-16" and _is_binary(body):
        raise NotAText("This is a binary file, not a text.")
    lines = text.count("\n") + 1
    if lines > MAX_LINES:
        raise TextTooLarge(f"The text has {lines:,} lines; {MAX_LINES:,} are read at most.")
    return ReceivedText(text, encoding)


def _binary_kind(body: bytes) -> str | None:
    if body[TAR_MAGIC] == b"ustar":
        return "a tar archive"
    return next((kind for magic, kind in ARCHIVES if body.startswith(magic)), None)


def _decoded(body: bytes, encoding: str) -> tuple[str, str]:
    try:
        return body.decode(encoding), encoding
    except UnicodeDecodeError:
        return body.decode("latin-1"), "latin-1"


def _is_binary(body: bytes) -> bool:
    controls = len(body) - len(body.translate(None, CONTROLS))
    return controls > max(8, MOST_CONTROLS * len(body))
