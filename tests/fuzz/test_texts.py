"""The fuzzing of the parsers: FUZZ_SECONDS=15, SEED=any; and that it notices what it looks for."""

import os
import random
from dataclasses import replace
from unittest.mock import patch

import pytest

from parsers.read_text import HowToRead, read_text
from parsers.types import Reading
from tests.fuzz import texts
from tests.fuzz.texts import fuzz


def test_no_text_raises_nor_invents_nor_loses_a_figure() -> None:
    seed = int(os.environ.get("SEED") or random.SystemRandom().getrandbits(48))
    print(f"seed {seed}")  # noqa: T201
    tally = fuzz(float(os.environ.get("FUZZ_SECONDS") or 15), seed)
    print(tally.said)  # noqa: T201
    assert tally.findings == []
    assert tally.read >= texts.LEAST_READ * tally.printed > 0


def raising(text: str, how: HowToRead) -> Reading:
    return read_text(str(int(text)), how)


def failing(text: str, how: HowToRead) -> Reading:
    """A parser raises, which `read_text` keeps from users."""
    with patch("parsers.read_text.read_openssl_speed", side_effect=IndexError("in a parser")):
        return read_text(text, how)


def inventing(text: str, how: HowToRead) -> Reading:
    """Every rate half as large again."""
    reading = read_text(text, how)
    sections = tuple(
        replace(
            section,
            figures=tuple(
                one._replace(bytes_per_second=(one.bytes_per_second or 1e6) * 1.5, bytes=None)
                for one in section.figures
            ),
        )
        for section in reading.sections
    )
    return replace(reading, sections=sections)


def misplacing(text: str, how: HowToRead) -> Reading:
    """Every figure of another cipher."""
    reading = read_text(text, how)
    sections = tuple(
        replace(one, figures=tuple(f._replace(cipher="des-cbc") for f in one.figures))
        for one in reading.sections
    )
    return replace(reading, sections=sections)


def losing(text: str, how: HowToRead) -> Reading:
    return replace(read_text(text, how), sections=(), remarks=())


@pytest.mark.parametrize(
    ("reader", "finding"),
    (
        (raising, "ValueError"),
        (failing, "IndexError: in a parser"),
        (inventing, "not printed"),
        (misplacing, "false figure"),
        (losing, "lost without a word"),
    ),
)
def test_a_parser_that_does_worse_is_noticed(
    monkeypatch: pytest.MonkeyPatch, reader: object, finding: str
) -> None:
    monkeypatch.setattr(texts, "read_text", reader)
    found = fuzz(20, 1, most=3).findings
    assert any(finding in one for one in found)
    assert all(one.startswith("seed ") for one in found)
