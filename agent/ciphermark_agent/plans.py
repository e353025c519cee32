"""Rounds of tries of ssh and of openssl: how many, and how long each lasts."""

import collections
import random
from functools import partial
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ciphermark_agent import openssl as speed
from ciphermark_agent import tries
from ciphermark_agent.common import Json, Progress, rate, verbose
from ciphermark_agent.openssl import Asked, SpeedAbilities, openssl_try
from ciphermark_agent.ssh_connection import WARM_UP_SECONDS, PipeSource
from ciphermark_agent.ssh_protocol import Channel
from ciphermark_agent.ssh_server import SshEnd
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

    def cost(self) -> Tuple[int, float]:
        return len(self.steps), sum(seconds for _, seconds, _ in self.steps)

    def take_steps(self) -> None:
        for label, seconds, step in self.steps:
            self.progress.step(label, seconds)
            step()


class SshPlan(Plan):
    """All tries of one far end: rounds over its channels in a new random order each."""

    def __init__(self, server: SshEnd, channels: Sequence[Channel], context: Context) -> None:
        super().__init__(context)
        self.server = server
        self.channels = channels
        self.cpus: Optional[Tuple[int, int]] = None  # of the steady tries: client's and server's
        self.default_cipher: Optional[str] = None
        self.budget = tries.Budget(self.depth.repeat_seconds)
        self.series = collections.OrderedDict(
            ((channel, method), ssh_series(channel, method, server.target))
            for channel in channels
            for method in METHODS
        )
        self.pilots: Dict[Channel, List[Tried]] = collections.defaultdict(list)
        self.rates: Dict[Channel, float] = {}
        self.failures: Dict[Channel, int] = collections.Counter()
        self.reasons: Dict[Tuple[Channel, str], str] = {}
        self.where = ("ssh to " + server.label) if server.label else "ssh"
        self.add_steps()

    def add_steps(self) -> None:
        self.steps = [(self.where + ", first connection", FIRST_SECONDS, self.connect)]
        for channel in list(self.channels) * self.server.pilots:
            label = "ssh %s: warm-up" % channel.in_words()
            step = partial(self.attempt, channel, "warm-up", self.pilot)
            self.steps.append((label, PILOT_SECONDS, step))
        methods = (
            ("steady", self.steady, WARM_UP_SECONDS + self.depth.steady_seconds),
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

    def attempt(self, channel: Channel, step: str, attempt: Callable[[Channel], None]) -> None:
        if self.failures[channel] >= MOST_FAILURES:
            return
        reason = failure_of(attempt, channel)
        self.failures[channel] = self.failures[channel] + 1 if reason else 0
        if reason:
            self.reasons[channel, step] = reason
            verbose("ssh %s, %s: %s" % (channel.in_words(), step, reason))

    def results(self, interrupted: bool = False) -> List[Series]:
        """What has been measured, also when the run ends early; why the rest has not."""
        for channel in self.channels:
            missing = [name for name in METHODS if not self.series[channel, name].samples]
            reasons = [self.reasons.get((channel, step)) for step in missing + ["warm-up"]]
            reasons += [NOT_REACHED if interrupted else "not tried"]
            reason = next(text for text in reasons if text)
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
        series = self.series[channel, "steady"]

        def attempt() -> Json:
            seconds = self.try_seconds(channel, self.depth.steady_seconds)
            tried = tries.steady_try_or_pipe(self.server, channel, seconds, self.cpus)
            series.facts["source"] = "pipe" if self.server.source is PipeSource else "file"
            return tries.ssh_sample(tried, tries.reference_of(self.pilots[channel]))

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


class SpeedWork(NamedTuple):
    """What `openssl speed` is asked: often (once each round), and once in the run."""

    often: List[Asked]
    once: List[Asked]
    rounds: int


def openssl_work(
    depth: Depth,
    able: SpeedAbilities,
    ciphers: Sequence[str],
    masked: Sequence[str] = (),
    threads: int = 1,
) -> SpeedWork:
    """The tries of a depth: one block size often, the others and decryption once.

    A version without -seconds measures all block sizes at every call, for 15 s: once each.
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
    return SpeedWork(often, once, depth.tries if able.seconds else 1)


class OpensslPlan(Plan):
    """Rounds over all that is asked, in a new random order each."""

    def __init__(
        self,
        openssl: str,
        able: SpeedAbilities,
        work: SpeedWork,
        mask: Optional[Tuple[str, str]],
        context: Context,
    ) -> None:
        super().__init__(context)
        self.openssl = openssl
        self.mask = mask
        self.able = able
        self.work = work
        self.failed: Dict[Asked, str] = {}  # of any block size: why it was given up
        self.done: Dict[Asked, int] = collections.Counter()
        self.series: Dict[Asked, Series] = {}
        for number in range(work.rounds):
            order = work.often + (work.once if number == 0 else [])
            for asked in random.sample(order, len(order)):
                words = (asked.in_words(), number + 1, work.rounds)
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
        complete = asked in self.series and self.series[asked].complete(self.depth.stable)
        if asked.any_size() not in self.failed and not complete:
            reason = failure_of(self.attempt, asked)
            if reason:
                self.failed[asked.any_size()] = reason

    def attempt(self, asked: Asked) -> None:
        for block_size, sample in self.samples(asked).items():
            key = asked._replace(block_size=block_size)
            if key not in self.series:
                self.series[key] = openssl_series(key)
                if self.mask and asked.acceleration == "masked":
                    self.series[key].facts["mask"] = "=".join(self.mask)
            self.series[key].samples.append(sample)
        self.done[asked] += 1

    def samples(self, asked: Asked) -> Dict[int, Json]:
        """One call; a version that does not know -mr is asked again for what people read."""
        seconds = self.depth.openssl_seconds
        try:
            return openssl_try(self.openssl, asked, seconds, self.able, self.mask)
        except speed.NoMachineOutput as error:
            verbose("openssl speed without -mr: %s" % error)
            self.able = self.able._replace(machine=False)
            return openssl_try(self.openssl, asked, seconds, self.able, self.mask)

    def explain_gap(self, asked: Asked, wanted: int, interrupted: bool) -> None:
        """Which of the wanted tries there are not, and why."""
        kind, done = asked.any_size(), self.done[asked]
        reason = self.failed.get(kind)
        if reason and kind not in [one.any_size() for one in self.series]:
            self.skipped.add("openssl", asked.cipher, reason, asked.beyond_cipher())
        elif reason and done < wanted:
            words = "%d of %d tries, then it was given up: %s" % (done, wanted, reason)
            self.skipped.add("openssl", asked.cipher, words, asked.part_in_words())
        elif interrupted and not done:
            begun = asked.cipher in [one.cipher for one in list(self.series) + list(self.failed)]
            part = asked.part_in_words() if begun else ""
            self.skipped.add("openssl", asked.cipher, NOT_REACHED, part)

    def results(self, interrupted: bool = False) -> List[Series]:
        """All series, less masked ones that tell nothing, also when the run ends early."""
        for asked in self.work.often + self.work.once:
            wanted = self.work.rounds if asked in self.work.often else 1
            self.explain_gap(asked, wanted, interrupted)
        kept = []
        for asked in sorted(self.series, key=str):
            plain = self.series.get(asked._replace(acceleration="default"))
            masked = asked.acceleration == "masked"
            fault = mask_fault(plain, self.series[asked], interrupted) if masked else ""
            if fault:
                self.skipped.add("openssl", asked.cipher, fault)
            else:
                kept.append(self.series[asked])
        return kept


def mask_fault(plain: Optional[Series], masked: Series, interrupted: bool = False) -> str:
    """Why a masked series is no measurement of software AES; empty when it is one.

    The effect of a mask is a ratio: without a plain series nothing can be said of it.
    """
    if plain is None:
        words = "not tried without the mask: interrupted"
        return words if interrupted else "without the mask there is no figure to compare with"
    if plain.median() < MASK_MIN_EFFECT * masked.median():
        return "mask had no effect"
    return ""
