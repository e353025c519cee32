"""Texts that a reader may take for more than they say: no figure rather than a false one."""

from parsers.read_text import read_text
from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read, refused


@each(
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


@each("line", ("1024 MB 12.5 70 MB/s", "1 056 MB/s", "8 7.2 MB/s"))
@each("name", ("aes128-ctr\n", "aes128-ctr: "))
def test_a_bare_number_beside_a_rate_is_no_try(name: str, line: str) -> None:
    assert refused(name + line) == ["columns_unclear"]


@each(
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


@each(
    "text",
    (
        "     | Chip      | AES-128-GCM | ChaCha20-Poly1305 |\n"
        "     | OMAP 4460 |  24.1 MB/s  |     75.3 MB/s     |\n"
        "     | Xeon      |   900 MB/s  |      500 MB/s     |\n",
        "  Chip    Serpent MB/s  aes128-ctr MB/s  3des-cbc MB/s\n"
        "  OMAP    24.1          75.3             7\n"
        "  Xeon    900           500              9\n",
    ),
)
def test_the_rate_of_an_unknown_cipher_is_no_part_of_a_machine(text: str) -> None:
    reading = read_text(text)
    assert reading.sections == ()
    assert sum("OMAP" in one.text or "Xeon" in one.text for one in reading.unrecognised) == 2


@each("empty", ("", "-", "n/a"))
def test_a_machine_without_a_rate_does_not_take_the_name_of_the_other(empty: str) -> None:
    part = read(f"MB/s\n\n| cipher | nas | pi |\n|---|---|---|\n| 3des-cbc | {empty} | 9 |\n")
    assert [section.label for section in part.sections] == ["pi"]


@each(
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
    assert refused(table) == ["columns_unclear"]


def test_a_cell_of_other_words_spoils_the_rows_above_it_too() -> None:
    assert refused("cipher,size,MB/s\naes128-ctr,1,100\naes128-ctr,over the VPN,30\n") == [
        "columns_unclear"
    ]


def test_columns_of_tries_may_each_state_the_unit() -> None:
    part = read("cipher,run 1 MB/s,run 2 MB/s\naes128-ctr,100,101\n")
    assert [section.label for section in part.sections] == [None]
    assert len(figures(part)) == 2


DD = "{0}+0 records in\n{0}+0 records out\n{1} bytes copied, {2} s, {3} MB/s\n"
SO_FAR, END = DD.format(200, 209715200, 2, 105), DD.format(900, 943718400, 9, 105)


@each(
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


@each(
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


@each(
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


@each(
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
    assert refused(f"{line}\n") == ["not_a_rate"]


@each("times", ("2x ", "2 x ", "2× ", "2*", "2x", "4 × "))
@each("before", ("aes128-ctr: ", "aes128-ctr\n", "MB/s\n| aes128-ctr | "))
def test_the_rate_of_each_of_several_streams_is_no_figure(times: str, before: str) -> None:
    assert refused(f"{before}{times}55 MB/s\n") == ["not_a_rate"]


MOVED = "1048576000 bytes (1.0 GB, 1000 MiB) copied, {} s, 105 MB/s\n"
FROM_FILE, FROM_PIPE = "1000+0 records in\n1000+0 records out\n", "0+31234 records in\n"
PROGRESS = MOVED.format(9).replace("105", "116")


@each("name", ("aes128-ctr\n", "### aes128-ctr:\n"))
@each(
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


@each("results", (DD_RESULTS, RATES, PV_RESULTS, TIMES))
@each(
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
@each("name", ("{}\n", "== {}\n\n", "^ {}\n"))
@each("end", ("", "\nreal 1m2s\n", "Done.\n"))
def test_a_name_below_its_result_does_not_take_the_next_one(
    results: tuple[str, str], command: str, name: str, end: str
) -> None:
    lists = (f"{results[0]}{name.format('aes128-ctr')}{results[1]}{name.format('3des-cbc')}{end}",)
    assert figures(read(command + "".join(lists), transferred=1 << 30)) == []


@each(
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


@each("title", ("{}:\n", "## {}\n\n", "== {} ==\n"))
@each("rows", ("aes128-ctr 9 MB/s\n", f"aes128-ctr\n{DD_RESULTS[0]}"))
def test_the_first_of_several_headings_is_a_label_like_the_others(title: str, rows: str) -> None:
    names = ("alpha", "beta", "Zuse 3")
    part = read("".join(f"{title.format(name)}{rows}\n" for name in names))
    assert [section.label for section in part.sections] == list(names)


def test_a_heading_that_is_no_label_is_listed() -> None:
    reading = read_text("alpha:\naes128-ctr: 100 MB/s\nand then beta:\n3des-cbc: 20 MB/s\n")
    assert [one.line for one in reading.unrecognised] == [1, 3]


@each(
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
@each(
    "table", ("| cipher | {} |\n|---|---|\n| aes128-ctr | 12 |\n", "cipher  {}\naes128-ctr  12\n")
)
def test_a_column_is_rates_only_if_its_title_has_no_other_words(title: str, table: str) -> None:
    text = table.format(title)
    assert figures(read(text)) == []
    assert codes(read(text)) or read_text(text).unrecognised


@each(
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


@each("caption", ("change in MB/s:", "Loss (MB/s)", "Difference, MB/s"))
def test_a_caption_about_differences_gives_no_rates(caption: str) -> None:
    assert refused(f"{caption}\n\naes128-ctr: 12\n3des-cbc: 5\n") == ["columns_unclear"]


def test_a_column_of_differences_does_not_spoil_the_rates_beside_it() -> None:
    assert len(figures(read("cipher  MB/s  delta\naes128-ctr  100  12\n"))) == 1


@each(
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
@each("mark", (" | ", "   ", ";"))
def test_amounts_counts_and_versions_are_neither_machines_nor_tries(
    titles: tuple[str, ...], mark: str
) -> None:
    row = mark.join(f"{50 + number} MB/s" for number, _ in enumerate(titles))
    assert refused(f"cipher{mark}{mark.join(titles)}\naes128-ctr{mark}{row}\n") == [
        "columns_unclear"
    ]


@each(
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
    assert codes(part) == (["columns_unclear"] if "OpenSSH 9.6" in rows else [])


@each("line", ("2x aes128-ctr: 55 MB/s", "| aes128-ctr | 98 |", "Δ aes128-ctr 9 MB/s"))
def test_a_row_without_a_rate_of_its_own_is_listed(line: str) -> None:
    reading = read_text(f"{line}\n3des-cbc: 9 MB/s\n")
    assert [one.line for one in reading.unrecognised] == [1]


SSH_DD = "aes128-ctr\n" + MOVED.format("10.0")
PV = "1000MiB 0:00:09 [ 105MiB/s] [====>] 100%\n"
SCP = "f  100% 1000MB 105.0MB/s   00:09\n"


@each("result", (MOVED.format("9.98"), PV, SCP))
@each(
    "words",
    (
        "disk: {}",
        "without ssh: {}",
        "avg: {}",
        "(disk) {}",
        "HDD write = {}",
        "aes256-crt: {}",
        "(reading local: {})",
        "| disk | {}",
    ),
)
def test_a_result_counts_only_if_the_words_beside_it_are_understood(
    words: str, result: str
) -> None:
    text = SSH_DD + words.format(result.rstrip("\n")) + "\n" + result
    assert [figure.line for figure in figures(read(text))] == [2]
    assert 3 in {one.line for one in read_text(text).unrecognised}


@each(
    "words",
    ("", "pv: ", "Speed: ", "try 2: ", "Run 3: ", "2: ", "2024-05-06T07:08:09Z ", "Mon, May  6 "),
)
def test_a_result_with_harmless_words_beside_it_is_read(words: str) -> None:
    part = read(f"aes128-ctr\n{words}{MOVED.format('10.0')}aes256-ctr\n{words}{PV}")
    assert [figure.cipher for figure in figures(part)] == ["aes128-ctr", "aes256-ctr"]


@each(
    "line",
    ("LAN", "bs=1M", "MTU 1500", "[wifi]", "** WiFi **", "second box", "with HPN patch", "Upload:"),
)
@each("result", ("aes128-ctr 105 MB/s\n", SSH_DD, "aes128-ctr\n" + PV))
def test_a_cipher_that_comes_again_below_an_unknown_line_is_no_try(line: str, result: str) -> None:
    part = read(f"{result}{line}\n{result.replace('105', '14').replace('10.0', '71.4')}")
    assert len(figures(part)) == 1
    assert {"context_unclear"} >= set(codes(part)) - {"damaged"}


@each("line", ("Run 2:", "second run", "2024-05-06", "", "-----", "aes256-ctr"))
def test_a_cipher_that_comes_again_below_a_known_line_is_a_try(line: str) -> None:
    assert len(figures(read(f"aes128-ctr 105 MB/s\n{line}\naes128-ctr 104 MB/s\n"))) == 2


def test_another_person_in_a_mail_is_no_try() -> None:
    part = read("> aes128-ctr: 104 MB/s\naes128-ctr: 24 MB/s\n3des-cbc: 9 MB/s\n")
    assert rates(part) == [("aes128-ctr", 104_000_000), ("3des-cbc", 9_000_000)]
    assert codes(part) == ["context_unclear"]


@each(
    "remarks",
    (
        ("(AES-NI)", "(no AES-NI)"),
        ("# old", "# new"),
        ("// before", "// after"),
        ("(OpenSSH 9.6)", "(OpenSSH 6.0)"),
        ("(1 thread)", "(4 cores)"),
        ("", "(with HPN)"),
    ),
)
@each("row", ("aes128-ctr {} MB/s {}\n", "| aes128-ctr | {} MB/s | {}\n"))
def test_rows_with_different_remarks_are_not_read(remarks: tuple[str, str], row: str) -> None:
    part = read("".join(map(row.format, (104, 24), remarks)) + "3des-cbc 9 MB/s (default)\n")
    assert [one.cipher for one in figures(part)] == ["3des-cbc"]
    assert codes(part) == ["context_unclear"]


@each(
    "remark",
    (
        *(" (timeout, aborted)", " (aborted)", " (killed after 3 s)", "?", " ?", " (incomplete)"),
        *("  # invalid", " (n/a)", " (100 Mbit switch)", " (alpha)", " (4 streams)", " // wrong"),
    ),
)
def test_a_row_with_a_remark_that_is_not_understood_is_listed(remark: str) -> None:
    text = f"aes128-ctr: 104.2 MB/s\naes256-ctr: 98.7 MB/s{remark}\n"
    reading = read_text(text)
    assert [one.label for section in reading.sections for one in section.figures] == ["aes128-ctr"]
    assert [one.line for one in reading.unrecognised] == [2]


@each(
    "heading",
    (
        "Nice. I quote again for the list:",
        "EDIT: those were over WiFi, the right ones are:",
        "Sorry! Here they are once more:",
    ),
)
def test_a_sentence_is_no_name_of_a_machine(heading: str) -> None:
    part = read(f"aes128-ctr: 104 MB/s\n{heading}\naes128-ctr: 98 MB/s\n")
    assert rates(part) == [("aes128-ctr", 104_000_000)]
    assert codes(part) == ["context_unclear"]


@each("heading", ("# expected.txt", "Theoretical:", "# my estimates"))
def test_what_stands_below_a_heading_of_expectations_is_no_result(heading: str) -> None:
    part = read(f"{heading}\naes128-ctr: 100 MB/s\n# measured\naes128-ctr: 104 MB/s\n")
    assert rates(part) == [("aes128-ctr", 104_000_000)]


@each(
    "text",
    (
        "$ time ssh -c aes128-ctr nas 'cat >/dev/null' < big\nuser\t0m0.399s\nsys\t0m0.148s\n",
        "aes128-ctr\naes256-ctr\n",
    ),
)
def test_a_text_that_gives_nothing_lists_all_its_lines_with_the_reason(text: str) -> None:
    reading = read_text(text)
    assert not reading.sections
    assert [one.line for one in reading.unrecognised] == list(range(1, text.count("\n") + 1))
    assert [one.code for one in reading.remarks] == ["no_result"]


@each("remarks", (("(try 1)", "(try 2)"), ("(9.1 s)", "(9.2 s)"), ("", "(2)")))
def test_rows_whose_remarks_say_nothing_are_tries(remarks: tuple[str, str]) -> None:
    text = "".join(f"aes128-ctr 10{number} MB/s {one}\n" for number, one in enumerate(remarks))
    assert len(figures(read(text))) == 2


@each(
    "row",
    (
        "aes128-ctr 104 MB/s (theoretical)",
        "aes128-ctr 104 MB/s (guess)",
        "aes128-ctr 104 MB/s (luks)",
        "aes128-ctr 104 MB/s # disk",
        "~~aes128-ctr: 10.4 MB/s~~ (typo)",
        "7.4 aes128-ctr 104 MB/s",
    ),
)
def test_a_row_that_says_it_is_no_measurement_is_listed(row: str) -> None:
    reading = read_text(f"{row}\n3des-cbc: 9 MB/s\n")
    assert [one.line for one in reading.unrecognised] == [1]


@each(
    "title", ("OpenSSH", "streams", "threads", "MTU", "size", "bs", "year", "cores", "compression")
)
@each(
    "table",
    (
        "| {} | cipher | MB/s |\n|---|---|---|\n| 1 | aes128-ctr | 104 |\n| 4 | aes128-ctr | 390 |",
        "{}       cipher      MB/s\n1        aes128-ctr  104\n4        aes128-ctr  390",
        "{} cipher MB/s\n1 aes128-ctr 104\n4 aes128-ctr 390",
        "{},cipher,MB/s\n1,aes128-ctr,104\n4,aes128-ctr,390",
    ),
)
def test_numbers_left_of_a_cipher_count_tries_only_if_titled_so(title: str, table: str) -> None:
    assert refused(table.format(title)) == ["columns_unclear"]


@each("title", ("#", "no.", "Nr", "run", "Try", "time"))
def test_numbers_that_count_rows_are_known_by_their_title(title: str) -> None:
    rows = "| 1 | aes128-ctr | 104 |\n| 2 | aes128-ctr | 106 |\n"
    assert len(figures(read(f"| {title} | cipher | MB/s |\n|---|---|---|\n{rows}"))) == 2


def test_rows_of_several_sizes_are_no_tries() -> None:
    part = read("cipher,size,MB/s\naes128-ctr,1,100\naes128-ctr,2,120\n3des-cbc,1,9\n")
    assert [one.cipher for one in figures(part)] == ["3des-cbc"]


@each("prompt", ("$ ./x.sh", "me@box:~$ ./x", "$ for c in a; do ./b $c; done"))
@each("results", (DD_RESULTS, PV_RESULTS, (SCP, SCP)))
@each("name", ("{}\n", "=> {}\n", "1000+0 records out\n{}\n"))
def test_names_below_results_are_known_below_any_prompt(
    prompt: str, results: tuple[str, str], name: str
) -> None:
    names = (name.format("aes128-ctr"), name.format("3des-cbc"))
    assert refused(f"{prompt}\n{results[0]}{names[0]}{results[1]}{names[1]}") == ["order_unclear"]


def test_two_names_in_a_row_share_no_two_results() -> None:
    assert refused("aes128-ctr\naes256-ctr\n" + "".join(DD_RESULTS)) == ["no_cipher"]
    assert len(figures(read("aes128-ctr\naes256-ctr\n" + DD_RESULTS[0]))) == 1


@each(
    "command",
    (
        "scp -l 80000 -c aes128-ctr f nas:",
        "rsync --bwlimit=10000 -P -e 'ssh -c aes128-ctr' f nas:",
        "pv -L 10m f | ssh -c aes128-ctr nas 'cat >/dev/null'",
        "yes | ssh -c aes128-ctr gw ssh -c 3des-cbc inner 'cat >/dev/null'",
    ),
)
def test_a_transfer_with_a_limit_or_two_hops_is_no_figure(command: str) -> None:
    assert figures(read(f"$ {command}\n{MOVED.format('10.0')}")) == []


@each("title", ("theoretical max", "link speed", "iperf", "nc", "total", "W"))
def test_quantities_are_no_machines(title: str) -> None:
    unit = "MB/s/W" if title == "W" else title
    table = f"| cipher | alpha | beta | {unit} |\n|---|---|---|---|\n| 3des-cbc | 9 MB/s | 8 MB/s |"
    assert {one.label for one in read(f"{table} 7 MB/s |\n").sections} <= {"alpha", "beta"}
    rows = f"| alpha | 99 MB/s | 9 MB/s |\n| {title} | 55 MB/s | 5 MB/s |\n"
    part = read(f"| host | aes128-ctr | 3des-cbc |\n|---|---|---|\n{rows}")
    assert title == "W" or [one.label for one in part.sections] == ["alpha"]


@each(
    "text",
    (
        "aes128-ctr\n" + MOVED.format("-10.0"),
        "MB/s at 100% CPU (extrapolated)\naes128-ctr: 1304\n",
        "cipher | MB/s per GHz\naes128-ctr | 34\n",
        "aes128-ctr | 104 MB/s | 106 MB/s\n3des-cbc | 20 MB/s | 60 MB/s\n",
        "cipher,kex,MB/s\naes128-ctr,curve25519-sha256,104.2\n",
    ),
)
def test_what_is_no_rate_is_left_out_with_a_warning(text: str) -> None:
    assert figures(read(text)) == []
    assert codes(read(text)) or read_text(text).unrecognised


def test_tries_of_nearly_whole_seconds_are_tries() -> None:
    tries = "".join(MOVED.format(one) for one in ("10.0", "10.5", "9.9"))
    assert len(figures(read(f"aes128-ctr\n{tries.replace('105 MB', '102 MB')}"))) == 3


@each(
    "line",
    (
        "aes128-ctr: 104 MB/s**",
        "aes128-ctr: 104 MB/s *",
        "aes128-ctr: 104** MB/s",
        "aes128-ctr: **104 MB/s",
        "aes128-ctr**: 104 MB/s",
        "aes128-ctr[1]: 104 MB/s",
        "aes128-ctr: 104 MB/s [1]",
        "| aes128-ctr | 104 MB/s** |",
        "| aes128-ctr | 104** MB/s | **",
    ),
)
def test_a_row_with_a_footnote_is_listed_and_bold_is_read(line: str) -> None:
    part = read(f"{line}\n**aes256-ctr**: **90 MB/s**\n\n** estimated\n")
    assert rates(part) == [("aes256-ctr", 90e6)]
    assert 1 not in part.understood


@each("mark", ("**", " *", " [1]"))
def test_a_result_or_a_name_with_a_footnote_does_not_count(mark: str) -> None:
    summary = "104857600 bytes (105 MB) copied, 0.34 s, 308 MB/s"
    assert figures(read(f"aes128-ctr\n{summary}{mark}\n")) == []
    part = read(f"aes128-ctr{mark.strip()}\n{summary}\naes256-ctr\n{summary}\n")
    assert {figure.cipher for figure in figures(part)} <= {"aes256-ctr"}


FAILURES = (
    "Unable to negotiate with 127.0.0.1 port 22: no matching cipher found. Their offer: aes128-ctr",
    "ssh: something is odd",
    "unknown cipher type '3des-cbc'",
    "aes192-ctr",
)


@each("result", ("1048576000 bytes copied, {} s, 99 MB/s", "{} MB/s"))
@each("failure", FAILURES)
@each("place", (0, 2))
@each("end", ((), ("$ ",), ("$ uptime",)))
def test_where_a_transfer_fails_no_name_takes_the_next_ones_result(
    result: str, failure: str, place: int, end: tuple[str, ...]
) -> None:
    lines = ["3des-cbc", result.format(21), "aes128-ctr", result.format(22), "aes256-ctr"]
    lines.insert(place, failure)
    part = read("\n".join(("$ ./bench.sh", *lines, *end)))
    assert figures(part) == []
    assert "order_unclear" in codes(part)


@each("failure", FAILURES[:3])
def test_where_names_come_first_the_one_that_fails_has_no_result(failure: str) -> None:
    summary = "1048576000 bytes copied, 10 s, 105 MB/s"
    lines = ("3des-cbc", failure, "aes128-ctr", summary, "aes256-ctr", summary)
    loop = (
        "$ for c in $C; do echo $c; dd if=/dev/zero count=1 | ssh -c $c nas 'cat >/dev/null'; done"
    )
    for text in (lines, (loop, *lines), (loop, *lines[2:], *lines[:2])):
        part = read("\n".join(text))
        assert [figure.cipher for figure in figures(part)] == ["aes128-ctr", "aes256-ctr"]


WORDS = ("What the brochure says", "From Bob's blog", "With croc", "Numbers for the slide")
ROWS = "aes128-ctr: 400 MB/s\naes256-ctr: 300 MB/s\n"
OTHERS = "aes128-ctr: 40 MB/s\naes256-ctr: 30 MB/s\n"


@each("words", WORDS)
@each("form", ("{}:\n", "{}\n", "{}:\n\n", "== {} ==\n"))
@each("then", ("Measured:\n", "Mine\n", "And on the NAS:\n"))
def test_what_stands_below_words_is_left_out_where_it_comes_again(
    words: str, form: str, then: str
) -> None:
    first = form.format(words) + ROWS
    for text in (f"{first}\n{then}{OTHERS}", f"{then}{OTHERS}\n{first}"):
        part = read(text)
        assert not {400e6, 300e6} & {one.bytes_per_second for one in figures(part)}
        assert "context_unclear" in codes(part)
        assert words not in {one.label for one in part.sections}


@each("words", WORDS)
def test_words_right_above_results_are_of_their_paragraph(words: str) -> None:
    part = read(f"{words}:\n{ROWS}\n{OTHERS}")
    assert figures(part) == []
    assert "context_unclear" in codes(part)


@each("words", (*WORDS, "Here are my results:", "I measured this today:", "Results", "On my box:"))
def test_ordinary_prose_above_a_list_is_read(words: str) -> None:
    part = read(f"{words}\n{ROWS}")
    assert [one.label for one in part.sections] == [None]
    assert len(figures(part)) == 2


def test_words_above_a_prompt_that_names_its_machine_do_not_matter() -> None:
    loop = (
        "for c in aes128-ctr; do echo $c; dd if=/dev/zero bs=1M count=9 | ssh -c $c nas cat; done"
    )
    result = "aes128-ctr\n1048576000 bytes copied, 10 s, 105 MB/s\n"
    text = "".join(f"me@{host}:~$ {loop}\n{result}" for host in ("nas", "pi"))
    for words in ("Results so far:\n", "Results so far\n"):
        assert [one.host for one in read(words + text).sections] == ["nas", "pi"]
