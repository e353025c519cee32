"""One order of ciphers for several hosts, and what each loses by it (docs/method.md)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean

from analysis.ciphers.cipher_catalogue import STATUSES, Assessment, Catalogue, Cipher, Policy
from analysis.ciphers.cipher_ranking import Candidate, in_order
from analysis.ciphers.excluded import NOT_MEASURED, UnrankedCipher, unranked
from analysis.ciphers.host_ciphers import CipherRate, HostCiphers, common_method
from analysis.ciphers.recommendation import recommend
from documents.types import Method


@dataclass(frozen=True)
class GroupCipher:
    """A cipher in the common order.

    `share`: geometric mean over the hosts of its rate against the best of each (1 = it is the
    best everywhere). The geometric mean, so that no fast host outweighs the others.
    """

    cipher: str
    assessment: Assessment
    share: float
    reason: str


@dataclass(frozen=True)
class HostLoss:
    """What a host gives up by the common order's first cipher.

    `own_best` is what its own recommendation puts first; `loss` is a fraction of that one's rate:
    0.25 = a quarter slower; negative where the own best is the safer and not the faster.
    """

    own_best: str
    own_best_rate: float
    common_rate: float
    loss: float


@dataclass(frozen=True)
class GroupGain:
    """The common order's first cipher against what each host's ssh uses by default.

    `ratio`: geometric mean over the `hosts` that measured their default; of these so many get
    `slower` beyond the noise.
    """

    ratio: float
    hosts: int
    slower: int


@dataclass(frozen=True)
class GroupRecommendation:
    """The order that fits all hosts best; empty when they have no measured cipher in common.

    `losses`: one of each host, in their order. `gain` is None where no host measured its default.
    """

    method: Method | None
    order: tuple[GroupCipher, ...]
    losses: tuple[HostLoss, ...]
    gain: GroupGain | None
    unranked: tuple[UnrankedCipher, ...]


def recommend_group(
    hosts: Sequence[HostCiphers], policy: Policy, catalogue: Catalogue
) -> GroupRecommendation:
    """One order for connections among these hosts, at least one.

    Ranked is what every host has, measured and may use; the status is the worst that the cipher
    has between any two of them. Hosts count alike, however fast they are.
    """
    wanted = frozenset(
        one.name
        for one in catalogue.ciphers
        if one.tool == "ssh"
        and all(_usable(one, host) for host in hosts)
        and policy.allows(_worst(one, hosts).status)
    )
    method = common_method(hosts, wanted)
    alike = [replace(host, rates=tuple(host.by(method).values())) for host in hosts]
    own = [_best(host, policy, catalogue) for host in alike]
    candidates = {one.cipher.name: one for one in _candidates(alike, own, catalogue)}
    order = in_order(one for one in candidates.values() if policy.allows(one.assessment.status))
    return GroupRecommendation(
        method=method,
        order=tuple(_in_group(one, alike, own) for one in order),
        losses=_losses(order[0].cipher, alike, own) if order else (),
        gain=_gain(order[0].cipher, alike) if order else None,
        unranked=tuple(
            unranked(name, why, candidates, order[0] if order else None)
            for name, why in _without_place(alike, policy, catalogue)
        ),
    )


def _best(host: HostCiphers, policy: Policy, catalogue: Catalogue) -> CipherRate | None:
    """What the host's own recommendation puts first."""
    order = recommend(host, policy, catalogue).order
    return order[0].rate if order else None


def _usable(cipher: Cipher, host: HostCiphers) -> bool:
    return bool(host.client_has(cipher) and host.server_has(cipher))


def _worst(cipher: Cipher, hosts: Iterable[HostCiphers]) -> Assessment:
    """The worst between any two: an advisory concerns a connection as soon as it does one end."""
    ends = dict.fromkeys((host.client, host.server) for host in hosts)
    return max(
        (cipher.assess(client, server) for client, server in ends),
        key=lambda one: STATUSES.index(one.status),
    )


def _candidates(
    hosts: Sequence[HostCiphers], own: Sequence[CipherRate | None], catalogue: Catalogue
) -> Iterable[Candidate]:
    """The ciphers that every host has and measured, rated by their mean share of the best."""
    best = [rate for rate in own if rate]
    measured = frozenset.intersection(*(host.measured for host in hosts))
    for cipher in catalogue.ciphers if len(best) == len(hosts) else ():
        if (
            cipher.tool == "ssh"
            and cipher.name in measured
            and all(_usable(cipher, host) for host in hosts)
        ):
            shares = _shares(cipher, hosts, best)
            share, margin = geometric_mean(shares), _margin(cipher, hosts)
            yield Candidate(
                cipher=cipher,
                assessment=_worst(cipher, hosts),
                rate=share,
                low=share * (1 - margin),
                high=share * (1 + margin),
                unlimited=share,
            )


def _rate(cipher: Cipher, host: HostCiphers) -> CipherRate:
    return next(rate for rate in host.rates if rate.cipher == cipher.name)


def _shares(
    cipher: Cipher, hosts: Sequence[HostCiphers], best: Sequence[CipherRate]
) -> list[float]:
    """The cipher's rate on each host against that of the host's own first choice."""
    return [_rate(cipher, host).median / one.median for host, one in zip(hosts, best, strict=True)]


def _margin(cipher: Cipher, hosts: Sequence[HostCiphers]) -> float:
    """That of the mean share, a fraction: independent errors, so they add as squares."""
    return math.hypot(*(_rate(cipher, host).margin for host in hosts)) / len(hosts)


def _in_group(
    one: Candidate, hosts: Sequence[HostCiphers], own: Sequence[CipherRate | None]
) -> GroupCipher:
    shares = _shares(one.cipher, hosts, [rate for rate in own if rate])
    least, name = min(zip(shares, (host.name for host in hosts), strict=True))
    words = f"{one.rate:.1%} of the rate of each host's own best cipher"
    reason = f"{words} (geometric mean of {len(hosts)}), least on {name}: {least:.1%}."
    return GroupCipher(one.cipher.name, one.assessment, one.rate, reason)


def _losses(
    first: Cipher, hosts: Sequence[HostCiphers], own: Sequence[CipherRate | None]
) -> tuple[HostLoss, ...]:
    best = [rate for rate in own if rate]
    return tuple(
        HostLoss(
            own_best=one.cipher,
            own_best_rate=one.median,
            common_rate=_rate(first, host).median,
            loss=1 - _rate(first, host).median / one.median,
        )
        for host, one in zip(hosts, best, strict=True)
    )


def _gain(first: Cipher, hosts: Sequence[HostCiphers]) -> GroupGain | None:
    defaults = [
        (_rate(first, host), rate)
        for host in hosts
        for rate in host.rates
        if rate.cipher == host.default_cipher
    ]
    if not defaults:
        return None
    return GroupGain(
        ratio=geometric_mean(then.median / today.median for then, today in defaults),
        hosts=len(defaults),
        slower=sum(
            then.cipher != today.cipher and then.most < today.least for then, today in defaults
        ),
    )


def _without_place(
    hosts: Sequence[HostCiphers], policy: Policy, catalogue: Catalogue
) -> Iterable[tuple[str, str]]:
    """Ciphers that some host has or measured and that have no place in the order, with why."""
    for cipher in (one for one in catalogue.ciphers if one.tool == "ssh"):
        lacking = [host.name for host in hosts if not _usable(cipher, host)]
        missing = [host.name for host in hosts if cipher.name not in host.measured]
        status = _worst(cipher, hosts).status
        if len(lacking) == len(hosts):
            continue
        if lacking:
            yield cipher.name, f"not in the OpenSSH of {_names(lacking)}"
        elif not policy.allows(status):
            yield cipher.name, f"rated {status}; the {policy.name} policy excludes it"
        elif missing:
            yield cipher.name, f"{NOT_MEASURED} on {_names(missing)}"


def _names(hosts: Sequence[str]) -> str:
    """The first host, and how many others."""
    return hosts[0] if len(hosts) == 1 else f"{hosts[0]} and {len(hosts) - 1} more"
