"""A table belongs to a command of `openssl speed` only if all of its line is understood."""

from parsers.read_text import read_text
from parsers.types import Figure
from tests.cases import each
from tests.parsers.openssl_texts import codes, figures, header, read, rising, row

NAS = "me@nas:~$ "
CBC = (header(), row("aes-128-cbc", rising(4e8)))
OTHER = (header(), row("aes-128-cbc", rising(2e8)))
NEXT = (header(), row("aes-256-cbc", rising(3e8)))


def series(figure: Figure) -> tuple[str, str, int, str]:
    """What was measured."""
    return (figure.cipher, figure.operation, figure.threads, figure.acceleration)


def all_series(*lines: str) -> list[tuple[str, str, int, str]]:
    """What was measured, in the order of the text."""
    return list(dict.fromkeys(map(series, figures(read(*lines)))))


@each(
    "command",
    (
        "openssl speed -evp aes-128-cbc; openssl speed -decrypt -evp aes-128-cbc",
        "openssl speed -multi 2 aes-128-cbc; openssl speed",
        "openssl speed -evp aes-128-cbc && openssl speed -evp aes-128-cbc -multi 4",
        "openssl speed -evp aes-128-cbc; OPENSSL_ia32cap=0 openssl speed -evp aes-128-cbc",
        "openssl speed -evp aes-128-cbc; taskset -c 4 openssl speed -evp aes-128-cbc",
        "openssl speed -evp aes-128-cbc; /opt/ssl3/bin/openssl speed -evp aes-128-cbc",
        "openssl speed -evp aes-128-cbc; ssh pi openssl speed -evp aes-128-cbc",
        "ssh a 'openssl speed -evp aes-128-cbc'; ssh b 'openssl speed -evp aes-128-cbc'",
        "openssl speed -evp aes-128-cbc & openssl speed -evp aes-128-cbc; wait",
        "seq 2 | xargs -P2 -I{} openssl speed -evp aes-128-cbc",
        "for i in 1 2; do openssl speed -evp aes-128-cbc & done; wait",
        "for h in nas pi; do ssh $h openssl speed -evp aes-128-cbc; done",
        "for c in 0 4; do taskset -c $c openssl speed -evp aes-128-cbc; done",
        'for d in "" -decrypt; do openssl speed $d -evp aes-128-cbc; done',
        "for g in powersave performance; do cpupower frequency-set -g $g; openssl speed; done",
        "for o in /opt/*/bin/openssl; do $o speed -evp aes-128-cbc; done",
        "for c in aes-128-cbc; do openssl speed -evp $c; openssl speed -evp $c -decrypt; done",
        "qemu-aarch64 -L /sysroot ./openssl speed -evp aes-128-cbc",
        "cpulimit -l 50 -- openssl speed -evp aes-128-cbc",
        "systemd-run --scope -p CPUQuota=20% openssl speed -evp aes-128-cbc",
        "valgrind openssl speed -evp aes-128-cbc",
        "arch -x86_64 openssl speed -evp aes-128-cbc",
        "wine openssl.exe speed -evp aes-128-cbc",
        "openssl speed -async_jobs 8 -evp aes-128-cbc",
        "ssh pi 'valgrind openssl speed -evp aes-128-cbc; taskset -c 4 openssl speed'",
    ),
)
def test_tables_of_a_command_that_is_not_understood_are_listed(command: str) -> None:
    reading = read_text("\n".join((NAS + command, *CBC, *OTHER)))
    assert reading.sections == ()
    assert {3, 5} <= {one.line for one in reading.unrecognised}
    assert {one.code for one in reading.remarks} == {"command_unclear"}


SPEED = "openssl speed -evp aes-128-cbc"
LOOPS = (
    ("for h in nas pi; do", f"  ssh $h {SPEED}", "done"),
    ("for h in nas pi", "do", f"ssh $h '{SPEED}'", "done"),
    ("for e in devcrypto afalg; do", f"  {SPEED} -engine $e", "done"),
    ("for m in 0 ~0x200000200000000; do", f"  OPENSSL_ia32cap=$m {SPEED}", "done"),
    ("for m in 0 ~0x200000200000000; do", "  export OPENSSL_ia32cap=$m", f"  {SPEED}", "done"),
    ("for c in 0 4; do", f"  taskset -c $c {SPEED}", "done"),
    ("for g in powersave performance; do", "  cpupower frequency-set -g $g", SPEED, "done"),
    ("for v in 1.0.2 1.1.1; do", f"  /opt/ssl-$v/bin/{SPEED}", "done"),
    ("for e in a b; do", "for c in 1 2; do", f"{SPEED} -engine $e", "done", "done"),
    ("for e in a b; do", "  # each of them", f"  {SPEED} \\", "    -engine $e", "done"),
    ("while read h; do", f"  ssh -n $h {SPEED}", "done < hosts"),
    ("cat hosts | while read h", "do", f"  ssh -n $h {SPEED}", "done"),
    ("foreach e (devcrypto afalg)", f"{SPEED} -engine $e", "end"),
    ("for h in nas pi; do", f"  ssh $h {SPEED}"),
)


@each("loop", LOOPS)
@each("prompts", (("", ""), ("$ ", "> "), (NAS, "> "), (NAS, "for> ")))
def test_a_loop_over_several_lines_makes_no_tries_of_what_it_changes(
    loop: tuple[str, ...], prompts: tuple[str, str]
) -> None:
    first, *further = loop
    typed = [prompts[0] + first, *(prompts[1] + line for line in further)]
    part = read(*typed, *CBC, *OTHER)
    assert figures(part) == []
    assert codes(part) == ["command_unclear"] * 2


@each(
    "loop",
    (
        ("for i in 1 2 3; do", f"  {SPEED}", "done"),
        ("for i in $(seq 3)", "do", f"  {SPEED} 2>/dev/null", "  sleep 5", "done | tee log.txt"),
        ("for c in aes-128-cbc aes-256-cbc", "do", "  openssl speed -evp $c", "done > log.txt"),
        ("while true; do", SPEED, "done"),
    ),
)
@each("prompts", (("", ""), (NAS, "> ")))
def test_a_loop_over_several_lines_that_changes_nothing_makes_tries(
    loop: tuple[str, ...], prompts: tuple[str, str]
) -> None:
    first, *further = loop
    part = read(prompts[0] + first, *(prompts[1] + line for line in further), *CBC, *OTHER)
    assert [len(one.figures) for one in part.sections] == [12]


@each(
    "started",
    ("qemu-arm", "  qemu-aarch64 -L /sysroot", "valgrind", "ssh pi qemu-arm", "ansible all -a",
     "ls hosts | xargs -I{} ssh {}"),
)  # fmt: skip
def test_a_line_without_a_prompt_that_is_a_command_must_be_understood(started: str) -> None:
    part = read(SPEED, *CBC, "", f"{started} {SPEED}", *OTHER)
    assert [len(one.figures) for one in part.sections] == [6]
    assert codes(part) == ["command_unclear"]


@each(
    ("started", "host", "told"),
    (("ssh pi", "pi", None), ("docker run --rm x", None, "docker run --rm x")),
)
def test_such_a_line_names_another_machine(started: str, host: str | None, told: str) -> None:
    part = read(SPEED, *CBC, "", f"{started} {SPEED}", *OTHER)
    assert [(one.host, one.part) for one in part.sections] == [(None, None), (host, told)]


@each(
    "line",
    (
        "* 281 MB/s for aes-128-gcm by `openssl speed -elapsed -evp aes-128-gcm`",
        "`openssl speed -evp aes-128-ctr`: 281 MB/s",
        f"{NAS}openssl speed -evp aes-128-ctr  # 2.81 GB/s",
    ),
)
def test_a_rate_beside_a_command_is_not_lost_silently(line: str) -> None:
    reading = read_text("\n".join((line, *CBC)))
    assert [one.text for one in reading.unrecognised] == [line]
    assert {one.tool for section in reading.sections for one in section.figures} <= {"openssl"}


def test_commands_of_a_script_that_is_shown_are_not_told_apart_by_their_order() -> None:
    script = ("openssl speed -evp aes-128-cbc", "openssl speed -evp aes-128-cbc -decrypt")
    part = read("$ cat bench.sh", *script, "$ ./bench.sh", *CBC, *OTHER)
    assert figures(part) == []
    assert codes(part) == ["command_unclear"] * 2


@each(
    ("command", "first", "second"),
    (
        ("openssl speed -evp {}; openssl speed -decrypt -evp {}",
         ("encrypt", 1, "default"), ("decrypt", 1, "default")),
        ("openssl speed -evp {} && openssl speed -multi 4 -evp {}",
         ("encrypt", 1, "default"), ("encrypt", 4, "default")),
        ("OPENSSL_ia32cap=~0x200000200000000 openssl speed -evp {}; openssl speed -evp {}",
         ("encrypt", 1, "masked"), ("encrypt", 1, "default")),
        ("openssl speed -elapsed -evp {} ; openssl speed -elapsed -evp {}",
         ("encrypt", 1, "default"), ("encrypt", 1, "default")),
    ),
)  # fmt: skip
def test_a_table_is_of_the_only_command_that_names_its_cipher(
    command: str, first: tuple[object, ...], second: tuple[object, ...]
) -> None:
    typed = NAS + command.format("aes-128-cbc", "aes-256-cbc")
    assert all_series(typed, *CBC, *NEXT) == [("aes-128-cbc", *first), ("aes-256-cbc", *second)]


def test_the_mask_that_cpuinfo_repeats_tells_commands_apart() -> None:
    plain = "CPUINFO: OPENSSL_ia32cap=0xfffa3203078bffff:0x405fc6f1bf07ab"
    masked = "CPUINFO: OPENSSL_ia32cap=0xfdfa3201078bffff:0x0 env:~0x200000200000000"
    command = "openssl speed -evp aes-128-cbc"
    line = f"{NAS}{command}; OPENSSL_ia32cap=~0x200000200000000 {command}"
    found = all_series(line, "version: 3.0.19", plain, *CBC, "version: 3.0.19", masked, *OTHER)
    assert [acceleration for *_, acceleration in found] == ["default", "masked"]


@each(
    "command",
    (
        NAS + "openssl speed -evp aes-128-cbc 2>/dev/null | tail -2 | tee speed.txt",
        NAS + "sudo nice -n -20 taskset -c 0,2-3 openssl speed -seconds 1 -evp aes-128-cbc",
        NAS + "time -p ./apps/openssl speed -mr -elapsed -evp aes-128-cbc 2>&1",
        NAS + "for i in 1 2 3; do openssl speed -evp aes-128-cbc; sleep 5; done",
        NAS + "for c in aes-128-cbc aes-256-cbc; do openssl speed -evp $c; done",
        NAS + "for c in aes-128-cbc aes-256-cbc; do openssl speed $c 2>/dev/null; done",
        NAS + "cd openssl && make -j4 && ./apps/openssl speed -evp aes-128-cbc",
        NAS + "export LD_LIBRARY_PATH=/opt/ssl/lib; /opt/ssl/bin/openssl speed -evp aes-128-cbc",
        NAS + "bash -c 'openssl speed -evp aes-128-cbc'",
        NAS + "openssl speed -evp aes-128-cbc # with \"AES-NI\"",
        'C:\\> "C:\\Program Files\\OpenSSL-Win64\\bin\\openssl.exe" speed -evp aes-128-cbc',
        'PS C:\\> & "C:\\Program Files\\OpenSSL\\bin\\openssl.exe" speed -evp aes-128-cbc',
        NAS + "openssl speed -bytes 16384 -evp aes-128-cbc -aead -provider default",
        "Results of openssl speed -evp aes-128-cbc (the one of Debian):",
        "Don't forget: openssl speed -evp aes-128-cbc",
        "I ran openssl speed -evp aes-128-cbc",
        "output of openssl speed -evp aes-128-cbc:",
    ),
)  # fmt: skip
def test_everyday_commands_are_understood(command: str) -> None:
    assert all_series(command, *CBC) == [("aes-128-cbc", "encrypt", 1, "default")]


@each(
    "between",
    (
        "sudo cpupower frequency-set -g powersave",
        "apt -y install openssl libssl3",
        "cat speed-pi.txt",
        "./bench.sh",
        "ssh pi",
    ),
)
@each("prompt", ("$ ", NAS))
def test_a_command_that_may_change_something_keeps_tables_apart(prompt: str, between: str) -> None:
    part = read(f"{NAS}openssl speed -evp aes-128-cbc", *CBC, prompt + between, *OTHER)
    assert [(one.host, len(one.figures)) for one in part.sections] == [("nas", 6), (None, 6)]


@each("between", ("sleep 60", "lscpu", "cat /proc/cpuinfo", "uptime"))
def test_a_command_that_only_looks_does_not(between: str) -> None:
    part = read(f"{NAS}openssl speed -evp aes-128-cbc", *CBC, NAS + between, *OTHER)
    assert [(one.host, len(one.figures)) for one in part.sections] == [("nas", 12)]


def test_a_table_that_a_file_repeats_counts_once() -> None:
    part = read(f"{NAS}openssl speed -evp aes-128-cbc | tee s.txt", *CBC, NAS + "cat s.txt", *CBC)
    assert len(figures(part)) == 6
    assert codes(part) == ["repeated"]


@each("between", ((), ("",), ("As you wrote:", ""), (SPEED,), ("$ " + SPEED,), ("> quoted",)))
def test_a_table_pasted_twice_is_one_run(between: tuple[str, ...]) -> None:
    part = read(SPEED, *CBC, *between, *CBC)
    assert len(figures(part)) == 6
    assert codes(part) == ["repeated"]


def test_what_another_machine_measured_is_its_own_however_alike() -> None:
    part = read(NAS + SPEED, *CBC, "me@pi:~$ " + SPEED, *CBC)
    assert [one.host for one in part.sections] == ["nas", "pi"]


def test_tables_of_files_are_no_tries_of_one_another() -> None:
    part = read(f"{NAS}cat speed-nas.txt speed-pi.txt", *CBC, *OTHER)
    assert [(one.host, len(one.figures)) for one in part.sections] == [(None, 6), (None, 6)]
    assert len({one.label for one in part.sections}) == 2


@each(
    ("first", "second", "parts"),
    (
        ("taskset -c 0 openssl", "taskset -c 5 openssl", ["taskset -c 0", "taskset -c 5"]),
        ("openssl", "/opt/ssl/bin/openssl", [None, "/opt/ssl/bin/openssl"]),
        ("openssl", "openssl", [None]),
    ),
)
def test_runs_of_a_machine_in_one_environment_are_parts_of_it(
    first: str, second: str, parts: list[str | None]
) -> None:
    for prompt, host in ((NAS, "nas"), ("$ ", None)):
        calls = [f"{prompt}{program} speed -evp aes-128-cbc" for program in (first, second)]
        part = read(calls[0], *CBC, calls[1], *OTHER)
        assert [(one.host, one.part) for one in part.sections] == [(host, told) for told in parts]


def test_headings_and_upgrades_make_parts_of_a_named_machine() -> None:
    call = NAS + "openssl speed -evp aes-128-cbc"
    vm = read("On the host:", call, *CBC, "and in the VM:", call, *OTHER)
    assert [one.part for one in vm.sections] == ["On the host", "and in the VM"]
    new = read(call, *CBC, NAS + "apt -y upgrade", "Setting up libssl3 ...", call, *OTHER)
    assert [one.part for one in new.sections] == [None, "apt -y upgrade"]


@each("prompt", ("$ ", NAS))
def test_what_an_engine_measures_is_not_the_machine_itself(prompt: str) -> None:
    part = read(prompt + "openssl speed -engine padlock -evp aes-128-cbc", *CBC)
    assert [one.part for one in part.sections] == ["engine padlock"]


def test_containers_of_a_named_machine_are_places_of_their_own() -> None:
    first = read(
        *("root@pve:~# pct exec 101 -- openssl speed -evp aes-128-cbc", *CBC),
        *("root@pve:~# lxc-attach -n web openssl speed -evp aes-128-cbc", *OTHER),
    )
    assert [(one.host, one.label) for one in first.sections] == [
        (None, "pct exec 101 --"),
        (None, "lxc-attach -n web"),
    ]


def test_files_shown_together_may_be_of_several_machines() -> None:
    part = read(f"{NAS}cat nas.txt pi.txt", *CBC, *NEXT)
    assert [len(one.figures) for one in part.sections] == [6, 6]


def test_packets_with_their_tags_are_no_tries_of_plain_blocks() -> None:
    tables = (header((1024, 8192)), row("AES-128-GCM", [1_561_110_750, 1_701_220_900]))
    plain = (header((1024, 8192)), row("AES-128-GCM", [3_561_110_750, 3_701_220_900]))
    part = read(
        "$ openssl speed -aead -evp aes-128-gcm",
        *tables,
        "$ openssl speed -evp aes-128-gcm",
        *plain,
    )
    assert [section.part for section in part.sections] == ["-aead", None]
