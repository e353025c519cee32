"""Generate a fleet with known changes: a year of runs of 60 hosts.

In the middle of the year, every host upgrades from OpenSSL 1.1.1w to 3.0.11 within a few days. On
half of the CPUs, the upgrade slows all ciphers of OpenSSL by 7 %. Three hosts lose AES hardware.
Kernels change every month without effect.

All results are noisy: the rates of a host vary by 1 to 3 %. All series of a run share a third of
this noise. One run in twenty is disturbed and reports the disturbance. One run in a hundred is slow
without a report. Half of the hosts are measured weekly, half every four weeks. The seed determines
the fleet, including run IDs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from tests.sample_documents import environment, openssl_measurement, run_document, ssh_measurement

YEAR_BEGINS = datetime(2025, 1, 6, 3, 0, tzinfo=UTC)
DAYS = 364
UPGRADE = YEAR_BEGINS + timedelta(days=182)
# The upgrade reaches every host within this number of days.
ROLL_OUT_DAYS = 10

OLD, NEW = "OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 3.0.11 19 Sep 2023"
# Rate after the upgrade relative to the rate before, on affected CPUs
COST = 0.93

# Without AES hardware, AES is slower by this factor.
AES_LOST = 4.0

WEEK, MONTH = 7, 28
SEED = 19

# Shares of runs that report a busy host, and of runs that are slow without a report
DISTURBED, SLOW_FOR_ONCE = 0.05, 0.01


@dataclass(frozen=True)
class KnownCpu:
    """Define a CPU model with AES hardware. `costs`: whether the upgrade slows the CPU by 7 %."""

    model: str
    vendor: str
    family: int
    model_id: int
    speed: float
    costs: bool

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "vendor": self.vendor,
            "family": self.family,
            "model_id": self.model_id,
        }


CPUS = (
    KnownCpu("AMD EPYC 7763 64-Core Processor", "AuthenticAMD", 25, 1, 1.55, True),
    KnownCpu("AMD EPYC 9R14", "AuthenticAMD", 25, 17, 1.75, False),
    KnownCpu("Intel(R) Xeon(R) Gold 6248R CPU @ 3.00GHz", "GenuineIntel", 6, 85, 1.4, True),
    KnownCpu("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "GenuineIntel", 6, 79, 1.15, False),
    KnownCpu("Intel(R) Xeon(R) Platinum 8488C", "GenuineIntel", 6, 143, 1.7, True),
    KnownCpu("AMD Ryzen 9 5950X 16-Core Processor", "AuthenticAMD", 25, 33, 1.95, False),
)

_OPENSSL = {
    "aes-128-gcm": 4.4e9,
    "aes-256-gcm": 3.6e9,
    "aes-128-cbc": 1.3e9,
    "aes-256-cbc": 0.95e9,
    "aes-128-ctr": 5.2e9,
    "aes-256-ctr": 3.8e9,
    "chacha20-poly1305": 1.9e9,
    "des-ede3-cbc": 31e6,
}
_SSH = {
    "aes128-gcm@openssh.com": 620e6,
    "aes256-gcm@openssh.com": 560e6,
    "aes128-ctr": 430e6,
    "aes256-ctr": 390e6,
    "chacha20-poly1305@openssh.com": 300e6,
    "3des-cbc": 22e6,
}
# Block sizes in bytes, and the share of the full rate that each block size reaches
_BLOCK_SIZES = {1024: 0.6, 8192: 1.0}

# The list is complete: an excerpt would not show which flags are missing.
_FLAGS = (
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse"
    " sse2 ss ht syscall nx pdpe1gb rdtscp lm constant_tsc rep_good nopl cpuid pni ssse3 fma cx16"
    " sse4_1 sse4_2 x2apic movbe popcnt pclmulqdq avx avx2 bmi1 bmi2"
)

# OpenSSL releases do not affect these ciphers, which OpenSSH implements.
_OWN_CODE = frozenset({"chacha20-poly1305@openssh.com"})


@dataclass(frozen=True)
class KnownHost:
    """Define a host.

    `every`: days between runs. `noise`: standard deviation of the rates, as a fraction.
    """

    number: int
    cpu: KnownCpu
    every: int
    noise: float
    upgraded_at: datetime
    aes_lost_at: datetime | None

    @property
    def name(self) -> str:
        return f"known-{self.number:02}"

    @property
    def machine_id(self) -> str:
        return f"{self.number:064x}"

    @property
    def costs(self) -> bool:
        return self.cpu.costs

    def has_aes(self, at: datetime) -> bool:
        return self.aes_lost_at is None or at < self.aes_lost_at


@dataclass(frozen=True)
class KnownFleet:
    seed: int
    hosts: tuple[KnownHost, ...]

    def documents(self) -> Iterator[dict[str, Any]]:
        """Yield the run documents of all hosts, oldest first."""
        planned = sorted(
            ((at, host) for host in self.hosts for at in _moments(host)),
            key=lambda one: (one[0], one[1].number),
        )
        noise = {host.number: Random(f"{self.seed} {host.number}") for host in self.hosts}
        slow = dict.fromkeys(noise, False)
        for at, host in planned:
            random = noise[host.number]
            # Two slow runs in a row would be a change.
            slow[host.number] = random.random() < SLOW_FOR_ONCE and not slow[host.number]
            yield _document(host, at, slow[host.number], random)


def known_fleet() -> KnownFleet:
    random = Random(SEED)
    lost = {7: 100, 4: 230, 41: 300}
    return KnownFleet(SEED, tuple(_host(random, number, lost) for number in range(60)))


def _host(random: Random, number: int, lost: dict[int, int]) -> KnownHost:
    lost_at = YEAR_BEGINS + timedelta(days=lost[number]) if number in lost else None
    return KnownHost(
        number=number,
        cpu=CPUS[number % len(CPUS)],
        every=(WEEK, MONTH)[number // len(CPUS) % 2],
        noise=random.uniform(0.01, 0.03),
        upgraded_at=UPGRADE + timedelta(days=random.randrange(ROLL_OUT_DAYS)),
        aes_lost_at=lost_at,
    )


def _moments(host: KnownHost) -> Iterator[datetime]:
    # Each host has a day and an hour of its own.
    for day in range(host.number % host.every, DAYS, host.every):
        yield YEAR_BEGINS + timedelta(days=day, minutes=7 * host.number)


def _document(host: KnownHost, at: datetime, slow: bool, random: Random) -> dict[str, Any]:
    disturbed = random.random() < DISTURBED
    common = random.gauss(1, host.noise / 3**0.5) * (0.8 if disturbed or slow else 1)
    busy = {"code": "busy", "detail": "other programs used 0.31 CPU cores before the start"}
    return run_document(
        *_measurements(host, at, common, random),
        run_id=str(UUID(int=random.getrandbits(128), version=4)),
        host={"name": host.name, "machine_id": host.machine_id},
        tags={"rack": f"r{host.number % 4}"},
        environment=_environment(host, at),
        conditions=[busy] if disturbed else [],
        started_at=at.isoformat(),
        finished_at=(at + timedelta(minutes=4)).isoformat(),
    )


def _environment(host: KnownHost, at: datetime) -> dict[str, Any]:
    new = at >= host.upgraded_at
    flags = [*_FLAGS.split(), *(["aes"] if host.has_aes(at) else [])]
    made = environment(**host.cpu.facts, flags=flags)
    made["os"] = {
        "id": "debian",
        "name": "Debian GNU/Linux",
        "version": "12" if new else "11",
        "kernel": f"Linux {'6.1' if new else '5.10'}.{at.month}-amd64",
    }
    made["openssl"] = {"version_text": NEW if new else OLD, "platform": "debian-amd64"}
    made["openssh"]["library"] = NEW if new else OLD
    return made


def _measurements(
    host: KnownHost, at: datetime, common: float, random: Random
) -> Iterator[dict[str, Any]]:
    factor = host.cpu.speed * common
    cost = COST if host.costs and at >= host.upgraded_at else 1.0

    def tries(rate: float, aes: bool, through_library: bool = True) -> list[float]:
        if aes and not host.has_aes(at):
            rate /= AES_LOST
        middle = rate * factor * (cost if through_library else 1.0)
        middle *= random.gauss(1, host.noise * (2 / 3) ** 0.5)
        return [middle * random.gauss(1, 0.005) for _ in range(3)]

    for cipher, rate in _OPENSSL.items():
        for block_size, share in _BLOCK_SIZES.items():
            rates = tries(rate * share, aes=cipher.startswith("aes"))
            yield openssl_measurement(cipher, *rates, block_size=block_size)
    masked = tries(_OPENSSL["aes-128-cbc"] / AES_LOST, aes=False)
    yield openssl_measurement("aes-128-cbc", *masked, acceleration="masked")
    for cipher, rate in _SSH.items():
        own = cipher not in _OWN_CODE
        yield ssh_measurement(
            cipher, *tries(rate, aes=cipher.startswith("aes"), through_library=own)
        )
