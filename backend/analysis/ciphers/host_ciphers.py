"""What one host says about its ciphers: measured rates, and what its OpenSSH has."""

import math
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

from analysis.ciphers.cipher_catalogue import Cipher
from analysis.ciphers.openssh_versions import openssh_version
from analysis.summary import MEDIAN_TO_MEAN, NOISY_MINIMUM_TRIES, NOISY_SPREAD, is_plausible
from documents.types import Method

SMALLEST_MARGIN = 0.01
"""Two series of one host differ by this much although nothing changed (fraction)."""

LARGEST_MARGIN = NOISY_SPREAD
"""However noisy a series is, a tie with it may not cost more than this at either end."""

LARGEST_NOISE = 0.9
"""A series whose tries say even less than this says nothing (fraction)."""

COVERAGE = 2.0
"""Standard errors to either side: about 95 % of normal values."""


@dataclass(frozen=True)
class CipherRate:
    """One ssh cipher as one host measured it, both ends on it.

    `median`: bytes per second; `n` tries; `spread`: as a fraction (docs/method.md, section 1);
    `cpu_seconds_per_gb`: of both ends for 10^9 bytes, None where not measured.
    """

    cipher: str
    median: float
    n: int
    spread: float
    method: Method = "pipeline"
    cpu_seconds_per_gb: float | None = None

    def __post_init__(self) -> None:
        if not is_plausible(self.median) or self.n < 1 or not self.spread >= 0:
            raise ValueError(
                f"{self.cipher}: {self.median} B/s of {self.n} tries is no measurement"
            )

    @property
    def noise(self) -> float:
        """Return how far the true rate may be from the median of its tries, as a fraction of it.

        Twice the standard error of a median, 1.2533 · s / √n, from 1 % to 90 %. Fewer than three
        tries cannot tell their spread: 5 %.
        """
        if self.n < NOISY_MINIMUM_TRIES:
            return LARGEST_MARGIN
        error = COVERAGE * MEDIAN_TO_MEAN * self.spread / math.sqrt(self.n)
        return min(max(error, SMALLEST_MARGIN), LARGEST_NOISE)

    @property
    def margin(self) -> float:
        """The noise as far as a tie may cost it."""
        return min(self.noise, LARGEST_MARGIN)

    @property
    def low(self) -> float:
        """The median less the margin, bytes per second: what decides ties."""
        return self.median * (1 - self.margin)

    @property
    def high(self) -> float:
        """The median and the margin, bytes per second."""
        return self.median * (1 + self.margin)

    @property
    def least(self) -> float:
        """The least that the cipher may do here by all its noise, bytes per second."""
        return self.median * (1 - self.noise)

    @property
    def most(self) -> float:
        """The most that it may do here."""
        return self.median * (1 + self.noise)


@dataclass(frozen=True)
class HostCiphers:
    """A host's measured ciphers and its OpenSSH, all of one environment.

    `client`, `server`: version texts as `ssh -V` prints them; `offered`: what `ssh -Q cipher`
    lists; `default_cipher`: what its client uses by default. None where not known. `rates` has at
    most one for a cipher and method.
    """

    name: str
    rates: tuple[CipherRate, ...]
    client: str | None = None
    server: str | None = None
    offered: frozenset[str] | None = None
    default_cipher: str | None = None

    def __post_init__(self) -> None:
        keys = [(rate.cipher, rate.method) for rate in self.rates]
        if len(set(keys)) < len(keys):
            raise ValueError(f"{self.name}: a cipher stands twice among the rates of one method")

    @cached_property
    def measured(self) -> frozenset[str]:
        """The ciphers with a rate, by either method."""
        return frozenset(rate.cipher for rate in self.rates)

    def by(self, method: Method | None) -> dict[str, CipherRate]:
        """The rates of one method, by cipher: the two methods' rates do not compare."""
        return {rate.cipher: rate for rate in self.rates if rate.method == method}

    def client_has(self, cipher: Cipher) -> bool | None:
        """Whether its ssh has the cipher; None where that cannot be told."""
        if self.offered is not None:
            return cipher.name in self.offered
        return self._has(cipher, self.client)

    def server_has(self, cipher: Cipher) -> bool | None:
        """Whether its sshd has the cipher: one build with ssh when both have one version."""
        version = openssh_version(self.server)
        if self.offered is not None and version and version == openssh_version(self.client):
            return cipher.name in self.offered
        return self._has(cipher, self.server)

    def _has(self, cipher: Cipher, text: str | None) -> bool | None:
        """By the version; where that does not tell, a cipher that was measured is there."""
        if cipher.openssh is None:
            return False
        by_version = cipher.openssh.present.contains(openssh_version(text))
        return True if by_version is None and cipher.name in self.measured else by_version


def common_method(hosts: Iterable[HostCiphers], wanted: Container[str]) -> Method | None:
    """The method by which all hosts measured most of the wanted ciphers, else most of any.

    `pipeline` when both are equal; None when there is no cipher that all of them measured by one
    method. `wanted` are those that may come out: figures of others decide nothing.
    """
    every = list(hosts)
    common = {
        method: frozenset.intersection(*(frozenset(host.by(method)) for host in every))
        for method in get_args(Method)
        if every
    }
    counts = {
        method: (sum(cipher in wanted for cipher in ciphers), len(ciphers))
        for method, ciphers in common.items()
    }
    best = max(counts, key=lambda method: counts[method], default=None)
    return best if best and common[best] else None
