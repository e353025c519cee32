"""Compare each parsed `samples/NAME.txt` with the expectation `samples/NAME.json`.

`UPDATE_SAMPLES=1 pytest tests/texts/test_samples.py` rewrites the expectations; review the diff.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from texts.read import read_text
from texts.types import Figure, Section

SAMPLES = sorted(
    path for path in (Path(__file__).parent / "samples").iterdir() if path.suffix != ".json"
)


def _figure(figure: Figure) -> str:
    size = f" {figure.block_size} bytes" if figure.block_size else ""
    words = [
        f"{figure.line}: {figure.tool} {figure.cipher}{size} {figure.rate / 1e6:.3f} MB/s",
        figure.acceleration if figure.acceleration != "default" else "",
        figure.operation if figure.operation != "encrypt" else "",
        f"{figure.threads} threads" if figure.threads > 1 else "",
        figure.mac or "",
        "compressed" if figure.compression else "",
        f"to {figure.target_name}" if figure.target_name else figure.target_kind or "",
    ]
    doubt = f" ? {figure.uncertain}" if figure.uncertain else ""
    return ", ".join(word for word in words if word) + doubt


def _section(section: Section) -> dict[str, Any]:
    environment = section.environment
    facts = {
        "host": section.host,
        "label": section.label,
        "cpu": environment.get("cpu", {}).get("model"),
        "os": environment.get("os", {}).get("name"),
        "openssl": environment.get("openssl", {}).get("version_text"),
        "assumed": sorted({word for figure in section.figures for word in figure.assumed}),
    }
    figures = [_figure(figure) for figure in section.figures]
    return {name: fact for name, fact in facts.items() if fact} | {"figures": figures}


def _document(text: str) -> dict[str, Any]:
    reading = read_text(text)
    return {
        "format": reading.format,
        "sections": [_section(section) for section in reading.sections],
        "remarks": [f"{remark.line}: {remark.code}" for remark in reading.remarks],
    }


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_text_is_read_as_a_careful_reader_does(path: Path) -> None:
    document = _document(path.read_text("utf-8"))
    expected = path.with_suffix(".json")
    if os.environ.get("UPDATE_SAMPLES"):
        expected.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", "utf-8")
    assert document == json.loads(expected.read_text("utf-8"))
