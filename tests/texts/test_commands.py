import re
from itertools import combinations
from time import process_time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from texts.commands import Command, mask_turns_aes_off, read_command

Said = dict[str, Any]
HEAD, SINK, SENT = "dd if=/dev/zero bs=1M count=100 | ", " 'cat > /dev/null'", 104_857_600
OFF = "~0x200000200000000"
NAS: Said = {"target": "nas", "target_kind": "remote"}
LOOPBACK: Said = {"target": "localhost", "target_kind": "loopback"}
CTR: Said = {"cipher": "aes128-ctr"}
CBC: Said = {"cipher": "aes-128-cbc", "algorithms": ("aes-128-cbc",)}
LIMITED, PACKED = {"unusual": "compressor or rate limit"}, {"unusual": "compressor or rate limit"}
SEVERAL = {"unusual": "several transfers at once"}


def said(command: Command | None) -> Said:
    assert command is not None
    defaults = Command._field_defaults
    return {
        name: value
        for name, value in command._asdict().items()
        if name != "text" and value not in (None, defaults.get(name))
    }


@each("text, expected", (
    ("-c aes128-ctr nas", CTR | NAS), ("-caes128-ctr me@nas", CTR | NAS),
    ("–c aes128-ctr nas", CTR | NAS), ("-vTc aes128-ctr -p 22 nas", CTR | NAS),
    ("nas -c aes128-ctr -oCompression=no", CTR | NAS),
    ("-c aes128-ctr,arcfour nas", CTR | NAS), ("-c arcfour -c aes128-ctr nas", CTR | NAS),
    ('-o "Ciphers aes128-ctr" nas', CTR | NAS),
    ("-oCiphers=aes128-ctr -oCiphers=arcfour nas", CTR | NAS),
    ("-o Ciphers=arcfour -c aes128-ctr nas", CTR | NAS), ("nas", NAS), ("-c foo nas", NAS),
    ("-c $c nas", NAS | {"varies": True}), ('-c "${c}" nas', NAS | {"varies": True}),
    ("-m hmac-sha1 -C nas", {"mac": "hmac-sha1", "compression": True} | NAS), ("$host", {}),
    ("-o MACs=umac-64 nas", {"mac": "umac-64@openssh.com"} | NAS),
    ("-o Compression=yes localhost", {"compression": True} | LOOPBACK),
    ("-c aes128-ctr $USER@localhost", CTR | LOOPBACK),
    ("127.0.0.1", {"target": "127.0.0.1", "target_kind": "loopback"}),
    ("me@::1", {"target": "::1", "target_kind": "loopback"}),
))  # fmt: skip
@each("start", ("", "time ", "sudo -u me nice -n 5 ", "sshpass -p x ", "/opt/bin/"))
def test_ssh_behind_a_pipe(text: str, expected: Said, start: str) -> None:
    command = read_command(f"{HEAD}{start}ssh {text}{SINK}", prompted=False)
    assert said(command) == {"tool": "ssh", "amount": SENT} | expected


@each("text, expected", (
    ("ssh -c aes128-ctr nas ”cat – >/dev/null” < big", CTR), ("ssh -c aes128-ctr nas", CTR),
    ('ssh -c aes128-ctr nas "cat', CTR), ("ssh nas -- cat /dev/zero | pv > /dev/null", {}),
    ("ssh nas 'head -c 1G /dev/zero' | pv >/dev/null", {"amount": 2**30}),
    ("scp -c aes128-ctr a me@nas:", CTR), ("sftp -oCiphers=aes128-ctr nas", CTR),
    ("dd if=/dev/zero of=x bs=1M count=100; scp x nas:", {"amount": SENT}),
    ("rsync -e 'ssh -c aes128-ctr' a nas:", CTR), ("rsync -avz a nas:", PACKED),
    ('rsync -P --rsh="ssh -c aes128-ctr" a nas:', CTR), ("gzip a | ssh nas cat", PACKED),
    ("tar czf - a | ssh nas cat", PACKED), ("pv -L 9m a | ssh nas cat", LIMITED),
    ("mbuffer -r 9M | ssh nas cat", LIMITED), ("pigz a | ssh nas cat", PACKED),
    ("tar c . |gzip| ssh nas cat", PACKED), ("rsync -a --stats -z a nas:", PACKED),
    ("pv --rate-limit 9m a | ssh nas cat", LIMITED), ("yes | bzip2 | ssh nas cat", PACKED),
    ("cpulimit -l 50 -- dd if=a | ssh nas cat", LIMITED), ("yes | /bin/xz | ssh nas cat", PACKED),
    ("scp -l 8000 a nas:/x", LIMITED), ("pv -Ss 1g a | ssh nas cat", {"amount": 2**30}),
    ("while :; do yes | ssh nas cat & done", SEVERAL),
    ("xargs -P4 -I{} sh -c 'ssh -c {} nas cat'", SEVERAL | {"varies": True}),
    ("t=$( { time ssh -c $c nas 'cat /dev/zero'; } 2>&1 )", {"varies": True}),
    (f"yes | OPENSSL_ia32cap=”{OFF}″ ssh nas cat", {"masked": True}),
    ("for c in arcfour; do ssh -c $c nas cat; echo $c; done",
     {"name_after": True, "varies": True, "loop": ("arcfour",)}),
    ("for c in arcfour; do echo $c; ssh -c $c nas cat; done",
     {"varies": True, "loop": ("arcfour",)}),
))  # fmt: skip
def test_other_transfers(text: str, expected: Said) -> None:
    assert said(read_command(text, prompted=False)) == {"tool": "ssh"} | NAS | expected


@each("text, expected", (
    ("ssh nas", NAS), ("ssh -Q cipher", {}), ("ssh -V", {}), ("cat a.txt", {}), ("done", {}),
    ("rsync a nas::x", {}), ('echo -n "$c: "', {}), ("for c in $(ssh -Q cipher); do", {}),
    ("for c in aes128-ctr arcfour; do", {"loop": ("aes128-ctr", "arcfour")}),
    ("for c in aes128-ctr none; do", {}), ("unset OPENSSL_ia32cap", {"sets_mask": False}),
    ("OPENSSL_ia32cap=~0x1", {"sets_mask": False}),
    ("OPENSSL_armcap=0", {"sets_mask": True}),
    (f"OPENSSL_ia32cap={OFF} ./bench", {"masked": True}),
    (f"LC_ALL=C sudo OPENSSL_ia32cap='{OFF}' ./bench", {"masked": True}),
    ("OPENSSL_ia32cap=~0x20 ./bench", {}), (f"echo OPENSSL_ia32cap={OFF} x", {}),
    (f'export OPENSSL_ia32cap="{OFF}"', {"sets_mask": True}),
    (f'$env:OPENSSL_ia32cap = "{OFF}"', {"sets_mask": True}),
))  # fmt: skip
def test_commands_that_send_nothing(text: str, expected: Said) -> None:
    assert said(read_command(text, prompted=True)) == expected


@each("text, expected", (
    ("speed aes-128-cbc", CBC), ("speed aes-128-cbc 2>&1 | tee speed.txt", CBC),
    ("speed -evp AES-128-CBC -elapsed -engine afalg", CBC),
    ("speed --decrypt -bytes 16384 -seconds 3 aes-128-cbc",
     CBC | {"operation": "decrypt", "block_size": 16384}),
    ("speed -multi 4 aes-128-cbc", CBC | {"threads": 4}),
    ("speed -multi $(nproc) aes-128-cbc", CBC | {"threads": 0}), ("speed", {}),
    ("speed aes des", {"algorithms": ("aes", "des")}),
    ("speed rsa2048", {"algorithms": ("rsa2048",)}),
    ("speed -evp aes-128-foo", {"algorithms": ("aes-128-foo",)}),
    ("speed -evp $c", {}),
))  # fmt: skip
@each("start, more", (
    ("openssl ", {}), ("./apps/openssl ", {}), ("openssl.exe ", {}), ("eopenssl33 ", {}),
    ("time -v openssl ", {}),
    ("sudo nice -n -20 taskset -c 0,2-3 openssl ", {}), ("ssh root@nas openssl ", NAS),
    ("LC_ALL=C openssl ", {}), (f"OPENSSL_ia32cap='{OFF}' openssl ", {"masked": True}),
    ("OPENSSL_ia32cap=~0x20 openssl ", {}),
    (f"export OPENSSL_ia32cap={OFF}; openssl ", {"masked": True}),
))  # fmt: skip
def test_openssl_speed(text: str, expected: Said, start: str, more: Said) -> None:
    assert said(read_command(start + text, prompted=False)) == {"tool": "openssl"} | expected | more


@each("start", ('"C:\\Program Files\\bin\\openssl.exe"', "docker run --rm x openssl", "$SSL"))
def test_openssl_speed_behind_a_prompt(start: str) -> None:
    assert said(read_command(f"{start} speed aes-128-cbc # x", True)) == {"tool": "openssl"} | CBC


@each("operands, amount", (
    ("bs=1M count=100", SENT), ("bs=1m count=1k", 2**30), ("bs=1MB count=100", 10**8),
    ("bs=64k count=1000", 65_536_000), ("bs=1MiB count=100", SENT), ("count=2", 1024),
    ("bs=1024x1024 count=100", SENT), ("bs=$((1024*1024)) count=100", SENT),
    ("bs=1M count=1G iflag=count_bytes", 2**30), ("count=4096B", 4096),
    ("bs=2b count=1", 1024), ("bs=1M", None), ("bs=1M count=$n", None),
    ("bs=1M count=x", None),
))  # fmt: skip
def test_amount_of_dd(operands: str, amount: int | None) -> None:
    assert said(read_command(f"dd if=/dev/zero {operands}", prompted=True)).get("amount") == amount


@each("script, divided", (
    ("""awk '{print "'$c': "1000 / $2" MB/s" }'""", 1000),
    ("""awk '/real/ {printf "%.1f MiB/s\\n", 100/$2}'""", 100),
    ("""awk "BEGIN {print 8*100/$t}" """, 800),
    (r"""awk "{print 1000/\$2 \" MB/s\"}" """, 1000),
    ("""echo "$(bc <<< "512/$t") MB/s" """, 512),
    ('echo "$((1000/t)) MB/s"', 1000),
    ('echo "$((104857600 / t / 1048576)) MB/s"', 100),
    ("awk '{print (1024*1024*100)/$2/(1024*1024)}'", 100),
    ("python3 -c \"print(1024/($e-$s), 'MB/s')\"", 1024),
    ("grep real", None), ("awk '{print $8/1024}'", None),
))  # fmt: skip
def test_the_arithmetic_of_a_rate(script: str, divided: float | None) -> None:
    command = said(read_command(f"{HEAD}ssh nas{SINK} | {script}", prompted=True))
    assert command.get("divided") == divided


@each("mask, off", ((OFF, True), (OFF + ":0x0", True), ("0", True), ("~0x0", False), (":0", False)))
def test_a_mask_turns_aes_off(mask: str, off: bool) -> None:
    assert mask_turns_aes_off("OPENSSL_ia32cap", mask) is off


PIECES = re.findall(
    r"\S+",
    "ssh scp rsync dd openssl speed -evp -c -e -o Ciphers= $c aes128-ctr nas: me@nas | || ; & && >"
    " ( ) { } $( ` ' \" \\ # for in do done echo 100/$2 awk MB/s bs=1M count=9 of=/x pv -S -s 1g <"
    " xargs export OPENSSL_ia32cap= ~0x20 -multi -- - = ” – 1*( %i {} head -c 99999999T time",
)
TEXTS = st.lists(st.sampled_from([*PIECES, " ", "\n", "é"]), max_size=60)


@given(TEXTS, st.sampled_from(("", " ")), st.booleans())
def test_no_text_fails(pieces: list[str], space: str, prompted: bool) -> None:
    read_command(space.join(pieces)[:300], prompted)


PAIRS = map("".join, combinations("'\"$(|;&-=\\ ", 2))


@each("signs", [*"'\"$(|;&-=\\ `<{1x", *PAIRS, "ssh dd ", "ssl", "ssl speed", "$(a(b)", '\\"'])
def test_a_hostile_line_is_read_at_once(signs: str) -> None:
    for start in ("", "for c in a; do yes | ssh -c $c nas 'awk 1/$t ", "openssl speed "):
        begun = process_time()
        read_command((start + signs * 50_000)[:50_000], prompted=start != "")
        assert process_time() - begun < 0.5
