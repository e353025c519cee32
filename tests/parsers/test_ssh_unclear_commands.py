"""A figure counts only below a command that is known to send bytes through one connection."""

from parsers.read_text import read_text
from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read, refused

DD = "1048576000 bytes (1.0 GB, 1000 MiB) copied, {} s\n"
SEND = "$ dd if=/dev/zero bs=1M count=1000 | ssh -c {} nas 'cat >/dev/null'"
PLAIN = SEND.format("aes128-ctr")
COPY = "big.iso  100% 1000MB 111.1MB/s   00:09\n"
PV = "1.00GiB 0:00:10 [ 102MiB/s] [=====>] 100%\n"


@each(
    "command",
    (
        "dd if=/dev/zero bs=1M count=1000 | gzip -1 | ssh -c aes128-ctr nas 'cat >/dev/null'",
        "dd if=/dev/zero bs=1M count=1000 | /usr/bin/zstd -T0 | ssh -c aes128-ctr nas cat",
        "dd if=/dev/zero bs=1M count=1000 | ssh -c aes128-ctr nas 'lz4 -d >/dev/null'",
        "dd if=/dev/zero bs=1M count=1000 | openssl enc -aes-128-ctr -k x | ssh -c 3des-cbc n cat",
        "dd if=/dev/zero bs=1M count=1000 | nice stress ssh -c aes128-ctr nas 'cat >/dev/null'",
        "dd if=/dev/zero bs=1M count=1000 | ssh -c aes128-ctr nas 'cat >/dev/null' | unknown",
        "tar cz /srv | dd bs=1M | ssh -c aes128-ctr nas 'cat >/dev/null'",
        "yes | dd | tee >(ssh -c 3des-cbc a 'cat >/dev/null') | ssh -c aes128-ctr b 'cat >/x'",
        "dd if=/dev/zero bs=1M | tee >(md5sum) | ssh -c aes128-ctr nas 'cat >/dev/null'",
        "dd if=/dev/zero bs=1M | ssh -J gate -c aes128-ctr nas 'cat >/dev/null'",
        "dd if=/dev/zero bs=1M | ssh -oProxyJump=gate -c aes128-ctr nas 'cat >/dev/null'",
        "dd if=/dev/zero bs=1M | ssh -o 'ProxyCommand nc %h 22' -c aes128-ctr nas 'cat >/dev/null'",
        "dd if=/dev/zero bs=1M | ssh -c aes128-ctr -oNoneSwitch=yes -oNoneEnabled=yes nas cat",
        "dd if=/dev/zero bs=1M | ssh -c aes128-ctr -S /tmp/master nas 'cat >/dev/null'",
        "dd if=/dev/zero bs=1M | ssh -c aes128-ctr gate \"ssh -c aes256-ctr nas 'cat >/dev/null'\"",
        'seq 4 | parallel -j4 "dd if=/dev/zero bs=1M | ssh -c aes128-ctr nas cat"',
        "seq 4 | xargs -P 4 -I{} sh -c \"dd if=/dev/zero bs=1M | ssh -c aes128-ctr nas 'cat >/x'\"",
        "for h in a b; do dd if=/dev/zero | ssh -c aes128-ctr $h 'cat >/dev/null' & done; wait",
        "time ssh -c aes128-ctr nas true",
    ),
)
def test_a_command_that_may_do_more_gives_no_figure_and_its_results_are_listed(
    command: str,
) -> None:
    reading = read_text(f"$ {command}\n{DD.format(9)}")
    assert not reading.sections
    assert {one.code for one in reading.remarks} <= {"command_unclear", "columns_unclear"}
    assert reading.remarks
    assert [one.line for one in reading.unrecognised] == [2]


@each(
    ("command", "result"),
    (
        ("scp -J gate -c aes128-ctr big.iso nas:", COPY),
        ("scp -o ProxyJump=gate -c aes128-ctr big.iso nas:", COPY),
        ("scp -3 -c aes128-ctr attic:big.iso nas:", COPY),
        ("scp -c aes128-ctr attic:big.iso nas:", COPY),
        ("scp -S ./wrapper -c aes128-ctr big.iso nas:", COPY),
        ("rsync -P -e 'ssh -J gate -c aes128-ctr' big.iso nas:", COPY),
        ("rsync -azP -e 'ssh -c aes128-ctr' big.iso nas:", COPY),
        ("rsync --compress -e 'ssh -c aes128-ctr' big.iso nas:", COPY),
        ("rsync -P -e 'ssh -c aes128-ctr' --compress big.iso nas:", COPY),
        ("pv big.iso | lz4 | ssh -c aes128-ctr nas 'lz4 -d >/dev/null'", PV),
    ),
)
def test_a_copy_of_which_an_option_is_not_known_gives_no_figure(command: str, result: str) -> None:
    assert refused(f"$ {command}\n{result}") == ["command_unclear"]


@each(
    "command",
    (
        "dd if=/dev/zero bs=1M | cpulimit -l 50 -- ssh -c aes128-ctr nas 'cat >/dev/null'",
        "pv big | trickle -u 20480 ssh -c aes128-ctr nas 'cat >/dev/null'",
        "mbuffer -q -r 20M -i big | ssh -c aes128-ctr nas 'cat >/dev/null'",
        "throttle -M 8 < big | dd bs=1M | ssh -c aes128-ctr nas 'cat >/dev/null'",
    ),
)
def test_a_program_that_limits_the_rate_gives_no_figure(command: str) -> None:
    assert refused(f"$ {command}\n{DD.format(9)}") == ["limited"]


@each(
    "command",
    (
        "time sh -c \"dd if=/dev/zero bs=1M count=1000 | ssh -c aes128-ctr nas 'cat >/dev/null'\"",
        "sync; time (dd if=/dev/zero bs=1M | sudo -u me nice -n 5 ssh -c aes128-ctr nas cat)",
        'dd if=/dev/zero bs=1M | ssh -o "Ciphers aes128-ctr" nas "cat > /dev/null"',
        "dd if=/dev/zero bs=1M | ssh nas -c aes128-ctr 'cat >/dev/null'",
        "dd if=/dev/zero bs=1M | /opt/bin/ssh -T -p 2222 -i key -oStrictHostKeyChecking=no"
        " -o Compression=no -c aes128-ctr -F /dev/null nas 'cat >/dev/null'",
        "< big dd bs=1M 2>&1 | ssh -c aes128-ctr nas 'cat >/dev/null' 2>&1 | grep copied | tee log",
        "ssh -c aes128-ctr nas 'dd if=/dev/zero bs=1M count=1000 2>/dev/null' | dd of=/dev/null",
        "taskset -c 2 dd if=/dev/zero bs=1M | taskset -c 3 ssh -c aes128-ctr nas 'sudo dd of=/x'",
    ),
)
def test_what_changes_nothing_may_stand_around_it(command: str) -> None:
    part = read(f"$ {command}\n{DD.format(8)}")
    assert rates(part) == [("aes128-ctr", 131072000)]
    assert codes(part) == []


def test_jobs_that_run_at_once_give_no_figures_from_the_first_on() -> None:
    background = SEND.format("3des-cbc") + " &\n[1] 4411\n"
    part = read(f"{PLAIN}\n{DD.format(9)}{background}{PLAIN} &\n{DD.format(18)}{DD.format(30)}")
    assert [figure.seconds for figure in figures(part)] == [9]
    assert "command_unclear" in codes(part)


@each("between", ("$ wait\n", "$ fg\n"))
def test_a_job_that_was_waited_for_is_one_transfer(between: str) -> None:
    part = read(f"{PLAIN} &\n{between}{DD.format(9)}{PLAIN.replace('aes128', 'aes192')}\n")
    assert codes(part) == []


def test_an_alias_of_ssh_makes_what_follows_unclear() -> None:
    assert refused(f"$ alias ssh='ssh -C'\n{PLAIN}\n{DD.format(9)}") == ["command_unclear"]


@each("name", ("", "aes128-ctr: "))
@each("end", ("\r", "\n"))
def test_only_a_complete_display_of_pv_is_a_result(name: str, end: str) -> None:
    command = "$ pv -N aes128-ctr big | ssh -c aes128-ctr nas 'cat >/dev/null'\n"
    shown = (
        "2.78MiB 0:00:01 [2.76MiB/s] [>      ]  0% ETA 0:01:41",
        "77.6MiB 0:00:02 [75.4MiB/s] [====>  ] 27% ETA 0:00:05",
        " 286MiB 0:00:04 [72.0MiB/s] [======>] 100%",
    )
    whole = read(command + end.join(name + one for one in shown))
    assert [figure.bytes_per_second for figure in figures(whole)] == [72 * 2**20]
    cut = read(command + end.join(name + one for one in shown[:2]))
    assert not figures(cut)
    assert codes(cut) == ["damaged"]


@each("end", (" [====>  ", " [====>  ]", " [====>  ] 6", " ETA 0:00:09"))
def test_a_display_of_pv_that_is_cut_off_is_no_result(end: str) -> None:
    text = f"$ pv big | ssh -c aes128-ctr nas cat\n77.6MiB 0:00:02 [75.4MiB/s]{end}"
    assert not figures(read(text))


def test_a_list_of_results_before_names_is_unclear_without_its_end_too() -> None:
    turns = "".join(f"{DD.format(8 + n)}^^ {name}\n" for n, name in enumerate(("aes128-ctr",) * 2))
    for text in (turns, turns.replace("aes128-ctr\n", "aes256-ctr\n", 1), turns + DD.format(7)):
        part = read(text)
        assert not figures(part)
        assert "order_unclear" in codes(part)


@each(("speed_up", "count"), (("1.00", 1), ("3,256.65", 0), ("81.71", 0)))
def test_an_rsync_that_sent_little_of_its_files_gives_no_figure(speed_up: str, count: int) -> None:
    part = read(
        "$ rsync -av -e 'ssh -c aes128-ctr' iso/ nas:/backup/iso/\nsending incremental file list\n"
        "\nsent 52,104,112 bytes  received 12 bytes  11,402,749.33 bytes/sec\n"
        f"total size is 6,852,444,160  speedup is {speed_up}\n"
    )
    assert len(figures(part)) == count
    assert codes(part) == ([] if count else ["not_a_rate"])


def test_what_sftp_puts_and_gets_are_no_tries_of_each_other_nor_is_what_it_resumes() -> None:
    session = "$ sftp -c aes128-ctr nas\nsftp> x\n"
    put, get = "Uploading big.iso to /x/big.iso\n", "Fetching /x/big.iso to big.iso\n"
    both = read(session + put + COPY + get + COPY.replace("111", "99"))
    assert [figure.line for figure in figures(both)] == [4]
    assert codes(both) == ["context_unclear"]
    assert len(figures(read(session + put + COPY + put + COPY.replace("111", "99")))) == 2
    resumed = read(session + "Resuming /srv/big.iso to big.iso\n" + COPY)
    assert not figures(resumed)
    assert codes(resumed) == ["command_unclear"]


@each("more", ("sent 112771624.8, received 16261.5", "other"))
def test_each_direction_of_a_log_has_its_own_cipher(more: str) -> None:
    agreed = "debug1: kex: {} cipher: {} MAC: <implicit> compression: none\n"
    is_sent = more.startswith("sent")
    said = more if is_sent else "sent 16261.5, received 112771624.8"
    part = read(
        "$ ssh -v nas 'cat big.iso' > /dev/null\n"
        + agreed.format("server->client", "aes128-ctr")
        + agreed.format("client->server", "aes256-ctr")
        + "Transferred: sent 1048776111, received 1048776111 bytes, in 9.3 seconds\n"
        + f"Bytes per second: {said}\n"
    )
    assert rates(part) == [("aes256-ctr" if is_sent else "aes128-ctr", 112771625)]


def test_a_connection_that_went_on_without_a_cipher_gives_no_figure() -> None:
    for warning in ("WARNING: ENABLED NONE CIPHER", "WARNING: NONE CIPHER ENABLED"):
        part = read(f"{PLAIN}\n{warning}\n{DD.format(9)}")
        assert not figures(part)
        assert codes(part) == ["not_a_rate"]


def test_none_is_no_cipher() -> None:
    text = "cipher  MB/s\nnone  118.0\naes128-ctr  104.2\ncipher none: 117 MB/s\n"
    assert rates(read(text)) == [("aes128-ctr", 104200000)]
    assert not figures(read(SEND.format("none") + "\n" + DD.format(9)))


@each("title", ("run{}_MBps", "RUN{}_MBPS", "MBps_run{}", "try{}_MB/s"))
def test_titles_that_number_tries_are_no_machines(title: str) -> None:
    titles = ",".join(title.format(number) for number in (1, 2, 3))
    part = read(f"cipher,{titles}\naes128-ctr,104.1,104.9,103.2\n")
    assert len(part.sections) == 1
    assert len(figures(part)) == 3


def test_what_did_not_go_through_ssh_is_counted_in_a_warning() -> None:
    part = read(f"$ dd if=/dev/sda of=/dev/null bs=1M\n{DD.format(4)}{PLAIN}\n{DD.format(9)}")
    assert [figure.seconds for figure in figures(part)] == [9]
    assert [(one.line, one.code) for one in part.remarks] == [(2, "not_ssh")]
