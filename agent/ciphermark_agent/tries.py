"""One try of ssh, by either method; series of tries, and what each depth asks of them."""

import collections
import contextlib
import os
import re
import statistics
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ciphermark_agent.children import end_children, start
from ciphermark_agent.common import FOREIGN_LIMIT, MIB, Json, TryFailed, rate, unforeseen
from ciphermark_agent.conditions import ForeignWatch
from ciphermark_agent.ssh_connection import (
    SPARSE_BYTES,
    SparseFile,
    Transfer,
    Usage,
    steady_window,
)
from ciphermark_agent.ssh_protocol import Channel
from ciphermark_agent.ssh_server import SshEnd

# Of a pipeline, at every depth: its first 0.1 s are slow, so a longer try has a higher rate.
PIPELINE_SECONDS = 0.8


class Depth(NamedTuple):
    """How much a run measures: tries a series and the length of a try in seconds."""

    name: str
    tries: int
    pipeline_seconds: float
    steady_seconds: float  # after the warm-up; a slope needs less time than a whole transfer
    openssl_seconds: int  # a block size; 3 s give the same median as 1 s
    repeat_seconds: float  # that the run may spend on repeating disturbed tries
    wait_seconds: float  # for other processes to become quiet before the start
    stable: Optional[float] = None  # a series ends once its median is known within this share


QUICK = Depth("quick", 3, PIPELINE_SECONDS, 0.5, 1, 4.0, 5.0)
STANDARD = Depth("standard", 5, PIPELINE_SECONDS, 1.0, 1, 15.0, 30.0)
THOROUGH = Depth("thorough", 15, PIPELINE_SECONDS, 1.5, 1, 60.0, 120.0, stable=0.02)
DEPTHS = {depth.name: depth for depth in (QUICK, STANDARD, THOROUGH)}
# A series is stable when its median is known within the wanted share; fewer tries cannot tell.
STABLE_MIN_TRIES = 5
MAX_SAMPLES = 100  # of a measurement, by the run document
MAX_REPEATS = 2  # of a disturbed try


class Series:
    """One configuration and its tries, as a measurement of the run document."""

    def __init__(self, tool: str, cipher: str, acceleration: str = "default", **facts: Any) -> None:
        self.facts: Json = {"tool": tool, "cipher": cipher, "acceleration": acceleration, **facts}
        self.samples: List[Json] = []

    def document(self) -> Json:
        return {**self.facts, "samples": self.samples}

    def median(self) -> float:
        return statistics.median(map(rate, self.samples))

    def complete(self, wanted: Optional[float]) -> bool:
        """Whether more tries would tell nothing more, or would not fit the document."""
        room = MAX_SAMPLES - len(self.samples) > MAX_REPEATS
        return not room or (wanted is not None and self.uncertainty() < wanted)

    def uncertainty(self) -> float:
        """Standard error of the median as a share of it; infinite for few tries.

        1.4826 * MAD estimates the spread without its outliers, 1.2533 makes the standard error
        of a mean that of a median.
        """
        if len(self.samples) < STABLE_MIN_TRIES:
            return float("inf")
        middle = self.median()
        deviation = statistics.median(abs(rate(sample) - middle) for sample in self.samples)
        return float(1.2533 * 1.4826 * deviation / len(self.samples) ** 0.5 / middle)


class Skipped:
    """What was not measured, each with its reason, once."""

    def __init__(self) -> None:
        self.entries: Dict[Tuple[str, str, str], str] = collections.OrderedDict()

    def add(self, tool: str, cipher: str, reason: str, part: str = "") -> None:
        """`part` names what of the cipher was not measured; empty: all of it."""
        text = "%s: %s" % (part, reason) if part else reason
        self.entries.setdefault((tool, cipher, part), text[:1000])

    def document(self) -> List[Json]:
        return [
            {"tool": tool, "cipher": cipher, "reason": reason}
            for (tool, cipher, _), reason in self.entries.items()
        ]


class Budget:
    """Time that may still be spent on repeating disturbed tries."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds


def failure_of(attempt: Callable[..., None], *arguments: Any) -> Optional[str]:
    """Why an attempt gave no figure, or None: whatever it is, the other tries count."""
    try:
        attempt(*arguments)
    except TryFailed as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - a fault of one try must not end the run
        end_children()
        return unforeseen(error)
    return None


def disturbed(sample: Json) -> bool:
    return (sample.get("foreign_cpu") or 0.0) > FOREIGN_LIMIT


def tries_until_quiet(attempt: Callable[[], Json], budget: Budget, samples: List[Json]) -> None:
    """Adds the sample of one try, and of its repeats if others disturbed it; every one is kept."""
    for number in range(1 + MAX_REPEATS):
        began = time.monotonic()
        samples.append(attempt())
        spent = time.monotonic() - began
        if number:
            budget.left -= spent
        if not disturbed(samples[-1]) or spent > budget.left:
            break


# Pilots are the warm-up of a cipher and no tries. The first sizes them; the CPU seconds of all are
# what every try costs before its stream runs: connection, key exchange, and in sshd a buffer that
# grows over the first 8 to 32 MiB (0.1 to 0.2 s). They are taken off, with the pilots' bytes.
PILOT_MIB = 32
SLOW_PILOT_MIB = 8
SLOW_CIPHERS = ("3des", "blowfish", "cast128")  # 30 to 130 MB/s on any CPU
PIPELINE_MAX_MIB = 64 * 1024
# The pilots' median is known to about 0.01 s an end: below this the cost of a byte is not to 5 %.
LEAST_CPU_SECONDS = 0.2
# After a pilot of 8 MiB the buffer's growth costs up to a tenth of what that pilot did (3DES: 0.08
# of 0.84 s), which the try then pays: 5 % of a try that costs twice the pilot.
SHORT_PILOT_TIMES = 2.0


def pilot_mib(channel: Channel, remote: bool = False) -> int:
    """Less where the cipher, or maybe the line, is slow."""
    slow = remote or (channel.cipher or "").startswith(SLOW_CIPHERS)
    return SLOW_PILOT_MIB if slow else PILOT_MIB


def sized_mib(bytes_per_second: float, seconds: float) -> int:
    """MiB for a try of so many seconds at this rate."""
    return max(SLOW_PILOT_MIB, min(PIPELINE_MAX_MIB, round(bytes_per_second * seconds / MIB)))


def dd_command(mib: int) -> List[str]:
    """bs in bytes, because dd of BSD and GNU spell a mebibyte differently."""
    return ["dd", "if=/dev/zero", "bs=%d" % MIB, "count=%d" % mib]


def parse_dd(text: str) -> int:
    """Bytes that dd says it wrote, in whole blocks of a mebibyte; 0 if it does not say."""
    records = re.search(r"^([0-9]{1,12})\+0 records out", text, re.M)
    return int(records.group(1)) * MIB if records else 0


class Tried(NamedTuple):
    """One transfer: `moved` bytes in `seconds`, and all bytes that went through with their cost."""

    moved: int
    seconds: float
    total: int
    usage: Usage
    foreign: Optional[float]


class Reference(NamedTuple):
    """Median CPU seconds of a channel's pilots, each of so many bytes."""

    total: int
    client_cpu: float
    server_cpu: Optional[float]

    def is_short(self) -> bool:
        """Whether sshd's buffer still grows after the pilots: its CPU seconds are then biased."""
        return self.server_cpu is not None and self.total < PILOT_MIB * MIB

    def least_cpu(self) -> float:
        """CPU seconds of an end that bytes beyond the pilots must cost to be told within 5 %."""
        if not self.is_short():
            return LEAST_CPU_SECONDS
        pilot = (self.client_cpu + (self.server_cpu or 0.0)) / 2
        return max(LEAST_CPU_SECONDS, SHORT_PILOT_TIMES * pilot)


def reference_of(pilots: Sequence[Tried]) -> Reference:
    client = [pilot.usage.client_cpu for pilot in pilots]
    server = [pilot.usage.server_cpu for pilot in pilots if pilot.usage.server_cpu is not None]
    median = statistics.median
    return Reference(pilots[0].total, median(client), median(server) if server else None)


def cpu_of_bytes(tried: Tried, reference: Reference) -> Tuple[Optional[float], Optional[float]]:
    """CPU seconds of client and server for the bytes that were timed, in a running stream.

    The slope between the reference and this transfer: neither the connection nor the start of
    the stream is in it. None where a transfer is too short to tell it within 5 %.
    """
    beyond = tried.total - reference.total
    client: Optional[float] = tried.usage.client_cpu - reference.client_cpu
    server = None
    if tried.usage.server_cpu is not None and reference.server_cpu is not None:
        server = tried.usage.server_cpu - reference.server_cpu
    known = [seconds for seconds in (client, server) if seconds is not None]
    if beyond <= 0 or min(known) <= 0 or sum(known) < reference.least_cpu() * len(known):
        return None, None
    share = tried.moved / beyond
    ends = [None if end is None else round(end * share, 6) for end in (client, server)]
    return ends[0], ends[1]


def ssh_sample(tried: Tried, reference: Reference) -> Json:
    client, server = cpu_of_bytes(tried, reference)
    return {
        "bytes": tried.moved,
        "seconds": round(tried.seconds, 6),
        "setup_seconds": round(tried.usage.setup_seconds, 4),
        "client_cpu_seconds": client,
        "server_cpu_seconds": server,
        "foreign_cpu": tried.foreign,
    }


def pipeline_try(server: SshEnd, channel: Channel, mib: int) -> Tried:
    """dd if=/dev/zero bs=1M count=N | ssh -c CIPHER ... 'cat >/dev/null', without the set-up.

    The clock runs from the start of dd, once the remote command is ready, to its last word.
    """
    watch = ForeignWatch()
    read_end, write_end = os.pipe()
    with open(read_end, "rb", 0) as reads, open(write_end, "wb", 0) as writes:
        with Transfer(server, channel, read_end, None) as transfer:
            reads.close()
            transfer.wait_for("R")
            began = time.perf_counter()
            with open(server.path("dd.log"), "wb") as log:
                dd = start(dd_command(mib), stdout=write_end, stderr=log)
            transfer.feeders.add(dd.pid)
            transfer.awaited.add(dd.pid)
            writes.close()
            usage = transfer.finish()
    moved = parse_dd(server.read("dd.log"))
    if moved != mib * MIB:
        raise TryFailed("dd wrote %d bytes instead of %d" % (moved, mib * MIB))
    return Tried(moved, usage.ended_at - began, moved, usage, watch.cores())


def steady_try(
    server: SshEnd, channel: Channel, seconds: float, cpus: Optional[Tuple[int, int]]
) -> Tried:
    """The cipher's own rate: no feeding process, no start-up, slope in a running stream."""
    watch = ForeignWatch()
    with contextlib.closing(SparseFile()) as source:
        with Transfer(server, channel, source.descriptor, cpus) as transfer:
            transfer.wait_for("R")
            moved, elapsed = steady_window(source, seconds, server.warm_up_seconds)
            source.end()
            usage = transfer.finish()
            total = source.position()
    if moved <= 0:
        raise TryFailed("the stream stood still")
    if total >= SPARSE_BYTES:
        raise TryFailed("ssh read all of the source before the try was over")
    return Tried(moved, elapsed, total, usage, watch.cores())
