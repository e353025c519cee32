"""Load benchmark texts of other projects from `../shared/data`, with the expected results."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from texts.ciphers import openssl_cipher

DATA = Path(__file__).parents[2].parent / "shared" / "data"
SPEED = DATA / "openssl-speed"

# Cipher, block size in bytes, and rate in bytes per second
Key = tuple[str, int, float]


class Truth(NamedTuple):
    path: Path
    figures: Counter[Key]


def speed_truths() -> Iterator[Truth]:
    for path in sorted((SPEED / "misc").glob("*.json")):
        expected = json.loads(path.read_text("utf-8"))["expected"]
        yield _truth(path.with_suffix(".txt"), _misc_rows(expected))
    for line in (SPEED / "sbc-bench" / "snippets-truth.jsonl").read_text("utf-8").splitlines():
        truth = json.loads(line)
        rows = ((row["label"], row.get("blocks") or truth["blocks"], row) for row in truth["rows"])
        yield _truth(SPEED / "sbc-bench" / "snippets" / truth["file"], rows)


def _misc_rows(expected: dict[str, Any]) -> Iterator[tuple[str, list[int], dict[str, Any]]]:
    tabled = set()
    for table in expected.get("tables", []):
        for row in table["rows"]:
            if row["is_cipher"] and row["cipher"]:
                tabled.add(row["cipher"])
                yield row["cipher"], table["blocks"], row
    for row in expected.get("mr", []):
        cipher = openssl_cipher(row.get("label", ""))
        if row["tag"] == "F" and row["child"] is None and cipher:
            tabled.add(cipher)
            yield cipher, row["blocks"], row
    for row in expected.get("doing", []):
        if (cipher := openssl_cipher(row["label"])) and cipher not in tabled:
            yield cipher, [row["block"]], {"bytes_per_s": [row["bytes_per_s"]]}


def _truth(path: Path, rows: Iterator[tuple[str, list[int], dict[str, Any]]]) -> Truth:
    figures: Counter[Key] = Counter()
    for label, sizes, row in rows:
        for size, rate in zip(sizes, row["bytes_per_s"], strict=False):
            if rate:
                figures[openssl_cipher(label) or label, size, round(rate, 0)] += 1
    return Truth(path, figures)
