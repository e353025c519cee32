"""The measurements of a run, generated for kinds of machines and shared by runs of one kind.

All that differs from run to run (id, host, time, readings) is spliced in by `fleet.documents`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.bench.fleet import catalogue
from tests.bench.fleet.catalogue import Cpu, Rates
from tests.bench.fleet.size import SEED

SSH_TRIES, OPENSSL_TRIES = 3, 1
TRY_SCATTER = 0.012
MACHINE_SCATTER = 0.04
MB = 1_000_000
SSH_SECONDS = 2.0
OPENSSL_SECONDS = 3.0
KEX = "sntrup761x25519-sha512@openssh.com"
IMPLAUSIBLE_SHARE = 0.02
"""Of the bodies; one figure of theirs cannot be true."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """What determines the figures of a run.

    `hidden`: the hypervisor hides the AES instructions. `variant` tells machines of one kind
    apart, whose speeds scatter.
    """

    cpu: int
    hidden: bool
    baselines: bool
    variant: int

    @property
    def has_aes(self) -> bool:
        """Whether OpenSSL sees AES instructions."""
        return catalogue.CPUS[self.cpu].aes and not self.hidden


def measurements(kind: Kind) -> list[Json]:
    """48 ssh and 72 openssl series, the same for the same kind."""
    random = Random(repr((SEED, kind)))
    cpu = catalogue.CPUS[kind.cpu]
    speed = cpu.speed * random.gauss(1, MACHINE_SCATTER)
    made = [*_ssh(kind, speed, random), *_openssl(kind, speed, random)]
    if random.random() < IMPLAUSIBLE_SHARE:
        made[-1]["samples"][0]["bytes"] *= 10_000
    return made


def _ssh(kind: Kind, speed: float, random: Random) -> Iterator[Json]:
    others = catalogue.SSH_BASELINES if kind.baselines else catalogue.SSH_WITHOUT_BASELINES
    for cipher, rates in {**catalogue.SSH, **others}.items():
        rate = rates[kind.has_aes] * speed * random.gauss(1, MACHINE_SCATTER) * MB
        for method, factor in (("pipeline", 0.9), ("steady", 1.0)):
            for mac in (None, "hmac-sha2-256"):
                slower = 0.8 if mac else 1.0
                yield _ssh_series(cipher, method, mac, rate * factor * slower, random)


def _ssh_series(cipher: str, method: str, mac: str | None, rate: float, random: Random) -> Json:
    agreed = mac or (None if "gcm" in cipher or "poly1305" in cipher else "umac-64-etm@openssh.com")
    return {
        "tool": "ssh",
        "cipher": cipher,
        "mac": mac,
        "compression": False,
        "negotiated": {"cipher": cipher, "mac": agreed, "kex": KEX},
        "method": method,
        "pinned": False,
        "target": {"kind": "loopback", "name": None},
        "acceleration": "default",
        "samples": [_ssh_sample(rate, random) for _ in range(SSH_TRIES)],
    }


def _ssh_sample(rate: float, random: Random) -> Json:
    seconds = round(SSH_SECONDS * random.gauss(1, TRY_SCATTER), 4)
    return {
        "bytes": int(rate * SSH_SECONDS),
        "seconds": seconds,
        "setup_seconds": round(random.uniform(0.2, 0.4), 3),
        "client_cpu_seconds": round(seconds * random.uniform(0.6, 0.7), 3),
        "server_cpu_seconds": round(seconds * random.uniform(0.55, 0.65), 3),
        "foreign_cpu": round(random.uniform(0, 0.05), 3),
    }


def _openssl(kind: Kind, speed: float, random: Random) -> Iterator[Json]:
    others = catalogue.OPENSSL_BASELINES if kind.baselines else catalogue.OPENSSL_WITHOUT_BASELINES
    plain: Rates = {**catalogue.OPENSSL_PLAIN, **others}
    scatter = {cipher: random.gauss(1, MACHINE_SCATTER) for cipher in plain}
    for cipher, rates in plain.items():
        rate = rates[kind.has_aes] * speed * scatter[cipher]
        yield from _openssl_series(cipher, "default", rate, random)
    for cipher in catalogue.MASKED:
        rate = plain[cipher][False] * speed * scatter[cipher]
        yield from _openssl_series(cipher, "masked", rate, random)


def _openssl_series(cipher: str, mode: str, rate: float, random: Random) -> Iterator[Json]:
    for block_size, fraction in catalogue.BLOCK_SIZES.items():
        yield {
            "tool": "openssl",
            "cipher": cipher,
            "operation": "encrypt",
            "block_size": block_size,
            "threads": 1,
            "acceleration": mode,
            "samples": [_openssl_sample(rate * fraction, random) for _ in range(OPENSSL_TRIES)],
        }


def _openssl_sample(rate: float, random: Random) -> Json:
    total = rate * MB * OPENSSL_SECONDS * random.gauss(1, TRY_SCATTER)
    return {"bytes": int(total) // 16 * 16, "seconds": OPENSSL_SECONDS}


def cpu_facts(cpu: Cpu, hidden: bool, cores: int) -> Json:
    """A document's `environment.cpu`."""
    flags = list(catalogue.BASE_FLAGS[cpu.architecture])
    if cpu.aes and not hidden:
        flags += catalogue.AES_FLAGS[cpu.architecture]
    return {
        "model": cpu.model,
        "vendor": cpu.vendor,
        "architecture": cpu.architecture,
        "family": cpu.family,
        "model_id": cpu.model_id,
        "stepping": 1,
        "cores": cores,
        "threads": cores,
        "max_mhz": None,
        "flags": flags,
        "governor": None,
    }
