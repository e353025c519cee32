"""Coverage-guided fuzzing of the parsers.

    pip install -r requirements-fuzz.txt
    python -m tests.parsers.fuzz -max_total_time=600 -max_len=4096 CORPUS...

Any bytes go the whole way from upload to run documents. A finding is an exception other than the
declared ones, a document that the schema refuses, a line number outside the text, or a time that
is no longer in proportion to the length. Findings become cases in test_fuzz_findings.py.
"""

import math
import sys
import time
from typing import Any
from uuid import UUID

import atheris

with atheris.instrument_imports(include=["parsers"]):
    from parsers.read_text import HowToRead, read_text
    from parsers.received_text import NotAText, received_text
    from parsers.run_documents import run_documents

from documents.validation import validate_run_document

IMPORT_ID = UUID("0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d6e")
NOW = "2025-11-21T06:48:10Z"
SECONDS = 0.25
"""For the longest input of a run (4 kB) with instrumentation; no text of that length takes 0.1."""


def check(body: bytes) -> None:
    """The whole way of one upload; raises for a finding."""
    began = time.perf_counter()
    try:
        text = received_text(body).text
    except NotAText:
        return
    reading = read_text(text, HowToRead(transferred=10**9))
    documents = run_documents(reading, import_id=IMPORT_ID, now=NOW).documents
    assert time.perf_counter() - began < SECONDS + len(body) / 1e5, "too slow"
    lines = text.count("\n") + 1
    for section in reading.sections:
        for figure in section.figures:
            assert 1 <= figure.line <= lines
    for document in documents:
        assert validate_run_document(with_bytes_and_seconds(document)) == []


def with_bytes_and_seconds(document: dict[str, Any]) -> dict[str, Any]:
    """The document as the schema of uploads wants it: a printed rate as bytes in a second."""
    for measurement in document["measurements"]:
        for sample in measurement["samples"]:
            rate = sample.pop("bytes_per_second", None)
            if rate is not None:
                assert math.isfinite(rate)
                assert rate > 0
                sample.update(bytes=max(1, int(min(rate, 2**60))), seconds=1.0)
    return document


if __name__ == "__main__":
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()
