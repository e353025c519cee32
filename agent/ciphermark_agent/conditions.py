"""Another agent, how busy others keep the CPU, and what else makes a run doubtful."""

import contextlib
import fcntl
import glob
import os
import re
import resource
import time
from typing import Callable, Iterator, List, NamedTuple, Optional, Set, Tuple

from ciphermark_agent.children import read_number, read_text, time_limit
from ciphermark_agent.common import (
    BYTES_LIMIT,
    FOREIGN_LIMIT,
    Json,
    OtherAgent,
    state_folder,
    verbose,
    whole,
)

LOCK_SECONDS = 3600.0  # a thorough run of three builds of openssl takes less
QUIET_CHECK_SECONDS = 0.5
STEAL_LIMIT = 0.01
CPU_FOLDER = "/sys/devices/system/cpu/cpu%s/"


@contextlib.contextmanager
def locked(path: str, how: int) -> Iterator[None]:
    """Meanwhile nobody else locks it; the kernel frees it when an agent is killed."""
    descriptor = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR)  # NFS wants it
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | how)
        yield
    finally:
        os.close(descriptor)


def own_lock() -> str:
    """Open the lock's file, which no other account can open: it could stop our agents."""
    folder = state_folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.stat(folder)
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise PermissionError("other accounts can write to %s" % folder)
    path = os.path.join(folder, "lock-" + os.uname().nodename)  # machines may share the folder
    os.close(os.open(path, os.O_CREAT | os.O_NOFOLLOW, 0o600))
    return path


@contextlib.contextmanager
def no_other_agent(say: Callable[[str], None]) -> Iterator[None]:
    """Keep other agents of this account from measuring meanwhile; OtherAgent when one does not end.

    Where no file can be locked this agent measures all the same.
    """
    with contextlib.ExitStack() as holding:
        try:
            path = own_lock()
            try:
                holding.enter_context(locked(path, fcntl.LOCK_NB))
            except BlockingIOError:
                limit = "%g min" % (LOCK_SECONDS / 60)
                say("Another agent measures on this machine; waiting up to %s for it." % limit)
                with time_limit(LOCK_SECONDS, "another agent has measured here for " + limit):
                    holding.enter_context(locked(path, 0))
        except TimeoutError as error:
            raise OtherAgent("%s; nothing was measured" % error)
        except OSError as error:
            verbose("other agents are not looked for: %s" % error)
        yield


class CpuTimes(NamedTuple):
    """CPU seconds of all cores since boot: at work, stolen by the hypervisor, and all."""

    busy: float
    steal: float
    total: float


def parse_proc_stat(text: str, ticks: int = 100) -> Optional[CpuTimes]:
    """The first line of /proc/stat. Guest time is already part of user time."""
    match = re.match(r"cpu +([0-9 ]+)", text)
    numbers = [whole(word, BYTES_LIMIT) for word in (match.group(1).split() if match else [])]
    columns = [number / ticks for number in numbers if number is not None]
    if not columns or len(columns) < len(numbers):
        return None
    user, nice, system, idle, iowait, irq, softirq, steal = (columns + [0.0] * 8)[:8]
    busy = user + nice + system + irq + softirq
    return CpuTimes(busy, steal, busy + steal + idle + iowait)


def read_cpu_times() -> Optional[CpuTimes]:
    return parse_proc_stat(read_text("/proc/stat") or "", int(os.sysconf("SC_CLK_TCK")))


def own_cpu_seconds() -> float:
    """CPU seconds of the agent and of every child it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


class ForeignWatch:
    """Measures the CPU cores that other processes use, from its creation to `cores()`.

    Busy time of /proc/stat minus our own and our children's; None where there is no /proc/stat.
    The kernel's tick of 10 ms makes it uncertain by about 0.02 over a try of one second.
    """

    def __init__(self) -> None:
        self.times = read_cpu_times()
        self.own = own_cpu_seconds()
        self.clock = time.perf_counter()

    def cores(self) -> Optional[float]:
        now = read_cpu_times()
        if self.times is None or now is None:
            return None
        own = own_cpu_seconds() - self.own
        wall = time.perf_counter() - self.clock
        return round(max(0.0, (now.busy - self.times.busy - own) / wall), 4)


def wait_until_quiet(limit: float, say: Callable[[str], None]) -> Optional[float]:
    """Foreign CPU cores just before the start, after at most so many seconds of waiting."""
    until = time.monotonic() + limit
    said = False
    while True:
        watch = ForeignWatch()
        time.sleep(QUIET_CHECK_SECONDS)
        foreign = watch.cores()
        if foreign is None or foreign <= FOREIGN_LIMIT or time.monotonic() >= until:
            return foreign
        if not said:
            text = "Other programs use %.2f CPU cores; waiting up to %g s for them to finish "
            say((text + "(--wait 0 skips this).") % (foreign, limit))
        said = True


def parse_cpu_list(text: str) -> Set[int]:
    """CPU numbers of the kernel's list form, such as 0-1,4."""
    cpus: Set[int] = set()
    for first, last in re.findall(r"\b([0-9]{1,5})(?:-([0-9]{1,5}))?\b", text):
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def cpus_for_pinning() -> Optional[Tuple[int, int]]:
    """Two logical CPUs on two cores, the fastest first; None where that is impossible."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    first, *rest = sorted(os.sched_getaffinity(0), key=lambda cpu: (-cpu_speed(cpu), cpu))
    siblings = read_text(CPU_FOLDER % first + "topology/thread_siblings_list") or ""
    others = [cpu for cpu in rest if cpu not in parse_cpu_list(siblings)]
    return (first, others[0]) if others else None


def cpu_speed(cpu: int) -> int:
    """What tells fast cores from slow ones: the kernel's capacity, else the highest frequency."""
    names = ("cpu_capacity", "cpufreq/cpuinfo_max_freq")
    return next(filter(None, (read_number(CPU_FOLDER % cpu + name) for name in names)), 0)


def swapped_pages() -> Optional[int]:
    found = re.findall(r"^pswp(?:in|out) ([0-9]{1,18})$", read_text("/proc/vmstat") or "", re.M)
    return sum(map(int, found)) if found else None


def group_files(name: str) -> str:
    """This file of the control groups (version 2) that can limit our CPU: our own, all above it.

    In a container the path may be one of the host's, of which only the top is there.
    """
    own = re.search(r"^0::(/.*)$", read_text("/proc/self/cgroup") or "", re.M)
    parts = re.findall("[^/]+", own.group(1)) if own else []
    folders = ["/".join(["/sys/fs/cgroup", *parts[:depth]]) for depth in range(len(parts) + 1)]
    return "\n".join(read_text("%s/%s" % (folder, name)) or "" for folder in folders)


def throttle_events() -> Optional[int]:
    """Thermal throttling events of all cores, plus those of our control groups' CPU quotas."""
    paths = glob.glob(CPU_FOLDER % "[0-9]*" + "thermal_throttle/core_throttle_count")
    known = [count for count in map(read_number, paths) if count is not None]
    known += map(int, re.findall(r"^nr_throttled ([0-9]{1,18})$", group_files("cpu.stat"), re.M))
    return sum(known) if known else None


def quota_cores() -> Optional[float]:
    """CPU cores that the strictest of our control groups allows; None for no limit."""
    found = re.findall(r"^([0-9]{1,18}) ([1-9][0-9]{0,17})$", group_files("cpu.max"), re.M)
    return min((int(quota) / int(period) for quota, period in found), default=None)


# Bits of get_throttled of the Raspberry Pi's firmware; 16 bits further up: since its start.
FIRMWARE_SIGNS = (
    (0b0001, "undervoltage", "the supply voltage was too low"),
    (0b0010, "throttled", "the firmware capped the CPU frequency"),
    (0b1100, "throttled", "the firmware slowed the CPU down for its temperature"),
)


def firmware_state() -> Optional[int]:
    """Those bits; None elsewhere."""
    paths = glob.glob("/sys/devices/platform/soc*/*firmware/get_throttled")
    bits = re.match(r"[0-9a-f]{1,8}\s*$", read_text(paths[0]) or "") if paths else None
    return int(bits.group(), 16) if bits else None


class MachineState(NamedTuple):
    """Counters whose growth during the run makes it doubtful; None: not readable here."""

    times: Optional[CpuTimes] = None
    swapped: Optional[int] = None
    throttled: Optional[int] = None
    firmware: Optional[int] = None


def machine_state() -> MachineState:
    return MachineState(read_cpu_times(), swapped_pages(), throttle_events(), firmware_state())


def conditions_of_run(
    foreign: Optional[float],
    before: MachineState,
    after: MachineState,
    disturbed: Tuple[int, int],
    governor: Optional[str],
) -> List[Json]:
    """What may make this run doubtful: only what was really seen.

    `disturbed` is (tries with more foreign CPU than FOREIGN_LIMIT, all tries).
    """
    found = []
    if foreign is not None and foreign > FOREIGN_LIMIT:
        found.append(("busy", "other programs used %.2f CPU cores before the start" % foreign))
    if disturbed[0]:
        text = "other programs used more than %.2f CPU cores during %d of %d tries"
        found.append(("disturbed", text % ((FOREIGN_LIMIT,) + disturbed)))
    found += [*seen_during(before, after), *set_limits(governor)]
    return [condition(*one) for one in found]


def condition(code: str, detail: str) -> Json:
    return {"code": code, "detail": detail}


def seen_during(before: MachineState, after: MachineState) -> Iterator[Tuple[str, str]]:
    """Steal, swapping, throttling and under-voltage during the run."""
    if before.times and after.times and after.times.total > before.times.total:
        stolen = after.times.steal - before.times.steal
        share = stolen / (after.times.total - before.times.total)
        if share > STEAL_LIMIT:
            text = "the hypervisor gave %.1f %% of the CPU time to others"
            yield "steal", text % (share * 100)
    for code, first, last, text in (
        ("swap", before.swapped, after.swapped, "the machine swapped %d pages"),
        ("throttled", before.throttled, after.throttled, "the CPU was throttled %d times"),
    ):
        if first is not None and last is not None and last > first:
            yield code, text % (last - first) + " during the run"
    if before.firmware is not None and after.firmware is not None:
        begun = after.firmware & ~before.firmware
        for bits, code, words in FIRMWARE_SIGNS:
            if (before.firmware | after.firmware) & bits or begun & bits << 16:
                yield code, words + " during the run"


def set_limits(governor: Optional[str]) -> Iterator[Tuple[str, str]]:
    """What somebody has set below what the machine has: frequency, share, instructions."""
    names = ("scaling_max_freq", "cpuinfo_max_freq")
    allowed, able = (read_number(CPU_FOLDER % 0 + "cpufreq/" + name) for name in names)
    if allowed and able and allowed < 0.95 * able:
        text = "the CPU may run at %d of its %d MHz"
        yield "frequency", text % (allowed // 1000, able // 1000)
    cores, there = quota_cores(), os.cpu_count() or 1
    if cores is not None and cores < there:
        yield "quota", "a CPU quota allows %.2f of %d CPUs" % (cores, there)
    # `powersave` keeps the CPU slow where the driver does not choose the frequency by itself.
    by_itself = "pstate" in (read_text(CPU_FOLDER % 0 + "cpufreq/scaling_driver") or "")
    if governor in ("userspace", "conservative") or (governor == "powersave" and not by_itself):
        yield "governor", "the CPU frequency governor is %s" % governor
    for name, text in sorted(os.environ.items()):
        if re.match("OPENSSL_(ia32|arm|ppc|s390x)cap$", name) and text:
            words = "%s=%s is set for everything that was measured" % (name, text[:200])
            yield name.split("_")[1], words
