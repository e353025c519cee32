"""What a text says of the machine above tables of `openssl speed`: lscpu, cpuinfo, uname."""

from typing import Any

from parsers.read_text import read_text
from parsers.types import Reading
from tests.cases import each
from tests.parsers.openssl_texts import header, rising, row

LSCPU = """\
Architecture:                            x86_64
CPU op-mode(s):                          32-bit, 64-bit
Address sizes:                           48 bits physical, 48 bits virtual
Byte Order:                              Little Endian
CPU(s):                                  4
On-line CPU(s) list:                     0-3
Vendor ID:                               AuthenticAMD
BIOS Model name:                         pc-i440fx-8.2  CPU @ 2.0GHz
Model name:                              {}
CPU family:                              25
Model:                                   1
Thread(s) per core:                      1
Core(s) per socket:                      4
Socket(s):                               1
Stepping:                                1
BogoMIPS:                                4890.80
Flags:                                   fpu vme aes avx
Hypervisor vendor:                       KVM
Virtualization type:                     full
L1d cache:                               128 KiB (4 instances)
L3 cache:                                16 MiB (1 instance)
NUMA node(s):                            1
NUMA node0 CPU(s):                       0-3
Vulnerability Spec store bypass:         Mitigation; Speculative Store Bypass disabled via prctl
Vulnerability Vmscape:                   Not affected"""
EPYC, XEON = "AMD EPYC 7551 32-Core Processor", "Intel(R) Xeon(R) CPU E3-1231 v3 @ 3.40GHz"
FLAGS = ["fpu", "vme", "aes", "avx"]
TABLE = "\n".join((header(), row("aes-128-cbc", rising(4e8))))
OTHER = "\n".join((header(), row("aes-128-cbc", rising(2e8))))


def read(*parts: str) -> Reading:
    return read_text("\n".join(parts))


def cpus(reading: Reading) -> list[Any]:
    """The CPU of each section."""
    return [section.environment.get("cpu") for section in reading.sections]


@each(
    "above, said",
    (
        (
            LSCPU.format(EPYC),
            {"cpu": {"architecture": "x86_64", "model": EPYC, "flags": FLAGS}},
        ),
        (
            f"$ cat /proc/cpuinfo\nprocessor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 1\n"
            f"model name\t: {EPYC}\nflags\t\t: fpu vme aes avx\nbogomips\t: 3992.2\n"
            "power management:\n\n$ openssl speed -evp aes-128-cbc",
            {"cpu": {"model": EPYC, "flags": FLAGS}},
        ),
        (
            "Linux nas 6.1.0-18-amd64 #1 SMP Debian 6.1.76-1 x86_64 GNU/Linux\n"
            'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"',
            {
                "cpu": {"architecture": "x86_64"},
                "os": {
                    "kernel": "Linux 6.1.0-18-amd64", "name": "Debian GNU/Linux", "version": "12"
                },
            },
        ),
    ),
)  # fmt: skip
def test_the_machine_is_what_stands_above_says(above: str, said: dict[str, Any]) -> None:
    reading = read(above, TABLE)
    (section,) = reading.sections
    assert section.environment == said
    assert section.label is None
    assert [one.text for one in reading.unrecognised] == []


def test_each_machine_is_told_from_the_one_before() -> None:
    reading = read(LSCPU.format(EPYC), TABLE, "", LSCPU.format(XEON), OTHER)
    assert [cpu["model"] for cpu in cpus(reading)] == [EPYC, XEON]
    assert len({section.label for section in reading.sections}) == 2


@each("between", ("me@pi:~$ openssl speed aes-128-cbc", "me@nas:~$ ssh pi openssl speed"))
def test_another_machine_is_not_that_of_the_prompt_before(between: str) -> None:
    assert cpus(read("me@nas:~$ lscpu", LSCPU.format(EPYC), between, TABLE)) == [None]


def test_below_a_heading_of_its_own_nothing_is_known_of_a_machine() -> None:
    reading = read("Box 1", LSCPU.format(EPYC), TABLE, "", "Box 2", OTHER)
    assert [cpu and cpu["model"] for cpu in cpus(reading)] == [EPYC, None]


def test_of_one_named_machine_all_tables_know_the_cpu() -> None:
    tables = (
        "me@nas:~$ openssl speed aes-128-cbc",
        TABLE,
        "Once more, in the evening:",
        "me@nas:~$ openssl speed aes-128-cbc",
        OTHER,
    )
    reading = read("me@nas:~$ lscpu", LSCPU.format(EPYC), *tables)
    assert {cpu["model"] for cpu in cpus(reading)} == {EPYC}


def test_what_stands_below_figures_is_not_theirs() -> None:
    assert cpus(read(TABLE, LSCPU.format(EPYC))) == [None]


def test_figures_of_ssh_in_the_same_text_know_it_too() -> None:
    reading = read(LSCPU.format(EPYC), TABLE, "", "aes128-ctr: 100 MB/s")
    assert [cpu and cpu["model"] for cpu in cpus(reading)] == [EPYC, EPYC]


@each(
    "command",
    (
        "PS C:\\Users\\me> openssl speed aes-128-cbc",
        "C:\\Program Files\\OpenSSL\\bin>openssl.exe speed aes-128-cbc",
        "me@MacBook-Pro ~ % cd /tmp\nme@MacBook-Pro ~ % openssl speed aes-128-cbc",
        "$ sysctl -n machdep.cpu.brand_string\n$ openssl speed aes-128-cbc",
    ),
)
def test_what_was_typed_before_names_no_section(command: str) -> None:
    (section,) = read(command, TABLE).sections
    assert section.label is None
