import json
from pathlib import Path
from typing import Any

from core import formatting
from tests.cases import each

# frontend/src/format.test.ts tests the same cases.
CASES = json.loads((Path(__file__).parent / "format_cases.json").read_text("utf-8"))


@each("case", CASES["throughput"])
def test_a_throughput_has_three_digits_and_a_decimal_prefix(case: dict[str, Any]) -> None:
    assert formatting.throughput(case["value"]) == case["text"]


@each("case", CASES["quantity"])
def test_a_value_reads_in_its_unit(case: dict[str, Any]) -> None:
    assert formatting.quantity(case["value"], case["unit"]) == case["text"]


def test_a_range_names_a_shared_unit_once() -> None:
    assert formatting.quantity_range(123e6, 194e6, "B/s") == "123 – 194 MB/s"
    assert formatting.quantity_range(900e6, 1.2e9, "B/s") == "900 MB/s – 1.20 GB/s"
    assert formatting.quantity_range(2, 3, "ratio") == "2.00 – 3.00 ×"


@each(
    ("count", "text"),
    (
        (0, "0 B"),
        (16, "16 B"),
        (16384, "16 KiB"),
        (1000, "1000 B"),
        (25769803776, "24 GiB"),
        (25216987136, "23.5 GiB"),
        (2**41, "2.0 TiB"),
    ),
)
def test_sizes_of_blocks_and_memory_have_binary_prefixes(count: int, text: str) -> None:
    assert formatting.data_size(count) == text


@each(("part", "text"), ((0.0082, "0.8 %"), (0, "0.0 %"), (0.124, "12 %"), (-0.009, "−0.9 %")))
def test_a_spread_reads_in_per_cent(part: float, text: str) -> None:
    assert formatting.percent(part) == text
