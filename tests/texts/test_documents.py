from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from cipherspeed.run_document import parse_run_document
from cipherspeed.validation import validate_run_document
from tests.cases import each
from texts.documents import MAX_MEASUREMENTS, MAX_SAMPLES, Corrections, Documents, run_documents
from texts.read import read_text
from texts.types import Figure, Reading, Section

NOW = "2026-01-01T00:00:00Z"


def figure(line: int = 1, cipher: str = "arcfour", rate: float = 1e8, **fields: Any) -> Figure:
    tool = "openssl" if "block_size" in fields else "ssh"
    given: dict[str, Any] = {"tool": tool, "format": "cipher-list", "bytes_per_second": rate}
    return Figure(line=line, cipher=cipher, **given, **fields)


def section(*figures: Figure, **fields: Any) -> Section:
    return Section(figures[0].line, figures, **fields)


def documents(*sections: Section, **fields: Any) -> Documents:
    return valid(run_documents(Reading(None, sections), import_id=UUID(int=7), now=NOW, **fields))


def valid(made: Documents) -> Documents:
    # The schema requires bytes and seconds, but samples of imports may contain only rates.
    for document in made.documents:
        timed = [
            {
                **measurement,
                "samples": [
                    {"bytes": 1, "seconds": 1.0, **try_} for try_ in measurement["samples"]
                ],
            }
            for measurement in document["measurements"]
        ]
        assert validate_run_document(document | {"measurements": timed}) == []
        parse_run_document(document)
    assert len({document["run_id"] for document in made.documents}) == len(made.keys)
    return made


def names(made: Documents) -> list[str]:
    return [document["host"]["name"] for document in made.documents]


def ciphers(made: Documents) -> list[list[str]]:
    return [
        [measurement["cipher"] for measurement in doc["measurements"]] for doc in made.documents
    ]


def codes(made: Documents) -> list[tuple[int, str]]:
    return [(remark.line, remark.code) for remark in made.remarks]


def test_a_document_says_what_the_text_says_and_no_more() -> None:
    tries, client = (figure(2), figure(3, rate=1.1e8)), {"client": "OpenSSH_9.2p1"}
    made = documents(section(*tries, environment={"openssh": client}, label="nas:"))
    (document,) = made.documents
    assert (made.keys, made.remarks) == (("2.0",), ())
    assert document["run_id"] == "ae7ed7c6-17d3-5967-a89a-b17ced4560d0"
    assert document["host"] == {"name": "import-00000000", "machine_id": None}
    assert document["environment"] == {"cpu": {}, "os": {}, "openssh": client, "openssl": {}}
    (measured,) = document["measurements"]
    assert measured["target"] == {"kind": "loopback", "name": None}
    assert measured["samples"] == [
        {"line": 2, "bytes_per_second": 1e8},
        {"line": 3, "bytes_per_second": 1.1e8},
    ]


def test_a_sample_has_what_was_measured() -> None:
    tries = (
        figure(block_size=16, bytes=1600, seconds=2.0),
        figure(block_size=16, implausible="Too fast."),
    )
    (measured,) = documents(section(*tries)).documents[0]["measurements"]
    assert measured["samples"] == [
        {"line": 1, "bytes": 1600, "seconds": 2.0},
        {"line": 1, "bytes_per_second": 1e8, "implausible": "Too fast."},
    ]
    assert [measured[name] for name in ("operation", "block_size", "threads")] == ["encrypt", 16, 1]


TWO = (
    section(figure(1, "a"), figure(1, "b", position=1, uncertain="several processes")),
    section(figure(5, "c", uncertain="setting unknown")),
)


@each(
    ("selection", "expected"),
    (
        ("certain", {"1.0": ["a"]}),
        ("all", {"1.0": ["a", "b"], "5.0": ["c"]}),
        (frozenset({"1.1", "5.0", "9.9"}), {"1.0": ["b"], "5.0": ["c"]}),
        (frozenset({"5.0"}), {"5.0": ["c"]}),
        (frozenset(), {}),
    ),
)
def test_selected_figures_become_documents(selection: Any, expected: dict[str, list[str]]) -> None:
    made, whole = documents(*TWO, selection=selection), documents(*TWO, selection="all")
    assert dict(zip(made.keys, ciphers(made), strict=True)) == expected
    run_ids = dict(
        zip(whole.keys, (document["run_id"] for document in whole.documents), strict=True)
    )
    assert [document["run_id"] for document in made.documents] == [
        run_ids[key] for key in made.keys
    ]


STATED: dict[str, Any] = {
    "host": "attic",
    "environment": {
        "cpu": {"model": "Xeon"},
        "os": {"name": "FreeBSD", "kernel": "13.2"},
        "openssl": {"version_text": "OpenSSL 1.1.1"},
        "openssh": {"library": "without OpenSSL"},
    },
}
AS_STATED = ["attic", "Xeon", "FreeBSD", "OpenSSL 1.1.1", "without OpenSSL"]
SAID = Corrections("nas", "Atom", "Debian 12", "OpenSSL 3.2.1")
AS_SAID = ["nas", "Atom", "Debian GNU/Linux", "OpenSSL 3.2.1", None]


@each(
    ("stated", "corrections", "expected"),
    (
        (STATED, {"": SAID, "2.0": SAID}, AS_STATED),
        (STATED, {"1.0": SAID}, AS_SAID),
        (STATED, {"1.0": Corrections("", "", "", "")}, ["attic", None, None, None, None]),
        ({}, {"": SAID}, AS_SAID),
        ({}, {"": SAID, "1.0": Corrections("x")}, ["x", *AS_SAID[1:]]),
        ({}, {}, ["import-00000000", None, None, None, None]),
    ),
)
def test_corrections_replace_the_text_or_fill_gaps(
    stated: Any, corrections: Any, expected: Any
) -> None:
    (document,) = documents(section(figure(), **stated), corrections=corrections).documents
    facts = document["environment"]
    wanted = (("cpu", "model"), ("os", "name"), ("openssl", "version_text"), ("openssh", "library"))
    assert [document["host"]["name"], *(facts[p].get(name) for p, name in wanted)] == expected


@each(
    ("joined", "expected"),
    (
        ({"9.0": "1.0", "5.0": "7.0"}, {"1.0": [1, 9], "5.0": [5]}),
        ({"9.0": "5.0", "5.0": "1.0"}, {"1.0": [1, 5, 9]}),
        ({"1.0": "9.0", "5.0": "5.0", "9.0": ""}, {"1.0": [1], "5.0": [5], "9.0": [9]}),
    ),
)
def test_joined_sections_share_a_machine(joined: Any, expected: dict[str, list[int]]) -> None:
    facts = {"openssh": {"client": "OpenSSH_9.2p1"}, "cpu": {"model": "Atom"}, "memory_bytes": 1}
    made = documents(
        section(figure(1), environment={"cpu": {"model": "Xeon"}}),
        section(figure(5)),
        section(figure(9), environment=facts),
        joined=joined,
    )
    samples = [document["measurements"][0]["samples"] for document in made.documents]
    lines = [[sample["line"] for sample in group] for group in samples]
    assert dict(zip(made.keys, lines, strict=True)) == expected
    if lines[0] == [1, 9]:
        assert made.documents[0]["environment"] == {**facts, "os": {}, "openssl": {}} | {
            "cpu": {"model": "Xeon"}
        }


@each(
    ("first", "second", "expected"),
    (
        ({"host": "nas\x07 "}, {}, ["nas", "import-00000000"]),
        ({"host": "\x07"}, {"host": "x" * 300}, ["import-00000000", "x" * 200]),
        ({"label": "a\n"}, {}, ["import-00000000 (a)", "import-00000000"]),
        ({"label": "a"}, {"label": "a"}, ["import-00000000"] * 2),
        ({"label": "a"}, {"host": "nas", "label": "b"}, ["import-00000000", "nas"]),
    ),
)
def test_a_machine_keeps_its_name_or_gets_one(first: Any, second: Any, expected: Any) -> None:
    assert names(documents(section(figure(1), **first), section(figure(2), **second))) == expected


def test_a_text_has_no_date() -> None:
    (document,) = documents(section(figure())).documents
    assert document["started_at"] == document["finished_at"] == NOW
    assert document["times_of"] == "import"


TRIES = [figure(line) for line in range(1, MAX_SAMPLES + 3)]
SERIES = [figure(n, "rc4", block_size=n) for n in range(1, MAX_MEASUREMENTS + 3)]


@each(
    ("whole", "more", "line"),
    (
        (
            [section(series) for series in SERIES[:200]],
            [section(series) for series in SERIES[:202]],
            201,
        ),
        ([section(*TRIES[:-2])], [section(*TRIES)], MAX_SAMPLES + 1),
        ([section(*SERIES[:-2])], [section(*SERIES)], MAX_MEASUREMENTS + 1),
    ),
)
def test_runs_series_and_tries_are_bounded(whole: Any, more: Any, line: int) -> None:
    assert documents(*whole).remarks == ()
    assert documents(*more).documents == documents(*whole).documents
    assert codes(documents(*more)) == [(line, "too_many")]


LINES = (
    "OpenSSL 3.0.13 30 Jan 2024 (Library: OpenSSL 3.0.13 30 Jan 2024)",
    "type             16 bytes     64 bytes    256 bytes",
    "AES-128-CBC     901234.56k  1301234.56k  1401234.56k",
    "+F:22:aes-128-cbc:901234560.00:1301234560.00:1401234560.00",
    "Doing aes-128-cbc for 3s on 16 size blocks: 54000 aes-128-cbc's in 2.98s",
    "Model name:          Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz",
    "Linux nas 6.1.0-18-amd64 #1 SMP Debian 6.1.76-1 (2024-02-01) x86_64 GNU/Linux",
    "OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.19 27 Jan 2026",
    "root@nas:~# dd if=/dev/zero bs=1M count=100 | ssh -c aes128-ctr pi 'cat > /dev/null'",
    "104857600 bytes (105 MB) copied, 0.5 s, 210 MB/s",
    "aes128-ctr: 104.167 MB/s",
    "## NAS \u202e\x07 without AES-NI " + "x" * 300,
    "aes256-ctr: 900 GB/s",
)
TEXTS = st.lists(st.sampled_from(LINES), min_size=1, max_size=12).map("\n".join) | st.text()
SELECTIONS = st.sampled_from(("all", "certain")) | st.frozensets(
    st.sampled_from(("5.0", "1.0", "2.1"))
)
KEYS = st.sampled_from(("", "1.0", "2.0", "3.0", "4.0", "5.0", "5.1"))
FACT = st.none() | st.text(max_size=160)
CORRECTIONS = st.dictionaries(KEYS, st.builds(Corrections, FACT, FACT, FACT, FACT), max_size=3)


@given(TEXTS, SELECTIONS, CORRECTIONS, st.dictionaries(KEYS, KEYS, max_size=3))
def test_every_document_is_valid(text: str, selection: Any, corrections: Any, joined: Any) -> None:
    choices: dict[str, Any] = {"selection": selection, "corrections": corrections}
    reading = read_text(text)
    valid(run_documents(reading, import_id=UUID(int=7), now=NOW, joined=joined, **choices))
