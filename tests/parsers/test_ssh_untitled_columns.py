"""Rows of several rates: tries only where nothing above or below may give them another meaning."""

from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read, refused

ROW = "| aes128-ctr | 104 MB/s | 88 MB/s |\n"


@each("first", ("Algo", "Verfahren", "Chiffre", "Шифр", "Cipher suite", "SSH", "-", "?", ""))
@each(
    "table",
    (
        "| {} | before | after |\n|---|---|---|\n" + ROW + ROW.replace("128", "256"),
        "{},before,after\naes128-ctr,104 MB/s,88 MB/s\n",
        "{};before;after\naes128-ctr;104 MB/s;88 MB/s\n",
        "||{}||before||after||\n|aes128-ctr|104 MB/s|88 MB/s|\n",
        "<tr><th>{}</th><th>before</th><th>after</th></tr>\n"
        "<tr><td>aes128-ctr</td><td>104 MB/s</td><td>88 MB/s</td></tr>\n",
    ),
)
def test_columns_whose_titles_are_not_known_are_no_tries(table: str, first: str) -> None:
    assert figures(read(table.format(first))) == []


@each("first", ("Cipher", "Algo", "Verfahren", "Шифр"))
def test_columns_that_count_tries_are_tries_whatever_stands_above_the_names(first: str) -> None:
    part = read(f"| {first} | run 1 | run 2 |\n|---|---|---|\n{ROW}")
    assert rates(part) == [("aes128-ctr", 104_000_000), ("aes128-ctr", 88_000_000)]


@each(
    "above", ("", "Two runs each:\n", "nas:\n", "On my old laptop\n", "Results:\n", "Run 1 and 2\n")
)
def test_rows_of_tries_below_a_machine_or_words_about_tries_are_read(above: str) -> None:
    assert rates(read(above + ROW)) == [("aes128-ctr", 104_000_000), ("aes128-ctr", 88_000_000)]


@each("above", ("Ergebnisse (vorher / nachher):\n", "left: LAN, right: WLAN\n"))
def test_a_legend_above_makes_rows_of_several_rates_unclear(above: str) -> None:
    assert refused(above + ROW + ROW.replace("128", "256")) == ["columns_unclear"]


def test_a_legend_below_makes_rows_of_several_rates_unclear() -> None:
    assert figures(read(ROW + ROW.replace("128", "256") + "\nleft: LAN, right: WLAN\n")) == []


def test_columns_of_extremes_give_no_figure_in_any_row() -> None:
    assert refused(
        "| cipher | best | worst |\n|---|---|---|\n" + ROW + ROW.replace("128", "256")
    ) == ["columns_unclear"]


@each("titles", ("Cipher\nnas1\nnas2\n", "Cipher\tbefore\tafter\n"))
def test_cells_one_a_line_below_titles_are_no_tries(titles: str) -> None:
    part = read(titles + "aes128-ctr\n104 MB/s\n61 MB/s\naes256-ctr\n98 MB/s\n58 MB/s\n")
    assert figures(part) == []


@each(
    "row",
    (
        *("104 MB/s [60 MB/s]", "104 MB/s >> 60 MB/s", "104:88 MB/s", "104|88 MB/s"),
        *("104 MB/s & 88 MB/s", "100, 102, 107 = 103 MB/s", "104? MB/s", "?104 MB/s"),
        *("104* MB/s", "104 MB/s*"),
    ),
)
def test_signs_at_or_between_numbers_make_them_no_figures(row: str) -> None:
    assert figures(read(f"aes128-ctr: {row}\n")) == []


@each("row", ("*aes128-ctr* *104 MB/s*", "* aes128-ctr 104 MB/s"))
def test_stars_in_pairs_or_before_an_item_are_no_footnotes(row: str) -> None:
    assert rates(read(row + "\n")) == [("aes128-ctr", 104_000_000)]


def test_a_cipher_that_is_denied_has_no_figure() -> None:
    assert figures(read("no aes128-ctr 104 MB/s\n")) == []


@each(
    "row",
    (
        *("aes128-ctr (no AES-NI): 104 MB/s", "aes128-ctr (AES-NI off) 104 MB/s"),
        *("aes128-ctr (software) 104 MB/s", "aes128-ctr 104 MB/s (without AES-NI)"),
        *("aes128-ctr 104 MB/s (OpenSSL 1.0.2)", "aes128-ctr 104 MB/s (dropbear)"),
    ),
)
def test_a_remark_of_another_program_or_setting_lists_its_row(row: str) -> None:
    part = read(f"{row}\naes256-ctr 98 MB/s\n")
    assert [one.cipher for one in figures(part)] == ["aes256-ctr"]
    assert codes(part) == ["context_unclear"]


def test_a_row_below_transfers_of_its_cipher_is_no_further_try() -> None:
    copy = "$ scp -c aes128-ctr big.iso nas:/tmp\nbig.iso  100% 1000MB {}MB/s   00:09\n"
    part = read(copy.format("104.2") + copy.format("103.1") + "aes128-ctr: 103.7 MB/s\n")
    assert len(figures(part)) == 2


@each(
    "form",
    (
        "cipher {} {} {}\naes128-ctr 100 101 102 MB/s\n",
        "cipher,{},{},{}\naes128-ctr,100 MB/s,101 MB/s,102 MB/s\n",
        "| cipher | {} | {} | {} |\n| aes128-ctr | 100 MB/s | 101 MB/s | 102 MB/s |\n",
    ),
)
def test_numbers_as_titles_are_tries_only_if_they_count_from_one(form: str) -> None:
    assert [speed for _, speed in rates(read(form.format(1, 2, 3)))] == [1e8, 1.01e8, 1.02e8]
    for sizes in ((1, 2, 4), (2, 3, 4), (0, 1, 2), (16, 64, 256)):
        assert refused(form.format(*sizes)) == ["columns_unclear"]
