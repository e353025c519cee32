"""What comments and notes say of a measurement tells it from others of its cipher."""

from parsers.lines import numbered_lines
from parsers.openssl.speed import read_openssl_speed
from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read

SENT = "dd if=/dev/zero bs=1M count=1000 | ssh -c aes128-ctr nuc 'cat >/dev/null'"
SLOW = "1048576000 bytes (1.0 GB, 1000 MiB) copied, 10.0 s, 105 MB/s"
FAST = "1048576000 bytes (1.0 GB, 1000 MiB) copied, 5.0 s, 210 MB/s"
FIRST = [("aes128-ctr", 104857600)]


def lines(*texts: str) -> str:
    return "\n".join(texts)


@each("prompt", ("nas:~ # ", "nas:/share # ", "[~] # ", "root@nas:~# ", "$ "))
def test_commands_that_differ_are_no_tries_whatever_the_prompt(prompt: str) -> None:
    other = SENT.replace("if=/dev/zero", "if=/share/film.mkv")
    part = read(lines(prompt + SENT, SLOW, prompt + other, FAST))
    assert rates(part) == FIRST
    assert "context_unclear" in codes(part)


def test_comments_behind_a_command_tell_its_results_apart() -> None:
    assert rates(read(lines(f"$ {SENT}  # wifi", SLOW, f"$ {SENT}  # cable", FAST))) == FIRST
    counted = read(lines(f"$ {SENT}  # run 1", SLOW, f"$ {SENT}  # run 2", FAST))
    assert len(rates(counted)) == 2


@each("prompt", ("$ ", "pi@nas:~ $ ", "root@nas:~# ", "nas:~ # "))
def test_a_comment_at_a_prompt_is_a_heading(prompt: str) -> None:
    part = read(
        lines(f"{prompt}# wifi", prompt + SENT, SLOW, f"{prompt}# cable", prompt + SENT, FAST)
    )
    assert len({figure.bytes_per_second or figure.seconds for figure in figures(part)}) < 2
    assert "context_unclear" in codes(part)


def test_comments_of_openssl_speed_part_its_runs() -> None:
    table = ("type           8192 bytes", "aes-128-cbc     41811.69k")
    other = ("type           8192 bytes", "aes-128-cbc    919524.69k")
    command = "$ openssl speed -evp aes-128-cbc -bytes 8192"
    for text in (
        lines("$ # on the old NAS", command, *table, "$ # on the new NAS", command, *other),
        lines(f"{command}  # on battery", *table, f"{command}  # plugged in", *other),
    ):
        sections = read_openssl_speed(numbered_lines(text)).sections
        assert [len(section.figures) for section in sections] == [1, 1]
        assert len({section.label for section in sections}) == 2


def test_notes_tell_the_rows_of_a_table_apart() -> None:
    table = (
        "| Cipher | MB/s | Notes |\n|---|---|---|\n| aes128-ctr | 38 | Wi-Fi |\n| {} | 99 | LAN |"
    )
    assert rates(read(table.format("aes128-ctr"))) == []
    assert len(rates(read(table.format("aes256-ctr")))) == 2


def test_no_word_of_a_sentence_is_the_far_end() -> None:
    for words in ("My Pi with ssh -c aes128-ctr gets:", "and ssh -c aes128-ctr only:"):
        (figure,) = figures(read(lines(words, SLOW)))
        assert figure.target_name is None
