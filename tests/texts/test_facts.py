import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from texts.facts import Fact, contradicts, facts_in_heading, flags_of, merged, read_fact

# A line; its listing (or "heading"); its properties, whose default value is the line.
LINES = """
model name\t: Intel(R) Atom(TM) CPU D525 @ 1.8GHz | lscpu | cpu.model Intel(R) Atom(TM) CPU D525 @ 1.8GHz
Modellname:    Intel(R) Core(TM) i7-8750H CPU | lscpu | cpu.model Intel(R) Core(TM) i7-8750H CPU
Nom de modèle :  Intel(R) N100 | lscpu | cpu.model Intel(R) N100
型号名称： AMD Ryzen 7 5800X | lscpu | cpu.model AMD Ryzen 7 5800X
Имя модели: Intel(R) Xeon(R) E5-2670 0 | lscpu | cpu.model Intel(R) Xeon(R) E5-2670 0
Model name: Common KVM processor | lscpu | cpu.model Common KVM processor
Nome: QEMU Virtual CPU version 2.5+ | lscpu | cpu.model QEMU Virtual CPU version 2.5+
cpu : POWER9 (raw), altivec supported | cpu | cpu.model POWER9 (raw), altivec supported
CPU : 4 CPU ARMv7 Processor rev 5 (v7l) | cpu | cpu.model ARMv7 Processor rev 5 (v7l)
* CPU: Intel Core i5-4690K | cpu | cpu.model Intel Core i5-4690K
CPU: Intel Core i7-4770, 16 GB, Fedora 21 | cpu | cpu.model Intel Core i7-4770; os.name Fedora; os.version 21
Processor : PPC604 | cpu | cpu.model PPC604
Chip: Apple M2 Pro | cpu | cpu.model Apple M2 Pro
cpu0: Intel(R) Core(TM) i5-2500K, 3292.79 MHz, 06-2a | lscpu | cpu.model Intel(R) Core(TM) i5-2500K
Hardware : 4-core Intel Core i5-4690K | cpu | cpu.model Intel Core i5-4690K
CPU: Cortex-A72 × 4 | cpu | cpu.model Cortex-A72
hw.model=Intel(R) N95 | cpu | cpu.model Intel(R) N95
machdep.cpu.brand_string: Apple M1 | macos | cpu.model Apple M1
Architektur:   x86_64 | lscpu | cpu.architecture x86_64
CPU(s): 8 | lscpu | cpu.threads 8
Hypervisor vendor:  KVM | lscpu | virtualization kvm
PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" | os-release | os.name Debian GNU/Linux; os.version 12
ID=debian | os-release | os.id debian
Description:\tUbuntu 18.04.2 LTS | lsb_release | os.name Ubuntu; os.version 18.04.2
Operating System: Arch Linux | hostnamectl | os.name Arch Linux
Kernel: 5.10.60-sunxi/armv7l | hostnamectl | os.kernel Linux 5.10.60-sunxi
ProductVersion:\t12.6 | macos | os.version 12.6
OpenSSL 1.0.1e-fips 11 Feb 2013 | openssl | openssl.version_text
LibreSSL 2.8.3 | openssl | openssl.version_text
SSLeay 0.8.2a 04-Sep-1997 | openssl | openssl.version_text
ssleay 0.5.1 gcc v 2.7.0 -O3 | openssl | openssl.version_text
OpenSSL 3.1.4 24 Oct 2023 (Library: OpenSSL 3.1.4 24 Oct 2023) | openssl | openssl.version_text
version: 3.0.19 | openssl | openssl.version_text OpenSSL 3.0.19
OpenSSL (version 1.0.2g, built on 1 Mar 2016) | openssl | openssl.version_text OpenSSL 1.0.2g, built on 1 Mar 2016
built on: built on: Wed Jan 8 2014 | openssl | openssl.built_on Wed Jan 8 2014
built on Tue Jan 14 15:37:30 1997 | openssl | openssl.built_on Tue Jan 14 15:37:30 1997
options:bn(64,64) rc4(16x,int) | openssl | openssl.options bn(64,64) rc4(16x,int)
platform: linux-x86_64 | openssl | openssl.platform linux-x86_64
C flags: gcc -fPIC | openssl | openssl.compiler gcc -fPIC
CPUINFO: OPENSSL_ia32cap=0xfd:0x0 env:~0x2 | openssl | openssl.cpu_settings OPENSSL_ia32cap=0xfd:0x0 env:~0x2
OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.19 27 Jan 2026 | ssh | openssh.client OpenSSH_9.2p1 Debian-2; openssh.library OpenSSL 3.0.19 27 Jan 2026
debug1: Local version string SSH-2.0-OpenSSH_8.4p1 | ssh | openssh.client OpenSSH_8.4p1
debug1: Remote protocol version 2.0, remote software version OpenSSH_7.9 | ssh | openssh.server OpenSSH_7.9
Dropbear v2020.81 | ssh | openssh.client
Markierungen: fpu vme de pse aes tsc | lscpu | cpu.flags fpu vme de pse aes tsc
标记： fpu vme de pse aes tsc | lscpu | cpu.flags fpu vme de pse aes tsc
Features : half thumb fastmult vfp | cpuinfo | cpu.flags half thumb fastmult vfp
machdep.cpu.features: FPU VME DE AES | macos | cpu.flags fpu vme de aes
ss syscall nx lm sse_x | flags | cpu.flags
Linux pi 4.14.50-v7+ #1 SMP armv7l GNU/Linux | uname | host pi; os.kernel Linux 4.14.50-v7+; cpu.architecture armv7l
Linux 5.10.0-8-amd64 x86_64 | uname | os.kernel Linux 5.10.0-8-amd64; cpu.architecture x86_64
FreeBSD nas 13.2-R FreeBSD 13.2-R GENERIC amd64 | uname | host nas; os.kernel FreeBSD 13.2-R; cpu.architecture amd64
OpenBSD box 7.4 GENERIC.MP#1397 amd64 | uname | host box; os.kernel OpenBSD 7.4; cpu.architecture amd64
Darwin m.local 21.6.0 Darwin Kernel arm64 | uname | host m.local; os.kernel Darwin 21.6.0; cpu.architecture arm64
CYGWIN_NT-10.0 pc 3.1.7(0.3) 2020 x86_64 Cygwin | uname | host pc; os.kernel CYGWIN_NT-10.0 3.1.7(0.3); cpu.architecture x86_64
MINGW64_NT-10.0 pc 3.1.7 2021 x86_64 Msys | uname | host pc; os.kernel MINGW64_NT-10.0 3.1.7; cpu.architecture x86_64
Static hostname: nas | hostnamectl | host nas
Host: nas | neofetch | host nas
Intel Core i7-2635QM (MacBookPro8,2)/ Fedora 21: | heading | cpu.model Intel Core i7-2635QM; os.name Fedora; os.version 21
Intel Core i7-2720QM / Mac OS X 10.10: | heading | cpu.model Intel Core i7-2720QM; os.name Mac OS X; os.version 10.10
Raspberry Pi 4 (Cortex-A72) | heading | cpu.model Cortex-A72
My desktop (i7-4770), Windows 7 64-bit | heading | cpu.model i7-4770; os.name Windows; os.version 7
ASRock Z97, 4-core Intel Core i5-4690K, 32 GiB | heading | cpu.model Intel Core i5-4690K
Dual Xeon Gold 6130, Ubuntu 64-bit | heading | cpu.model Xeon Gold 6130
AMD Ryzen 7 5800X, AMD EPYC 7302P, Fedora 40 | heading | os.name Fedora; os.version 40
For OpenSSL 1.1.0k, exact results are: | heading | openssl.version_text OpenSSL 1.1.0k
OpenSSH 9.2, OpenSSL 1.1.1, OpenSSL 3.0 | heading | openssh.client OpenSSH 9.2
"""  # noqa: E501


def flat(environment: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, Any] = {}
    for group, facts in environment.items():
        found |= {f"{group}.{k}": facts[k] for k in facts} if isinstance(facts, dict) else {}
        found |= {group: facts} if isinstance(facts, str) else {}
    return {path: " ".join(f) if isinstance(f, list) else str(f) for path, f in found.items()}


@pytest.mark.parametrize("row", LINES.strip().split("\n"))
def test_fact(row: str) -> None:
    line, listing, facts = row.split(" | ")
    named = (fact.partition(" ") for fact in facts.split("; "))
    is_heading = listing == "heading"
    fact = Fact(facts_in_heading(line), listing=listing) if is_heading else read_fact(line)
    assert fact is not None
    found = {**fact.environment, "host": fact.host}
    assert flat(found) == {path: value or line for path, _, value in named}
    assert fact.listing == listing


NOT_KEPT = """cpu MHz\t\t: 800.000|power management:|processor\t: 0|Hardware : BCM2835
CPU op-mode(s): 32-bit, 64-bit|BIOS Model name: Intel(R) N150 To Be Filled|Virtualization: VT-x
Itlb multihit:  Not affected|NUMA node0 CPU(s): 0-7|L1d cache: 32K|Byte-Reihenfolge: Little Endian
HOME_URL="https://debian.org/"|Architecture: arm64|GPU: Intel UHD 620|hw.model: MacBookPro11,4
The 'numbers' are in 1000s of bytes per second processed.|engine "aesni" set.|CPUINFO: N/A
You have chosen to measure elapsed time instead of user CPU time.|built on: date not available"""
NO_FACTS = """|---|OpenSSL 3 is slower than 1.1.1|OpenSSL 3.0 is slower|OpenSSL 1.1.1 (no AES-NI):
OpenSSL 3.0 The new one|OpenSSH_9.2p1 is faster|Linux 5.10 is faster on x86_64|NAME=aes128-ctr
Linux Mint 20.1|aes128-ctr: 109.89 MB/s|free(): invalid pointer|nas:/tmp# openssl speed -evp aes
Doing aes-128-cbc for 3s on 16 size blocks: 63098121 aes-128-cbc's in 3.00s|Features: fast, free
aes-128-cbc 150684.16k 334513.56k|Vendor: Intel(R) Corporation|Card: AMD Radeon RX 580
Description: a test of ciphers|Options: -c aes128-ctr|Host: ThinkPad X1|CPU: 45 % of one core
Note: Intel CPUs are better at this|debug1: kex: server->client aes128-ctr hmac-sha1 none"""


@pytest.mark.parametrize("text", NOT_KEPT.replace("\n", "|").split("|"))
def test_listed_but_not_kept(text: str) -> None:
    fact = read_fact(text)
    assert fact == Fact({}, listing=fact.listing if fact else "")


@pytest.mark.parametrize("text", NO_FACTS.replace("\n", "|").split("|"))
def test_no_fact(text: str) -> None:
    assert read_fact(text) is None


CONTRADICTIONS = """cpu.model | Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz | Intel i7-4770 | same
cpu.model | Intel Core i5 | Intel Core i5-4690K | same
cpu.model | Cortex-A7 | Cortex-A72 | differs
openssl.version_text | OpenSSL 3.0.11, built on 1 Sep 2023 | OpenSSL 3.0.11 1 Sep 2023 | same
openssl.version_text | OpenSSL 3.0.1 | OpenSSL 3.0.11 1 Sep 2023 | differs"""


@pytest.mark.parametrize("row", CONTRADICTIONS.split("\n"))
def test_contradiction(row: str) -> None:
    path, old, new, expected = row.split(" | ")
    group, key = path.split(".")
    known, said = {group: {key: old}}, {group: {key: new}}
    assert contradicts(known, said) is contradicts(said, known) is (expected == "differs")


def test_merged() -> None:
    known = {"cpu": {"model": "x", "flags": ["fpu", "sse"]}, "virtualization": "kvm"}
    said = {"cpu": {"model": "y", "flags": ["aes"], "threads": 4}, "virtualization": "xen"}
    expected = {"model": "x", "flags": ["fpu", "sse", "aes"], "threads": 4}
    assert merged(known, said) == {"cpu": expected, "virtualization": "kvm"}
    assert flags_of("Rsync till de NAS") == flags_of("fpu vme de") == ()


PARTS = (
    *("Intel ", "OpenSSH_1 1", "a: ", "fpu ", "Linux x 1 ", "version: 1.", "AMD Ryzen", " ", "("),
    *("x=", "Intel Core i5", "OS: x ", "Kernel: 1.", "Fedora 2", "a_b"),
)


@pytest.mark.parametrize("part", PARTS)
def test_cost(part: str) -> None:
    for line in (head + part * (50_000 // len(part)) for head in ("", "CPU: ", "flags: fpu ")):
        start = time.process_time()
        fact = read_fact(line)
        facts_in_heading(line)
        assert time.process_time() - start < 0.1
        assert not fact or all(len(value) < 100_000 for value in flat(fact.environment).values())


@given(st.text() | st.lists(st.sampled_from([*PARTS, "\x00", "：", "9"])).map("".join))
def test_any_text(text: str) -> None:
    fact = read_fact(text)
    environment = fact.environment if fact else {}
    assert not contradicts(environment, merged(environment, facts_in_heading(text)))
