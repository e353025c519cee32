"""What fuzzing found, each kept as a case."""

from parsers.openssl.cipher_names import canonical_cipher
from parsers.read_text import read_text
from tests.cases import each


@each("label", ("bf-cb" + "w" * 120 + "c", "aes-128-cb", "aes-12-cbc", "rc4-4"))
def test_a_damaged_name_names_no_cipher(label: str) -> None:
    assert canonical_cipher(label) is None


def test_a_row_with_a_damaged_name_is_no_figure_of_another_cipher() -> None:
    text = (
        "type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes\n"
        "aes-128-cb      703274.51k   743201.23k   754321.87k   757123.41k   757812.22k\n"
    )
    assert read_text(text).sections == ()


def test_a_name_with_a_domain_before_an_arrow_is_no_prompt() -> None:
    figures = read_text("aes128-gcm@openssh.com => 206,35 Mbit/s\n").sections[0].figures
    assert [one.bytes_per_second for one in figures] == [206.35 * 125_000]


@each(
    ("text", "code"),
    (
        (
            "Doing aes-128-cbc for 3s on 16 size blocks: 367748 aes-128-cbc's in 22222222.77s\n",
            "damaged",
        ),
        ("aes128-ctr\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, 22222222 s\n", "not_a_rate"),
    ),
)
def test_a_time_that_no_run_document_holds_is_no_figure(text: str, code: str) -> None:
    reading = read_text(text)
    assert (reading.sections, [one.code for one in reading.remarks]) == ((), [code])


def test_a_rate_is_not_read_from_the_middle_of_a_number() -> None:
    line = "$ scp -c aes128-ctr big nas:\nbig 100% 1024MB 109.5MB/s 00:097,400,410.30 bytes/sec\n"
    assert read_text(line).sections == ()
