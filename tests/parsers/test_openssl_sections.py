"""What belongs together in a text of `openssl speed`: tries, machines, environments."""

import time
from uuid import UUID

from parsers.read_text import read_text
from parsers.run_documents import run_documents
from parsers.types import Part
from tests.cases import each
from tests.parsers.openssl_texts import doing, figures, header, rates, read, row


def table(rate: float, label: str = "aes-128-gcm") -> tuple[str, str]:
    """A table of one row and one column."""
    return header((16,)), row(label, [rate])


def shape(part: Part) -> list[int]:
    """How many figures each section has."""
    return [len(section.figures) for section in part.sections]


PROMPT = "root@nas:~# openssl speed {}-evp aes-128-gcm"


def test_a_command_given_three_times_makes_three_tries() -> None:
    part = read(*(line for rate in (4e8, 5e8, 6e8) for line in (PROMPT.format(""), *table(rate))))
    assert shape(part) == [3]
    assert rates(part) == [4e8, 5e8, 6e8]
    assert part.sections[0].host == "nas"
    assert part.sections[0].label is None


@each(
    "between",
    ((), ("",), ("OpenSSL 1.1.1w  11 Sep 2023",), ("Run 2:",), ("", "Try 2 of 3", ""),
     ("And again:",), ("root@nas:~# sleep 60",), ("real 0m3.002s", "user 0m3.000s")),
)  # fmt: skip
def test_a_table_that_comes_again_is_a_further_try(between: tuple[str, ...]) -> None:
    part = read("OpenSSL 1.1.1w  11 Sep 2023", *table(4e8), *between, *table(5e8))
    assert shape(part) == [2]


def test_counts_that_come_again_are_further_tries() -> None:
    version = "OpenSSL 1.1.1w  11 Sep 2023"
    part = read(doing("rc4", 16, 9_000_000), version, doing("rc4", 16, 9_900_000), version)
    assert shape(part) == [2]


@each(
    "between",
    (
        "On the other machine:",
        "OpenSSL 3.0.19 27 Jan 2026",
        "me@attic:~$ openssl speed -evp aes-128-gcm",
        PROMPT.format("-elapsed "),
        PROMPT.format("-engine padlock "),
        "root@nas:~# openssl speed aes-128-gcm",
        "root@nas:~# /opt/other/bin/openssl speed -evp aes-128-gcm",
        "root@nas:~# ssh attic openssl speed -evp aes-128-gcm",
    ),
)
def test_what_may_be_another_machine_or_meaning_stays_apart(between: str) -> None:
    part = read(PROMPT.format(""), "OpenSSL 1.1.1w  11 Sep 2023", *table(4e8), between, *table(5e8))
    assert shape(part) == [1, 1]
    assert part.sections[0].label != part.sections[1].label


@each(
    ("first", "second", "labels"),
    (
        ("openssl", 'OPENSSL_ia32cap="~0x200000200000000" openssl', 1),
        ("taskset -c 0 openssl", "taskset -c 4 openssl", 1),
        ("/usr/bin/openssl", "./apps/openssl", 2),
        ("openssl", "docker exec alpine openssl", 2),
    ),
)
def test_commands_that_differ_in_no_more_than_mask_or_cores_are_of_one_machine(
    first: str, second: str, labels: int
) -> None:
    commands = [f"$ {call} speed -evp aes-128-gcm" for call in (first, second)]
    part = read(commands[0], *table(4e8), commands[1], *table(2e8))
    assert shape(part) == [1, 1]
    assert len({one.label for one in part.sections}) == labels


@each(
    ("call", "host"),
    (
        ("openssl", "laptop"),
        ("sudo nice -n 5 openssl", "laptop"),
        ("ssh root@pve openssl", "pve"),
        ("ssh -p 2222 -q pve 'openssl", "pve"),
        ("docker exec -it alpine openssl", None),
        ("sudo podman run --rm alpine openssl", None),
    ),
)
def test_a_command_that_runs_elsewhere_is_not_of_the_machine_of_the_prompt(
    call: str, host: str | None
) -> None:
    part = read(f"me@laptop:~$ {call} speed -evp aes-128-gcm", *table(4e8))
    assert [one.host for one in part.sections] == [host]


def test_versions_measured_in_turns_are_two_sections() -> None:
    lines = [
        line
        for rate in (4e8, 5e8)
        for version in ("OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 3.0.19 27 Jan 2026")
        for line in (version, *table(rate))
    ]
    assert shape(read(*lines)) == [2, 2]


def test_a_heading_ends_what_tries_can_belong_to() -> None:
    part = read("Laptop:", *table(4e8), "Desktop:", *table(5e8), "", *table(6e8))
    assert shape(part) == [1, 2]


@each("mark", ("", "> "))
def test_a_key_that_stops_a_command_names_no_machine(mark: str) -> None:
    prompt = "root@fw:~ # openssl speed -evp {} -bytes 16384"
    first, second = "aes-256-cbc", "aes-256-gcm"
    counts = {name: doing(name, 16384, 66233) for name in (first, second)}
    lines = (prompt.format(first), counts[first], "^C", prompt.format(second), counts[second])
    part = read(*(mark + line for line in lines))
    assert [(one.host, one.part) for one in part.sections] == [("fw", None)]


def test_rows_that_come_twice_in_one_table_stay_apart() -> None:
    part = read(*table(4e8), row("aes-128-gcm", [5e8]))
    assert shape(part) == [1, 1]


def test_labels_differ_within_what_a_name_shows_of_them() -> None:
    long = "The machine that stands in the corner of the cellar"
    part = read(f"{long}, in summer:", *table(4e8), f"{long}, in winter:", *table(5e8))
    first, second = (section.label or "" for section in part.sections)
    assert first[:36] != second[:36]


def test_more_processes_than_any_machine_has_are_none() -> None:
    assert figures(read("$ openssl speed -multi 99999999 -evp aes-128-gcm", *table(4e8))) == []
    (known,) = figures(read("$ openssl speed -multi 65536 -evp aes-128-gcm", *table(4e8)))
    assert known.threads == 65_536


@each("before", ("OPENSSL_ia32cap=~0x2{} openssl speed -evp aes-128-gcm",
                                    "CPUINFO: OPENSSL_ia32cap=0x1 env:~0x2{}"))  # fmt: skip
def test_a_mask_without_end_stays_within_the_schema(before: str) -> None:
    text = "\n".join((before.format("0" * 9_000), *table(4e8)))
    import_id = UUID("0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d6e")
    made = run_documents(read_text(text), import_id=import_id, now="2025-11-21T06:48:10Z")
    (document,) = made.documents
    facts = document["environment"]["openssl"]
    assert all(len(str(value)) <= 2_000 for value in facts.values())


def test_an_engine_release_is_a_version() -> None:
    part = read("OpenSSL 0.9.6b [engine] 9 Jul 2001", *table(4e8))
    assert part.understood == {1, 2, 3}
    facts = part.sections[0].environment["openssl"]
    assert facts == {"version_text": "OpenSSL 0.9.6b [engine] 9 Jul 2001"}
    assert part.sections[0].label == "OpenSSL 0.9.6b"


@each("end", ("\u2028", "\x85", "<br>"))
def test_a_text_with_other_ends_of_lines_is_read_whole(end: str) -> None:
    lines = [header(), *(row("rc4", [4e7] * 6) for _ in range(200))]
    assert len(figures(read(end.join(lines)))) == 1_200


def test_what_is_not_understood_between_other_ends_of_lines_is_listed() -> None:
    whole = read("\u2028".join((*table(4e8), "and 42 of something")))
    assert whole.understood == frozenset()
    assert read("\u2028".join(table(4e8))).understood == {1}


MIB = 2**20
PATHOLOGICAL = {
    "sizes": "type " + "16 bytes " * 1_100,
    "rising sizes": "type " + " ".join(f"{size} bytes" for size in range(1, 800)),
    "headers": "k " + "type 16 bytes " * 700,
    "doing": "Doing " * 1_600,
    "figures": "rc4 " + "100.00k " * 1_200,
    "tables": "rc4 100.00k " * 800,
    "cells": "| rc4 | 100.00k " * 600,
    "bars": "|" * 9_900,
    "commas": "rc4 " + "100,00k " * 1_200,
    "commands": "me@nas:~$ for c in aes; do " + "openssl speed $c; " * 500,
    "quotes": "> " * 4_900 + "   x",
}


@each("name", PATHOLOGICAL)
def test_no_mebibyte_of_senseless_lines_takes_long(name: str) -> None:
    line = PATHOLOGICAL[name]
    lines = [line] * (MIB // len(line))
    began = time.process_time()
    read(*lines)
    # A quiet machine needs a tenth of that or less; time by the square of a line would be minutes.
    assert time.process_time() - began < 4


@each("head", ("[{}] 10:22:33 [SUCCESS] web0{}", "web0{1} | CHANGED | rc=0 >>", "web0{1}:"))
def test_what_several_machines_answered_is_apart(head: str) -> None:
    answers = [(head.format(number, number), *table(number * 1e8)) for number in (1, 2)]
    part = read(*(line for answer in answers for line in answer))
    assert shape(part) == [1, 1]
    assert ["web01" in str(part.sections[0].label), "web02" in str(part.sections[1].label)] == [
        True
    ] * 2
