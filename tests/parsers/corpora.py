"""How well the shared corpora of `openssl speed` output and sbc-bench reports are read.

The texts are other people's and stay where they are, beside the project. `python -m
tests.parsers.corpora` prints the table: figures expected, found, wrong and invented.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "backend"))

from parsers.lines import numbered_lines
from parsers.openssl.cipher_names import canonical_cipher
from parsers.openssl.speed import read_openssl_speed
from parsers.sbc_bench.reports import read_sbc_bench
from parsers.types import Figure, Part

DATA = Path(__file__).parents[2].parent / "shared" / "data"
CORPUS = DATA / "openssl-speed"

DECIMALS = 1
"""Rates are compared in tenths of a byte per second: as printed, without rounding errors."""

Key = tuple[str, int, float]
"""Cipher, block size in bytes, bytes per second."""


@dataclass(frozen=True)
class Text:
    """One text of a corpus with the figures that its truth file calls unambiguous."""

    corpus: str
    path: Path
    figures: Counter[Key]
    lines: Counter[int]
    """How many figures stand on which line."""
    truth: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Score:
    """Figures of one text: `wrong` have an expected cipher and block size, `invented` do not."""

    text: Text
    part: Part
    expected: int
    found: int
    wrong: int
    invented: int

    @property
    def is_perfect(self) -> bool:
        """Whether everything was found and nothing else."""
        return self.found == self.expected and not self.wrong and not self.invented


def all_texts() -> Iterator[Text]:
    """Every text of the corpora that these parsers are for."""
    yield from misc_texts()
    yield from sbc_bench_texts("full")
    yield from sbc_bench_texts("snippets")
    for path in sorted((CORPUS / "sbc-bench" / "no-table").glob("*.txt")):
        yield Text("no-table", path, Counter(), Counter())
    yield from published_texts()


def misc_texts() -> Iterator[Text]:
    """The single texts of many versions, shapes and platforms, ssh ones among them."""
    for path in sorted((CORPUS / "misc").glob("*.json")):
        truth = _json(path)
        rows = list(_misc_rows(truth["expected"]))
        yield _text("misc", path.with_suffix(".txt"), rows, truth)


_Row = tuple[int, str, list[int], list[float | None]]


def _misc_rows(expected: dict[str, Any]) -> Iterator[_Row]:
    tabled = set()
    for table in expected.get("tables", []):
        for row in table["rows"]:
            if row["is_cipher"] and row["cipher"]:
                tabled.add(row["cipher"])
                yield row["line"], row["cipher"], table["blocks"], row["bytes_per_s"]
    for one in expected.get("mr", []):
        # The processes of -multi are not added to their sum, which has no child's number.
        cipher = canonical_cipher(one.get("label", ""))
        if one["tag"] == "F" and one["child"] is None and cipher:
            tabled.add(cipher)
            yield one["line"], cipher, one["blocks"], one["bytes_per_s"]
    for one in expected.get("doing", []):
        # Where a table has the cipher, its counts are cross-checks and no figures.
        cipher = canonical_cipher(one["label"])
        if cipher and cipher not in tabled:
            yield one["line"], cipher, [one["block"]], [one["bytes_per_s"]]


def sbc_bench_texts(folder: str) -> Iterator[Text]:
    """Reports of single-board computers: `full`, or `snippets` with the OpenSSL table alone."""
    for line in (CORPUS / "sbc-bench" / f"{folder}-truth.jsonl").read_text("utf-8").splitlines():
        truth = json.loads(line)
        rows = [
            (
                row["line"],
                canonical_cipher(row["label"]) or row["label"],
                row.get("blocks") or truth["blocks"],
                row["bytes_per_s"],
            )
            for row in truth["rows"]
        ]
        yield _text(folder, CORPUS / "sbc-bench" / folder / truth["file"], rows, truth)


def published_texts() -> Iterator[Text]:
    """The pages of the published data set, pasted as text: whole, and without line breaks."""
    folder = DATA / "published"
    runs = {run["id"]: run for run in _json(folder / "results.json")["runs"]}
    for entry in _json(folder / "text" / "manifest.json"):
        measured = [one for name in entry["runs"] for one in runs[name]["measurements"]]
        kept = measured if "openssl" in entry["kind"] else []
        rows = [
            (0, one["cipher"], [one["block_size_bytes"]], [one["throughput_bytes_per_s"]])
            for one in kept[: entry["expected_measurements"]]
        ]
        yield _text("published", folder / "text" / entry["file"], rows, entry)


def _text(corpus: str, path: Path, rows: Iterable[_Row], truth: dict[str, Any]) -> Text:
    figures: Counter[Key] = Counter()
    lines: Counter[int] = Counter()
    for line, cipher, blocks, rates in rows:
        for block, rate in zip(blocks, rates, strict=False):
            if rate:
                figures[cipher, block, round(rate, DECIMALS)] += 1
                lines[line] += 1
    return Text(corpus, path, figures, lines, truth)


def read(path: Path) -> Part:
    """A text as these parsers read it: a whole report, else `openssl speed`."""
    lines = numbered_lines(path.read_bytes().decode("utf-8", errors="replace"))
    report = read_sbc_bench(lines)
    return read_openssl_speed(lines) if report is None else report


def figures_of(part: Part) -> list[Figure]:
    """All figures of all sections."""
    return [figure for section in part.sections for figure in section.figures]


def rate_of(figure: Figure) -> float:
    """Bytes per second, as printed or as counted."""
    if figure.bytes is not None and figure.seconds:
        return figure.bytes / figure.seconds
    return figure.bytes_per_second or 0.0


def score(text: Text) -> Score:
    """Reads a text and compares."""
    part = read(text.path)
    got: Counter[Key] = Counter(_key(figure) for figure in figures_of(part))
    left, surplus = text.figures - got, got - text.figures
    # Counts are compared with a truth of two decimals of a rate that has more.
    for key in list(surplus):
        near = next((one for one in left if _is_near(one, key)), None)
        if near is not None:
            left.subtract([near])
            surplus.subtract([key])
    left, surplus = +left, +surplus
    known = {key[:2] for key in text.figures}
    wrong = sum(count for key, count in surplus.items() if key[:2] in known)
    return Score(
        text=text,
        part=part,
        expected=text.figures.total(),
        found=text.figures.total() - left.total(),
        wrong=wrong,
        invented=surplus.total() - wrong,
    )


def _key(figure: Figure) -> Key:
    return figure.cipher, figure.block_size or 0, round(rate_of(figure), DECIMALS)


def _is_near(one: Key, other: Key) -> bool:
    return one[:2] == other[:2] and abs(one[2] - other[2]) <= 0.2


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def table(scores: Iterable[Score]) -> str:
    """The figures of each corpus, and each text that deviates."""
    totals: dict[str, Counter[str]] = {}
    deviating = []
    for one in scores:
        total = totals.setdefault(one.text.corpus, Counter())
        for name in ("expected", "found", "wrong", "invented"):
            total[name] += getattr(one, name)
        total["texts"] += 1
        if not one.is_perfect:
            deviating.append(
                f"{one.text.corpus}/{one.text.path.name}: expected {one.expected}, found "
                f"{one.found}, wrong {one.wrong}, invented {one.invented}"
            )
    names = ("texts", "expected", "found", "wrong", "invented")
    heading = f"{'corpus':<12}" + "".join(f"{name:>10}" for name in names)
    rows = [
        f"{corpus:<12}" + "".join(f"{total[name]:>10}" for name in names)
        for corpus, total in totals.items()
    ]
    return "\n".join([heading, *rows, *deviating])


if __name__ == "__main__":
    sys.stdout.write(table(score(text) for text in all_texts()) + "\n")
