"""Results are tries of one series only if every line between them is known to change nothing."""

from collections import Counter

from parsers.read_text import HowToRead, read_text
from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, read, refused

DD = "1048576000 bytes (1.0 GB, 1000 MiB) copied, {} s\n"
DD_2, DD_9 = DD.format("2.5"), DD.format("9.5")
SEND = "$ dd if=/dev/zero bs=1M count=1000 | ssh -c aes128-ctr nas 'cat >/dev/null'\n"
LIST = "aes128-ctr: {} MB/s\naes256-ctr: {} MB/s\n"
FORMS = (
    (LIST.format(410, 380), LIST.format(120, 95)),
    (SEND + DD_2, SEND + DD_9),
    (f"aes128-ctr\n{DD_2}", f"aes128-ctr\n{DD_9}"),
    ("$ ./bench\naes128-ctr 410 MB/s\n", "$ ./bench\naes128-ctr 120 MB/s\n"),
    ("### aes128-ctr\nSpeed: 104 MB/s\n", "Speed: 16 MB/s\n"),
)


def tries(text: str) -> int:
    """How many results of a text are in its largest series."""
    reading = read_text(text, HowToRead(unit="MB", transferred=10**9))
    assert not reading.failures
    series = Counter(
        (section.line, *one._replace(line=0, bytes=0, seconds=0, bytes_per_second=0))
        for section in reading.sections
        for one in section.figures
    )
    return max(series.values(), default=0)


@each(("above", "below"), FORMS)
@each(
    "line",
    (
        *("with AES-NI off (OPENSSL_ia32cap=~0x200000200000000):", "Software only (ia32cap=…)"),
        *("AES-NI off (OPENSSL_ia32cap=...):", "$ export OPENSSL_ia32cap='~0x200000200000000'"),
        *("$ export OPENSSL_ia32cap=:~0x20", "++ export OPENSSL_armcap=0", "export LC_ALL=C"),
        *("OPENSSL_armcap=0 ./bench", "$ PATH=/opt/hpn/bin:$PATH", "$ alias dd=dcfldd"),
        *("Compression=yes:", "compression: delayed", "MACs=hmac-md5", "hmac-sha1"),
        *("model name : Intel(R) Atom(TM) CPU N270", "cpu MHz : 800.0", "flags : fpu aes avx"),
        *("OpenSSH_7.4p1, OpenSSL 1.0.2k-fips", "OpenSSL 1.0.1f 6 Jan 2014", "LibreSSL 3.8.2"),
        *("debug1: Remote protocol version 2.0, remote software version OpenSSH_6.6.1", "logout"),
        *("debug1: Connecting to pi [10.0.0.3] port 22.", "Connected to pi.", "me@pi's password:"),
        *("$ ssh pi", "$ ssh -p 22 me@pi", "$ exit", "Connection to pi closed.", "$ su -"),
        *("client_loop: send disconnect: Broken pipe", "Warning: Permanently added 'pi' (RSA)"),
        *("$ sudo cpupower frequency-set -g powersave", "$ modprobe aesni_intel", "$ reboot"),
        *("$ sysctl -w net.core.rmem_max=1", "$ docker exec -it box bash", "$ hostname pi"),
        *("$ apt upgrade openssh-server", "$ rm ~/.ssh/config", "$ echo x >> ~/.ssh/config"),
        *("$ cat wifi.txt", "$ cd /mnt/nfs", "$ date -s 2020-01-01", "$ ulimit -n 1024"),
        *("$ uname -n\npi", "$ ssh -V\nOpenSSH_9.6p1, OpenSSL 3.0.13", "$ echo wifi\nwifi"),
        *("+ sudo cpupower frequency-set", "sudo ip link set eth0 mtu 9000", "sudo -i"),
        *("root@nas:~# sync", "[me@pi ~]$ sync", "pi$ sync", "% sync", "pi:~ # sync"),
        *("Run 2 over wifi:", "Run 2 (AES-NI off)", "Deuxième essai, en wifi", "Lauf 2 (WLAN):"),
        *("over wifi (MB/s):", "Upload:", "LAN", "# wifi", "After the upgrade", "Raspberry Pi 4:"),
        *("Last login: Mon Mar  2 10:00:00 2020", "2024-05-02T08:11:20Z ##[group]Run ./bench"),
    ),
)
def test_a_line_that_may_change_something_ends_a_series(line: str, above: str, below: str) -> None:
    assert tries(f"{above}\n{line}\n{below}") <= 1


@each(("above", "below"), FORMS[:3])
@each(
    "line",
    (
        *("", "-----", "Run 2:", "Second try", "2024-05-06 10:11:12", "10:15:", "$", "^C"),
        *("Mon Mar  2 10:00:00 CET 2020", "$ sleep 5", "$ sync && sleep 5", "$ date", "$ rm f.iso"),
        *("$ uptime\n 10:11:12 up 3 days,  1:02,  1 user,  load average: 0.00, 0.01", "$ ls -l"),
        *("for i in 1 2 3; do", "done", "$ cat /proc/loadavg", "aes256-gcm@openssh.com: 99 MB/s"),
    ),
)
def test_a_line_that_is_known_to_change_nothing_does_not(line: str, above: str, below: str) -> None:
    assert tries(f"{above}\n{line}\n{below}") == 2


def test_a_fact_that_was_said_before_is_no_other_one() -> None:
    fact = "model name : AMD EPYC 9R14\n"
    assert tries(f"{fact}{LIST.format(1, 2)}{fact}{LIST.format(1, 2)}") == 2
    assert tries(f"{fact}{LIST.format(1, 2)}{fact.replace('9', '7')}{LIST.format(1, 2)}") == 1


def test_facts_below_a_heading_are_of_its_machine_and_last_ones_of_the_last() -> None:
    fact = "model name : {}\n"
    text = f"Box A:\naes128-ctr 40 MB/s\nBox B:\n{fact.format('EPYC')}aes128-ctr 90 MB/s\n"
    one, other = read(text).sections
    assert (one.environment, other.environment) == ({}, {"cpu": {"model": "EPYC"}})
    (last,) = read(f"aes128-ctr 40 MB/s\n{fact.format('EPYC')}").sections
    assert last.environment == {"cpu": {"model": "EPYC"}}


def test_a_mask_for_one_command_does_not_hold_for_the_next() -> None:
    masked = "$ OPENSSL_ia32cap=~0x200000200000000 ./bench\naes128-ctr 40 MB/s\n"
    part = read(f"{masked}$ ./bench\naes128-ctr 90 MB/s\n")
    assert [one.acceleration for one in figures(part)] == ["masked", "default"]


@each("silent", ("2>/dev/null", "status=none", "&>/dev/null"))
@each("near", (True, False))
def test_where_one_of_two_dd_is_silent_each_summary_is_a_transfer(
    silent: str, *, near: bool
) -> None:
    ends = (silent, "") if near else ("", silent)
    command = "dd if=/dev/zero bs=1M {} | ssh -c aes128-ctr nas 'dd of=/dev/null {}'".format(*ends)
    results = "".join(map(DD.format, ("2.50", "2.51", "2.60")))
    assert tries(f"$ for i in 1 2 3; do {command}; done\n{results}") == 3


@each(
    ("variable", "words", "options", "count"),
    (
        ("h", "nas pi", "-c aes128-ctr $h 'cat >/dev/null'", 0),
        ("m", "hmac-md5 hmac-sha1", "-m $m -c aes128-ctr nas 'cat >/dev/null'", 0),
        ("z", "yes no", "-oCompression=$z -c aes128-ctr nas 'cat >/dev/null'", 0),
        ("i", "1 2", "-c aes128-ctr nas 'cat >/dev/null'", 2),
        ("i", "1 2", '-c aes128-ctr nas "cat >/tmp/$i"', 2),
        ("i", "1 2", "-c aes128-ctr $NAS 'cat >/dev/null'", 2),
    ),
)
@each("mark", ("; ", "\n"))
def test_a_loop_over_hosts_or_options_gives_no_tries(
    variable: str, words: str, options: str, count: int, mark: str
) -> None:
    loop = f"for {variable} in {words}{mark}do dd if=/dev/zero | ssh {options}{mark}done\n"
    part = read(loop + DD_2 + DD_9)
    assert len(figures(part)) == count
    assert codes(part) == ([] if count else ["columns_unclear"])


def test_a_log_of_another_mac_is_of_another_series() -> None:
    log = (
        "debug1: kex: client->server cipher: aes128-ctr MAC: {} compression: none\n"
        "Transferred: sent 1048576000, received 2000 bytes, in 10.0 seconds\n"
        "Bytes per second: sent 104857600.0, received 200.0\n"
    )
    part = read(log.format("hmac-md5") + log.format("hmac-sha1"))
    assert [one.mac for one in figures(part)] == ["hmac-md5", "hmac-sha1"]


@each(
    ("text", "count"),
    (
        ("$ time scp -c aes128-ctr f nas: # 10 MB\n", 0),
        ("$ time scp -c aes128-ctr f nas: # 1 GB\n", 1),
        ("# 10 MB\n$ time scp -c aes128-ctr f nas:\n", 0),
        ("aes128-ctr # 10 MB\n", 0),
        ("# 10 MB\naes128-ctr\n", 0),
        ("$ time dd bs=1M count=1000 </dev/zero | ssh -c aes128-ctr nas cat # 10 MB\n", 1),
    ),
)
def test_an_amount_that_the_text_states_is_not_overruled(text: str, count: int) -> None:
    part = read(f"{text}real 0m9.5s\n", transferred=10**9)
    assert len(figures(part)) == count
    assert codes(part) == ["wall_clock" if count else "no_amount"]


def test_two_rates_of_a_cipher_side_by_side_are_no_tries() -> None:
    assert refused("aes128-ctr: 110 MB/s   │ aes128-ctr: 10 MB/s\n") == ["columns_unclear"]


@each("between", ("[quote=joe]", "<blockquote>", "[/quote]", "<h3>pi</h3>", "- \n+ "))
def test_a_mark_of_quotation_or_of_a_heading_ends_a_series(between: str) -> None:
    assert tries(f"aes128-ctr: 110 MB/s{between}aes128-ctr: 10 MB/s\n") <= 1
    assert tries(f"aes128-ctr: 110 MB/s\n{between}\naes128-ctr: 10 MB/s\n") <= 1


def test_results_below_several_commands_of_a_script_are_not_shared_out() -> None:
    slow, fast = SEND[2:].replace("aes128-ctr", "3des-cbc"), SEND[2:]
    for script in (f"{slow}{fast}\n", f"{fast}modprobe -r aesni_intel\n{fast}\n"):
        part = read(f"{script}{DD_9}{DD_2}")
        assert not figures(part)
        assert codes(part) == ["columns_unclear"]
    assert len(figures(read(f"{slow}{DD_9}{fast}{DD_2}"))) == 2


def test_a_mask_that_a_loop_sets_gives_no_tries() -> None:
    loop = f"for m in 0 1; do\nexport OPENSSL_ia32cap=$m\n{SEND[2:]}done\n"
    assert refused(loop + DD_2 + DD_9) == ["columns_unclear"]


@each("option", ("-L10m", "-qL10m", "--rate-limit=10m", "-d 77", "-R 9"))
def test_an_option_of_pv_that_limits_or_is_not_known_gives_no_figure(option: str) -> None:
    shown = "1.00GiB 0:00:10 [ 102MiB/s] [=====>] 100%\n"
    send = "| ssh -c aes128-ctr nas 'cat >/dev/null'\n"
    assert not figures(read(f"$ pv {option} f {send}{shown}"))
    assert len(figures(read(f"$ pv -ptrb -s 1G -i0.5 f {send}{shown}"))) == 1
