"""Conditions of one machine (before and after, LAN and WLAN) are not machines of that name."""

from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read, refused

CONDITIONS = (
    ("before", "after"),
    ("old", "new"),
    ("LAN", "WLAN"),
    ("with AES-NI", "without"),
    ("hardware", "software"),
    ("1 thread", "4 threads"),
    ("MTU 1500", "MTU 9000"),
)


@each(("first", "second"), CONDITIONS)
@each(
    "table",
    (
        "| Cipher | {} | {} |\n|---|---|---|\n| aes128-ctr | 100 MB/s | 200 MB/s |\n",
        "| Cipher | {} (MB/s) | {} (MB/s) |\n|---|---|---|\n| aes128-ctr | 100 | 200 |\n",
        "Cipher      {}      {}    (MB/s)\naes128-ctr  100  200\n",
    ),
)
def test_a_table_with_columns_of_conditions_is_not_read(
    table: str, first: str, second: str
) -> None:
    assert refused(table.format(first, second)) == ["columns_unclear"]


@each(("first", "second"), CONDITIONS)
def test_rows_of_conditions_are_not_read(first: str, second: str) -> None:
    title, rows = "| | aes128-ctr | aes256-ctr |\n|---|---|---|\n", "| {} | 90 MB/s | 80 MB/s |\n"
    assert figures(read(title + rows.format(first) + rows.format(second))) == []


@each(("first", "second"), [one for one in CONDITIONS if "with AES-NI" not in one])
@each("heading", ("{}:", "== {} ==", "{}"))
def test_figures_below_headings_of_conditions_do_not_count(
    heading: str, first: str, second: str
) -> None:
    lines = [heading.format(first), "aes128-ctr: 40 MB/s", "", heading.format(second)]
    if heading == "{}" and " " in first:
        return  # several words without a mark are a line of prose
    part = read("\n".join([*lines, "aes128-ctr: 90 MB/s"]))
    assert figures(part) == []
    assert "context_unclear" in codes(part)


def test_hardware_that_is_said_to_be_missing_is_no_machine() -> None:
    part = read("With AES-NI:\naes128-ctr: 90 MB/s\nWithout AES-NI:\naes128-ctr: 40 MB/s\n")
    assert rates(part) == [("aes128-ctr", 90e6)]
    assert "context_unclear" in codes(part)


@each(("first", "second"), (("web01", "web02"), ("10.0.0.1", "10.0.0.2"), ("old NAS", "new NAS")))
def test_machines_are_read_as_before(first: str, second: str) -> None:
    table = f"| Cipher | {first} | {second} |\n|---|---|---|\n| aes128-ctr | 9 MB/s | 8 MB/s |\n"
    headed = f"{first}:\naes128-ctr: 9 MB/s\n{second}:\naes128-ctr: 8 MB/s\n"
    for text in (table, headed):
        assert [one.label for one in read(text).sections] == [first, second]


LOOP = """
$ for c in aes128-ctr; do echo $c; dd if=/dev/zero bs=1M count=1000 | ssh -c $c nas 'cat >/dev/null'; done
aes128-ctr
1048576000 bytes (1.0 GB, 1000 MiB) copied, 10 s, 105 MB/s
"""  # noqa: E501


@each(
    "talk",
    (
        "Does Compression matter?",
        "## Compression on or off?",
        "I did not enable compression.",
        "…but compression isn't used by default.",
        "Backups are compressed with zstd before, so ssh only has to encrypt.",
        "hmac-sha1 used to be the default MAC.",
        "MAC is the default, not umac-64@openssh.com.",
        "Do not use hmac-md5 any more!",
        "Is AES-NI disabled here?",
    ),
)
def test_words_that_only_speak_of_a_setting_set_nothing(talk: str) -> None:
    for part in (read(f"{talk}\n{LOOP}"), read(f"{talk}\n\naes128-ctr: 90 MB/s\n")):
        assert figures(part) == []
        assert codes(part) == ["context_unclear"]


@each(
    "heading",
    (
        "With compression:",
        "== nas, compressed ==",
        "hmac-sha1",
        "With AES-NI disabled in the BIOS:",
    ),
)
def test_a_heading_sets_what_it_says(heading: str) -> None:
    (figure,) = figures(read(f"{heading}\n{LOOP}"))
    said = (figure.compression, figure.mac, figure.acceleration)
    assert said != (False, None, "default")


@each("heading", ("### Test with {}", "Cipher {} test:", "changed: [nas] => (item={})"))
def test_headings_about_a_cipher_are_no_machines(heading: str) -> None:
    ciphers = ("aes128-ctr", "aes256-ctr", "chacha20-poly1305@openssh.com")
    text = "\n".join(
        f"{heading.format(one)}{LOOP.replace('$c ', f'{one} ').replace('aes128-ctr', one)}"
        for one in ciphers
    )
    (section,) = read(text).sections
    assert [figure.cipher for figure in section.figures] == list(ciphers)
