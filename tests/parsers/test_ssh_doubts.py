"""Texts that a reader may take for more than they say: no figure rather than a false one."""

import pytest

from parsers.read_text import read_text
from tests.parsers.ssh_reading import codes, figures, rates, read


@pytest.mark.parametrize(
    "text",
    (
        "$ pv -F '%t %b %r' big | ssh -c aes128-ctr nas cat\n0:00:07  700MiB  100MB/s\n",
        "aes128-ctr\n00:14 100 MB/s\n",
        "aes128-ctr: 12:30:05 100 MB/s\n",
        "cipher      time  MB/s\naes128-ctr  0:09  100\n",
    ),
)
def test_a_time_of_day_is_no_rate(text: str) -> None:
    assert rates(read(text)) == [("aes128-ctr", 100_000_000)]


@pytest.mark.parametrize("line", ("1024 MB 12.5 70 MB/s", "1 056 MB/s", "8 7.2 MB/s"))
@pytest.mark.parametrize("name", ("aes128-ctr\n", "aes128-ctr: "))
def test_a_bare_number_beside_a_rate_is_no_try(name: str, line: str) -> None:
    part = read(name + line)
    assert figures(part) == []
    assert codes(part) == ["columns_unclear"]


@pytest.mark.parametrize(
    "text",
    (
        "host,cipher,MB/s\nnas,aes128-ctr,100\npi,aes128-ctr,50\n",
        "cipher;machine;rate\naes128-ctr;nas;100 MB/s\naes128-ctr;pi;50 MB/s\n",
        "cipher,cpu,MB/s\naes128-ctr,nas,100\naes128-ctr,pi,50\n",
        "cipher,nas MB/s,pi MB/s\naes128-ctr,100,50\n",
    ),
)
def test_each_machine_of_a_table_has_its_own_figures(text: str) -> None:
    sections = read(text).sections
    assert [section.label for section in sections] == ["nas", "pi"]
    assert [len(section.figures) for section in sections] == [1, 1]


@pytest.mark.parametrize("empty", ("", "-", "n/a"))
def test_a_machine_without_a_rate_does_not_take_the_name_of_the_other(empty: str) -> None:
    part = read(f"MB/s\n\n| cipher | nas | pi |\n|---|---|---|\n| 3des-cbc | {empty} | 9 |\n")
    assert [section.label for section in part.sections] == ["pi"]


@pytest.mark.parametrize(
    "table",
    (
        "cipher,compression,MB/s\naes128-ctr,no,100\naes128-ctr,yes,30\n",
        "cipher;compr;rate\naes128-ctr;none;100 MB/s\naes128-ctr;zlib;30 MB/s\n",
        "| Cipher | Compression | MB/s |\n|---|---|---|\n| aes128-ctr | on | 30 |\n",
        "tool,cipher,MB/s\nscp,aes128-ctr,90\niperf,aes128-ctr,110\n",
        "cipher,direction,MB/s\naes128-ctr,encrypt,100\naes128-ctr,decrypt,90\n",
        "cipher      upload    download\naes128-ctr  80 MB/s   90 MB/s\n",
        "| Cipher | Read MB/s | Write MB/s |\n|---|---|---|\n| aes128-ctr | 40 | 30 |\n",
        "openssh;cipher;MB/s\n8.4;aes128-ctr;100\n9.2;aes128-ctr;110\n",
    ),
)
def test_a_table_with_a_column_that_is_not_understood_gives_no_figures(table: str) -> None:
    part = read(table)
    assert figures(part) == []
    assert codes(part) == ["columns_unclear"]


def test_a_cell_of_other_words_spoils_the_rows_above_it_too() -> None:
    part = read("cipher,size,MB/s\naes128-ctr,1,100\naes128-ctr,over the VPN,30\n")
    assert figures(part) == []
    assert codes(part) == ["columns_unclear"]


def test_columns_of_tries_may_each_state_the_unit() -> None:
    part = read("cipher,run 1 MB/s,run 2 MB/s\naes128-ctr,100,101\n")
    assert [section.label for section in part.sections] == [None]
    assert len(figures(part)) == 2


DD = "{0}+0 records in\n{0}+0 records out\n{1} bytes copied, {2} s, {3} MB/s\n"
SO_FAR, END = DD.format(200, 209715200, 2, 105), DD.format(900, 943718400, 9, 105)


@pytest.mark.parametrize(
    "text",
    (
        f"aes128-ctr\n{SO_FAR}{END}",
        f"$ dd if=/dev/zero | ssh -c aes128-ctr nas cat &\n$ killall -USR1 dd\n{SO_FAR}{END}",
        "mac% dd if=/dev/zero | ssh -c aes128-ctr nas cat\n"
        f"load: 1.02  cmd: dd 77 running 0.01u 0.20s\n{SO_FAR}{END}",
    ),
)
def test_what_dd_says_on_its_way_is_no_figure_of_its_own(text: str) -> None:
    assert [figure.seconds for figure in figures(read(text))] == [9]


def test_the_other_end_of_a_transfer_is_known_for_what_it_is() -> None:
    moved = "104857600 bytes (105 MB) copied, {} s, 105 MB/s\n"
    part = read(
        "$ for c in aes128-ctr; do echo $c; dd if=/dev/zero bs=1M count=100"
        " | ssh -c $c nas 'dd of=/dev/null'; done\naes128-ctr\n"
        f"100+0 records in\n100+0 records out\n{moved.format('1.00')}"
        f"0+6212 records in\n0+6212 records out\n{moved.format('1.01')}"
    )
    assert [figure.seconds for figure in figures(part)] == [1.0]
    assert codes(part) == ["repeated"]


@pytest.mark.parametrize(
    ("text", "lines"),
    (
        ("-aes128-ctr: 80.0 MB/s\n3des-cbc: 17 MB/s\n", {1}),
        ("$ ./bench\n  Time (mean):  1.554 s  [User: 0.302 s, System: 0.659 s]\n", {2}),
        ("cipher,compression,MB/s\naes128-ctr,none,80\n", set()),
    ),
)
def test_a_line_is_read_or_named_by_a_warning_or_listed(text: str, lines: set[int]) -> None:
    reading = read_text(text)
    assert {one.line for one in reading.unrecognised} == lines
    known = {one.line for one in reading.remarks} | {
        figure.line for section in reading.sections for figure in section.figures
    }
    assert lines or 2 in known


@pytest.mark.parametrize(
    ("text", "count"),
    (
        ("aes128-ctr\uff1a80 MB/s\n", 1),
        ("MB/s        #1   #2\naes128-ctr  80.1  81.0\n", 2),
        ("cipher,MBps,cpu_pct,elapsed_s\naes128-ctr,80.5,97,2.5\n", 1),
        ("## Speed (MB/s, 4 GB of zeros)\n\n| Cipher | nas |\n|---|---|\n| 3des-cbc | 9 |\n", 1),
    ),
)
def test_sound_rates_are_read(text: str, count: int) -> None:
    part = read(text)
    assert len(figures(part)) == count
    assert codes(part) == []


def test_a_dd_line_that_is_cut_names_no_machine() -> None:
    reading = read_text(
        "1073741824 bytes (1.1 GB, 1.0 GiB) cop\n"
        "type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes\n"
        "aes-256 cbc      52853.98k    59110.20k    61012.50k    61500.10k    61700.00k\n"
    )
    assert [section.label for section in reading.sections] == [None]


@pytest.mark.parametrize(
    "line",
    (
        "aes128-ctr: +12 MB/s",
        "aes128-ctr: -5 MB/s",
        "aes128-ctr: −5 MB/s",
        "aes128-ctr: + 12 MB/s",
        "aes128-ctr (+5 MB/s)",
        "aes128-ctr → +12MB/s",
        "aes128-ctr: ↓ 12 MB/s",
        "aes128-ctr\n+12 MB/s",
        "MB/s\naes128-ctr +12.3",
        "Chiffre     MB/s\naes128-ctr  +12,3",
        'cipher,MB/s\naes128-ctr,"+12"',
        "| cipher | MB/s |\n|---|---|\n| aes128-ctr | -12 |",
    ),
)
def test_a_number_with_a_sign_is_no_rate(line: str) -> None:
    part = read(f"{line}\n")
    assert figures(part) == []
    assert codes(part) == ["not_a_rate"]


@pytest.mark.parametrize("times", ("2x ", "2 x ", "2× ", "2*", "2x", "4 × "))
@pytest.mark.parametrize("before", ("aes128-ctr: ", "aes128-ctr\n", "MB/s\n| aes128-ctr | "))
def test_the_rate_of_each_of_several_streams_is_no_figure(times: str, before: str) -> None:
    part = read(f"{before}{times}55 MB/s\n")
    assert figures(part) == []
    assert codes(part) == ["not_a_rate"]


MOVED = "1048576000 bytes (1.0 GB, 1000 MiB) copied, {} s, 105 MB/s\n"
FROM_FILE, FROM_PIPE = "1000+0 records in\n1000+0 records out\n", "0+31234 records in\n"
PROGRESS = MOVED.format(9).replace("105", "116")


@pytest.mark.parametrize("name", ("aes128-ctr\n", "### aes128-ctr:\n"))
@pytest.mark.parametrize(
    "results",
    (
        FROM_FILE + MOVED.format("10.0") + FROM_PIPE + MOVED.format(10.4).replace("105", "101"),
        FROM_PIPE + MOVED.format(10.4).replace("105", "101") + FROM_FILE + MOVED.format("10.0"),
        FROM_FILE + MOVED.format("10.0") + "2048000+0 records in\n" + MOVED.format("10.35"),
        PROGRESS + FROM_FILE + MOVED.format("10.0"),
        PROGRESS.replace(" 9 ", " 9.5 ").replace("116", "110") + FROM_FILE + MOVED.format("10.0"),
        PROGRESS + MOVED.format("9.98"),
        (FROM_FILE + MOVED.format("10,0") + FROM_PIPE + MOVED.format("11"))
        .replace("records in", "Datensätze ein")
        .replace("records out", "Datensätze aus")
        .replace("copied", "kopiert"),
    ),
)
def test_two_summaries_of_one_transfer_are_one_figure(name: str, results: str) -> None:
    seconds = [figure.seconds for figure in figures(read(f"{name}{results}"))]
    assert seconds in ([10.0], [9.98])


def test_tries_of_as_many_records_are_tries() -> None:
    tries = "".join(FROM_PIPE + MOVED.format(seconds) for seconds in ("10.0", "10.1", "9.9"))
    assert len(figures(read(f"aes128-ctr\n{tries}"))) == 3


LOOP = "for c in aes128-ctr 3des-cbc; do {}dd if=/dev/zero bs=1M count=1000 | ssh -c $c h {}; done"
FAR = "'cat >/dev/null'"
SCRIPT = "for c in aes128-ctr 3des-cbc\ndo\n{}yes | ssh -c $c h 'cat >/dev/null'\n{}done"
DD_RESULTS = (MOVED.format("9.98"), MOVED.format("9.97"))
RATES = ("105 MB/s\n", "17.5 MB/s\n")
PV_RESULTS = ("1000MiB 0:00:09 [ 105MiB/s]\n", "1000MiB 0:00:57 [17.5MiB/s]\n")
TIMES = ("real 0m9.5s\nuser 0m1.0s\n", "real 0m57.1s\nuser 0m9.0s\n")


@pytest.mark.parametrize("results", (DD_RESULTS, RATES, PV_RESULTS, TIMES))
@pytest.mark.parametrize(
    "command",
    (
        "",
        "Ergebnisse:\n\n",
        f"$ {LOOP.format('', FAR + '; echo $c')}\n",
        f"user@nas:~$ {LOOP.format('time ', FAR + ' && echo ${c}')}\n",
        LOOP.format("", FAR + r'; printf "%s\n" "$c"') + "\n\n",
        SCRIPT.format("", "echo $c\n") + "\n",
        SCRIPT.format("  ", '  echo "== $c"\n') + "\n\n",
    ),
)
@pytest.mark.parametrize("name", ("{}\n", "== {}\n\n", "^ {}\n"))
@pytest.mark.parametrize("end", ("", "\nreal 1m2s\n", "Done.\n"))
def test_a_name_below_its_result_does_not_take_the_next_one(
    results: tuple[str, str], command: str, name: str, end: str
) -> None:
    lists = (f"{results[0]}{name.format('aes128-ctr')}{results[1]}{name.format('3des-cbc')}{end}",)
    assert figures(read(command + "".join(lists), transferred=1 << 30)) == []


@pytest.mark.parametrize(
    "command",
    (
        f"$ {LOOP.format('echo $c; ', FAR)}\n",
        f"$ {LOOP.format('echo $c; ', FAR + '; echo $?')}\n",
        LOOP.format('echo "== $c"; ', FAR + '; echo "took $SECONDS"') + "\n",
        LOOP.format("", "'echo $c; cat >/dev/null'") + "\n",
        SCRIPT.format("echo $c\n", "") + "\n",
        SCRIPT.format("echo $c\n", "") + "\n" + SCRIPT.format("echo $c\n", "") + "\n",
        "$ dd if=/dev/zero bs=1M count=1000 | ssh h 'cat >/dev/null'\n" + DD_RESULTS[1],
        "netcat:\n" + DD_RESULTS[1],
    ),
)
def test_a_name_above_its_result_is_read(command: str) -> None:
    text = f"{command}aes128-ctr\n{DD_RESULTS[0]}3des-cbc\n{DD_RESULTS[1]}"
    assert [one.cipher for one in figures(read(text))] == ["aes128-ctr", "3des-cbc"]


@pytest.mark.parametrize("title", ("{}:\n", "## {}\n\n", "== {} ==\n"))
@pytest.mark.parametrize("rows", ("aes128-ctr 9 MB/s\n", f"aes128-ctr\n{DD_RESULTS[0]}"))
def test_the_first_of_several_headings_is_a_label_like_the_others(title: str, rows: str) -> None:
    names = ("alpha", "beta", "Zuse 3")
    part = read("".join(f"{title.format(name)}{rows}\n" for name in names))
    assert [section.label for section in part.sections] == list(names)


def test_a_heading_that_is_no_label_is_listed() -> None:
    reading = read_text("alpha:\naes128-ctr: 100 MB/s\nbeta:\n3des-cbc: 20 MB/s\n")
    assert [one.line for one in reading.unrecognised] == [1, 3]


@pytest.mark.parametrize(
    "title",
    (
        "change (MB/s)",
        "loss (MB/s)",
        "delta MB/s",
        "speed gain [MB/s]",
        "avg. difference in MB/s",
        "CPU time (s per MB/s)",
        "Verlust (MB/s)",
        "1 GB file (MB/s)",
        "Obergrenze (MB/s)",
    ),
)
@pytest.mark.parametrize(
    "table", ("| cipher | {} |\n|---|---|\n| aes128-ctr | 12 |\n", "cipher  {}\naes128-ctr  12\n")
)
def test_a_column_is_rates_only_if_its_title_has_no_other_words(title: str, table: str) -> None:
    text = table.format(title)
    assert figures(read(text)) == []
    assert codes(read(text)) or read_text(text).unrecognised


@pytest.mark.parametrize(
    "title",
    (
        "Speed in MB/s",
        "Débit en MB/s",
        "Скорость (МБ/с)",
        "速度 (MB/s)",
        "Durchsatz MB/s",
        "nas MB/s",
    ),
)
def test_a_title_of_words_for_rates_is_read(title: str) -> None:
    assert rates(read(f"| Cipher | {title} |\n|---|---|\n| aes128-ctr | 12 |\n")) == [
        ("aes128-ctr", 12_000_000)
    ]


@pytest.mark.parametrize("caption", ("change in MB/s:", "Loss (MB/s)", "Difference, MB/s"))
def test_a_caption_about_differences_gives_no_rates(caption: str) -> None:
    part = read(f"{caption}\n\naes128-ctr: 12\n3des-cbc: 5\n")
    assert figures(part) == []
    assert codes(part) == ["columns_unclear"]


def test_a_column_of_differences_does_not_spoil_the_rates_beside_it() -> None:
    assert len(figures(read("cipher  MB/s  delta\naes128-ctr  100  12\n"))) == 1


@pytest.mark.parametrize(
    "titles",
    (
        ("1", "2", "4"),
        ("2", "4"),
        ("10MB", "100MB", "1GB"),
        ("1 stream", "2 streams"),
        ("2 Verbindungen", "4 Verbindungen"),
        ("OpenSSH 6.6", "OpenSSH 9.6"),
        ("6.6", "9.6"),
        ("v8.4p1", "v9.2p1"),
        ("bs=64k", "bs=1M"),
        ("without HPN", "with HPN"),
    ),
)
@pytest.mark.parametrize("mark", (" | ", "   ", ";"))
def test_amounts_counts_and_versions_are_neither_machines_nor_tries(
    titles: tuple[str, ...], mark: str
) -> None:
    row = mark.join(f"{50 + number} MB/s" for number, _ in enumerate(titles))
    part = read(f"cipher{mark}{mark.join(titles)}\naes128-ctr{mark}{row}\n")
    assert figures(part) == []
    assert codes(part) == ["columns_unclear"]


@pytest.mark.parametrize(
    ("corner", "rows", "count"),
    (
        ("threads", ("1", "2", "4"), 0),
        ("host", ("4 streams", "OpenSSH 9.6"), 0),
        ("", ("1", "2", "3"), 6),
        ("run", ("1", "2", "3"), 6),
        ("host", ("pi 3", "pi 4"), 4),
    ),
)
def test_rows_are_tries_or_machines_only_if_their_titles_are(
    corner: str, rows: tuple[str, ...], count: int
) -> None:
    lines = "".join(f"| {row} | 50 MB/s | 20 MB/s |\n" for row in rows)
    part = read(f"| {corner} | aes128-ctr | 3des-cbc |\n|---|---|---|\n{lines}")
    assert len(figures(part)) == count
    assert len(part.sections) == (2 if corner == "host" and count else bool(count))


@pytest.mark.parametrize(
    "line", ("2x aes128-ctr: 55 MB/s", "| aes128-ctr | 98 |", "Δ aes128-ctr 9 MB/s")
)
def test_a_row_without_a_rate_of_its_own_is_listed(line: str) -> None:
    reading = read_text(f"{line}\n3des-cbc: 9 MB/s\n")
    assert [one.line for one in reading.unrecognised] == [1]
