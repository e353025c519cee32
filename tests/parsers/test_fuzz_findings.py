"""What coverage-guided fuzzing found (tests/parsers/fuzz.py), each kept as a case."""

import pytest

from parsers.openssl.cipher_names import canonical_cipher
from parsers.read_text import read_text


@pytest.mark.parametrize("label", ("bf-cb" + "w" * 120 + "c", "aes-128-cb", "aes-12-cbc", "rc4-4"))
def test_a_damaged_name_names_no_cipher(label: str) -> None:
    assert canonical_cipher(label) is None


def test_a_row_with_a_damaged_name_is_no_figure_of_another_cipher() -> None:
    text = (
        "type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes\n"
        "aes-128-cb      703274.51k   743201.23k   754321.87k   757123.41k   757812.22k\n"
    )
    assert read_text(text).sections == ()
