import collections
import os
import random
import re
import statistics
import time
from functools import partial
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

from ciphermark_agent import ssh_connection
from ciphermark_agent.children import start
from ciphermark_agent.common import MIB, Json, TryFailed, rate, shell_words
from ciphermark_agent.conditions import ForeignWatch
from ciphermark_agent.ssh_connection import (
    Channel,
    Cpus,
    Transfer,
    Usage,
    sparse_file,
    steady_window,
)
from ciphermark_agent.ssh_server import PrivateServer, RemoteHost, SshEnd
from ciphermark_agent.tries import NOT_REACHED, Plan, Series, failure_of

METHODS = ("steady", "pipeline")
Server = Union[PrivateServer, RemoteHost]
# Pilots warm up a cipher. The first determines the size of the tries. The CPU seconds of all are
# the cost of starting a stream: connection, key exchange, and the buffer in sshd that grows over
# the first 8 to 32 MiB (0.1 to 0.2 s). Samples exclude these seconds and the pilots' bytes.
PILOT_MIB = 32
SLOW_PILOT_MIB = 8
SLOW_CIPHERS = ("3des", "blowfish", "cast128")  # 30 to 130 MB/s on any CPU
PIPELINE_MAX_MIB = 64 * 1024
# The pilots' median has an error of about 0.01 s: below this CPU time, that exceeds 5 %.
LEAST_CPU_SECONDS = 0.2
# After an 8 MiB pilot, the buffer still grows during a try. This costs up to a tenth of the
# pilot's CPU time (3DES: 0.08 of 0.84 s), or 5 % of a try that costs twice the pilot.
SHORT_PILOT_TIMES = 2.0
# Tries last longer if their CPU seconds would be too uncertain. The least cost of a byte is that
# of the fastest AES-GCM.
WANTED_TIMES = 1.5
LEAST_CPU_SECONDS_A_BYTE = 0.5e-9
LONGEST_TIMES = 2.0  # doubled after a short pilot, for 3DES on slow boards
# Typical seconds for a connection, the first connection (with its keys) and a warm-up.
CONNECT_SECONDS, FIRST_SECONDS, PILOT_SECONDS = 0.25, 0.55, 0.4


def pilot_mib(channel: Channel, remote: bool = False) -> int:
    slow = remote or (channel.cipher or "").startswith(SLOW_CIPHERS)
    return SLOW_PILOT_MIB if slow else PILOT_MIB


def sized_mib(bytes_per_second: float, seconds: float) -> int:
    return max(SLOW_PILOT_MIB, min(PIPELINE_MAX_MIB, round(bytes_per_second * seconds / MIB)))


def dd_command(mib: str) -> List[str]:
    # The unit of bs is bytes, because BSD and GNU have different names for larger units.
    return ["dd", "if=/dev/zero", "bs=%d" % MIB, "count=" + mib]


def parse_dd(text: str) -> int:
    records = re.search(r"^([0-9]{1,12})\+0 records out", text, re.M)
    return int(records.group(1)) * MIB if records else 0


class Tried(NamedTuple):
    moved: int  # bytes in `seconds`
    seconds: float
    total: int  # bytes that cost `usage`
    usage: Usage
    foreign: Optional[float]


class Reference(NamedTuple):
    total: int  # bytes of each pilot
    client_cpu: float
    server_cpu: Optional[float]

    def is_short(self) -> bool:
        return self.server_cpu is not None and self.total < PILOT_MIB * MIB

    def least_cpu(self) -> float:
        """Return the minimum CPU seconds of a try for an error of at most 5 %."""
        if not self.is_short():
            return LEAST_CPU_SECONDS
        pilot = (self.client_cpu + (self.server_cpu or 0.0)) / 2
        return max(LEAST_CPU_SECONDS, SHORT_PILOT_TIMES * pilot)


def reference_of(pilots: Sequence[Tried]) -> Reference:
    median = statistics.median
    server = [pilot.usage.server_cpu for pilot in pilots if pilot.usage.server_cpu is not None]
    client = median(pilot.usage.client_cpu for pilot in pilots)
    return Reference(pilots[0].total, client, median(server) if server else None)


def ssh_sample(tried: Tried, reference: Reference) -> Json:
    # CPU seconds are the slope between the reference and this transfer, if accurate to 5 %.
    beyond = tried.total - reference.total
    ends = [tried.usage.client_cpu - reference.client_cpu]
    if tried.usage.server_cpu is not None and reference.server_cpu is not None:
        ends.append(tried.usage.server_cpu - reference.server_cpu)
    known = beyond > 0 and min(ends) > 0 and sum(ends) >= reference.least_cpu() * len(ends)
    costs = [round(end * tried.moved / beyond, 6) for end in ends] if known else []
    return {
        "bytes": tried.moved,
        "seconds": round(tried.seconds, 6),
        "setup_seconds": round(tried.usage.setup_seconds, 4),
        "client_cpu_seconds": costs[0] if costs else None,
        "server_cpu_seconds": costs[1] if len(costs) > 1 else None,
        "foreign_cpu": tried.foreign,
    }


def pipeline_try(server: SshEnd, channel: Channel, mib: int) -> Tried:
    """Measure `dd | ssh ... 'cat >/dev/null'` from the start of dd to the end of the remote cat.

    The ssh connection is established before dd starts. `mib`: amount of data in MiB.
    """
    watch = ForeignWatch()
    read_end, write_end = os.pipe()
    with open(read_end, "rb", 0) as reads, open(write_end, "wb", 0) as writes:
        with Transfer(server, channel, read_end, None) as transfer:
            reads.close()
            transfer.wait_for("R")
            began = time.perf_counter()
            with open(server.path("dd.log"), "wb") as log:
                dd = start(dd_command(str(mib)), stdout=write_end, stderr=log)
            transfer.feeders.add(dd.pid)
            transfer.awaited.add(dd.pid)
            writes.close()
            usage = transfer.finish()
    moved = parse_dd(server.read("dd.log"))
    if moved != mib * MIB:
        raise TryFailed("dd wrote %d bytes instead of %d" % (moved, mib * MIB))
    return Tried(moved, usage.ended_at - began, moved, usage, watch.cores())


def steady_try(server: SshEnd, channel: Channel, seconds: float, cpus: Cpus) -> Tried:
    watch = ForeignWatch()
    with sparse_file() as source:
        with Transfer(server, channel, source.fileno(), cpus) as transfer:
            transfer.wait_for("R")
            moved, elapsed = steady_window(source, seconds, server.warm_up_seconds)
            source.truncate(0)  # ends the stream
            usage = transfer.finish()
            total = source.tell()
    if moved <= 0:
        raise TryFailed("no data was transferred")
    if total >= ssh_connection.SPARSE_BYTES:
        raise TryFailed("ssh reached the end of its input during the try")
    return Tried(moved, elapsed, total, usage, watch.cores())


class SshPlan(Plan):
    def __init__(self, server: Server, channels: Sequence[Channel], *context: Any) -> None:
        super().__init__(*context)
        self.server, self.channels = server, channels
        self.cpus: Cpus = None  # of the steady tries
        self.pilots: Dict[Channel, List[Tried]] = collections.defaultdict(list)
        self.rates: Dict[Channel, float] = {}
        self.where = ("ssh to " + server.label) if server.label else "ssh"
        for channel in channels:
            for method in METHODS:
                facts = {**channel._asdict(), "method": method, "target": server.target}
                self.series[channel, method] = Series("ssh", **facts)
        self.steps = [(self.where + ", first connection", FIRST_SECONDS, self.connect)]
        for channel in list(channels) * server.pilots:
            label = "ssh %s, warm-up" % channel.in_words()
            pilot = partial(self.attempt, channel, "warm-up", partial(self.pilot, channel))
            self.steps.append((label, PILOT_SECONDS, pilot))
        steady_seconds = server.warm_up_seconds + self.depth.steady_seconds
        seconds = {"steady": steady_seconds, "pipeline": self.depth.pipeline_seconds}
        for number in range(self.depth.tries):
            for channel in random.sample(channels, len(channels)):
                for method in METHODS:
                    label = f"ssh {channel.in_words()}, {method}, round {number + 1}"
                    label += f" of {self.depth.tries}"
                    turn = partial(self.turn, channel, method)
                    self.steps.append((label, CONNECT_SECONDS + seconds[method], turn))

    def run(self) -> None:
        reason = failure_of(self.measure)
        if reason:
            self.progress.note("Skipping %s: %s" % (self.where, reason))
            steps, seconds = self.cost()
            self.progress.plan(1 - steps, FIRST_SECONDS - seconds)
            self.reasons.update(((channel, "warm-up"), reason) for channel in self.channels)

    def measure(self) -> None:
        with self.server:
            super().run()

    def connect(self) -> None:
        self.server.prepare()
        self.server.first_connection()

    def pilot(self, channel: Channel) -> None:
        mib = pilot_mib(channel, bool(self.server.label))
        pilot = pipeline_try(self.server, channel, mib)
        self.pilots[channel].append(pilot)
        if channel in self.rates:
            return
        self.rates[channel] = pilot.moved / pilot.seconds
        for method in METHODS:
            facts = self.series[channel, method].facts
            facts["negotiated"] = dict(self.server.negotiated._asdict())
            facts["pinned"] = method == "steady" and self.cpus is not None
            facts["reference_bytes"] = pilot.total  # each sample excludes their CPU seconds
            if self.server.label:
                facts["server"] = self.server.version

    def turn(self, channel: Channel, method: str) -> None:
        series = self.series[channel, method]
        if channel in self.rates and not series.complete(self.depth.stable):
            tries = partial(self.until_quiet, partial(self.sample, channel, method), series.samples)
            self.attempt(channel, method, tries)

    def sample(self, channel: Channel, method: str) -> Json:
        pilots = reference_of(self.pilots[channel])
        if method == "steady":
            seconds = self.try_seconds(channel, self.depth.steady_seconds)
            sample = ssh_sample(steady_try(self.server, channel, seconds, self.cpus), pilots)
            if not self.series[channel, "pipeline"].samples:
                # The pilot is too short to show a fast cipher's rate. A pipeline reaches about 3/4
                # of the steady rate; with it, the first try lasts about as long as the others.
                self.rates[channel] = max(self.rates[channel], 0.75 * rate(sample))
            return sample
        seconds = self.try_seconds(channel, self.depth.pipeline_seconds)
        mib = sized_mib(self.rates[channel], seconds)
        sample = ssh_sample(pipeline_try(self.server, channel, mib), pilots)
        before = self.series[channel, method].samples
        self.rates[channel] = statistics.median(map(rate, [*before, sample]))
        return sample

    def try_seconds(self, channel: Channel, seconds: float) -> float:
        if self.server.label:  # the network limits the rate
            return seconds
        pilot = reference_of(self.pilots[channel])
        cost = (pilot.client_cpu - self.server.connection_cpu) / pilot.total
        beyond = WANTED_TIMES * pilot.least_cpu() / max(cost, LEAST_CPU_SECONDS_A_BYTE)
        longest = LONGEST_TIMES * seconds * (2 if pilot.is_short() else 1)
        return max(seconds, min(longest, (pilot.total + beyond) / self.rates[channel]))

    def show(self, lines: List[str]) -> None:
        facts = self.where, *self.depth[1:4]
        lines += ["", "# %s, %d tries (pipeline: %g s each, steady: %g s each)" % facts]
        failure_of(self.server.prepare)
        for channel in self.channels:
            if isinstance(self.server, PrivateServer):
                lines.append(shell_words(self.server.server_command(channel)))
            typed = shell_words(self.server.command(channel, "PORT"))
            feed = shell_words(dd_command("COUNT"))
            lines += ["%s | %s" % (feed, typed), typed + " <SPARSE_FILE"]

    def results(self) -> List[Series]:
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
