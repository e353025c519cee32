import contextlib
import fcntl
import glob
import os
import re
import resource
import time
from typing import Callable, Iterator, NamedTuple, Optional, Set, Tuple

from ciphermark_agent import common
from ciphermark_agent.children import read_number, read_text, time_limit
from ciphermark_agent.common import FOREIGN_LIMIT

LOCK_SECONDS = 3600.0  # a thorough run of three openssl programs takes less
QUIET_CHECK_SECONDS = 0.5
STEAL_LIMIT = 0.01
CPU_FOLDER = "/sys/devices/system/cpu/cpu%s/"


@contextlib.contextmanager
def locked(path: str, how: int) -> Iterator[None]:
    """Hold an exclusive lock on a file or folder. The kernel releases locks of killed agents."""
    descriptor = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR)  # for NFS
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | how)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def no_other_agent(say: Callable[[str], None]) -> Iterator[None]:
    """Wait up to one hour for other agents of this user account, then raise `UsageError`."""
    folder = common.state_folder()
    path = os.path.join(folder, "lock-" + os.uname().nodename)  # hosts may share the folder
    with contextlib.ExitStack() as holding:
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if os.stat(folder).st_uid != os.geteuid() or os.stat(folder).st_mode & 0o022:
                raise PermissionError("other accounts can write to %s" % folder)
            os.close(os.open(path, os.O_CREAT | os.O_NOFOLLOW, 0o600))  # only this account
            try:
                holding.enter_context(locked(path, fcntl.LOCK_NB))
            except BlockingIOError:
                limit = f"{LOCK_SECONDS / 60:g} min"
                say(f"Another agent is measuring this machine; waiting up to {limit}.")
                with time_limit(LOCK_SECONDS, "another agent has been measuring for " + limit):
                    holding.enter_context(locked(path, 0))
        except TimeoutError as error:
            failure = common.UsageError("%s; nothing was measured" % error)
            failure.code = common.EXIT_NOTHING
            raise failure
        except OSError as error:
            common.verbose(f"cannot detect other agents: {common.reason_of(error)}")
        yield


class CpuTimes(NamedTuple):
    busy: float  # seconds of all cores since boot
    steal: float
    total: float


def parse_proc_stat(text: str, ticks: int = 100) -> Optional[CpuTimes]:
    match = re.match(r"cpu ((?: +[0-9]{1,18}){4,})$", text, re.M)
    if match is None:
        return None
    columns = [int(word) / ticks for word in match.group(1).split()]
    user, nice, system, idle, iowait, irq, softirq, steal = (columns + [0.0] * 8)[:8]
    # User time already includes guest time.
    busy = user + nice + system + irq + softirq
    return CpuTimes(busy, steal, busy + steal + idle + iowait)


def read_cpu_times() -> Optional[CpuTimes]:
    return parse_proc_stat(read_text("/proc/stat") or "", int(os.sysconf("SC_CLK_TCK")))


def own_cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


class ForeignWatch:
    """Measure how many CPU cores other programs use, to within 0.02 cores over one second."""

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
    until = time.monotonic() + limit
    text: Optional[str] = "Other programs use %.2f CPU cores; waiting up to %g s for them to finish"
    while True:
        watch = ForeignWatch()
        time.sleep(QUIET_CHECK_SECONDS)
        foreign = watch.cores()
        if foreign is None or foreign <= FOREIGN_LIMIT or time.monotonic() >= until:
            return foreign
        if text:
            say(text % (foreign, limit) + " (--wait 0 skips this).")
            text = None


def cpu_speed(cpu: int) -> int:
    folder = CPU_FOLDER % cpu
    capacity = read_number(folder + "cpu_capacity")
    return capacity or read_number(folder + "cpufreq/cpuinfo_max_freq") or 0


def cpus_for_pinning() -> Optional[Tuple[int, int]]:
    """Return one logical CPU of each of two cores, fastest first; None if pinning is impossible."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    first, *rest = sorted(os.sched_getaffinity(0), key=lambda cpu: (-cpu_speed(cpu), cpu))
    text = read_text(CPU_FOLDER % first + "topology/thread_siblings_list") or ""
    siblings: Set[int] = set()
    for begin, end in re.findall(r"\b([0-9]{1,5})(?:-([0-9]{1,5}))?\b", text):  # such as 0-1,4
        siblings.update(range(int(begin), int(end or begin) + 1))
    others = [cpu for cpu in rest if cpu not in siblings]
    return (first, others[0]) if others else None


def group_files(name: str) -> str:
    """Return the text of the file `name` in the control group of the agent and all its parents."""
    own = re.search(r"^0::(/.*)$", read_text("/proc/self/cgroup") or "", re.M)
    parts = re.findall("[^/]+", own.group(1)) if own else []
    folders = ["/".join(["/sys/fs/cgroup", *parts[:depth]]) for depth in range(len(parts) + 1)]
    return "\n".join(read_text("%s/%s" % (folder, name)) or "" for folder in folders)


class MachineState(NamedTuple):
    times: Optional[CpuTimes] = None
    swapped: Optional[int] = None
    throttled: Optional[int] = None


def machine_state() -> MachineState:
    swapped = re.findall(r"^pswp(?:in|out) ([0-9]{1,18})$", read_text("/proc/vmstat") or "", re.M)
    paths = glob.glob(CPU_FOLDER % "[0-9]*" + "thermal_throttle/core_throttle_count")
    throttled = [count for count in map(read_number, paths) if count is not None]
    quotas = re.findall(r"^nr_throttled ([0-9]{1,18})$", group_files("cpu.stat"), re.M)
    throttled += map(int, quotas)
    counts = [sum(map(int, known)) if known else None for known in (swapped, throttled)]
    return MachineState(read_cpu_times(), *counts)


def conditions_of_run(
    foreign: Optional[float], before: MachineState, tries: Tuple[int, int]
) -> Iterator[Tuple[str, str]]:
    """Yield (code, detail) for each condition that disturbed the run, such as swapping."""
    after = machine_state()
    if foreign is not None and foreign > FOREIGN_LIMIT:
        yield "busy", "other programs used %.2f CPU cores before the start" % foreign
    if tries[0]:
        text = "%d of %d tries ran while other programs used more than %.2f CPU cores"
        yield "disturbed", text % (*tries, FOREIGN_LIMIT)
    if before.times and after.times and after.times.total > before.times.total:
        stolen = after.times.steal - before.times.steal
        share = stolen / (after.times.total - before.times.total)
        if share > STEAL_LIMIT:
            yield "steal", "the hypervisor withheld %.1f %% of the CPU time" % (share * 100)
    for code, first, last, text in (
        ("swap", before.swapped, after.swapped, "this machine swapped %d pages"),
        ("throttled", before.throttled, after.throttled, "the CPU was throttled %d times"),
    ):
        if first is not None and last is not None and last > first:
            yield code, text % (last - first) + " during the run"
    quotas = re.findall(r"^([0-9]{1,18}) ([1-9][0-9]{0,17})$", group_files("cpu.max"), re.M)
    cores = min((int(quota) / int(period) for quota, period in quotas), default=None)
    if cores is not None and cores < (os.cpu_count() or 1):
        yield "quota", "a quota limits CPU use to %.2f of %d CPUs" % (cores, os.cpu_count() or 1)
    for name, text in sorted(os.environ.items()):
        if re.match("OPENSSL_(ia32|arm|ppc|s390x)cap$", name) and text:
            yield name.split("_")[1], f"{name}={text[:200]} was set during the run"
