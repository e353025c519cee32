"""What the machines of the made-up fleet are: CPUs, systems, OpenSSL releases, ciphers.

Names and numbers are real ones, so that the program's own naming has its usual work; speeds are
rough (2015's reference machine is about 1).
"""

from dataclasses import dataclass

INTEL, AMD, ARM = "GenuineIntel", "AuthenticAMD", "ARM"

_X86_FLAGS = (
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr"
    " sse sse2 ss ht syscall nx pdpe1gb rdtscp lm constant_tsc rep_good nopl cpuid"
    " tsc_known_freq pni ssse3 cx16 sse4_1 sse4_2 x2apic movbe popcnt"
)
_ARM_FLAGS = "fp asimd evtstrm crc32 atomics fphp asimdhp cpuid"
BASE_FLAGS = {"x86_64": _X86_FLAGS.split(), "aarch64": _ARM_FLAGS.split()}
AES_FLAGS = {"x86_64": ["aes", "pclmulqdq", "avx"], "aarch64": ["aes", "pmull", "sha1", "sha2"]}


@dataclass(frozen=True)
class Cpu:
    """A CPU as /proc/cpuinfo shows it. `speed`: relative to the reference machine's."""

    model: str | None
    vendor: str
    family: int | None
    model_id: int
    speed: float
    aes: bool = True

    @property
    def architecture(self) -> str:
        """As `uname -m` has it."""
        return "aarch64" if self.vendor == ARM else "x86_64"


def _intel(model: str, model_id: int, speed: float, aes: bool = True) -> Cpu:
    return Cpu(f"Intel(R) {model}", INTEL, 6, model_id, speed, aes)


def _xeon(model: str, model_id: int, ghz: float, speed: float, aes: bool = True) -> Cpu:
    return _intel(f"Xeon(R) CPU {model} @ {ghz:.2f}GHz", model_id, speed, aes)


def _amd(model: str, family: int, model_id: int, speed: float) -> Cpu:
    return Cpu(f"AMD {model}", AMD, family, model_id, speed)


CPUS = (
    _amd("EPYC 7763 64-Core Processor", 25, 1, 1.55),
    _intel("Xeon(R) Platinum 8370C CPU @ 2.80GHz", 106, 1.50),
    _xeon("E5-2680 v4", 79, 2.40, 1.15),
    _amd("EPYC 9R14", 25, 17, 1.75),
    Cpu(None, ARM, None, 0xD0C, 1.20),
    _intel("Xeon(R) Gold 6248R CPU @ 3.00GHz", 85, 1.40),
    _xeon("E5-2670 v3", 63, 2.30, 1.05),
    _amd("EPYC 7542 32-Core Processor", 23, 49, 1.40),
    _intel("Xeon(R) Platinum 8488C", 143, 1.70),
    _xeon("E5-2690 v2", 62, 3.00, 1.00),
    Cpu(None, ARM, None, 0xD40, 1.45),
    _amd("EPYC 7402P 24-Core Processor", 23, 49, 1.38),
    _intel("Xeon(R) Silver 4214 CPU @ 2.20GHz", 85, 1.20),
    _intel("Core(TM) i7-3770 CPU @ 3.40GHz", 58, 1.05),
    _amd("Ryzen 9 5950X 16-Core Processor", 25, 33, 1.95),
    _intel("Core(TM) i7-8700 CPU @ 3.20GHz", 158, 1.60),
    _xeon("E5-2650", 45, 2.00, 0.80),
    _xeon("E3-1230 v5", 94, 3.40, 1.35),
    _intel("Core(TM) i5-6500 CPU @ 3.20GHz", 94, 1.30),
    _amd("Ryzen 7 3700X 8-Core Processor", 23, 113, 1.70),
    _xeon("X5650", 44, 2.67, 0.85),
    _intel("Xeon(R) Gold 6130 CPU @ 2.10GHz", 85, 1.25),
    _amd("EPYC 7551 32-Core Processor", 23, 1, 1.05),
    _intel("Core(TM) i7-4790 CPU @ 3.60GHz", 60, 1.30),
    Cpu(None, ARM, None, 0xD08, 0.55),
    _xeon("E5-2620 v4", 79, 2.10, 0.95),
    _intel("Atom(TM) CPU C2750 @ 2.40GHz", 77, 0.50),
    _xeon("E5420", 23, 2.50, 0.60, aes=False),
    _intel("Core(TM)2 Quad CPU Q9550 @ 2.83GHz", 23, 0.68, aes=False),
    _intel("Xeon(R) Platinum 8272CL CPU @ 2.60GHz", 85, 1.35),
    _amd("Ryzen 5 5600X 6-Core Processor", 25, 33, 1.90),
    _intel("Core(TM) i7-2600 CPU @ 3.40GHz", 42, 0.98),
    _amd("EPYC 7713 64-Core Processor", 25, 1, 1.50),
    _intel("Core(TM) i3-4130 CPU @ 3.40GHz", 60, 1.15),
    _xeon("E5-2640 v3", 63, 2.60, 1.08),
    _intel("Core(TM) i9-9900K CPU @ 3.60GHz", 158, 1.80),
    _xeon("L5520", 26, 2.27, 0.65, aes=False),
    _amd("Ryzen 7 1700 Eight-Core Processor", 23, 1, 1.25),
    _intel("Core(TM) i5-2500 CPU @ 3.30GHz", 42, 0.95),
    _intel("Xeon(R) D-1541 CPU @ 2.10GHz", 86, 0.92),
    Cpu(None, ARM, None, 0xD03, 0.25, aes=False),
    _amd("Ryzen 9 7950X 16-Core Processor", 25, 97, 2.30),
    _intel("Core(TM) i7-6700K CPU @ 4.00GHz", 94, 1.55),
    _xeon("E5-1650 v3", 63, 3.50, 1.25),
    _amd("FX(tm)-8350 Eight-Core Processor", 21, 2, 0.85),
    _intel("Core(TM) i7-7700 CPU @ 3.60GHz", 158, 1.50),
    _xeon("E3-1270 v3", 60, 3.50, 1.28),
    _intel("Core(TM)2 Duo CPU E8400 @ 3.00GHz", 23, 0.70, aes=False),
    _intel("Core(TM) i5-8250U CPU @ 1.60GHz", 142, 1.20),
    _amd("Opteron(tm) Processor 6376", 21, 2, 0.62),
    _intel("Core(TM) i7-2635QM CPU @ 2.00GHz", 42, 0.80),
    _intel("Core(TM) i7-1065G7 CPU @ 1.30GHz", 126, 1.45),
    _xeon("E7-4870", 47, 2.40, 0.75),
    _intel("Core(TM) i5-4590 CPU @ 3.30GHz", 60, 1.20),
    _amd("EPYC 9654 96-Core Processor", 25, 17, 1.70),
    _intel("Core(TM) i7-920 CPU @ 2.67GHz", 26, 0.75, aes=False),
    _xeon("E5-2698 v4", 79, 2.20, 1.12),
    _intel("Core(TM) i3-2100 CPU @ 3.10GHz", 42, 0.85, aes=False),
    _amd("Ryzen Threadripper 3970X 32-Core Processor", 23, 49, 1.75),
    _intel("Core(TM) i7-11700 @ 2.50GHz", 167, 1.85),
)
"""60, the most frequent first."""

DEBIAN, UBUNTU = ("debian", "Debian GNU/Linux"), ("ubuntu", "Ubuntu")
ROCKY, RHEL, SUSE = ("rocky", "Rocky Linux"), ("rhel", "Red Hat"), ("sles", "SLES")
FEDORA, ALPINE = ("fedora", "Fedora Linux"), ("alpine", "Alpine Linux")
FREEBSD = ("freebsd", "FreeBSD")

SYSTEMS = (
    *((UBUNTU, version) for version in ("22.04", "24.04", "20.04", "18.04", "16.04")),
    *((DEBIAN, version) for version in ("12", "11", "13", "10", "9")),
    *((RHEL, version) for version in ("8.10", "9.4", "7.9")),
    *((ROCKY, version) for version in ("9.4", "8.9")),
    *((SUSE, version) for version in ("15.5", "15.6", "12.5")),
    *((FEDORA, version) for version in ("40", "41")),
    *((ALPINE, version) for version in ("3.20", "3.18")),
    *((FREEBSD, version) for version in ("14.1", "13.3", "12.4")),
)
"""25 systems with their versions, the most frequent first."""

OPENSSL = (
    *(f"OpenSSL 3.0.{patch}" for patch in (13, 2, 15, 11, 17, 16, 14, 10, 9, 8, 7, 5, 19)),
    *(f"OpenSSL 1.1.1{letter}" for letter in "fnwkdvuagz"),
    *(f"OpenSSL 1.0.2{letter}" for letter in "kugn"),
    *("OpenSSL 3.2.2", "OpenSSL 3.2.1", "OpenSSL 3.3.1", "OpenSSL 3.3.2", "OpenSSL 3.5.0"),
    *("OpenSSL 3.4.0", "OpenSSL 3.1.4", "OpenSSL 1.0.1f", "OpenSSL 1.0.1k", "OpenSSL 3.6.0"),
    *("LibreSSL 3.8.2", "LibreSSL 2.8.3", "OpenSSL 1.1.0l"),
)
"""40 releases, the most frequent first."""

OPENSSH = tuple(
    f"OpenSSH_{version}"
    for version in ("9.6p1", "8.9p1", "9.2p1", "8.2p1", "8.4p1", "8.0p1", "7.4p1", "9.9p1", "7.2p2")
)

VIRTUALIZATIONS = ("kvm", "none", "vmware", "amazon", "microsoft", "oracle")

Rates = dict[str, tuple[float, float]]
"""Cipher -> 10^6 bytes per second at speed 1: in software, with AES instructions."""

SSH: Rates = {
    "aes128-ctr": (130, 390),
    "aes256-ctr": (110, 360),
    "aes128-gcm@openssh.com": (120, 640),
    "aes256-gcm@openssh.com": (100, 580),
    "chacha20-poly1305@openssh.com": (210, 210),
    "aes128-cbc": (105, 300),
    "aes192-ctr": (120, 375),
    "aes256-cbc": (85, 250),
    "aes192-cbc": (95, 270),
}
SSH_BASELINES: Rates = {
    "arcfour": (260, 260),
    "blowfish-cbc": (85, 85),
    "3des-cbc": (26, 26),
}
SSH_WITHOUT_BASELINES: Rates = {
    "cast128-cbc": (75, 75),
    "rijndael-cbc@lysator.liu.se": (85, 250),
    "aes128-cbc@example.org": (105, 300),
}
OPENSSL_PLAIN: Rates = {
    "aes-128-gcm": (190, 3900),
    "aes-256-gcm": (160, 3400),
    "chacha20-poly1305": (1500, 1500),
    "aes-128-cbc": (130, 780),
    "aes-256-cbc": (95, 560),
    "aes-128-ctr": (180, 3500),
}
OPENSSL_BASELINES: Rates = {
    "rc4": (520, 520),
    "bf-cbc": (120, 120),
    "des-ede3-cbc": (28, 28),
}
OPENSSL_WITHOUT_BASELINES: Rates = {
    "camellia-128-cbc": (150, 150),
    "aria-128-cbc": (90, 90),
    "seed-cbc": (85, 85),
}
MASKED = ("aes-128-cbc", "aes-128-gcm", "aes-256-gcm")
BLOCK_SIZES = {16: 0.25, 64: 0.5, 256: 0.75, 1024: 0.9, 8192: 0.99, 16384: 1.0}
"""Bytes a call -> fraction of the rate that it reaches."""
