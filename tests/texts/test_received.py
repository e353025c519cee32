import gzip

import pytest

from runs.received import MAX_BYTES, MAX_LINES, NotAText, TextTooLarge, received_text
from tests.cases import each


@each(
    ("body", "error", "words"),
    (
        (gzip.compress(b"a" * 99), NotAText, "Unpack archives"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), NotAText, "the text of a PDF or picture"),
        (b"\x7fELF", NotAText, "a binary file"),
        (b"a" * 100 + bytes(9), NotAText, "a binary file"),
        (b"a" * 2000 + bytes(21), NotAText, "a binary file"),
        (b"x" * (MAX_BYTES + 1), TextTooLarge, "2,097,153 bytes. The limit is 2,097,152"),
        (b"\n" * MAX_LINES, TextTooLarge, "50,001 lines. The limit is 50,000"),
    ),
)
def test_other_files_are_refused(body: bytes, error: type[NotAText], words: str) -> None:
    with pytest.raises(error, match=words):
        received_text(body)


@each(
    ("body", "encoding"),
    (
        *((b"x" * MAX_BYTES, "utf-8"), (b"\n" * (MAX_LINES - 1), "utf-8")),
        *((b"a" * 100 + bytes(8), "utf-8"), (b"a" * 1980 + bytes(20), "utf-8")),
        (b"\x1b[1mbold\x1b[0m\t\r\n\f\b\a" * 20, "utf-8"),
        *(("Größe ✓".encode(), "utf-8"), ("Größe".encode("latin-1"), "latin-1")),
        ("\ufeffGröße ✓".encode("utf-16-le"), "utf-16"),
        ("\ufeffGröße ✓".encode("utf-16-be"), "utf-16"),
    ),
)
def test_texts_are_decoded_unchanged(body: bytes, encoding: str) -> None:
    assert received_text(body) == (body.decode(encoding), encoding)
