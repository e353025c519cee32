"""Ciphers without a place: why, and whether they would be faster than the first place."""

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.ciphers.cipher_catalogue import Cipher, Policy
from analysis.ciphers.cipher_ranking import Candidate, Gain, NoisyCandidate
from analysis.ciphers.default_cipher import because

NOT_MEASURED = "not measured"
"""How the reason of a cipher begins that could have a place, had somebody measured it."""


@dataclass(frozen=True)
class UnrankedCipher:
    """A cipher without a place, and why.

    `rate`: by the method of the order, in its unit (bytes per second; of a group the share), None
    where not measured. `over_first`: that rate against the first place, None where either is
    missing. `alone`: of a pair the one end that measured it, so that the rate is at most this.
    """

    cipher: str
    reason: str
    rate: float | None = None
    over_first: Gain | None = None
    alone: str | None = None

    @property
    def is_faster(self) -> bool:
        """Whether its rate is higher than that of the first place, within the noise or beyond."""
        return self.over_first is not None and self.over_first.ratio > 1

    @property
    def is_unmeasured(self) -> bool:
        """Whether it could have a place, had it been measured."""
        return self.reason.startswith(NOT_MEASURED)

    @property
    def words(self) -> str:
        """ "1.17 times the rate of aes256-gcm@openssh.com; rated acceptable; ...": if faster."""
        gained = self.over_first
        if gained is None:
            return self.reason
        times = f"{gained.ratio:.2f} times the rate of {gained.over}"
        noise = "" if gained.beyond_noise else ", within the noise"
        alone = f" on {self.alone} alone" if self.alone else ""
        return f"{times}{noise}{alone}; {self.reason}"


def refusal(cipher: Cipher, policy: Policy, client: str | None, server: str | None) -> str:
    """Why the policy gives the cipher no place between these two OpenSSH."""
    status = cipher.assess(client, server).status
    return f"rated {status}{because(cipher, client, server)}; the {policy.name} policy excludes it"


def unranked(
    cipher: str,
    reason: str,
    candidates: Mapping[str, Candidate],
    first: Candidate | None,
    alone: str | None = None,
) -> UnrankedCipher:
    """The cipher with its rate, where it is among the candidates."""
    one = candidates.get(cipher)
    if one is None:
        return UnrankedCipher(cipher, reason)
    return UnrankedCipher(cipher, reason, one.rate, _over(one, first) if first else None, alone)


def _over(one: Candidate, first: Candidate) -> Gain:
    (least, most), (first_least, first_most) = _bounds(one), _bounds(first)
    return Gain(first.cipher.name, one.rate / first.rate, least / first_most, most / first_least)


def _bounds(one: Candidate) -> tuple[float, float]:
    """By all the noise; of shares, which have no more than that, by the margin."""
    return (one.least, one.most) if isinstance(one, NoisyCandidate) else (one.low, one.high)
