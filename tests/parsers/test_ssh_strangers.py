"""Rates of other tools beside those of ssh: none may become a try of a cipher."""

from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read

OURS = "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 10 s, 107 MB/s"
THEIRS = "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 5 s, 215 MB/s"
PIPED = "$ dd if=/dev/zero bs=1M count=1024 | ssh -c aes128-ctr nas 'cat >/dev/null'"


@each(
    "text",
    (
        "aes256-ctr\nSpeed: 107.374182 MB/s\nnetcat\nSpeed: 112 MB/s",
        "aes256-ctr\n107.374182 MB/s\nnone\n112 MB/s\nrsh\n111 MB/s",
        f"Cipher: aes256-ctr\n{OURS}\nUnencrypted (nc):\n{THEIRS}",
        f"### aes256-ctr\n{OURS}\n### NFS\n{THEIRS}",
        f"aes256-ctr\n{OURS}\n\nDisk speed of the shelf for comparison:\n{THEIRS}",
        f"aes256-ctr\n{OURS}\nand now something else entirely\n{THEIRS}",
        f"aes256-ctr\n{OURS}\niperf reaches 118 MB/s here\n{THEIRS}",
        f"aes256-ctr\n{OURS}\n{'a long story ' * 20}\n{THEIRS}",
    ),
)
def test_a_line_that_is_not_understood_ends_a_cipher_that_has_its_result(text: str) -> None:
    assert rates(read(text)) == [("aes256-ctr", 107_374_182)]


def test_so_it_does_after_a_command() -> None:
    part = read(f"{PIPED}\n{OURS}\n\nand with netcat:\n{THEIRS}\n")
    assert rates(part) == [("aes128-ctr", 107_374_182)]
    assert codes(part) == ["no_cipher"]


def test_a_cipher_told_for_a_text_without_names_is_not_given_to_such_rates() -> None:
    part = read(f"aes256-ctr\n{OURS}\nNFS:\n{THEIRS}", cipher="aes128-ctr")
    assert rates(part) == [("aes256-ctr", 107_374_182)]


@each("heading", ("Run 2:", "Second try", "# try 2", "again:", "3rd run"))
def test_a_heading_that_only_counts_the_tries_ends_nothing(heading: str) -> None:
    assert len(figures(read(f"aes256-ctr\n{OURS}\n{heading}\n{THEIRS}\n"))) == 2


@each("tool", ("netcat:", "Over NFS:", "Raw TCP (iperf3):", "No encryption:"))
def test_a_heading_of_another_tool_ends_a_cipher_without_a_result_too(tool: str) -> None:
    assert rates(read(f"aes256-ctr\n{tool}\n{THEIRS}\n")) == []


def test_a_line_about_another_cipher_ends_one_without_a_result() -> None:
    assert rates(read(f"aes256-ctr\nTesting aes128-ctr, the default\n{OURS}\n")) == []
    assert len(rates(read(f"aes256-ctr\nTesting aes256-ctr, the default\n{OURS}\n"))) == 1


def test_a_row_of_another_cipher_ends_the_one_above() -> None:
    part = read("aes256-ctr\n70 MB/s\naes128-ctr: 80 MB/s\nSpeed: 112 MB/s\n")
    assert sorted(rates(part)) == [("aes128-ctr", 80_000_000), ("aes256-ctr", 70_000_000)]


LISTING = "aes128-ctr\naes256-ctr\nchacha20-poly1305@openssh.com\n"


@each("command", ("ssh -Q cipher", "$ ssh -Q cipher", "# ssh -Q ciphers"))
@each("after", ("\nDownload:\n", "\n", "\nThe line:\nSpeed: "))
def test_the_list_of_what_ssh_offers_begins_nothing(command: str, after: str) -> None:
    assert rates(read(f"{command}\n{LISTING}{after}112 MB/s\n")) == []


def test_three_names_in_a_row_are_a_list_of_what_is_offered() -> None:
    assert rates(read(f"Offered:\n{LISTING}\n112 MB/s\n")) == []


def test_tries_after_the_list_of_what_ssh_offers_are_read() -> None:
    part = read(f"$ ssh -Q cipher\n{LISTING}\nResults:\naes256-ctr\n{OURS}\n")
    assert rates(part) == [("aes256-ctr", 107_374_182)]


@each(
    "command",
    (
        "dd if=/dev/zero bs=1M count=1024 | nc nas 5000",
        "dd if=/dev/zero bs=1M count=1024 | pv | nc nas 5000",
        "time dd if=/dev/zero of=/srv/x bs=1M count=1024",
        "# dd if=/dev/zero of=/tmp/x bs=1M count=1024",
        "# nc nas 5000 </tmp/x",
        "nas$ dd if=/dev/zero of=/dev/null bs=1M count=1024",
        "nas# dd if=/dev/zero of=/dev/null bs=1M count=1024",
        "bash-5.1$ dd if=/tmp/x of=/dev/null bs=1M",
        "dd if=/dev/zero bs=1M count=1024 > /tmp/x",
    ),
)
@each("first", ("# ssh -c aes128-ctr nas", PIPED, f"{PIPED}\n{OURS}"))
def test_a_command_that_sends_nothing_through_ssh_is_no_try(command: str, first: str) -> None:
    part = read(f"{first}\n{command}\n{THEIRS}\n")
    assert rates(part) == [("aes128-ctr", 107_374_182)][: first.count(OURS)]


@each(
    "remote",
    (
        "'dd if=/dev/zero of=/tmp/x bs=1M count=1024'",
        "dd if=/dev/zero of=/dev/null bs=1M count=1024",
        '"dd of=/dev/null if=/dev/zero bs=1M count=1024"',
        "'dd if=/dev/zero bs=1M count=1024 >/dev/null'",
        "'dd if=/dev/zero bs=1M count=1024 | nc attic 5000'",
        "'sudo dd if=/dev/sda of=/dev/null bs=1M count=1024 2>&1'",
    ),
)
def test_a_dd_that_reads_and_writes_at_the_far_end_moves_nothing(remote: str) -> None:
    part = read(f"$ ssh -c aes128-ctr nas {remote}\n{THEIRS}\n")
    assert figures(part) == []
    assert part.understood == {1, 2}


@each(
    "command",
    (
        "ssh -c aes128-ctr nas 'dd if=/dev/zero bs=1M count=1024' >/dev/null",
        "ssh -c aes128-ctr nas 'dd if=/dev/zero bs=1M count=1024 2>/tmp/log' | cat >/dev/null",
        "ssh -c aes128-ctr nas dd if=/dev/zero bs=1M count=1024 > /dev/null",
        "dd if=/dev/zero bs=1M count=1024 | ssh -c aes128-ctr nas 'dd of=/dev/null'",
        "dd if=/dev/zero bs=1M count=1024 | ssh -c aes128-ctr nas 'cat > /dev/null'",
        "ssh -c aes128-ctr nas 'dd if=/dev/zero bs=1M count=1024' | dd of=/dev/null bs=1M",
    ),
)
def test_a_dd_at_one_end_moves_all_of_it(command: str) -> None:
    assert rates(read(f"$ {command}\n{OURS}\n")) == [("aes128-ctr", 107_374_182)]


def test_a_file_made_on_the_line_of_its_copy_is_no_transfer() -> None:
    made = "dd if=/dev/zero of=/tmp/x bs=1M count=1024"
    part = read(f"$ {made}; scp -c aes128-ctr /tmp/x nas:\n{THEIRS}\n")
    assert figures(part) == []


@each("row", ("aes256-ctr at 70.5 MB/s on an idle CPU", "aes256-ctr was 70.5 MB/s on the server:"))
def test_a_rate_of_a_cipher_is_never_taken_for_a_heading(row: str) -> None:
    part = read(f"{row}\naes128-ctr 80 MB/s\n")
    assert rates(part) == [("aes128-ctr", 80_000_000)]
    assert part.understood == {2}
