"""Which cipher between two hosts, and what rate to expect (docs/method.md)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from analysis.ciphers.cipher_catalogue import Assessment, Catalogue, Cipher, Policy
from analysis.ciphers.cipher_ranking import Candidate, Gain, NoisyCandidate, gain, in_order
from analysis.ciphers.default_cipher import slower_than_default
from analysis.ciphers.excluded import NOT_MEASURED, UnrankedCipher, refusal, unranked
from analysis.ciphers.host_ciphers import CipherRate, HostCiphers, common_method
from analysis.ciphers.recommendation import megabytes, passed_over
from documents.types import Method

Limit = Literal["client", "server", "link"]


@dataclass(frozen=True)
class PredictedCipher:
    """A cipher between two hosts.

    `rate`, `least` and `most` are bytes per second: the lowest of what the client and the server
    each reach alone on their loopback, and of the link, and the bounds of all the noise;
    `limited_by` says whose that is. `gain` is against what the client uses today by default, None
    where that is unknown; `slower_than_default` says why the cipher is preferred to that default
    although it is slower, None where it is not.
    """

    cipher: str
    assessment: Assessment
    rate: float
    least: float
    most: float
    limited_by: Limit
    ahead_of: str | None
    gain: Gain | None
    slower_than_default: str | None
    reason: str


@dataclass(frozen=True)
class PairRecommendation:
    """The order for connections from one host to another.

    `gain` is the first cipher against the client's default; `gain_unknown` says why there is none.
    """

    method: Method | None
    order: tuple[PredictedCipher, ...]
    unranked: tuple[UnrankedCipher, ...]
    gain: Gain | None
    gain_unknown: str | None


def recommend_pair(
    client: HostCiphers,
    server: HostCiphers,
    policy: Policy,
    catalogue: Catalogue,
    link: float | None = None,
) -> PairRecommendation:
    """The ciphers from `client` to `server` in the order to prefer; `link` in bytes per second.

    A prediction, not a measurement: on the loopback one host carries both ends, so with a
    core for each the true rate is not lower; other costs of a network are not in it. Where the
    link limits several ciphers alike, the safer goes first.
    """
    wanted = frozenset(
        one.name
        for one in catalogue.ciphers
        if one.tool == "ssh"
        and _shared(one, client, server)
        and policy.allows(one.assess(client.client, server.server).status)
    )
    method = common_method([client, server], wanted)
    known = _candidates(client, server, catalogue, method, link)
    both = client.by(method).keys() & server.by(method).keys()
    candidates = {name: one for name, one in known.items() if name in both}
    order = in_order(
        one
        for one in candidates.values()
        if _shared(one.cipher, client, server) and policy.allows(one.assessment.status)
    )
    today = _today(candidates, client, server)
    return PairRecommendation(
        method=method,
        order=tuple(
            _predicted(one, order[place + 1 :], today, client, server, method, policy)
            for place, one in enumerate(order)
        ),
        unranked=tuple(
            unranked(
                name, why, known, order[0] if order else None, _alone(name, client, server, method)
            )
            for name, why in _without_place(client, server, policy, catalogue, set(candidates))
        ),
        gain=gain(order[0], today) if order and today else None,
        gain_unknown=_gain_unknown(bool(order), today, client),
    )


def _shared(cipher: Cipher, client: HostCiphers, server: HostCiphers) -> bool:
    return bool(client.client_has(cipher) and server.server_has(cipher))


def _candidates(
    client: HostCiphers,
    server: HostCiphers,
    catalogue: Catalogue,
    method: Method | None,
    link: float | None,
) -> dict[str, NoisyCandidate]:
    """Every cipher that an end measured: of one that the other did not, what that end reaches."""
    found = {}
    for cipher in catalogue.ciphers:
        rates = (host.by(method).get(cipher.name) for host in (client, server))
        ends = [rate for rate in rates if rate]
        if cipher.tool == "ssh" and ends:
            assessment = cipher.assess(client.client, server.server)
            found[cipher.name] = _candidate(cipher, assessment, ends, link)
    return found


def _alone(
    cipher: str, client: HostCiphers, server: HostCiphers, method: Method | None
) -> str | None:
    """The only one of the two that measured the cipher; None where both did, or none."""
    measured = [host.name for host in (client, server) if cipher in host.by(method)]
    return measured[0] if len(measured) == 1 else None


def _candidate(
    cipher: Cipher, assessment: Assessment, ends: Sequence[CipherRate], link: float | None
) -> NoisyCandidate:
    limit = float("inf") if link is None else link
    own = min(end.median for end in ends)
    return NoisyCandidate(
        cipher=cipher,
        assessment=assessment,
        rate=min(own, limit),
        low=min(*(end.low for end in ends), limit),
        high=min(*(end.high for end in ends), limit),
        least=min(*(end.least for end in ends), limit),
        most=min(*(end.most for end in ends), limit),
        unlimited=own,
    )


def _today(
    candidates: dict[str, NoisyCandidate], client: HostCiphers, server: HostCiphers
) -> NoisyCandidate | None:
    """What the two use today: the client's default, if the server has it."""
    default = candidates.get(client.default_cipher or "")
    return default if default and _shared(default.cipher, client, server) else None


def _predicted(
    one: NoisyCandidate,
    later: Sequence[Candidate],
    today: NoisyCandidate | None,
    client: HostCiphers,
    server: HostCiphers,
    method: Method | None,
    policy: Policy,
) -> PredictedCipher:
    mine, theirs = (host.by(method)[one.cipher.name].median for host in (client, server))
    slower: Limit = "client" if mine <= theirs else "server"
    limited_by: Limit = "link" if one.rate < one.unlimited else slower
    passed = passed_over(one, later)
    gained = gain(one, today) if today else None
    costs = slower_than_default(gained, today, later, policy, (client.client, server.server))
    words = f"{megabytes(one.rate)} expected: {client.name} alone reaches {megabytes(mine)}"
    words += f", {server.name} {megabytes(theirs)}"
    words += f", the link {megabytes(one.rate)}" if limited_by == "link" else ""
    if passed:
        words += f"; before {passed}, which is less safe and faster only within the noise"
    words += f"; {costs}" if costs else ""
    return PredictedCipher(
        cipher=one.cipher.name,
        assessment=one.assessment,
        rate=one.rate,
        least=one.least,
        most=one.most,
        limited_by=limited_by,
        ahead_of=passed,
        gain=gained,
        slower_than_default=costs,
        reason=words + ".",
    )


def _without_place(
    client: HostCiphers,
    server: HostCiphers,
    policy: Policy,
    catalogue: Catalogue,
    measured: set[str],
) -> Iterable[tuple[str, str]]:
    """Ciphers of the two that have no place, and why."""
    for cipher in catalogue.ciphers:
        if cipher.tool != "ssh":
            continue
        has = (client.client_has(cipher), server.server_has(cipher))
        if not all(has):
            if any(has):
                lacking = client.name if not has[0] else server.name
                yield cipher.name, f"{lacking} does not have it"
            continue
        if not policy.allows(cipher.assess(client.client, server.server).status):
            yield cipher.name, refusal(cipher, policy, client.client, server.server)
        elif cipher.name not in measured:
            yield cipher.name, f"{NOT_MEASURED} on both by one method"


def _gain_unknown(ordered: bool, today: Candidate | None, client: HostCiphers) -> str | None:
    if not ordered:
        return "the two have no cipher in common that the policy allows and both measured"
    if client.default_cipher is None:
        return f"it is not known which cipher {client.name} uses by default"
    if today is None:
        return f"{client.default_cipher}, the default of {client.name}, has no rate on both"
    return None
