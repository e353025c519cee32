"""Recommend ssh ciphers for connections (docs/method.md, section 7).

For a client and a server, consider the connection from client to server. For a single host,
consider a connection to an identical host. For a group, consider one connection for each host, to
an identical host.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from statistics import geometric_mean
from typing import NamedTuple, get_args
from uuid import UUID

from cipherspeed.cipher_catalogue import (
    STATUSES,
    Assessment,
    Cipher,
    Policy,
    cipher_catalogue,
    openssh_release,
    openssh_version,
)
from cipherspeed.summary import MEDIAN_TO_MEAN, NOISY_MINIMUM_TRIES, NOISY_SPREAD
from cipherspeed.types import Method

SMALLEST_NOISE = 0.01
"""Minimum noise of a median, as a fraction."""

LARGEST_NOISE = 0.9

LARGEST_MARGIN = NOISY_SPREAD
"""Maximum noise for the test of ties, as a fraction. Tied ciphers differ by at most a tenth."""

LINKS: Mapping[str, float] = {"1 GbE": 1e9, "2.5 GbE": 2.5e9, "10 GbE": 10e9, "25 GbE": 25e9}
"""Bit rates of network links in bits per second, by name."""

PAYLOAD_OF_FRAME = 1448 / 1538
"""Fraction of an Ethernet frame that is TCP payload (IEEE 802.3, RFC 7323).

Payload: MTU of 1500 bytes minus 52 bytes for IPv4 and TCP headers with timestamps. Frame: 1500
bytes plus header (14 bytes), checksum (4), preamble (8) and interpacket gap (12).
"""

NAMED_AT_MOST = 3
NOT_MEASURED = "not measured"
"""Prefix of the reason if a cipher has no rank only because the cipher was not measured."""


def link_payload(bits_per_second: float) -> float:
    """Return the maximum TCP throughput of an Ethernet link in bytes per second."""
    return bits_per_second / 8 * PAYLOAD_OF_FRAME


class Speed(NamedTuple):
    """Store the median speed of a cipher, and bounds of the median, in bytes per second."""

    median: float
    low: float  # for ties
    high: float
    least: float  # due to noise
    most: float


def slowest(speeds: Iterable[Speed], payload: float = math.inf) -> Speed:
    """Return the minimum of the speeds and the payload of the link, in bytes per second.

    The minimum is computed separately for the median and for each bound.
    """
    return Speed(*(min(*column, payload) for column in zip(*speeds, strict=True)))


def mean_speed(speeds: Sequence[Speed]) -> Speed:
    """Return the geometric mean of the speeds.

    The errors are assumed to be independent: the squares of the relative errors are added.
    """
    if len(speeds) == 1:
        return speeds[0]
    median = geometric_mean([speed.median for speed in speeds])

    def bound(name: str, sign: int) -> float:
        parts = (getattr(speed, name) / speed.median - 1 for speed in speeds)
        return median * (1 + sign * math.hypot(*parts) / len(speeds))

    return Speed(median, bound("low", -1), bound("high", 1), bound("least", -1), bound("most", 1))


@dataclass(frozen=True)
class Rate:
    """Store the result of a cipher in one run. The host was both client and server.

    `median`: bytes per second. `spread`: a fraction. `cpu_seconds_per_gb`: client plus server.
    `conditions`: descriptions of disturbances during the run.
    """

    cipher: str
    method: Method
    median: float
    n: int
    spread: float
    cpu_seconds_per_gb: float | None = None
    run_id: UUID | None = None
    started_at: datetime | None = None
    conditions: tuple[str, ...] = ()

    @property
    def noise(self) -> float:
        """Return twice the standard error of the median: 2 * 1.2533 * s / sqrt(n), as a fraction.

        s is the spread and n the number of tries. The result is at least 1 % and at most 90 %. For
        fewer than three tries, the spread is unknown, and the result is 5 %.
        """
        if self.n < NOISY_MINIMUM_TRIES:
            return LARGEST_MARGIN
        error = 2 * MEDIAN_TO_MEAN * self.spread / math.sqrt(self.n)
        return min(max(error, SMALLEST_NOISE), LARGEST_NOISE)

    @property
    def noisy(self) -> bool:
        return self.n >= NOISY_MINIMUM_TRIES and self.spread > NOISY_SPREAD

    @property
    def doubtful(self) -> bool:
        return self.noisy or bool(self.conditions)

    @cached_property
    def speed(self) -> Speed:
        tie, noise = min(self.noise, LARGEST_MARGIN), self.noise
        return Speed(
            self.median, *(self.median * (1 + part) for part in (-tie, tie, -noise, noise))
        )


@dataclass(frozen=True)
class MeasuredHost:
    """Store the results and the OpenSSH versions of a host in one environment.

    `client`, `server`: output of `ssh -V`. `not_offered`: ciphers that ssh or sshd did not offer.
    `acceleration`, `advice`: AES verdict of the latest run, and advice to the user.
    """

    id: int
    key: str
    name: str
    rates: tuple[Rate, ...] = ()
    client: str | None = None
    server: str | None = None
    default_cipher: str | None = None
    not_offered: frozenset[str] = frozenset()
    acceleration: str = "unknown"
    advice: str = ""

    @cached_property
    def _by_method(self) -> dict[Method, dict[str, Rate]]:
        return {
            method: {rate.cipher: rate for rate in self.rates if rate.method == method}
            for method in get_args(Method)
        }

    def by(self, method: Method | None) -> dict[str, Rate]:
        """Return the rates that were measured with this method, by cipher."""
        return self._by_method[method] if method else {}

    def has(self, cipher: Cipher, release: str | None) -> bool:
        """Return whether ssh or sshd of a release supports the cipher.

        A cipher is supported if the host measured the cipher. If the release is unknown, no other
        cipher is supported.
        """
        if any(cipher.name in rates for rates in self._by_method.values()):
            return True
        version = openssh_version(release)
        if version is None or cipher.openssh is None or cipher.name in self.not_offered:
            return False
        return cipher.openssh.present.contains(version)


Connection = tuple[MeasuredHost, MeasuredHost]
"""Client and server of an ssh connection. Both can be the same host."""


@dataclass(frozen=True)
class Gain:
    """Compare the speed of a cipher with the speed of the cipher `over`.

    `over`: None means the default cipher of each host. `lowest`, `highest`: bounds of the ratio due
    to noise. `hosts`: number of hosts that measured both ciphers. `slower_on`: names of hosts on
    which the first cipher is slower by more than the noise.
    """

    over: str | None
    ratio: float
    lowest: float
    highest: float
    hosts: int
    slower_on: tuple[str, ...] = ()
    cpu_seconds_saved_per_gb: float | None = None

    @property
    def slower(self) -> int:
        return len(self.slower_on)

    @property
    def percent(self) -> float:
        return (self.ratio - 1) * 100

    @property
    def beyond_noise(self) -> bool:
        return self.lowest > 1 or self.highest < 1


def compared(
    over: str | None,
    pairs: Sequence[tuple[str, Speed, Speed]],
    cpu_saved: float | None = None,
) -> Gain:
    """Return the gain of the first speed over the second speed, as a mean over all hosts.

    `pairs`: (host name, first speed, second speed).
    """
    if all(then is today for _, then, today in pairs):
        return Gain(over, 1.0, 1.0, 1.0, len(pairs), cpu_seconds_saved_per_gb=cpu_saved)
    then = mean_speed([then for _, then, _ in pairs])
    today = mean_speed([today for _, _, today in pairs])
    return Gain(
        over,
        then.median / today.median,
        then.least / today.most,
        then.most / today.least,
        len(pairs),
        tuple(host for host, then, today in pairs if then.most < today.least),
        cpu_saved,
    )


@dataclass(frozen=True)
class RankedCipher:
    cipher: str
    assessment: Assessment
    speed: Speed
    share: float | None  # of the speed of each host's best cipher; only for a group
    gain: Gain | None  # over the default; None if no host measured the default
    slower_than_default: str | None  # why the cipher precedes a faster default
    ahead_of: str | None  # the fastest of the faster ciphers with a lower rank
    reason: str
    rates: tuple[Rate, ...] = ()  # of client and server; empty for a group
    limited_by: str | None = None  # "client", "server" or "link"
    fills: tuple[str, ...] = ()  # saturated links, such as "1 GbE"; empty for a group


@dataclass(frozen=True)
class Excluded:
    cipher: str
    reason: str
    rate: float | None  # bytes per second, if measured
    over_first: Gain | None  # over the recommended cipher, if measured

    @property
    def is_faster(self) -> bool:
        return self.over_first is not None and self.over_first.ratio > 1


@dataclass(frozen=True)
class Loss:
    """Compare the best cipher for a single host with the recommended cipher for the group.

    Rates are in bytes per second.
    """

    host: MeasuredHost
    own_best: str
    own_best_rate: float
    common_rate: float

    @property
    def loss(self) -> float:
        """Return the speed that the host loses with the recommended cipher, as a fraction.

        The result is negative if the best cipher for the host is slower but more secure.
        """
        return 1 - self.common_rate / self.own_best_rate


@dataclass(frozen=True)
class Recommendation:
    method: Method | None = None
    order: tuple[RankedCipher, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    default: str | None = None  # of the clients; None if their defaults differ
    losses: tuple[Loss, ...] = ()  # only for a group

    @property
    def gain(self) -> Gain | None:
        return self.order[0].gain if self.order else None

    @property
    def gain_unknown(self) -> str | None:
        if not self.order:
            return "no cipher can be recommended"
        unknown = f"the default, {self.default}, was not measured"
        unknown = unknown if self.default else "no run reports the default cipher"
        return None if self.gain else unknown

    @property
    def faster(self) -> list[Excluded]:
        faster = [entry for entry in self.excluded if entry.is_faster]
        return sorted(faster, key=lambda entry: (-(entry.rate or 0), entry.cipher))

    @property
    def unmeasured(self) -> list[str]:
        measurable = (entry for entry in self.excluded if entry.reason.startswith(NOT_MEASURED))
        return [entry.cipher for entry in measurable] if self.order else []


def recommend(
    connections: Sequence[Connection], policy: Policy, link: float | None = None
) -> Recommendation:
    """Rank the ciphers that the policy allows and that all hosts support and have measured.

    Of the two ssh methods, use the method with more ranked ciphers. `link`: bits per second of the
    network between client and server, or None for no limit.
    """
    if not connections:
        return Recommendation()
    payload = math.inf if link is None else link_payload(link)
    rankings = [_Ranking(connections, policy, method, payload) for method in get_args(Method)]
    return max(rankings, key=lambda ranking: len(ranking.order)).recommendation()


@dataclass(frozen=True)
class _Candidate:
    cipher: Cipher
    assessment: Assessment
    speed: Speed
    unlimited: float  # bytes per second, regardless of the link

    @property
    def preference(self) -> tuple[tuple[int, int, int], float, float, str]:
        return self.cipher.strength, -self.speed.median, -self.unlimited, self.cipher.name


def _in_order(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    ordered: list[_Candidate] = []
    left = list(candidates)
    while left:
        safest = min(STATUSES.index(candidate.assessment.status) for candidate in left)
        rivals = [rival for rival in left if rival.assessment.status == STATUSES[safest]]
        # A cipher is tied with the fastest if its upper bound reaches the highest lower bound.
        certain = max(rival.speed.low for rival in rivals)
        tied = [rival for rival in rivals if rival.speed.high >= certain]
        ordered.append(min(tied, key=lambda candidate: candidate.preference))
        left.remove(ordered[-1])
    return ordered


@dataclass(frozen=True)
class _Ranking:
    connections: Sequence[Connection]
    policy: Policy
    method: Method
    payload: float = math.inf  # of the link, in bytes per second

    def recommendation(self) -> Recommendation:
        first = self.order[0].cipher.name if self.order else ""
        return Recommendation(
            method=self.method,
            order=tuple(self._place(number) for number in range(len(self.order))),
            excluded=tuple(self._excluded(*each, first) for each in self.reasons.items()),
            default=self._default,
            losses=tuple(
                Loss(client, own.cipher.name, own.speed.median, by_cipher[first].median)
                for (client, _), own, by_cipher in zip(
                    self.connections, self._best_of_each_host, self._speeds, strict=False
                )
            ),
        )

    @cached_property
    def _speeds(self) -> list[dict[str, Speed]]:
        """Return the speed of each cipher, with one mapping for each connection.

        A mapping contains only the ciphers that both client and server measured.
        """
        return [
            {
                name: slowest((rate.speed, theirs[name].speed), self.payload)
                for name, rate in client.by(self.method).items()
                if name in theirs
            }
            for client, server in self.connections
            for theirs in [server.by(self.method)]
        ]

    @cached_property
    def _candidates(self) -> dict[str, _Candidate]:
        return {
            cipher.name: _Candidate(
                cipher,
                self._worst_assessment(cipher)[0],
                mean_speed([by_cipher[cipher.name] for by_cipher in self._speeds]),
                min(end.by(self.method)[cipher.name].median for end in self.connections[0]),
            )
            for cipher in cipher_catalogue().ciphers
            if cipher.tool == "ssh" and all(cipher.name in each for each in self._speeds)
        }

    @cached_property
    def order(self) -> list[_Candidate]:
        candidates = self._candidates.items()
        return _in_order(candidate for name, candidate in candidates if name not in self.reasons)

    @cached_property
    def _best_of_each_host(self) -> list[_Candidate]:
        if len(self.connections) == 1 or not self.order:
            return []
        return [
            _Ranking([connection], self.policy, self.method).order[0]
            for connection in self.connections
        ]

    @cached_property
    def _default(self) -> str | None:
        defaults = {client.default_cipher for client, _ in self.connections}
        return defaults.pop() if len(defaults) == 1 else None

    def _worst_assessment(self, cipher: Cipher) -> tuple[Assessment, Connection]:
        by_releases = {(each[0].client, each[1].server): each for each in self.connections}
        assessed = ((cipher.assess(*ends), each) for ends, each in by_releases.items())
        return max(assessed, key=lambda pair: STATUSES.index(pair[0].status))

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Return why a cipher has no rank, by cipher. Omit ciphers that no host supports."""
        known = [cipher for cipher in cipher_catalogue().ciphers if cipher.tool == "ssh"]
        reasons = {cipher.name: self._reason_against(cipher) for cipher in known}
        measured = {name for client, _ in self.connections for name in client.by(self.method)}
        for name in measured - reasons.keys():
            reasons[name] = "not in the cipher catalogue, so its security is unknown"
        return {name: reasons[name] for name in sorted(reasons) if reasons[name]}

    def _reason_against(self, cipher: Cipher) -> str:
        ends = [
            (host, release)
            for client, server in self.connections
            for host, release in ((client, client.client), (server, server.server))
        ]
        lacking = [host.name for host, release in ends if not host.has(cipher, release)]
        if len(lacking) == len(ends):
            return ""
        if lacking:
            return f"not supported by OpenSSH on {_names(lacking)}"
        if self._worst_assessment(cipher)[0].status not in self.policy.statuses:
            return f"the {self.policy.name} policy excludes it{self._because(cipher)}"
        missing = [host.name for host, _ in ends if cipher.name not in host.by(self.method)]
        return f"{NOT_MEASURED} on {_names(missing)}" if missing else ""

    def _because(self, cipher: Cipher) -> str:
        """Return text such as " because of Terrapin (OpenSSH 9.2 on nas)"."""
        assessment, (client, server) = self._worst_assessment(cipher)
        for advisory in cipher.advisories:
            affected = advisory.affected_ends(client.client, server.server)
            if affected and advisory.assessment == assessment:
                hosts = {"client": client.name, "server": server.name}
                ends = [
                    f"{openssh_release(text)} on {hosts[end]}"
                    if openssh_version(text)
                    else f"the OpenSSH {end} version on {hosts[end]} is unknown; to record it, "
                    "measure SSH there with the agent"
                    for end, text in affected.items()
                ]
                return f" because of {advisory.name} ({' and '.join(dict.fromkeys(ends))})"
        return f" because it is rated {assessment.status}"

    def _place(self, number: int) -> RankedCipher:
        candidate, later = self.order[number], self.order[number + 1 :]
        name = candidate.cipher.name
        gain = self._gain_over_default(name)
        faster = [other for other in later if other.speed.median > candidate.speed.median]
        rival = max(faster, key=lambda other: other.speed.median, default=None)
        why_slower = self._why_before_default(gain, later)
        own = [best.speed.median for best in self._best_of_each_host]
        place = RankedCipher(
            cipher=name,
            assessment=candidate.assessment,
            speed=candidate.speed,
            share=candidate.speed.median / geometric_mean(own) if own else None,
            gain=gain,
            slower_than_default=why_slower,
            ahead_of=rival.cipher.name if rival else None,
            reason=self._reason(candidate, gain, why_slower, rival),
        )
        if len(self.connections) > 1:
            return place
        rates = [host.by(self.method)[name] for host in dict.fromkeys(self.connections[0])]
        least = candidate.speed.least
        fills = [link for link, bits in LINKS.items() if least >= link_payload(bits)]
        parts = {"client": rates[0].median, "server": rates[-1].median, "link": self.payload}
        slowest_part = min(parts, key=lambda part: parts[part]) if len(rates) == 2 else None
        return replace(place, rates=tuple(rates), limited_by=slowest_part, fills=tuple(fills))

    def _gain_over_default(self, name: str) -> Gain | None:
        pairs = [
            (client.name, by_cipher[name], by_cipher[client.default_cipher])
            for (client, _), by_cipher in zip(self.connections, self._speeds, strict=True)
            if client.default_cipher in by_cipher
        ]
        if not pairs:
            return None
        client, server = self.connections[0]
        if self._default is None or len(self.connections) > 1 or client is not server:
            return compared(self._default, pairs)
        rates = client.by(self.method)
        today, then = (rates[each].cpu_seconds_per_gb for each in (self._default, name))
        saved = None if today is None or then is None else today - then
        return compared(self._default, pairs, saved)

    def _why_before_default(self, gain: Gain | None, later: Sequence[_Candidate]) -> str | None:
        default = self._candidates.get(self._default or "")
        if gain is None or gain.highest >= 1 or default is None:
            return None
        why = f"is less secure (rated {default.assessment.status})"
        if default not in later:
            if default.assessment.status in self.policy.statuses:
                return None
            why = f"the {self.policy.name} policy excludes{self._because(default.cipher)}"
        return f"{self._against_default(gain)}, which {why}"

    def _reason(
        self,
        candidate: _Candidate,
        gain: Gain | None,
        why_slower: str | None,
        rival: _Candidate | None,
    ) -> str:
        parts = []
        if gain and gain.over == candidate.cipher.name:
            parts.append(f"the {self._default_of()}")
        elif gain:
            parts.append(why_slower or self._against_default(gain))
            saved = gain.cpu_seconds_saved_per_gb
            if saved:
                less = "fewer" if saved > 0 else "more"
                cost = f"{abs(saved):.2f} {less} CPU seconds per GB"
                parts.append(f"It uses {cost} than the default")
        if rival and not why_slower:
            times, status = rival.speed.median / candidate.speed.median, rival.assessment.status
            why = "less secure and not measurably faster"
            if status != candidate.assessment.status:
                why = f"{times:.2f} times as fast but rated {status}"
            ranked = f"ranked before {rival.cipher.name}, which is {why}"
            parts.append(f"It is {ranked}" if parts else ranked)
        return ". ".join(parts)

    def _against_default(self, gain: Gain) -> str:
        """Return text such as "2.00 times as fast as their default ciphers (noise range …)"."""
        today = "their default ciphers"
        if gain.over:
            # Omit the domain of a private extension.
            today = f"{gain.over.partition('@')[0]}, the {self._default_of()}"
        if gain.highest < 1:
            return f"{-gain.percent:.0f} % slower than {today}"
        limits = f"{gain.lowest:.2f}–{gain.highest:.2f}"
        noise = "" if limits == "1.00–1.00" else f" (noise range {limits})"
        slower = ""
        if gain.slower:
            slower = f", but slower on {gain.slower} of {gain.hosts} hosts"
            if gain.slower <= NAMED_AT_MOST:
                slower += f" ({', '.join(gain.slower_on)})"
        faster = "not measurably faster than"
        faster = f"{gain.ratio:.2f} times as fast as" if gain.beyond_noise else faster
        return f"{faster} {today}{noise}{slower}"

    def _default_of(self) -> str:
        releases = {openssh_version(client.client) for client, _ in self.connections}
        if len(releases) > 1:
            return "default of all hosts"
        return f"{openssh_release(self.connections[0][0].client)} default"

    def _excluded(self, name: str, reason: str, first: str) -> Excluded:
        if any(name not in by_cipher for by_cipher in self._speeds):
            return Excluded(name, reason, None, None)
        rate = mean_speed([by_cipher[name] for by_cipher in self._speeds]).median
        if not first:
            return Excluded(name, reason, rate, None)
        pairs = [
            (client.name, by_cipher[name], by_cipher[first])
            for (client, _), by_cipher in zip(self.connections, self._speeds, strict=True)
        ]
        return Excluded(name, reason, rate, compared(first, pairs))


def _names(hosts: Iterable[str]) -> str:
    """Return text such as "nas and 2 other hosts"."""
    first, *more = dict.fromkeys(hosts)
    hosts = "host" if len(more) == 1 else "hosts"
    return f"{first} and {len(more)} other {hosts}" if more else first
