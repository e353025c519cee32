"""Which ciphers a host should prefer, and what that gains (docs/method.md).

The numbers are the host's own; what is safe comes from the catalogue; what may be named at all
from the policy.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.ciphers.cipher_catalogue import Assessment, Catalogue, Cipher, Policy
from analysis.ciphers.cipher_ranking import Candidate, Gain, NoisyCandidate, gain, in_order
from analysis.ciphers.default_cipher import against_default, slower_than_default
from analysis.ciphers.excluded import NOT_MEASURED, UnrankedCipher, refusal, unranked
from analysis.ciphers.host_ciphers import CipherRate, HostCiphers, common_method
from documents.types import Method


@dataclass(frozen=True)
class RankedCipher:
    """A cipher in its place: the figures, and in words what they and the catalogue say.

    `ahead_of` names the cipher that it stands before as the safer of two that the noise does
    not tell apart, although that one's median is higher. `gain` is None where today's default
    is unknown or not measured. `slower_than_default` says why it is preferred to today's default
    although it is slower; None where it is not.
    """

    cipher: str
    assessment: Assessment
    rate: CipherRate
    gain: Gain | None
    ahead_of: str | None
    slower_than_default: str | None
    in_client: bool
    in_server: bool
    reason: str


@dataclass(frozen=True)
class Recommendation:
    """The order for one host. `order` is empty when nothing can be recommended.

    `default` is the rate of what it uses today; `gain` that of the first over it, with
    `gain_unknown` saying why there is none.
    """

    method: Method | None
    order: tuple[RankedCipher, ...]
    unranked: tuple[UnrankedCipher, ...]
    default_cipher: str | None
    default: CipherRate | None
    gain: Gain | None
    gain_unknown: str | None


def recommend(host: HostCiphers, policy: Policy, catalogue: Catalogue) -> Recommendation:
    """The ciphers of one host in the order to prefer, for connections between its like.

    Ranked is what the policy allows, the host's OpenSSH has and the host measured, by one
    method. Status depends on the OpenSSH of both ends: here the host's own client and server.
    """
    method = common_method([host], _wanted(host, policy, catalogue))
    rates = host.by(method)
    known = [one for one in catalogue.ciphers if one.tool == "ssh" and one.name in rates]
    candidates = {one.name: _candidate(one, rates[one.name], host) for one in known}
    order = in_order(
        one
        for one in candidates.values()
        if host.client_has(one.cipher) and policy.allows(one.assessment.status)
    )
    today = candidates.get(host.default_cipher or "")
    ranked = tuple(
        _ranked(one, order[place + 1 :], today, host, method, policy)
        for place, one in enumerate(order)
    )
    return Recommendation(
        method=method,
        order=ranked,
        unranked=tuple(
            unranked(name, why, candidates, order[0] if order else None)
            for name, why in _without_place(host, policy, catalogue, method)
        ),
        default_cipher=host.default_cipher,
        default=rates.get(host.default_cipher or ""),
        gain=ranked[0].gain if ranked else None,
        gain_unknown=_gain_unknown(host, bool(ranked), today),
    )


def _wanted(host: HostCiphers, policy: Policy, catalogue: Catalogue) -> frozenset[str]:
    """What the policy allows and the host's OpenSSH has, measured or not."""
    return frozenset(
        one.name
        for one in catalogue.ciphers
        if one.tool == "ssh"
        and host.client_has(one)
        and policy.allows(one.assess(host.client, host.server).status)
    )


def _candidate(cipher: Cipher, rate: CipherRate, host: HostCiphers) -> NoisyCandidate:
    assessment = cipher.assess(host.client, host.server)
    return NoisyCandidate(
        cipher=cipher,
        assessment=assessment,
        rate=rate.median,
        low=rate.low,
        high=rate.high,
        least=rate.least,
        most=rate.most,
        unlimited=rate.median,
    )


def _ranked(
    one: NoisyCandidate,
    later: Sequence[Candidate],
    today: NoisyCandidate | None,
    host: HostCiphers,
    method: Method | None,
    policy: Policy,
) -> RankedCipher:
    rates = host.by(method)
    rate = rates[one.cipher.name]
    cost = rates[today.cipher.name].cpu_seconds_per_gb if today else None
    gained = gain(one, today, _saved(cost, rate.cpu_seconds_per_gb)) if today else None
    passed = passed_over(one, later)
    costs = slower_than_default(gained, today, later, policy, (host.client, host.server))
    return RankedCipher(
        cipher=one.cipher.name,
        assessment=one.assessment,
        rate=rate,
        gain=gained,
        ahead_of=passed,
        slower_than_default=costs,
        in_client=bool(host.client_has(one.cipher)),
        in_server=bool(host.server_has(one.cipher)),
        reason=_reason(rate, gained, passed, costs, host.client),
    )


def passed_over(one: Candidate, later: Iterable[Candidate]) -> str | None:
    """The fastest of the later ones that is faster yet less safe, of the same status."""
    faster = [
        rival
        for rival in later
        if rival.rate > one.rate
        and rival.assessment.status == one.assessment.status
        and rival.cipher.strength > one.cipher.strength
    ]
    return max(faster, key=lambda rival: rival.rate).cipher.name if faster else None


def _saved(today: float | None, then: float | None) -> float | None:
    return None if today is None or then is None else today - then


def _reason(
    rate: CipherRate,
    gained: Gain | None,
    passed: str | None,
    costs: str | None,
    client: str | None,
) -> str:
    """One sentence made of the figures that stand beside it."""
    tries = f"median of {rate.n} tries, spread {rate.spread:.1%}" if rate.n > 1 else "1 try"
    parts = [f"{megabytes(rate.median)} ({tries})"]
    parts += [costs or against_default(rate.cipher, gained, client)] if gained else []
    if rate.cpu_seconds_per_gb is not None:
        parts.append(f"{rate.cpu_seconds_per_gb:.2f} CPU seconds per GB")
    if passed:
        parts.append(f"before {passed}, which is less safe and faster only within the noise")
    return ", ".join(parts) + "."


def megabytes(rate: float) -> str:
    """A rate in MB/s, 10^6 bytes per second."""
    return f"{rate / 1e6:.1f} MB/s"


def _without_place(
    host: HostCiphers, policy: Policy, catalogue: Catalogue, method: Method | None
) -> Iterable[tuple[str, str]]:
    """Every cipher that was measured or that this ssh has, and has no place, with why; by name."""
    offered = host.offered or frozenset()
    here = {one.name for one in catalogue.ciphers if one.tool == "ssh" and host.client_has(one)}
    for name in sorted(here | offered | host.measured):
        why = why_unranked(name, host, policy, catalogue, method)
        if why:
            yield name, why


def why_unranked(
    name: str, host: HostCiphers, policy: Policy, catalogue: Catalogue, method: Method | None
) -> str | None:
    """Why the cipher has no place on that host; None when it has one."""
    cipher = catalogue.find("ssh", name)
    if cipher is None:
        return "the catalogue does not know it, so nothing is said of its safety"
    if not host.client_has(cipher):
        return "this OpenSSH does not have it"
    if not policy.allows(cipher.assess(host.client, host.server).status):
        return refusal(cipher, policy, host.client, host.server)
    if name not in host.measured:
        return f"{NOT_MEASURED} on this host"
    return None if name in host.by(method) else f"{NOT_MEASURED} by the method {method}"


def _gain_unknown(host: HostCiphers, ranked: bool, today: Candidate | None) -> str | None:
    if not ranked:
        return "no cipher can be recommended"
    if host.default_cipher is None:
        return "the run does not say which cipher this host uses by default"
    if today is None:
        return f"{host.default_cipher}, this host's default, was not measured"
    return None
