"""On which Pythons `make compat` runs: the oldest and the newest of the machine, said in words."""

import sys
from pathlib import Path

import pytest

from launch import interpreters
from launch.console import Problem
from tests.launch.tools import MakeProgram

OWN = ".".join(map(str, sys.version_info[:3]))
OLD = "3.11.3" if OWN == "3.11.2" else "3.11.2"
"""That of these tests is not tested twice."""


@pytest.fixture
def machine(programs: MakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeProgram:
    """A machine with no other Python than that of these tests; puts a script on its PATH."""
    monkeypatch.setattr(interpreters, "USUAL_FOLDERS", (str(tmp_path / "usual"),))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("CIPHERMARK_VENV", sys.prefix)
    monkeypatch.delenv("PYTHONS", raising=False)
    return programs


def pretend(machine: MakeProgram, name: str, version: str) -> Path:
    """A Python that says that it is of this version."""
    return machine(name, f"echo {version.replace('.', ' ')}")


def versions() -> list[str]:
    return [str(one) for one in interpreters.extremes()]


def test_the_oldest_and_the_newest_are_taken_wherever_they_are(
    machine: MakeProgram, tmp_path: Path
) -> None:
    for place, name, version in (
        ("usual", "python3.11", OLD),
        ("pyenv/versions/3.11.4/bin", "python3.11", "3.11.4"),
        ("pyenv/versions/3.14.1/bin", "python3.14", "3.14.1"),
        ("", "python3.12", "3.12.1"),
    ):
        path = pretend(machine, name, version)
        if place:
            (tmp_path / place).mkdir(parents=True)
            path.rename(tmp_path / place / name)
    assert versions() == [OLD, "3.14.1"]
    told = interpreters.in_words(interpreters.extremes())
    assert told == f"Python {OLD} and 3.14.1, besides {OWN} of `make test`."


def test_what_does_not_suit_or_start_or_has_no_venv_is_not_taken(machine: MakeProgram) -> None:
    pretend(machine, "python3.11", "3.11.1")
    pretend(machine, "python3.14", "3.15.0")
    machine("python3.13", "exit 127")
    machine("python3.12", "echo no venv >&2; exit 1")
    assert versions() == []


def test_that_of_the_environment_is_not_tested_twice(machine: MakeProgram) -> None:
    pretend(machine, "python3.11", OWN)
    assert versions() == []


def test_one_python_alone_is_said(machine: MakeProgram) -> None:
    assert interpreters.in_words(interpreters.extremes()).startswith(
        f"No Python besides {OWN} of `make test`"
    )


def test_named_ones_are_taken_and_a_wrong_name_is_one_sentence(
    machine: MakeProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(machine, "python3.14", "3.14.1")
    mine = pretend(machine, "mypython", "3.12.9")
    monkeypatch.setenv("PYTHONS", str(mine))
    assert versions() == ["3.12.9"]
    monkeypatch.setenv("PYTHONS", f"{mine} python9")
    with pytest.raises(Problem, match=r"python9 is no Python 3\.11\.2 to 3\.14"):
        interpreters.extremes()
