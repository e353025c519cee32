"""The ssh texts of the shared corpora: expected, found, wrong, invented.

The texts are other people's and stay where they are (conftest.py).
"""

import pytest

from parsers.lines import numbered_lines
from parsers.ssh.text import read_ssh_text
from parsers.types import Part
from tests.cases import each
from tests.parsers.corpora_ssh import (
    DATA,
    Truth,
    figures_of,
    misc_truths,
    other_texts,
    published_truths,
    score,
)

CIPHER_NOWHERE_KNOWN = {
    "000-proxmox-guest-time-1-default-before.txt",
    "000-proxmox-guest-time-3-default-after-sshd_config.txt",
}
"""Times of ssh's default cipher, which neither the text nor its page names: a remark, no figure."""


def _truths() -> list[Truth]:
    return [*published_truths(), *misc_truths()] if DATA.is_dir() else []


@each("truth", _truths())
def test_every_figure_is_found_and_none_is_wrong_or_invented(truth: Truth) -> None:
    part = truth.read()
    result = score(truth, figures_of(part))
    assert (result.wrong, result.invented) == (0, 0)
    if truth.path.name in CIPHER_NOWHERE_KNOWN:
        assert result.found == 0
        assert "no_cipher" in {remark.code for remark in part.remarks}
    else:
        assert result.found == result.expected


@each("truth", [one for one in _truths() if one.cipher])
def test_a_cipher_that_only_the_page_names_is_not_guessed(truth: Truth) -> None:
    part = truth.read(told_cipher=False)
    assert figures_of(part) == []
    assert "no_cipher" in {remark.code for remark in part.remarks}


@pytest.mark.no_cover
def test_no_other_text_has_an_ssh_figure() -> None:
    invented = {
        path.name: len(figures)
        for path in other_texts()
        if (figures := figures_of(_untold(path.read_text(encoding="utf-8", errors="replace"))))
    }
    assert invented == {}


def _untold(text: str) -> Part:
    return read_ssh_text(numbered_lines(text), unit=None, transferred=None)


def test_texts_without_their_line_breaks_read_like_those_with() -> None:
    texts = {truth.path.name: truth for truth in _truths()}
    flat = [name for name in texts if name.endswith("-flat.txt")]
    assert flat
    for name in flat:
        restored = texts[name.replace("-flat", "-restored")]
        assert [(one.bytes, one.seconds) for one in figures_of(texts[name].read())] == [
            (one.bytes, one.seconds) for one in figures_of(restored.read())
        ]
