"""What begins another machine's figures, and what makes figures none of ssh's."""

from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, read

FIRST = "aes128-ctr: 104 MB/s\naes256-ctr: 98 MB/s\n"
DD = "$ dd if=/dev/zero bs=1M count=300 | ssh -c {} nas 'cat >/dev/null'\n"
DONE = "314572800 bytes (315 MB, 300 MiB) copied, 5.2 s, 60.5 MB/s\n"
OPENSSH = "$ ssh -V\nOpenSSH_{}, OpenSSL {}\n"


@each(
    ("first", "second"),
    (
        ("web01:\n", "web02:\n"),
        ("### nas\n", "### pi\n"),
        ("==> nas.log <==\n", "==> pi.log <==\n"),
        ("$ hostname\nnas\n", "$ hostname\npi\n"),
        ("192.168.1.2\n", "192.168.1.3\n"),
        ("model name : Xeon E5-2670\n", "model name : Atom C2758\n"),
        ("Model name:     Xeon E5-2670\n", "Model name:     Atom C2758\n"),
        ('PRETTY_NAME="Debian GNU/Linux 11"\n', 'PRETTY_NAME="Debian GNU/Linux 12"\n'),
        (OPENSSH.format("7.4p1", "1.0.2k"), OPENSSH.format("8.0p1", "1.1.1k")),
    ),
)
def test_another_machine_begins_where_no_cipher_repeats(first: str, second: str) -> None:
    part = read(f"{first}{FIRST}{second}3des-cbc: 20 MB/s\n")
    assert [len(section.figures) for section in part.sections] == [2, 1]


@each(
    "before",
    (
        'PRETTY_NAME="Debian GNU/Linux 12"\n',
        "tom@pi:~$ ssh -c $c nas 'dd if=/dev/zero'\n",
        "tom@pi:~$ tail -n +1 *.txt\n",
    ),
)
def test_a_file_that_is_printed_was_measured_anywhere(before: str) -> None:
    (section,) = read(f"{before}==> nas.txt <==\n{FIRST}").sections
    assert (len(section.figures), section.host, section.environment) == (2, None, {})


@each("titles", (("CTR:", "CBC:"), ("AES:", "Others:"), ("Run 1:", "Run 2:")))
def test_headings_of_groups_of_ciphers_or_of_tries_begin_no_machine(
    titles: tuple[str, str],
) -> None:
    part = read(f"{titles[0]}\n{FIRST}{titles[1]}\n3des-cbc: 20 MB/s\n")
    assert len(part.sections) == 1


@each(
    "title",
    (
        *("OpenVPN throughput:", "TLS (nginx, curl):", "FTPS:", "IPsec on APU2:", "WireGuard:"),
        *("From the data sheet:", "The vendor claims:", "Erwartete Werte:", "Not measured:"),
        *("dd to the local disk, no network:", "mit Kompression:", "zlib@openssh.com:"),
        "$ gnutls-cli --benchmark-ciphers",
    ),
)
def test_a_list_of_another_tool_or_not_measured_gives_no_figure(title: str) -> None:
    assert figures(read(f"{title}\n{FIRST}")) == []


def test_a_measured_list_below_a_promised_one_is_the_one_that_counts() -> None:
    part = read(f"What the vendor promises:\n{FIRST.replace('1', '4')}\nWhat I get:\n{FIRST}")
    assert [one.line for one in figures(part)] == [6, 7]


@each("titles", ("erwartet | gemessen", "Soll | Ist", "expected | measured"))
def test_a_column_of_expected_rates_is_no_machine(titles: str) -> None:
    assert figures(read(f"Cipher | {titles}\naes128-ctr | 400 MB/s | 104 MB/s\n")) == []


@each(
    "command",
    (
        'echo "Compression yes" >> ~/.ssh/config',
        "sed -i 's/Compression no/Compression yes/' ~/.ssh/config",
        "vi ~/.ssh/config",
        'printf "Host *" | sudo tee -a /etc/ssh/ssh_config',
    ),
)
def test_transfers_below_a_change_of_the_configuration_are_unclear(command: str) -> None:
    first, second = DD.format("aes128-ctr"), DD.format("aes256-ctr")
    part = read(f"{first}{DONE}$ {command}\n{second}{DONE}")
    assert [one.cipher for one in figures(part)] == ["aes128-ctr"]
    assert codes(part) == ["command_unclear"]


def test_reading_the_configuration_changes_nothing() -> None:
    first, second = DD.format("aes128-ctr"), DD.format("aes256-ctr")
    part = read(f"{first}{DONE}$ cat ~/.ssh/config\n{second}{DONE}")
    assert len(figures(part)) == 2


@each(
    "commands",
    (
        "$ cat nas.txt pi.txt\n{}{}",
        "$ ./bench.sh nas; ./bench.sh pi\n{}{}",
        "$ ./bench.sh\n{}$ ./bench.sh -C\n{}",
    ),
)
def test_lists_of_several_commands_or_files_are_no_tries(commands: str) -> None:
    part = read(commands.format(FIRST, FIRST.replace("1", "3").replace("3", "1", 1)))
    assert len({one.cipher for one in figures(part)}) == len(figures(part))


@each(
    ("command", "code"),
    (
        ("ssh -c $c nas 'dd if=/dev/zero'", "order_unclear"),
        ("ssh -c 3des-cbc nas uptime", "command_unclear"),
    ),
)
def test_a_name_below_the_result_of_a_loop_may_be_the_next_ones(command: str, code: str) -> None:
    part = read(f"tom@pi:~$ {command}\n{DONE}aes128-ctr\n")
    assert (figures(part), codes(part)) == ([], [code])


def test_what_a_machine_says_of_itself_below_its_figures_is_of_them() -> None:
    uname = "Linux nas 6.1.0-18-amd64 #1 SMP Debian 6.1.76-1 x86_64 GNU/Linux\n"
    (section,) = read(FIRST + uname).sections
    assert (section.host, len(section.figures)) == ("nas", 2)
    assert section.environment["os"] == {"kernel": "Linux 6.1.0-18-amd64"}
