"""Lines freed of what mail, forums, web pages and terminals add to them."""

import time

from parsers.lines import numbered_lines
from tests.cases import each


def texts(text: str) -> list[str]:
    return [line.text for line in numbered_lines(text)]


@each("mark", ("> ", ">", "> > ", ">> ", " > > > ", ">\t"))
def test_code_quoted_by_mail_or_forum_is_freed_of_the_marks(mark: str) -> None:
    (text,) = texts(f"{mark}    rc4  16.00k")
    assert text.split() == ["rc4", "16.00k"]


def test_columns_of_quoted_code_stay_below_each_other() -> None:
    upper, lower = texts(">     type     16 bytes\n>     rc4        16.00k")
    assert upper.index("bytes") + 5 == lower.index("k") + 1


def test_the_head_of_a_putty_log_leaves_an_empty_line() -> None:
    ruler = "=~" * 12
    assert texts(f"{ruler}= PuTTY log 2022.06.09 13:20:11 {ruler}=\r\nrc4") == ["", "rc4"]


def test_a_quotation_mark_alone_leaves_an_empty_line() -> None:
    assert texts(">\n> > ") == ["", ""]


@each("end", ("\x85", "\u2028", "\u2029", "<br>", "<BR />", "</p><p>"))
def test_other_ends_of_lines_divide_a_line(end: str) -> None:
    lines = numbered_lines(f"first\nrc4{end}rc5{end}\nlast")
    assert [(line.number, line.text, line.pieces) for line in lines] == [
        (1, "first", ()), (2, "rc4 rc5", ("rc4", "rc5")), (3, "last", ()),
    ]  # fmt: skip
    assert lines[1].given == f"rc4{end}rc5{end}"


@each(
    "line",
    (
        "<pre>rc4 16.00k",
        "rc4 16.00k</pre>",
        '<p class="x">rc4&nbsp;16.00k</p>',
        "[code]rc4 16.00k[/code]",
        "[quote=me]<code>rc4</code> <b>16.00k</b>[/quote]",
        "&gt; rc4&#160;16.00k<br />",
        "\u200erc4 16.00k",
        "\u200brc4\u00a016.00k\u200b",
        "\u202arc4\u202f16.00k\u202c",
        "\x1b[1mrc4\x1b[0m 16.00k",
        "**rc4** 16.00k",
    ),
)
def test_markup_and_what_cannot_be_seen_is_taken_off(line: str) -> None:
    assert texts(f"before\n{line}\nafter") == ["before", "rc4 16.00k", "after"]


def test_a_byte_order_mark_amid_a_text_is_taken_off() -> None:
    assert texts("\ufeffone\n\ufefftwo") == ["one", "two"]


@each("text", ("a < b > c", "ssh <host> cat", "x [1] y", "AT&T; a&&b", "[ -f x ]"))
def test_what_is_no_markup_stays(text: str) -> None:
    assert texts(text) == [text]


@each("keys", ("^C", "^C^C", " ^Z ", "> ^C", "\x03", "^[^?"))
def test_a_line_of_nothing_but_keys_is_empty(keys: str) -> None:
    assert texts(keys) == [""]


@each("text", ("a ^C", "^c", "^"))
def test_a_line_with_more_than_keys_stays(text: str) -> None:
    assert texts(text) == [text]


def test_cells_of_a_web_table_are_kept_apart() -> None:
    (text,) = texts("<tr><td>rc4</td><td></td><td>16.00k</td></tr>")
    assert text.replace(" ", "") == "rc4||16.00k"


@each(
    "text",
    (
        "> " * 2_000_000 + "    x",
        ("> " * 4_000 + "    x\n") * 400,
        "\x85" * 4_000_000,
        "<br>" * 1_000_000,
        ("<p " + "x" * 300) * 10_000,
        "&nbsp;" * 600_000,
        "[quote=" * 500_000,
    ),
)
def test_no_line_takes_long(text: str) -> None:
    began = time.process_time()
    numbered_lines(text)
    assert time.process_time() - began < 10  # by the square it would be minutes
