import time

import pytest

from texts.lines import Line
from texts.recognisers import RECOGNISERS, Recogniser, recognise

LONG = 50_000
PIECES = (
    "a", " ", "0", "|", ".", ":", "k ", "1.00k ", "0 bytes ", "Doing ", "real ", "1m ", "[1MiB/s] ",
    "1% ", "1 MB/s ", "aes128-ctr ", "(", "é", "+F:1:", "-", "1,", "sent 1 bytes ", "elapsed ",
)  # fmt: skip


def _name(recogniser: Recogniser) -> str:
    return recogniser.example.strip()[:24]


@pytest.mark.parametrize("recogniser", RECOGNISERS, ids=_name)
def test_the_example_is_recognised_by_this_row_and_no_other(recogniser: Recogniser) -> None:
    match = recogniser.pattern.fullmatch(recogniser.example)
    assert match is not None
    assert recogniser.make(match) is not None
    *_name_before, event = recognise(Line(1, recogniser.example))
    assert event == recogniser.make(match)


@pytest.mark.parametrize("recogniser", RECOGNISERS, ids=_name)
def test_hostile_lines_take_linear_time(recogniser: Recogniser) -> None:
    for piece in PIECES:
        text = recogniser.example + piece * (LONG // len(piece)) + "!"
        begin = time.process_time()
        recogniser.pattern.fullmatch(text)
        assert time.process_time() - begin < 0.2, piece
