"""Rounds of tries of ssh and of openssl: how many, and how long each lasts."""

import collections
import random
from functools import partial
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ciphermark_agent import openssl as speed
from ciphermark_agent import tries
from ciphermark_agent.common import Json, Progress, rate, shell_words, verbose
from ciphermark_agent.openssl import Asked, SpeedAbilities, openssl_try
from ciphermark_agent.ssh_connection import Usage
from ciphermark_agent.ssh_protocol import Channel
from ciphermark_agent.ssh_server import PrivateServer, SshEnd
from ciphermark_agent.tries import Depth, Series, Skipped, Tried, failure_of, tries_until_quiet

# Tries last longer where their CPU seconds could not be told otherwise: so many times the least.
# Where a pilot tells too little, a byte costs at least so much (the fastest AES-GCM).
WANTED_TIMES = 1.5
LEAST_CPU_SECONDS_A_BYTE = 0.5e-9
LONGEST_TIMES = 2.0  # ... or twice as many after a short pilot, for 3DES on slow boards
METHODS = ("steady", "pipeline")
MOST_FAILURES = 2  # one after the other, then a channel is given up
# Typical wall seconds of a connection, the first one (with the making of the keys) and a warm-up;
# only for the printed estimate.
CONNECT_SECONDS, FIRST_SECONDS, PILOT_SECONDS = 0.25, 0.55, 0.4
MASK_MIN_EFFECT = 1.1
NOT_REACHED = "not tried: interrupted"  # reason of what a signal left out


class Context(NamedTuple):
    """What the plans of a run have in common."""

    depth: Depth
    skipped: Skipped
    progress: Progress


class Plan:
    """Steps of the run: a label each, the seconds that it is expected to take, and what does it."""

    def __init__(self, context: Context) -> None:
        self.depth, self.skipped, self.progress = context
        self.steps: List[Tuple[str, float, Callable[[], None]]] = []
        self.series: Dict[Any, Series] = collections.OrderedDict()
        self.failures: Dict[Any, int] = collections.Counter()
        self.reasons: Dict[Any, str] = {}

    def cost(self) -> Tuple[int, float]:
        return len(self.steps), sum(seconds for _, seconds, _ in self.steps)

    def take_steps(self) -> None:
        for label, seconds, step in self.steps:
            self.progress.step(label, seconds)
            step()

    def attempt(self, kind: Any, step: str, attempt: Callable[[Any], None]) -> None:
        """One try; none after two failures of its kind, one after the other."""
        if self.failures[kind] >= MOST_FAILURES:
            return
        reason = failure_of(attempt, kind)
        self.failures[kind] = self.failures[kind] + 1 if reason else 0
        if reason:
            self.reasons[kind, step] = reason
            verbose("%s %s: %s" % (kind.in_words(), step, reason))


class SshPlan(Plan):
    """All tries of one far end: rounds over its channels in a new random order each."""

    def __init__(self, server: SshEnd, channels: Sequence[Channel], context: Context) -> None:
        super().__init__(context)
        self.server = server
        self.channels = channels
        self.cpus: Optional[Tuple[int, int]] = None  # of the steady tries: client's and server's
        self.default_cipher: Optional[str] = None
        self.budget = tries.Budget(self.depth.repeat_seconds)
        for channel in channels:
            for method in METHODS:
                self.series[channel, method] = ssh_series(channel, method, server.target)
        self.pilots: Dict[Channel, List[Tried]] = collections.defaultdict(list)
        self.rates: Dict[Channel, float] = {}
        self.where = ("ssh to " + server.label) if server.label else "ssh"
        self.add_steps()

    def add_steps(self) -> None:
        self.steps = [(self.where + ", first connection", FIRST_SECONDS, self.connect)]
        for channel in list(self.channels) * self.server.pilots:
            label = "ssh %s: warm-up" % channel.in_words()
            step = partial(self.attempt, channel, "warm-up", self.pilot)
            self.steps.append((label, PILOT_SECONDS, step))
        methods = (
            ("steady", self.steady, self.server.warm_up_seconds + self.depth.steady_seconds),
            ("pipeline", self.pipeline, self.depth.pipeline_seconds),
        )
        for number in range(self.depth.tries):
            for channel in random.sample(self.channels, len(self.channels)):
                for method, attempt, seconds in methods:
                    words = (channel.in_words(), method, number + 1, self.depth.tries)
                    label = "ssh %s: %s, round %d of %d" % words
                    step = partial(self.turn, channel, method, attempt)
                    self.steps.append((label, CONNECT_SECONDS + seconds, step))

    def run(self) -> None:
        reason = failure_of(self.measure)
        if reason:
            self.progress.note("%s is not measured: %s" % (self.where, reason))
            steps, seconds = self.cost()
            self.progress.plan(1 - steps, FIRST_SECONDS - seconds)
            self.reasons.update(((channel, "warm-up"), reason) for channel in self.channels)

    def measure(self) -> None:
        with self.server:
            self.take_steps()

    def connect(self) -> None:
        self.server.prepare()
        self.default_cipher = self.server.first_connection().cipher

    def turn(self, channel: Channel, method: str, attempt: Callable[[Channel], None]) -> None:
        """One try, unless its series needs no more of them."""
        if channel in self.rates and not self.series[channel, method].complete(self.depth.stable):
            self.attempt(channel, method, attempt)

    def show(self, lines: List[str]) -> Series:
        """In a dry run: what prepares the server, tries by either method; a series without any."""
        lines += ["", "# %s, %d tries of each method" % (self.where, self.depth.tries)]
        failure_of(self.server.prepare)
        feed = shell_words(tries.dd_command(0)).replace("count=0", "count=COUNT")
        for channel in self.channels:
            lines.append(
                "# pipeline for %g s, steady for %g s:"
                % (self.depth.pipeline_seconds, self.depth.steady_seconds)
            )
            if isinstance(self.server, PrivateServer):
                lines.append(shell_words(self.server.server_command(channel)))
            typed = shell_words(self.server.command(channel, 0)).replace("-p 0 ", "-p PORT ")
            lines += ["%s | %s" % (feed, typed), typed + " <SPARSE_FILE"]
        series = next(iter(self.series.values()))
        nothing = Tried(0, 0.0, 0, Usage(0.0, 0.0, 0.0, None), None)
        series.samples = [dict.fromkeys(tries.ssh_sample(nothing, tries.reference_of([nothing])))]
        return series

    def results(self) -> List[Series]:
        """What has been measured, also when the run ends early; why the rest has not."""
        for channel in self.channels:
            missing = [name for name in METHODS if not self.series[channel, name].samples]
            reasons = [self.reasons.get((channel, step)) for step in missing + ["warm-up"]]
            reason = next(filter(None, reasons), NOT_REACHED)
            if len(missing) == 1:
                reason = "%s: %s" % (missing[0], reason)
            if missing:
                part = (self.server.label + " " + channel.beyond_cipher()).strip()
                self.skipped.add("ssh", channel.cipher or "", reason, part)
        return [series for series in self.series.values() if series.samples]

    def pilot(self, channel: Channel) -> None:
        """A warm-up connection: the first one's rate sizes the first try."""
        mib = tries.pilot_mib(channel, bool(self.server.label))
        pilot = tries.pipeline_try(self.server, channel, mib)
        self.pilots[channel].append(pilot)
        if channel in self.rates:
            return
        self.rates[channel] = pilot.moved / pilot.seconds
        for method in METHODS:
            facts = self.series[channel, method].facts
            facts["negotiated"] = dict(self.server.negotiated._asdict())
            facts["pinned"] = method == "steady" and self.cpus is not None
            facts["reference_bytes"] = pilot.total  # CPU seconds of so much are off each sample's
            if self.server.label:
                facts["server"] = self.server.version

    def try_seconds(self, channel: Channel, seconds: float) -> float:
        """These seconds; more where too little CPU time would be in them to tell its cost."""
        if self.server.label:  # a line is slow whatever the CPU does
            return seconds
        pilot = tries.reference_of(self.pilots[channel])
        cost = (pilot.client_cpu - self.server.connection_cpu) / pilot.total
        beyond = WANTED_TIMES * pilot.least_cpu() / max(cost, LEAST_CPU_SECONDS_A_BYTE)
        longest = LONGEST_TIMES * seconds * (2 if pilot.is_short() else 1)
        return max(seconds, min(longest, (pilot.total + beyond) / self.rates[channel]))

    def steady(self, channel: Channel) -> None:
        def attempt() -> Json:
            seconds = self.try_seconds(channel, self.depth.steady_seconds)
            tried = tries.steady_try(self.server, channel, seconds, self.cpus)
            return tries.ssh_sample(tried, tries.reference_of(self.pilots[channel]))

        series = self.series[channel, "steady"]
        tries_until_quiet(attempt, self.budget, series.samples)
        if not self.series[channel, "pipeline"].samples:
            # The pilot is too short to tell a fast cipher's rate: a pipeline reaches about 3/4
            # of the steady rate, so that the first try lasts about as long as the others.
            self.rates[channel] = max(self.rates[channel], 0.75 * rate(series.samples[-1]))

    def pipeline(self, channel: Channel) -> None:
        def attempt() -> Json:
            seconds = self.try_seconds(channel, self.depth.pipeline_seconds)
            mib = tries.sized_mib(self.rates[channel], seconds)
            tried = tries.pipeline_try(self.server, channel, mib)
            return tries.ssh_sample(tried, tries.reference_of(self.pilots[channel]))

        series = self.series[channel, "pipeline"]
        tries_until_quiet(attempt, self.budget, series.samples)
        self.rates[channel] = series.median()


def ssh_series(channel: Channel, method: str, target: Json) -> Series:
    return Series(
        "ssh",
        channel.cipher or "",
        mac=channel.mac,
        compression=channel.compression,
        negotiated=None,
        method=method,
        pinned=False,
        target=target,
        reference_bytes=None,
    )


def openssl_series(asked: Asked) -> Series:
    return Series(
        "openssl",
        asked.cipher,
        asked.acceleration,
        operation=asked.operation,
        block_size=asked.block_size,
        threads=asked.threads,
        timing="cpu" if asked.threads == 1 else "elapsed",
    )


def openssl_rounds(
    depth: Depth,
    able: SpeedAbilities,
    ciphers: Sequence[str],
    masked: Sequence[str] = (),
    threads: int = 1,
) -> List[List[Asked]]:
    """The tries of each round: one block size in all, the others and decryption in the first.

    A version without -seconds measures all block sizes at every call, for 15 s: one round.
    """
    block = speed.OPENSSL_BLOCK if able.seconds else None
    often = [Asked(cipher, block_size=block) for cipher in ciphers]
    often += [Asked(cipher, "masked", block_size=block) for cipher in masked]
    if threads > 1:
        often += [Asked(cipher, block_size=block, threads=threads) for cipher in ciphers]
    once: List[Asked] = []
    if able.seconds:
        size = speed.OPENSSL_OLD_BLOCK if depth.name == "quick" else None
        once += [Asked(cipher, block_size=size) for cipher in ciphers]
    if depth.name != "quick":
        size = None if depth.name == "thorough" else block
        once += [Asked(cipher, operation="decrypt", block_size=size) for cipher in ciphers]
    return [often + once] + [often] * (depth.tries - 1 if able.seconds else 0)


class OpensslPlan(Plan):
    """Rounds over all that is asked, in a new random order each."""

    def __init__(
        self,
        openssl: str,
        able: SpeedAbilities,
        rounds: Sequence[Sequence[Asked]],
        mask: Optional[Tuple[str, str]],
        context: Context,
    ) -> None:
        super().__init__(context)
        self.openssl = openssl
        self.mask = mask
        self.able = able
        self.rounds = rounds
        for number, order in enumerate(rounds):
            for asked in random.sample(order, len(order)):
                words = (asked.in_words(), number + 1, len(rounds))
                label = "openssl %s, round %d of %d" % words
                self.steps.append((label, self.try_cost(asked), partial(self.turn, asked)))

    def try_cost(self, asked: Asked) -> float:
        if not self.able.seconds:
            return 5.0 * speed.OPENSSL_OLD_SECONDS
        sizes = 1 if asked.block_size else len(speed.OPENSSL_SIZES)
        return 0.05 + self.depth.openssl_seconds * sizes

    def run(self) -> None:
        self.take_steps()

    def turn(self, asked: Asked) -> None:
        """One try, unless its series needs no more of them."""
        if asked not in self.series or not self.series[asked].complete(self.depth.stable):
            self.attempt(asked.any_size(), "", lambda _: self.measure(asked))

    def measure(self, asked: Asked) -> None:
        seconds = self.depth.openssl_seconds
        found = openssl_try(self.openssl, asked, seconds, self.able, self.mask)
        for block_size, sample in found.items():
            key = asked._replace(block_size=block_size)
            if key not in self.series:
                self.series[key] = openssl_series(key)
                if self.mask and asked.acceleration == "masked":
                    self.series[key].facts["mask"] = "=".join(self.mask)
            self.series[key].samples.append(sample)

    def show(self, lines: List[str]) -> Series:
        """In a dry run: the commands of the first round, and a series without figures."""
        lines += ["", "# openssl, the first of %d rounds" % len(self.rounds)]
        for asked in self.rounds[0]:
            failure_of(self.measure, asked)
        series = openssl_series(self.rounds[0][0])
        series.samples = [dict.fromkeys(("bytes", "seconds", "foreign_cpu"))]
        return series

    def results(self) -> List[Series]:
        """All series, less masked ones that tell nothing, also when the run ends early."""
        measured = {asked.any_size() for asked in self.series}
        for kind in [asked.any_size() for asked in self.rounds[0]]:
            if kind not in measured:
                reason = self.reasons.get((kind, ""), NOT_REACHED)
                self.skipped.add("openssl", kind.cipher, reason, kind.beyond_cipher())
        kept = []
        for asked in sorted(self.series, key=str):
            plain = self.series.get(asked._replace(acceleration="default"))
            fault = mask_fault(plain, self.series[asked]) if asked.acceleration == "masked" else ""
            if fault:
                self.skipped.add("openssl", asked.cipher, fault)
            else:
                kept.append(self.series[asked])
        return kept


def mask_fault(plain: Optional[Series], masked: Series) -> str:
    """Why a masked series is no measurement of software AES; empty when it is one.

    The effect of a mask is a ratio: without a plain series nothing can be said of it.
    """
    if plain is None:
        return "without the mask there is no figure to compare with"
    return "mask had no effect" if plain.median() < MASK_MIN_EFFECT * masked.median() else ""
