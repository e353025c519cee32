"""Texts to run documents: one a section, complete, within limits, with the reader's corrections."""

from typing import Any
from uuid import UUID

from documents.validation import validate_run_document
from parsers.read_text import read_text
from parsers.run_documents import (
    MAX_MEASUREMENTS,
    MAX_SAMPLES,
    Corrections,
    Documents,
    run_documents,
)
from parsers.types import Figure, Reading, Section
from tests.cases import each
from tests.parsers.openssl_texts import header, rising, row

NOW = "2026-01-01T00:00:00Z"
VERSION = "OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.19 27 Jan 2026\n"
SSH = VERSION + "aes128-ctr: 104.167 MB/s\n"
TWO_MACHINES = "cipher,one MB/s,two MB/s\naes128-ctr,100,50\n"


def documents(text: str | tuple[Section, ...], **said: Any) -> Documents:
    reading = read_text(text) if isinstance(text, str) else Reading(None, text, (), ())
    made = run_documents(reading, import_id=UUID(int=7), now=NOW, **said)
    for document in made.documents:
        validate_run_document(document)
    return made


def openssl_text(number: int) -> str:
    return "\n".join(
        [f"OpenSSL 1.0.{number} 1 Jan 2020", header(), row("rc4", rising(1e8 + number * 1e3)), ""]
    )


def section(*figures: Figure, **said: Any) -> Section:
    return Section(1, figures or (Figure(1, "ssh", "arcfour", "arcfour", 1e8),), **said)


def names(made: Documents) -> list[str]:
    return [document["host"]["name"] for document in made.documents]


def codes(made: Documents) -> list[tuple[int, str]]:
    return [(remark.line, remark.code) for remark in made.remarks]


def test_a_document_says_what_the_text_says_and_no_more() -> None:
    made = documents(SSH + "aes128-ctr: 105 MB/s\n")
    assert made.keys == ("2.0",)
    assert made.remarks == ()
    assert made.documents == (
        {
            "schema": "ciphermark/run/1",
            "run_id": "ae7ed7c6-17d3-5967-a89a-b17ced4560d0",
            "agent": {"name": "import", "version": None},
            "host": {"name": "import-00000000", "machine_id": None},
            "started_at": NOW,
            "finished_at": NOW,
            "times_of": "import",
            "environment": {
                "cpu": {},
                "os": {},
                "openssh": {"client": "OpenSSH_9.2p1 Debian-2"},
                "openssl": {"version_text": "OpenSSL 3.0.19 27 Jan 2026"},
            },
            "conditions": [],
            "measurements": [
                {
                    "tool": "ssh",
                    "cipher": "aes128-ctr",
                    "acceleration": "default",
                    "mac": None,
                    "compression": False,
                    "method": "pipeline",
                    "target": {"kind": "loopback", "name": None},
                    "samples": [
                        {"line": 2, "bytes_per_second": 104_167_000.0},
                        {"line": 3, "bytes_per_second": 105_000_000.0},
                    ],
                }
            ],
        },
    )


def test_a_sample_has_the_bytes_and_seconds_that_were_measured() -> None:
    (document,) = documents("Doing rc4 for 3s on 16 size blocks: 100 rc4's in 2.00s\n").documents
    (measured,) = document["measurements"]
    assert measured == {
        "tool": "openssl",
        "cipher": "rc4",
        "acceleration": "default",
        "operation": "encrypt",
        "block_size": 16,
        "threads": 1,
        "samples": [{"line": 1, "bytes": 1600, "seconds": 2.0}],
    }


def test_a_rate_that_cannot_be_true_is_kept_with_the_reason() -> None:
    figure = Figure(1, "ssh", "arcfour", "arcfour", 9e10, implausible="Too fast.")
    (document,) = documents((section(figure),)).documents
    assert document["measurements"][0]["samples"] == [
        {"line": 1, "bytes_per_second": 9e10, "implausible": "Too fast."}
    ]


def test_what_the_reader_says_of_the_machine_counts() -> None:
    text = VERSION.replace(", OpenSSL 3.0.19 27 Jan 2026", ", without OpenSSL") + SSH[51:]
    said = Corrections("nas", "Xeon E5", "Debian 12", "OpenSSL 3.2.1")
    (before,) = documents(text).documents
    assert before["environment"]["openssh"]["library"] == "without OpenSSL"
    (document,) = documents(text, corrections=(said,)).documents
    assert document["host"]["name"] == "nas"
    assert document["environment"] == {
        "cpu": {"model": "Xeon E5"},
        "os": {"name": "Debian GNU/Linux", "version": "12"},
        "openssl": {"version_text": "OpenSSL 3.2.1"},
        "openssh": {"client": "OpenSSH_9.2p1 Debian-2"},
    }


A, B = Corrections("a"), Corrections("b")


@each(
    ("said", "expected"),
    (
        ({}, ["import-00000000 (one)", "import-00000000 (two)"]),
        ({"corrections": (A,)}, ["a", "a"]),
        ({"corrections": (A, B)}, ["a", "b"]),
        ({"corrections": (A,), "corrected": ("9.0",)}, ["a", "a"]),
        ({"corrections": (B, A), "corrected": ("2.1", "2.0")}, ["a", "b"]),
        ({"corrections": (A, B), "corrected": ("2.0", "9.0")}, ["a", "import-00000000"]),
    ),
)
def test_a_correction_belongs_to_its_section(said: dict[str, Any], expected: list[str]) -> None:
    made = documents(TWO_MACHINES, **said)
    assert made.keys == ("2.0", "2.1")
    assert names(made) == expected


@each(
    ("said", "name"),
    (
        ({"host": "nas\x07 "}, "nas"),
        ({"host": "\x07"}, "import-00000000"),
        ({"host": "x" * 300}, "x" * 200),
        ({"host": "x" * 300, "part": "y" * 50}, f"{'x' * 160} ({'y' * 36})"),
        ({"label": "before"}, "import-00000000"),
        ({"label": "before", "part": "CPU 4"}, "import-00000000 (CPU 4)"),
    ),
)
def test_a_machine_keeps_its_name_and_has_one_of_this_text_else(
    said: dict[str, Any], name: str
) -> None:
    assert names(documents((section(**said),))) == [name]


@each(
    ("stated", "expected"),
    (
        ("1990-01-01T00:00:00Z", []),
        (NOW, []),
        ("1989-12-31T23:59:59Z", [(1, "date_unlikely")]),
        ("2026-01-01T00:00:01Z", [(1, "date_unlikely")]),
    ),
)
def test_a_date_that_cannot_be_is_that_of_the_import(
    stated: str, expected: list[tuple[int, str]]
) -> None:
    made = documents((section(started_at=stated),))
    (document,) = made.documents
    assert codes(made) == expected
    assert document["started_at"] == document["finished_at"] == (NOW if expected else stated)
    assert document.get("times_of") == ("import" if expected else None)


def test_a_long_fact_is_cut() -> None:
    (document,) = documents((section(environment={"cpu": {"model": "x" * 3000}}),)).documents
    assert len(document["environment"]["cpu"]["model"]) == 2000


def test_a_text_makes_a_bounded_number_of_runs() -> None:
    whole = documents("".join(map(openssl_text, range(200))))
    assert (len(whole.documents), whole.remarks) == (200, ())
    cut = documents("".join(map(openssl_text, range(202))))
    assert cut.documents == whole.documents
    assert codes(cut) == [(601, "too_many")]
    assert "the 2 from here" in cut.remarks[0].detail


def test_a_run_holds_a_bounded_number_of_tries_and_series() -> None:
    tries = [Figure(line, "ssh", "arcfour", "arcfour", 1e8) for line in range(1, MAX_SAMPLES + 3)]
    (document,) = documents((section(*tries[:-2]),)).documents
    made = documents((section(*tries),))
    assert made.documents == (document,)
    assert codes(made) == [(MAX_SAMPLES + 1, "too_many")]
    assert made.remarks[0].detail == "arcfour: the first 100 of 102 tries are kept"
    series = [Figure(n, "openssl", "rc4", "rc4", 1e8, block_size=n) for n in range(1, 5003)]
    whole, cut = (documents((section(*series[:count]),)) for count in (MAX_MEASUREMENTS, 5002))
    assert (whole.remarks, cut.documents) == ((), whole.documents)
    assert codes(cut) == [(MAX_MEASUREMENTS + 1, "too_many")]
