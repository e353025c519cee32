"""How busy others keep the CPU, and what else makes a run doubtful."""

import glob
import os
import re
import resource
import shutil
import time
from typing import Callable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from ciphermark_agent.children import read_number, read_text, run_tool
from ciphermark_agent.common import BYTES_LIMIT, FOREIGN_LIMIT, Json, whole

QUIET_CHECK_SECONDS = 0.5
STEAL_LIMIT = 0.01
CPU_FOLDER = "/sys/devices/system/cpu/cpu%s/"


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
    same_core = parse_cpu_list(
        read_text(CPU_FOLDER % first + "topology/thread_siblings_list") or ""
    )
    others = [cpu for cpu in rest if cpu not in same_core]
    return (first, others[0]) if others else None


def cpu_speed(cpu: int) -> int:
    """What tells fast cores from slow ones: the kernel's capacity, else the highest frequency."""
    names = ("cpu_capacity", "cpufreq/cpuinfo_max_freq")
    return next(filter(None, (read_number(CPU_FOLDER % cpu + name) for name in names)), 0)


def swapped_pages() -> Optional[int]:
    found = re.findall(r"^pswp(?:in|out) ([0-9]{1,18})$", read_text("/proc/vmstat") or "", re.M)
    return sum(map(int, found)) if found else None


def cgroup_folders(listing: str, base: str = "/sys/fs/cgroup") -> List[str]:
    """Folders of the control groups that can limit our CPU: our own and all above it.

    `listing` is /proc/self/cgroup, of version 2, version 1 or both; in a container its path may
    be one of the host's, of which only the end of it, or nothing, is there.
    """
    folders: List[str] = []
    for controllers, path in re.findall(r"^\d+:([^:\n]*):(.*)$", listing, re.M):
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = controllers if os.path.isdir(os.path.join(base, controllers)) else "cpu"
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for depth in range(len(parts), -1, -1):
            folders.append(os.path.join(base, mount, *parts[:depth]))
    return [folder for folder in folders if os.path.isdir(folder)]


def throttle_events() -> Optional[int]:
    """Thermal throttling events of all cores, plus those of our control groups' CPU quotas."""
    paths = glob.glob(CPU_FOLDER % "[0-9]*" + "thermal_throttle/core_throttle_count")
    counts = [read_number(path) for path in paths]
    for folder in cgroup_folders(read_text("/proc/self/cgroup") or "0::/"):
        stat = read_text(folder + "/cpu.stat") or ""
        counts += map(int, re.findall(r"^nr_throttled ([0-9]{1,18})$", stat, re.M))
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def firmware_state(base: str = "/sys") -> Optional[int]:
    """get_throttled of a Raspberry Pi, from sysfs, vcgencmd or its voltage sensor; else None."""
    said = ""
    for path in glob.glob(base + "/devices/platform/soc*/*firmware/get_throttled"):
        said = "throttled=" + (read_text(path) or "")
    if not said and shutil.which("vcgencmd"):
        said = run_tool(["vcgencmd", "get_throttled"]).out
    if said.startswith("throttled="):
        bits = re.match(r"throttled=(?:0x)?([0-9a-f]{1,8})\s*$", said)
        return int(bits.group(1), 16) if bits else None
    for path in glob.glob(base + "/class/hwmon/hwmon*/name"):
        if (read_text(path) or "").strip() == "rpi_volt":
            return read_number(os.path.join(os.path.dirname(path), "in0_lcrit_alarm"))
    return None


class MachineState(NamedTuple):
    """Counters whose growth during the run makes it doubtful; None: not readable here."""

    times: Optional[CpuTimes]
    swapped: Optional[int]
    throttled: Optional[int]
    firmware: Optional[int] = None


def machine_state() -> MachineState:
    return MachineState(read_cpu_times(), swapped_pages(), throttle_events(), firmware_state())


def condition(code: str, detail: str) -> Json:
    return {"code": code, "detail": detail}


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
        text = "other programs used %.2f CPU cores before the start" % foreign
        found.append(condition("busy", text))
    if disturbed[0]:
        text = "other programs used more than %.2f CPU cores during %d of %d tries"
        found.append(condition("disturbed", text % ((FOREIGN_LIMIT,) + disturbed)))
    found += [*counter_conditions(before, after), *limit_conditions()]
    # `powersave` keeps the CPU slow where the driver does not choose the frequency by itself.
    by_itself = "pstate" in (read_text(CPU_FOLDER % 0 + "cpufreq/scaling_driver") or "")
    if governor in ("userspace", "conservative") or (governor == "powersave" and not by_itself):
        found.append(condition("governor", "the CPU frequency governor is %s" % governor))
    for name, text in sorted(os.environ.items()):
        if re.match("OPENSSL_(ia32|arm|ppc|s390x)cap$", name) and text:
            words = "%s=%s is set for everything that was measured" % (name, text[:200])
            found.append(condition(name.split("_")[1], words))
    return found


def counter_conditions(before: MachineState, after: MachineState) -> Iterator[Json]:
    """Steal, swapping and throttling during the run."""
    if before.times and after.times and after.times.total > before.times.total:
        stolen = after.times.steal - before.times.steal
        share = stolen / (after.times.total - before.times.total)
        if share > STEAL_LIMIT:
            text = "the hypervisor gave %.1f %% of the CPU time to others"
            yield condition("steal", text % (share * 100))
    for code, first, last, text in (
        ("swap", before.swapped, after.swapped, "the machine swapped %d pages"),
        ("throttled", before.throttled, after.throttled, "the CPU was throttled %d times"),
    ):
        if first is not None and last is not None and last > first:
            yield condition(code, text % (last - first) + " during the run")
    if before.firmware is not None and after.firmware is not None:
        yield from firmware_conditions(before.firmware, after.firmware)


# Bits of get_throttled of the Raspberry Pi's firmware: what is so now. The same 16 bits further
# up: what has been so since the machine was started.
FIRMWARE_SIGNS = (
    ("undervoltage", "the supply voltage was too low"),
    ("throttled", "the firmware capped the CPU frequency"),
    ("throttled", "the firmware throttled the CPU"),
    ("throttled", "the firmware slowed the CPU down for its temperature"),
)


def firmware_conditions(before: int, after: int) -> Iterator[Json]:
    """What a Raspberry Pi's firmware did during the run, or may have done."""
    for bit, (code, words) in enumerate(FIRMWARE_SIGNS):
        now, ever = 1 << bit, 1 << bit + 16
        if (before | after) & now or after & ~before & ever:
            yield condition(code, words + " during the run")
        elif after & ever:
            words += " since the machine was started, maybe also during the run"
            yield condition(code, words)


def limit_conditions() -> Iterator[Json]:
    """A frequency or a share of the CPU that somebody has set below what the machine has."""
    names = ("scaling_max_freq", "cpuinfo_max_freq")
    allowed, able = (read_number(CPU_FOLDER % 0 + "cpufreq/" + name) for name in names)
    if allowed and able and allowed < 0.95 * able:
        text = "the CPU may run at %d of its %d MHz"
        yield condition("frequency", text % (allowed // 1000, able // 1000))
    cores, there = (
        lowest_quota(cgroup_folders(read_text("/proc/self/cgroup") or "0::/")),
        os.cpu_count() or 1,
    )
    if cores is not None and cores < there:
        yield condition("quota", "a CPU quota allows %.2f of %d CPUs" % (cores, there))


def lowest_quota(folders: Sequence[str]) -> Optional[float]:
    """CPU cores that the strictest of these control groups allows; None for no limit."""
    quotas = []
    for folder in folders:
        old = [read_number("%s/cpu.cfs_%s_us" % (folder, name)) for name in ("quota", "period")]
        quotas.append(cpu_quota(read_text(folder + "/cpu.max") or "%s %s" % tuple(old)))
    return min((quota for quota in quotas if quota is not None), default=None)


def cpu_quota(text: str) -> Optional[float]:
    """CPU cores of a quota and a period, as in cpu.max of a control group; None for no limit."""
    match = re.match(r"([0-9]{1,18}) ([1-9][0-9]{0,17})\b", text)
    return int(match.group(1)) / int(match.group(2)) if match else None
