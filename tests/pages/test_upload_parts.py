"""The plain parts of the upload page: tables, excerpts, packing, corrections."""

import zlib
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.upload.excerpt import LINE_LENGTH, LINES_SHOWN, excerpt, split_lines
from pages.upload.figures import SIZES_IN_COLUMNS, configuration, rate, tables
from pages.upload.receiving import DamagedPacking, pack, unpack
from parsers.lines import numbered_lines
from parsers.received_text import MAX_BYTES
from tests.sample_documents import openssl_measurement, ssh_measurement


@given(st.binary(max_size=2000))
def test_what_is_packed_comes_out_as_it_was(body: bytes) -> None:
    assert unpack(pack(body)) == body


@pytest.mark.parametrize(
    "packed",
    (
        "",
        "not base64!",
        "nicht möglich",
        b64encode(b"not zlib").decode(),
        pack(b"a" * 1000)[:-8],
        pack(b"a" * (MAX_BYTES + 1)),
        b64encode(zlib.compress(b"text") + b"more").decode(),
    ),
)
def test_what_was_not_packed_here_is_refused(packed: str) -> None:
    with pytest.raises(DamagedPacking):
        unpack(packed)


@given(st.text(alphabet="a\r\n\ufeff\x85\u2028\x0b >`", max_size=60))
def test_lines_are_numbered_as_the_parsers_number_them(text: str) -> None:
    parsed = [line.given for line in numbered_lines(text)]
    shown = [line.rstrip("\r") for line in split_lines(text)]
    assert parsed[: len(shown)] == shown
    assert parsed[len(shown) :] in ([], [""])


def test_of_a_long_text_the_marked_lines_are_shown_with_their_neighbours() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 10_001))
    shown = excerpt(text, {"unrecognised": {5000}, "figure": {9000}})
    assert len(shown.lines) == LINES_SHOWN
    assert {1, 4999, 5000, 5001, 8999, 9000, 9001} <= shown.numbers
    gap = next(line for line in shown.lines if line.number == 8999)
    assert gap.skipped == 8999 - 5001 - 1
    assert shown.skipped_at_the_end == 10_000 - 9001
    assert sum(line.skipped + 1 for line in shown.lines) + shown.skipped_at_the_end == 10_000


@given(st.integers(1, 2000), st.sets(st.integers(1, 2000)), st.sets(st.integers(1, 2000)))
def test_every_line_is_shown_or_counted(total: int, one: set[int], other: set[int]) -> None:
    shown = excerpt("\n".join("x" * total), {"unrecognised": one, "figure": other})
    assert len(shown.lines) == min(total, LINES_SHOWN)
    assert sum(line.skipped + 1 for line in shown.lines) + shown.skipped_at_the_end == total


def test_a_line_is_cut_and_its_control_characters_are_seen() -> None:
    (line,) = excerpt("\x1b[31m\x00\t" + "y" * 1000, {}).lines
    assert line.text.startswith("␛[31m␀\t")
    assert len(line.text) == LINE_LENGTH


def test_with_many_block_sizes_each_has_a_row_and_rows_are_bounded() -> None:
    sizes = range(1, SIZES_IN_COLUMNS + 2)
    measured = [openssl_measurement("rc4", 1e8, block_size=size) for size in sizes]
    (table,) = tables(measured, 5)
    assert (table.sizes, len(table.rows), table.left_out) == ((), 5, len(sizes) - 5)
    assert [row.block_size for row in table.rows] == [1, 2, 3, 4, 5]


def test_of_many_tries_the_first_are_shown() -> None:
    (table,) = tables([ssh_measurement("arcfour", *[1e8] * 9)], 10)
    (cell,) = table.rows[0].cells
    assert (len(cell.rates), cell.more) == (5, 4)


@pytest.mark.parametrize(
    ("changes", "words"),
    (
        ({}, ""),
        ({"method": "steady", "mac": "hmac-md5"}, "steady, MAC hmac-md5"),
        ({"target": {"kind": "remote", "name": "nas"}}, "to nas"),
        (
            {"target": {"kind": "remote"}, "compression": True},
            "to another machine, with compression",
        ),
        (
            {"acceleration": "masked", "pinned": True},
            "AES instructions turned off, each end pinned to a core",
        ),
        ({"threads": 4}, "4 threads"),
    ),
)
def test_what_is_unusual_is_said_in_words(changes: dict[str, Any], words: str) -> None:
    assert configuration(ssh_measurement("arcfour", 1e8, **changes)) == words


@pytest.mark.parametrize(
    ("sample", "implausible"),
    (
        ({"bytes_per_second": 1e8}, False),
        ({"bytes": 100, "seconds": 2.0}, False),
        ({"bytes_per_second": 1e15}, True),
        ({"bytes_per_second": 0.0}, True),
        ({"bytes_per_second": float("inf")}, True),
        ({"bytes_per_second": 1e8, "implausible": "an engine without -elapsed"}, True),
        ({"bytes_per_second": 1e8, "implausible": ["anything"]}, True),
    ),
)
def test_a_rate_that_cannot_be_is_marked(sample: dict[str, Any], implausible: bool) -> None:
    assert bool(rate(sample, 1).implausible) is implausible
