"""Read a hundred random texts; check that the fuzzer notices faults."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.fuzz import texts
from tests.fuzz.texts import fuzz
from texts.read import read_text
from texts.types import Figure, Hints, Reading, Remark

SEEDS = 100
"""Texts read here, the same each time; `make fuzz` reads new ones for ten minutes."""


def test_no_text_raises_nor_invents_nor_loses_a_figure() -> None:
    tally = texts.Tally()
    findings = [found for seed in range(SEEDS) for found in texts.findings_of(seed, tally)]
    assert findings == []
    assert tally.read >= texts.LEAST_READ * tally.printed > 0


def raising(text: str, hints: Hints) -> Reading:
    return read_text(str(int(text)), hints)


def failing(text: str, hints: Hints) -> Reading:
    """Lose a line, as when a recogniser raises."""
    return replace(read_text(text, hints), remarks=(Remark(1, "parser_failed", "IndexError"),))


def changed(text: str, hints: Hints, change: Callable[[Figure], Figure]) -> Reading:
    reading = read_text(text, hints)
    sections = tuple(
        replace(section, figures=tuple(map(change, section.figures)))
        for section in reading.sections
    )
    return replace(reading, sections=sections)


def inventing(text: str, hints: Hints) -> Reading:
    """Raise every rate by half."""
    return changed(
        text, hints, lambda one: replace(one, bytes_per_second=one.rate * 1.5, bytes=None)
    )


def misplacing(text: str, hints: Hints) -> Reading:
    """Give every figure another cipher."""
    return changed(text, hints, lambda one: replace(one, cipher="des-cbc"))


def losing(text: str, hints: Hints) -> Reading:
    return replace(read_text(text, hints), sections=(), remarks=())


@pytest.mark.parametrize(
    ("reader", "finding"),
    (
        (raising, "ValueError"),
        (failing, "IndexError"),
        (inventing, "not printed"),
        (misplacing, "false figure"),
        (losing, "lost without a word"),
    ),
)
def test_a_worse_reader_is_noticed(
    monkeypatch: pytest.MonkeyPatch, reader: object, finding: str
) -> None:
    monkeypatch.setattr(texts, "read_text", reader)
    found = fuzz(20, 1, most=3).findings
    assert any(finding in one for one in found)
    assert all(one.startswith("seed ") for one in found)
