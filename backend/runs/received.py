MAX_BYTES = 2 * 1024 * 1024
MAX_LINES = 50_000

BINARY = "This is a binary file, not text. Unpack archives, and paste the text of a PDF or picture."
_STARTS = (
    b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"%PDF",
    b"\x7fELF", b"MZ\x90", b"\x89PNG", b"\xff\xd8\xff", b"GIF8",
)  # fmt: skip
WIDE_BOMS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x1b\f\b\a"))
MOST_CONTROLS = 0.01


class NotAText(ValueError):
    pass


class TextTooLarge(NotAText):
    pass


def received_text(body: bytes) -> tuple[str, str]:
    """Return the text and the encoding of an upload: UTF-8, UTF-16 with a BOM, or Latin-1.

    Raise `NotAText` for a binary file. Raise `TextTooLarge` for more than 2 MiB or 50,000 lines.
    """
    if len(body) > MAX_BYTES:
        raise TextTooLarge(f"The text has {len(body):,} bytes. The limit is {MAX_BYTES:,} bytes.")
    encoding = next((name for mark, name in WIDE_BOMS if body.startswith(mark)), "utf-8")
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError:
        encoding = "latin-1"
        text = body.decode(encoding)
    if encoding != "utf-16" and _is_binary(body):
        raise NotAText(BINARY)
    lines = text.count("\n") + 1
    if lines > MAX_LINES:
        raise TextTooLarge(f"The text has {lines:,} lines. The limit is {MAX_LINES:,} lines.")
    return text, encoding


def _is_binary(body: bytes) -> bool:
    controls = len(body) - len(body.translate(None, CONTROLS))
    return body.startswith(_STARTS) or controls > max(8, MOST_CONTROLS * len(body))
