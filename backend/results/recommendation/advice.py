"""A recommendation from the database's figures: the order, what it gains, the configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from analysis.ciphers.cipher_catalogue import Assessment, Policy, cipher_catalogue, policies
from analysis.ciphers.cipher_ranking import Gain
from analysis.ciphers.excluded import UnrankedCipher
from analysis.ciphers.group_recommendation import (
    GroupGain,
    GroupRecommendation,
    HostLoss,
    recommend_group,
)
from analysis.ciphers.host_ciphers import CipherRate, HostCiphers
from analysis.ciphers.link_saturation import link_payload, saturated_links
from analysis.ciphers.openssh_versions import openssh_version
from analysis.ciphers.pair_recommendation import (
    Limit,
    PairRecommendation,
    PredictedCipher,
    recommend_pair,
)
from analysis.ciphers.recommendation import RankedCipher, Recommendation, recommend
from analysis.ciphers.ssh_configuration import Evidence, client_configuration, server_configuration
from documents.types import Method
from results.recommendation.evidence import (
    HostRun,
    caution_in_words,
    evidence_runs,
    measured_in_words,
)
from results.recommendation.measured_ssh import (
    NAMED_AT_MOST,
    HostFigures,
    LeftOut,
    host_figures,
    hosts_left_out,
    known_hosts,
)
from results.recommendation.question import Question, query_string

Result = Recommendation | PairRecommendation | GroupRecommendation


class UnknownHosts(LookupError):
    """There are no hosts of these keys that have a run that counts."""


@dataclass(frozen=True)
class Place:
    """A cipher in its place; figures that this kind of recommendation has not are None.

    `median`, `low` and `high` are bytes per second: of one host what it measured, of a pair what
    is expected, and the bounds of all the noise. `rates`: what it was measured at, on the host, or
    on client and server; `doubtful`: of each host behind it, whether its rate is noisy or of a
    disturbed run. `fills`: link -> whether the cipher fills it, None where the noise hides
    that. `slower_than_default`: why the cipher is preferred to today's default although it is
    slower. `share`: of a group, what each host keeps of its own first choice (1 = all).
    """

    cipher: str
    assessment: Assessment
    reason: str
    median: float | None = None
    low: float | None = None
    high: float | None = None
    rates: tuple[CipherRate, ...] = ()
    doubtful: tuple[bool, ...] = ()
    gain: Gain | None = None
    slower_than_default: str | None = None
    ahead_of: str | None = None
    in_client: bool | None = None
    in_server: bool | None = None
    limited_by: Limit | None = None
    fills: Mapping[str, bool | None] | None = None
    share: float | None = None


@dataclass(frozen=True)
class Loss:
    """What a host of a group gives up by the common order."""

    host: HostFigures
    figures: HostLoss


@dataclass(frozen=True)
class Today:
    """The default of the host, or of a pair's client, and what the first place gains over it.

    `unknown` says why there is no gain; a group has `gain_of_hosts`, over the default of each.
    """

    cipher: str | None = None
    rate: CipherRate | None = None
    gain: Gain | None = None
    unknown: str | None = None
    gain_of_hosts: GroupGain | None = None


@dataclass(frozen=True)
class Configuration:
    """The two texts; None where there is no cipher to name."""

    ssh: str | None = None
    sshd: str | None = None


@dataclass(frozen=True)
class Advice:
    """A recommendation with everything that it rests on.

    `places` is empty when nothing can be recommended; `nothing` then says why. `left_out` are
    hosts of a group without figures. `caution` says why to measure again first, None where
    nothing speaks for it. `permalink` is where these figures can be read again.
    """

    question: Question
    policy: Policy
    rules_version: str
    made_at: datetime
    method: Method | None
    hosts: tuple[HostFigures, ...]
    left_out: LeftOut
    places: tuple[Place, ...]
    nothing: str | None
    today: Today
    losses: tuple[Loss, ...]
    unranked: tuple[UnrankedCipher, ...]
    runs: tuple[HostRun, ...]
    measured: str | None
    caution: str | None
    configuration: Configuration
    permalink: str

    @property
    def faster(self) -> tuple[UnrankedCipher, ...]:
        """The excluded ciphers that would be faster than the first place, the fastest first."""
        return _faster(self.unranked)

    @property
    def unmeasured(self) -> tuple[UnrankedCipher, ...]:
        """The ciphers that may be faster, which nobody knows because they were not measured."""
        return tuple(one for one in self.unranked if one.is_unmeasured and not one.is_faster)


def advise(question: Question, page_address: str, now: datetime) -> Advice:
    """The answer; `page_address` is where people read recommendations, without parameters.

    `UnknownHosts` for hosts that are not here, `TooManyHosts` for too large a group.
    """
    names = _named(question)
    hosts = _hosts(question)
    result = _recommend(question, hosts) if _complete(question, hosts) else None
    method = result.method if result else question.selection.method
    places = _places(hosts, result)
    runs = evidence_runs(hosts, method) if result else ()
    query = query_string(question, _as_of(question, runs, now))
    permalink = f"{page_address}?{query}"
    measured = measured_in_words(hosts, runs, method) if runs else None
    today = _today(hosts, result)
    excluded = result.unranked if result else ()
    caution = _caution(hosts, method, places, today)
    evidence = Evidence(
        now.date(),
        _subject(question, hosts),
        measured or "nothing",
        question.policy,
        cipher_catalogue().rules_version,
        permalink,
        caution or "",
        tuple(f"{one.cipher}, {one.words}" for one in _faster(excluded)),
    )
    return Advice(
        question=question,
        policy=policies()[question.policy],
        rules_version=cipher_catalogue().rules_version,
        made_at=now,
        method=method,
        hosts=hosts,
        left_out=_left_out(question, names, hosts),
        places=places,
        nothing=None if places else _nothing(question, names, hosts, result),
        today=today,
        losses=_losses(hosts, result),
        unranked=excluded,
        runs=runs,
        measured=measured,
        caution=caution,
        configuration=_configuration(places, hosts, evidence, names.get(question.server or "")),
        permalink=permalink,
    )


Names = Mapping[str, tuple[str, ...]]
"""Key of a host -> its names, the present one first."""


def _named(question: Question) -> Names:
    """The hosts that the question names; `UnknownHosts` where one is not here."""
    names = known_hosts(question.hosts) if question.hosts else {}
    unknown = [key for key in question.hosts if key not in names]
    if unknown:
        raise UnknownHosts(", ".join(unknown[:NAMED_AT_MOST]))
    return names


def _hosts(question: Question) -> tuple[HostFigures, ...]:
    """The hosts with figures; of a pair the client, then the server."""
    if question.kind != "pair":
        return tuple(host_figures(question.selection))
    both = replace(question.selection, filters={"host": question.hosts})
    found = {host.key: host for host in host_figures(both)}
    return tuple(found[key] for key in question.hosts if key in found)


def _complete(question: Question, hosts: Sequence[HostFigures]) -> bool:
    """Whether there are figures to answer with."""
    return len(hosts) == 2 if question.kind == "pair" else bool(hosts)


def _recommend(question: Question, hosts: Sequence[HostFigures]) -> Result:
    policy, catalogue = policies()[question.policy], cipher_catalogue()
    ciphers = [host.ciphers for host in hosts]
    first, last = ciphers[0], ciphers[-1]
    if question.kind == "host":
        return recommend(first, policy, catalogue)
    if question.kind == "group":
        return recommend_group(ciphers, policy, catalogue)
    link = None if question.link is None else link_payload(question.link)
    return recommend_pair(first, last, policy, catalogue, link)


def _places(hosts: Sequence[HostFigures], result: Result | None) -> tuple[Place, ...]:
    method = result.method if result else None
    return tuple(
        replace(one, doubtful=tuple((one.cipher, method) in host.doubtful for host in hosts))
        for one in _bare_places(hosts, result)
    )


def _bare_places(hosts: Sequence[HostFigures], result: Result | None) -> tuple[Place, ...]:
    match result:
        case Recommendation():
            return tuple(_host_place(one) for one in result.order)
        case PairRecommendation():
            rates = [host.ciphers.by(result.method) for host in hosts]
            return tuple(
                _pair_place(one, tuple(by[one.cipher] for by in rates)) for one in result.order
            )
        case GroupRecommendation():
            return tuple(
                Place(one.cipher, one.assessment, one.reason, share=one.share)
                for one in result.order
            )
    return ()


def _host_place(one: RankedCipher) -> Place:
    rate = one.rate
    return Place(
        cipher=one.cipher,
        assessment=one.assessment,
        reason=one.reason,
        median=rate.median,
        low=rate.least,
        high=rate.most,
        rates=(rate,),
        gain=one.gain,
        slower_than_default=one.slower_than_default,
        ahead_of=one.ahead_of,
        in_client=one.in_client,
        in_server=one.in_server,
    )


def _pair_place(one: PredictedCipher, rates: tuple[CipherRate, ...]) -> Place:
    """With the links that the two hosts fill, whatever link was asked for."""
    return Place(
        cipher=one.cipher,
        assessment=one.assessment,
        reason=one.reason,
        median=one.rate,
        low=one.least,
        high=one.most,
        rates=rates,
        gain=one.gain,
        slower_than_default=one.slower_than_default,
        ahead_of=one.ahead_of,
        limited_by=one.limited_by,
        fills=saturated_links(min(end.least for end in rates), min(end.most for end in rates)),
    )


def _today(hosts: Sequence[HostFigures], result: Result | None) -> Today:
    match result:
        case Recommendation():
            return Today(result.default_cipher, result.default, result.gain, result.gain_unknown)
        case PairRecommendation():
            default = hosts[0].ciphers.default_cipher
            return Today(default, None, result.gain, result.gain_unknown)
        case GroupRecommendation():
            return Today(gain_of_hosts=result.gain)
    return Today()


def _faster(unranked: Sequence[UnrankedCipher]) -> tuple[UnrankedCipher, ...]:
    faster = [one for one in unranked if one.is_faster]
    return tuple(sorted(faster, key=lambda one: (-(one.rate or 0), one.cipher)))


def _caution(
    hosts: Sequence[HostFigures], method: Method | None, places: Sequence[Place], today: Today
) -> str | None:
    """Why to measure again before following the advice; None where there is none to follow."""
    if not places:
        return None
    turned_on = [places[0].cipher, *([today.cipher] if today.cipher else [])]
    # Of a group one noisy host among many decides nothing.
    noise_counts = places[0].share is None
    return caution_in_words(hosts, method, turned_on if noise_counts else ())


def _losses(hosts: Sequence[HostFigures], result: Result | None) -> tuple[Loss, ...]:
    if not isinstance(result, GroupRecommendation) or not result.losses:
        return ()
    return tuple(Loss(host, loss) for host, loss in zip(hosts, result.losses, strict=True))


def _left_out(question: Question, names: Names, hosts: Sequence[HostFigures]) -> LeftOut:
    """The hosts of a group that say nothing; whoever named all of them needs no query."""
    if question.kind != "group":
        return LeftOut()
    if set(question.selection.filters) != {"host"}:
        return hosts_left_out(question.selection)
    silent = sorted(names[key][0] for key in set(names) - {host.key for host in hosts})
    return LeftOut(len(silent), tuple(silent[:NAMED_AT_MOST]))


def _nothing(
    question: Question,
    names: Names,
    hosts: Sequence[HostFigures],
    result: Result | None,
) -> str:
    """Why there is no order, in a sentence."""
    by = f" by the method {question.selection.method}" if question.selection.method else ""
    period = " in this period" if question.selection.since or question.selection.until else ""
    figures = f"figures of plain ssh on its loopback{by}{period}"
    if result is None and question.kind == "group":
        return f"No host that fits this selection has {figures}."
    if result is None:
        silent = [names[key][0] for key in names if key not in {host.key for host in hosts}]
        return f"{' and '.join(silent)} {'has' if len(silent) == 1 else 'have'} no {figures}."
    if question.kind == "host":
        measured = f"{hosts[0].ciphers.name} has and measured"
        return f"The policy {question.policy} allows none of the ciphers that {measured}."
    return (
        f"There is no cipher that the policy {question.policy} allows and that all of these "
        "hosts have and measured by one method."
    )


def _as_of(question: Question, runs: Sequence[HostRun], now: datetime) -> datetime | None:
    """Up to when runs count at the address of these figures; a run without a date has no such."""
    started = [run.started_at for run in runs]
    if question.selection.until or None in started:
        return question.selection.until
    # The clock of a host may be ahead of ours.
    return max([now.replace(microsecond=0), *(moment for moment in started if moment)])


def _subject(question: Question, hosts: Sequence[HostFigures]) -> str:
    """Whom the configuration is for, in words."""
    if question.kind == "pair":
        return " to ".join(host.ciphers.name for host in hosts)
    if question.kind == "host":
        return hosts[0].ciphers.name if hosts else ""
    filters = [
        f"{name} {value}"
        for name, values in question.selection.filters.items()
        for value in (values if name != "host" else ())
    ]
    counted = f"{len(hosts)} host{'' if len(hosts) == 1 else 's'}"
    return counted + (f" ({', '.join(filters)})" if filters else "")


def _configuration(
    places: Sequence[Place],
    hosts: Sequence[HostFigures],
    evidence: Evidence,
    server_names: Sequence[str] | None,
) -> Configuration:
    """The client's text is that of the first host, or for a group of its oldest ssh.

    `server_names`: of a pair, whose connections alone the client's text is about.
    """
    if not places:
        return Configuration()
    client, server = hosts[0].ciphers, hosts[-1].ciphers
    if places[0].share is not None:
        client = min((host.ciphers for host in hosts), key=_age)
    return Configuration(
        client_configuration(places, client, cipher_catalogue(), evidence, server_names),
        server_configuration(places, server, cipher_catalogue(), evidence),
    )


def _age(host: HostCiphers) -> tuple[bool, tuple[int, ...]]:
    """Sorts the oldest known OpenSSH first."""
    version = openssh_version(host.client)
    return (version is None, version or ())
