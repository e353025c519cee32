"""Every dependency is pinned and says why it is there."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "name", ("requirements.txt", "requirements-dev.txt", "requirements-fuzz.txt")
)
def test_every_requirement_is_pinned_and_has_its_reason(name: str) -> None:
    reasoned = False
    for number, line in enumerate((PROJECT / name).read_text().splitlines(), start=1):
        if not line.strip():
            reasoned = False
        elif line.startswith("#"):
            reasoned = True
        elif not line.startswith("-r "):
            place = f"{name}:{number}: {line}"
            assert re.fullmatch(r"[\w.-]+(\[[\w,]+\])?==[\w.]+", line), f"{place} is not pinned"
            assert reasoned, f"{place} has no reason above it"
