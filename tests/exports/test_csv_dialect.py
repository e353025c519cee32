"""Lines of CSV: read back as they were written, and harmless in whatever way they are split."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from exports.csv_dialect import CsvDialect

DIALECTS = (CsvDialect(), CsvDialect(decimal_comma=True))

texts = st.text(alphabet=list("=+-@,;\t\r\n\"'a1 "), max_size=12)


def cells(line: str, separator: str) -> list[str]:
    reader = csv.reader(io.StringIO(line, newline=""), delimiter=separator)
    return [cell for row in reader for cell in row]


@given(st.lists(texts, min_size=2))
def test_no_separator_brings_out_a_formula(values: list[str]) -> None:
    for dialect in DIALECTS:
        line = dialect.line(values)
        for separator in (",", ";", "\t"):
            assert not [cell for cell in cells(line, separator) if cell.startswith(tuple("=+-@"))]


@given(st.lists(texts.filter(lambda text: "'" not in text), min_size=2))
def test_only_apostrophes_are_added(values: list[str]) -> None:
    for dialect in DIALECTS:
        read = cells(dialect.line(values), dialect.delimiter)
        assert [cell.replace("'", "") for cell in read] == values


def test_plain_texts_and_numbers_stay_as_they_are() -> None:
    values = ("AMD EPYC 9R14", "gcc -O3 -Wall", "a=b", 1.5, None, True, "Wa,--x")
    assert CsvDialect().line(values) == 'AMD EPYC 9R14,gcc -O3 -Wall,a=b,1.5,,true,"Wa,--x"\r\n'
