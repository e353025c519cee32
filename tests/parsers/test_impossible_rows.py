"""Rows in which a larger block took less time than a smaller one cannot be true."""

from parsers.read_text import read_text

HEADER = "type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes\n"


def flagged(row: str) -> list[int | None]:
    (section,) = read_text(HEADER + row + "\n").sections
    return [one.block_size for one in section.figures if one.implausible]


def test_an_engine_measured_by_cpu_time_is_flagged() -> None:
    """A Geode's AES engine without -elapsed: CPU time is what the engine did not use."""
    row = "aes-128-cbc      11234.00k    22345.00k    44567.00k    55678.00k 22118400.00k"
    assert flagged(row) == [8192]


def test_an_engine_whose_rate_rises_with_the_block_is_not() -> None:
    row = "aes-128-cbc        600.00k     2400.00k     9500.00k    37000.00k   145000.00k"
    assert flagged(row) == []


def test_one_slow_small_block_spoils_nothing() -> None:
    row = "aes-128-cbc        100.00k   622345.00k   744567.00k   755678.00k   760000.00k"
    assert flagged(row) == []
