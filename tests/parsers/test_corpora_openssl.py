"""The shared corpora: every unambiguous figure is found, nothing is wrong, nothing invented."""

from collections import Counter
from collections.abc import Mapping

import pytest

from tests.parsers.corpora import (
    Score,
    all_texts,
    figures_of,
    score,
    table,
)

DEVIATIONS: Mapping[str, str] = {}
"""Texts whose truth is arguable, with the reason why they are read in another way: none."""

OTHER_LINES: Mapping[str, str] = {
    "015-polarfire-324-riscv-wrapped-doing.txt": "its truth counts wrapped lines as one",
}
"""Texts whose figures stand on other lines than their truth says."""

SUMS_OF_UNKNOWN_NUMBER = "042-openssl363-multi12-macos-arm64.txt"
"""Its rows add up processes that the text does not count: kept, and flagged."""


@pytest.fixture(scope="module")
def scores() -> list[Score]:
    return [score(text) for text in all_texts()]


def test_every_unambiguous_figure_is_found_and_none_is_wrong_or_invented(
    scores: list[Score],
) -> None:
    deviating = {one.text.path.name for one in scores if not one.is_perfect}
    assert deviating == set(DEVIATIONS), "\n" + table(scores)
    assert sum(one.expected for one in scores) > 15_000


def test_figures_stand_on_the_lines_that_the_truth_says(scores: list[Score]) -> None:
    for one in scores:
        if one.text.corpus != "published" and one.text.path.name not in OTHER_LINES:
            lines = Counter(figure.line for figure in figures_of(one.part))
            assert lines == one.text.lines, one.text.path.name


def test_masked_runs_are_known_as_such(scores: list[Score]) -> None:
    for one in scores:
        acceleration = one.text.truth.get("acceleration", {})
        if isinstance(acceleration, dict) and acceleration.get("mode") == "masked":
            assert {figure.acceleration for figure in figures_of(one.part)} == {"masked"}


def test_versions_are_those_of_the_truth(scores: list[Score]) -> None:
    for one in scores:
        tables = one.text.truth.get("expected", {}).get("tables", [])
        stated = {entry["version"] for entry in tables if entry["version"]}
        read = {
            section.environment.get("openssl", {}).get("version_text")
            for section in one.part.sections
        }
        if len(stated) == 1 and read:
            assert read == stated, one.text.path.name


def test_boards_are_named_as_their_reports_name_them(scores: list[Score]) -> None:
    for one in scores:
        if one.text.corpus == "full":
            section, truth = one.part.sections[0], one.text.truth
            device = (truth["device"] or "").replace("`", " ").split()
            assert (section.host or "").split() == device
            assert (section.started_at is None) == (truth["date"] is None)
            versions = {part.environment["openssl"]["version_text"] for part in one.part.sections}
            assert all(text.startswith(truth["openssl_version"]) for text in versions)


def test_only_what_cannot_be_true_is_flagged(scores: list[Score]) -> None:
    flagged = {
        one.text.path.name
        for one in scores
        if any(figure.implausible for figure in figures_of(one.part))
    }
    assert flagged == {
        "012-ti-100b-devcrypto-collapsed-spaces.txt",  # an engine without -elapsed
        SUMS_OF_UNKNOWN_NUMBER,
        "3ZxU.txt",  # rows of eight processes at once
    }
