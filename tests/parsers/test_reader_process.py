"""A large text is read in another process; what comes back is the same reading."""

from io import BytesIO
from pickle import dumps

import pytest

from parsers.read_text import HowToRead, read_text
from parsers.reader_process import _assembled, main, read_in_process
from tests.parsers.test_impossible_rows import HEADER

LISTS = "".join(f"aes128-ctr: {100 + n % 50}.5 MB/s\nsay nothing {n}\n" for n in range(1_100))
TABLES = "".join(
    f"OpenSSL 1.1.1{chr(97 + n)} 1 Jan 2020\n{HEADER}"
    f"aes-128-cbc     {n + 1}01125.50k   283286.23k   503031.38k   623456.00k   663456.00k\n"
    for n in range(5)
)
HOW = HowToRead(unit="MiB", transferred=10**9, cipher="aes256-ctr")


@pytest.mark.parametrize("text", ("", "\x00\ud800", LISTS, TABLES + LISTS))
def test_what_comes_back_is_what_is_read_here(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = read_text(text, HOW)
    assert read_in_process(text, HOW) == expected
    monkeypatch.setattr("os.nice", lambda _: 0)
    target = BytesIO()
    main(BytesIO(dumps((text, HOW))), target)
    target.seek(0)
    assert _assembled(target) == expected
