import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.texts.corpora import DATA, Truth, speed_truths
from texts.ciphers import openssl_cipher, ssh_cipher
from texts.lines import lines_of
from texts.read import read_text

PAGES = sorted(path for path in (DATA / "pages").iterdir() if path.suffix in (".txt", ".md"))
# Percentage of results that may differ, because counts are rounded
ROUNDED = 0.2

RATED = re.compile(r"\d ?[kMG]i?B/s|\d\.\d\dk\b")


def _figures(truth: Truth) -> Counter[tuple[str, int, float]]:
    text = truth.path.read_bytes().decode("utf-8", errors="replace")
    return Counter(
        (figure.cipher, figure.block_size or 0, round(figure.rate, 0))
        for figure in read_text(text).figures()
        if figure.tool == "openssl" and figure.uncertain != "already printed above"
    )


def test_tables_of_all_versions_and_boards_are_read_whole_and_nothing_else() -> None:
    expected = missed = surplus = 0
    for truth in speed_truths():
        found = _figures(truth)
        expected += truth.figures.total()
        missed += (truth.figures - found).total()
        surplus += (found - truth.figures).total()
    assert expected > 7_900
    assert missed / expected < ROUNDED / 100
    assert surplus / expected < ROUNDED / 100


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_whole_pages_give_every_figure_unasked(path: Path) -> None:
    expected = json.loads((DATA / "pages" / "expected.json").read_text("utf-8"))[path.name]
    figures = list(read_text(path.read_text("utf-8")).figures())
    assert not [figure for figure in figures if figure.uncertain]
    assert Counter(
        (figure.cipher, figure.block_size, figure.acceleration) for figure in figures
    ) == (
        Counter(
            (figure["cipher"], figure["block_size"], figure["acceleration"])
            for figure in expected["figures"]
        )
    )


def test_no_line_with_a_cipher_and_a_rate_is_passed_over() -> None:
    paths = [*PAGES, *(DATA / "cases").glob("*.txt"), *(truth.path for truth in speed_truths())]
    for path in paths:
        text = path.read_bytes().decode("utf-8", errors="replace")
        reading = read_text(text)
        listed = {figure.line for figure in reading.figures()}
        listed |= {entry.line for entry in reading.unrecognised}
        listed |= {remark.line for remark in reading.remarks}
        for line in lines_of(text):
            names_cipher = any(
                ssh_cipher(word) or openssl_cipher(word) for word in line.text.split()
            )
            is_rated = names_cipher and RATED.search(line.text)
            assert not is_rated or line.number in listed, (path.name, line)
