"""What of an upload's bytes is a text, and which."""

import gzip

import pytest

from parsers.received_text import (
    MAX_BYTES,
    MAX_LINES,
    NotAText,
    ReceivedText,
    TextTooLarge,
    received_text,
)
from tests.cases import each


@each(
    ("body", "error", "words"),
    (
        (gzip.compress(b"a"), NotAText, "This is a gzip archive, not a text. Unpack it"),
        (b"PK\x03\x04" + bytes(100), NotAText, "This is a zip archive"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), NotAText, "not a text. Send the text that it shows."),
        (b"a.txt" + b" " * 252 + b"ustar", NotAText, "This is a tar archive"),
        (b"\x7fELF", NotAText, "This is a program, not a text. Send what it prints."),
        (b"a" * 100 + bytes(9), NotAText, "a binary file"),
        (b"a" * 2000 + bytes(21), NotAText, "a binary file"),
        (b"x" * (MAX_BYTES + 1), TextTooLarge, "4,194,305 bytes; 4,194,304 are read at most"),
        (b"\n" * MAX_LINES, TextTooLarge, "50,001 lines; 50,000 are read at most"),
    ),
)
def test_what_is_no_text_is_refused_with_the_reason(
    body: bytes, error: type[NotAText], words: str
) -> None:
    with pytest.raises(error, match=words):
        received_text(body)


@each(
    "body",
    (
        *(b"x" * MAX_BYTES, b"\n" * (MAX_LINES - 1)),
        *(b"a" * 100 + bytes(8), b"a" * 1980 + bytes(20)),
        b"\x1b[1mbold\x1b[0m\t\r\n\f\b\a" * 20,
    ),
)
def test_texts_up_to_the_limits_are_taken_as_they_are(body: bytes) -> None:
    assert received_text(body) == ReceivedText(body.decode(), "utf-8")


@each(
    ("body", "encoding"),
    (
        ("Größe ✓".encode(), "utf-8"),
        ("Größe".encode("latin-1"), "latin-1"),
        ("\ufeffGröße ✓".encode("utf-16-le"), "utf-16"),
        ("\ufeffGröße ✓".encode("utf-16-be"), "utf-16"),
    ),
)
def test_old_encodings_are_read_and_said(body: bytes, encoding: str) -> None:
    assert received_text(body) == ReceivedText(body.decode(encoding), encoding)
