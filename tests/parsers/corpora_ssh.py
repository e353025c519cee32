"""What the ssh texts of the shared corpora hold, and how a reading compares with it.

The texts are other people's: they are read where they are, never copied into the project.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parsers.lines import numbered_lines
from parsers.ssh.text import read_ssh_text
from parsers.ssh.units import Megabyte
from parsers.types import Figure, Part

DATA = Path(__file__).parents[2].parent / "shared" / "data"
MISC_KINDS = ("ssh", "ssh-famzah", "dd", "negative")
TOLERANCE = 0.001


@dataclass(frozen=True)
class Truth:
    """What one text must yield: rates in bytes per second, by cipher.

    `unit`, `transferred` and `cipher` are what the page around the text says and an importer
    would be told.
    """

    path: Path
    rates: tuple[tuple[str | None, float], ...]
    unit: Megabyte | None = None
    transferred: int | None = None
    cipher: str | None = None

    def read(self, *, told_cipher: bool = True) -> Part:
        """The text as the parser reads it."""
        return read_ssh_text(
            numbered_lines(self.path.read_text(encoding="utf-8", errors="replace")),
            unit=self.unit,
            transferred=self.transferred,
            cipher=self.cipher if told_cipher else None,
        )


@dataclass(frozen=True)
class Score:
    """Figures of one text: `wrong` are of a known cipher with another rate, `invented` the rest."""

    expected: int
    found: int
    wrong: int
    invented: int


def score(truth: Truth, figures: Sequence[Figure]) -> Score:
    """Each figure against the truth, each rate of the truth matched once."""
    left = list(truth.rates)
    unmatched: list[Figure] = []
    for figure in figures:
        match = next((one for one in left if _matches(figure, one)), None)
        if match is None:
            unmatched.append(figure)
        else:
            left.remove(match)
    ciphers = {cipher for cipher, _ in truth.rates}
    wrong = sum(figure.cipher in ciphers for figure in unmatched)
    found = len(truth.rates) - len(left)
    return Score(len(truth.rates), found, wrong, len(unmatched) - wrong)


def rate_of(figure: Figure) -> float:
    """Bytes per second of a figure."""
    if figure.bytes is not None and figure.seconds:
        return figure.bytes / figure.seconds
    return figure.bytes_per_second or 0.0


def _matches(figure: Figure, expected: tuple[str | None, float]) -> bool:
    cipher, rate = expected
    return figure.cipher == cipher and abs(rate_of(figure) - rate) <= TOLERANCE * rate


def figures_of(part: Part) -> list[Figure]:
    """Every figure of every section."""
    return [figure for section in part.sections for figure in section.figures]


def published_truths() -> Iterator[Truth]:
    """The ssh texts of the published pages."""
    folder = DATA / "published"
    runs = {run["id"]: run for run in _json(folder / "results.json")["runs"]}
    for entry in _json(folder / "text" / "manifest.json"):
        if "openssl" not in entry["kind"]:
            measured = [one for name in entry["runs"] for one in runs[name]["measurements"]]
            kept = measured if entry["expected_measurements"] else []
            yield _published(folder / "text" / entry["file"], kept)


def _published(path: Path, measured: list[dict[str, Any]]) -> Truth:
    from_list = any(one["throughput_basis"].startswith("value") for one in measured)
    binary = any("MiB" in one["throughput_basis"] for one in measured)
    single = measured[0] if len(measured) == 1 else None
    return Truth(
        path,
        tuple((one["cipher"], one["throughput_bytes_per_s"]) for one in measured),
        unit=("MiB" if binary else "MB") if from_list else None,
        transferred=single["bytes_transferred"] if single else None,
        cipher=single["cipher"] if single else None,
    )


def misc_truths() -> Iterator[Truth]:
    """The ssh, dd and negative texts among the openssl-speed corpus."""
    for path in sorted((DATA / "openssl-speed" / "misc").glob("*.json")):
        truth = _json(path)
        if truth["kind"] in MISC_KINDS:
            yield _misc(path.with_suffix(".txt"), truth["expected"])


def _misc(path: Path, expected: dict[str, Any]) -> Truth:
    rates = expected.get("ssh", [])
    named = [one["cipher"].split(" ")[0] for one in rates]
    untold = any("not in the text" in one["cipher"] for one in rates)
    return Truth(
        path,
        tuple((name, one["bytes_per_s"]) for name, one in zip(named, rates, strict=True)),
        unit="MiB" if "MB/s is MiB/s" in expected.get("unit_note", "") else "MB",
        cipher=named[0] if untold else None,
    )


def other_texts() -> Iterator[Path]:
    """Every text in which no ssh figure is to be found."""
    ssh = {truth.path for truth in [*published_truths(), *misc_truths()] if truth.rates}
    for folder in ("openssl-speed", "published/text"):
        yield from (path for path in sorted((DATA / folder).rglob("*.txt")) if path not in ssh)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
