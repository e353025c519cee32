"""Read the texts of other people in `../shared/data`, where that folder exists."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.texts.corpora import DATA, Truth, speed_truths
from texts.read import read_text

PAGES = sorted(path for path in (DATA / "pages").iterdir() if path.suffix in (".txt", ".md"))
ROUNDED = 0.2
"""Figures from counts may differ by rounding; of 10,000 so many per cent are to be right."""


def _figures(truth: Truth) -> Counter[tuple[str, int, float]]:
    text = truth.path.read_bytes().decode("utf-8", errors="replace")
    return Counter(
        (figure.cipher, figure.block_size or 0, round(figure.rate, 0))
        for figure in read_text(text).figures()
        if figure.tool == "openssl"
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
            (one["cipher"], one["block_size"], one["acceleration"]) for one in expected["figures"]
        )
    )
