#!/usr/bin/env python3
"""Ciphermark agent: measures the SSH and OpenSSL cipher speed of this machine.

One file, standard library only, Python 3.6 or later. It installs nothing and changes no
configuration: ssh is measured against a private sshd on the loopback address, with keys and a
configuration of its own in a temporary directory that is removed at the end.

    python3 ciphermark_agent.py run                          measure, print the run document
    python3 ciphermark_agent.py run --server URL --token-file FILE      measure and upload

What it reads, runs and sends, and how to repeat a figure by hand, is in README.md beside it.

Reading order: constants, children, readings of the machine, environment, private sshd, ssh
tries, openssl tries, the plan that interleaves them, the document, upload, output, command line.
"""

import argparse
import collections
import configparser
import contextlib
import datetime
import email.utils
import errno
import glob
import gzip
import hashlib
import http.client
import json
import math
import os
import pathlib
import platform
import random
import re
import select
import shlex
import shutil
import signal
import socket
import ssl
import stat
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    TextIO,
    Tuple,
    Union,
)

# An older Python stops at this line, which it cannot read, and shows it.
NEEDED: str = "This program needs Python 3.6 or later: start it with python3."

try:
    import fcntl
    import pwd
    import resource
except ImportError:
    sys.exit("ciphermark_agent runs on Linux, macOS and FreeBSD; on Windows, start it in WSL.")

try:
    import ctypes
except ImportError:  # some small builds of Python leave it out; only Linux refinements need it
    ctypes = None  # type: ignore[assignment]  # a module where there is one

VERSION = "1.0.0"
SCHEMA = "ciphermark/run/1"
Json = Dict[str, Any]

# --------------------------------------------------------------------------------------------
# Constants of the protocol, each with its reason
# --------------------------------------------------------------------------------------------

MIB = 1024 * 1024

# Pilots are the warm-up of a cipher and no tries. The first sizes them; the CPU seconds of all are
# what every try costs before its stream runs: connection, key exchange, and in sshd a buffer that
# grows over the first 8 to 32 MiB (0.1 to 0.2 s). They are taken off, with the pilots' bytes.
PILOT_MIB = 32
SLOW_PILOT_MIB = 8
SLOW_CIPHERS = ("3des", "blowfish", "cast128")  # 30 to 130 MB/s on any CPU

# Steady method: the first 60 to 185 ms of a channel run slowly (the TCP window opens), so the
# slope starts later; at least 16 MiB make the bursts of ssh's window updates (0.1 MiB) vanish.
WARM_UP_SECONDS = 0.3
STEADY_MIN_BYTES = 16 * MIB
STEADY_MAX_SECONDS = 5.0
STEADY_POLL_SECONDS = 0.01
STEADY_STALL_SECONDS = 2.0  # no progress of the file position for so long: use a pipe instead
SPARSE_BYTES = 64 * 1024 * MIB  # bounded, so that an orphaned ssh ends by itself
PIPELINE_MAX_MIB = 64 * 1024

# CPU cores that other processes may use before a try counts as disturbed.
FOREIGN_LIMIT = 0.10
MAX_REPEATS = 2
# A series is stable when its median is known within the wanted share; fewer tries cannot tell.
STABLE_MIN_TRIES = 5
MAX_SAMPLES = 100  # of a measurement, by the run document
QUIET_CHECK_SECONDS = 0.5
STEAL_LIMIT = 0.01

# The pilots' median is known to about 0.01 s an end: below this the cost of a byte is not to 5 %.
LEAST_CPU_SECONDS = 0.2
# On a busy machine tries last longer, so that the client alone gets this much of a core; where a
# pilot tells too little, a byte costs at least so much (AES-GCM with the fastest instructions).
WANTED_CPU_SECONDS = 0.3
LEAST_CPU_SECONDS_A_BYTE = 0.5e-9
LONGEST_TIMES = 2.0

# Of a pipeline, at every depth: its first 0.1 s are slow, so a longer try has a higher rate.
PIPELINE_SECONDS = 0.8

CONNECT_SECONDS = 0.25  # typical; only for the printed estimate
TOOL_SECONDS = 20.0
TRY_SECONDS = 60.0
REAP_SECONDS = 5.0  # for the processes of a connection to end once all has arrived
ORPHAN_SECONDS = 1.0  # ... and for what a login shell may have left behind
CHILD_CPU_SECONDS = 120  # a child that outlives everything else still ends
TOOL_BYTES = MIB  # of what a tool says on each of its outputs; a megabyte is no answer
LOG_BYTES = 8 * MIB  # of one ssh: what a hostile far end can make it write

MASK_X86 = "~0x200000200000000:~0x60000000000"  # AES-NI, PCLMULQDQ : VAES, VPCLMULQDQ; no more
MASK_MIN_EFFECT = 1.1
MASKED_CIPHERS = ("aes-128-cbc", "aes-128-ctr", "aes-128-gcm")
# Bits of OPENSSL_armcap and OPENSSL_ppccap (arm_arch.h, ppc_arch.h): these variables replace what
# the CPU says, so everything but AES has to be given anew.
ARM_NEON, ARM_AES, ARM_SHA1, ARM_SHA256, ARM_PMULL, ARM_SHA512 = 1, 4, 8, 16, 32, 64
ARM_FLAGS = (("asimd", ARM_NEON), ("neon", ARM_NEON), ("sha1", ARM_SHA1), ("sha2", ARM_SHA256))
PPC_CRYPTO = 4
PPC_WITHOUT_CRYPTO = 0x0B  # FPU64, AltiVec, FPU: what every POWER8 has
# s390x: the AES functions (18 to 20, XTS 50 and 52) of each instruction, and GHASH of KIMD.
MASK_S390X = (
    "km:~0x380000002800:~0x0;kmc:~0x380000000000:~0x0;kmctr:~0x380000000000:~0x0;"
    "kma:~0x380000000000:~0x0;kimd:~0x0:~0x4000000000000000"
)
NOT_REACHED = "not tried: interrupted"  # reason of what a signal left out
CAPABILITY_VARIABLES = (
    "OPENSSL_ia32cap",
    "OPENSSL_armcap",
    "OPENSSL_ppccap",
    "OPENSSL_s390xcap",
)

OPENSSL_BLOCK = 16384
# Tables of OpenSSL before 1.1.0 end here: one try a cipher gives them something to stand beside.
OPENSSL_OLD_BLOCK = 8192
OPENSSL_SIZES = (16, 64, 256, 1024, 8192, 16384)  # what it measures when no -bytes is given
OPENSSL_OLD_SECONDS = 3  # a block size, before -seconds
OPENSSL_QUICK = (
    "aes-128-cbc",
    "aes-128-ctr",
    "aes-128-gcm",
    "aes-256-gcm",
    "aes-256-ctr",
    "chacha20-poly1305",
    "rc4",
    "bf-cbc",
    "des-ede3-cbc",
)
# What --ciphers may name beyond the quick list.
OPENSSL_KNOWN = OPENSSL_QUICK + (
    "aes-192-cbc",
    "aes-192-ctr",
    "aes-192-gcm",
    "aes-256-cbc",
    "camellia-128-cbc",
    "camellia-256-cbc",
    "aria-128-cbc",
    "aria-256-cbc",
    "sm4-cbc",
    "cast5-cbc",
)
OPENSSL_LEGACY = ("rc4", "bf-cbc", "cast5-cbc")  # live in the legacy provider since OpenSSL 3
# OpenSSL before 1.1.1 has no -seconds: 15 s a cipher. A quick run then takes these, once each.
OPENSSL_OLD_QUICK = ("aes-128-cbc", "aes-128-gcm", "bf-cbc")
# Old versions print the long name of the object.
OPENSSL_ALIASES = {"id-aes%s-gcm" % bits: "aes-%s-gcm" % bits for bits in ("128", "192", "256")}

SSH_BASELINES = ("arcfour", "blowfish-cbc", "3des-cbc")
# For a client without `ssh -Q` (before 6.3).
SSH_OLD_CIPHERS = (
    "3des-cbc",
    "aes128-cbc",
    "aes192-cbc",
    "aes256-cbc",
    "aes128-ctr",
    "aes192-ctr",
    "aes256-ctr",
    "arcfour",
    "arcfour128",
    "arcfour256",
    "blowfish-cbc",
    "cast128-cbc",
)

SSHD_PLACES = ("/usr/sbin", "/usr/local/sbin", "/sbin", "/opt/homebrew/sbin")
SSHD_MISSING = (
    "no sshd was found (looked in PATH, {places}): {install}, or give the path of one with --sshd; "
    "one that was only unpacked from its package works (on Debian and Ubuntu `make run` of "
    "Ciphermark unpacks one by itself)"
)
# Where sshd wants its privilege separation directory when that is made anew at every boot.
SEPARATION_DIRECTORY = "/run/sshd"
HOST_ALIAS = "ciphermark"
DEFAULT_MAC = "default"  # in --macs: what the client chooses
WORK_PREFIX = "ciphermark-agent-"

MACHINE_ID_SALT = "ciphermark machine id 1:"

OWN_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")  # names of what - stands for
PLACEHOLDER = "TOKEN"  # what stands for a token in every command that is shown
# Set when CIPHERMARK_TOKEN holds what was typed as --token: it will not be there the next time.
TYPED_AS_OPTION = "CIPHERMARK_TOKEN_TYPED"

EXCHANGE_SECONDS = 60.0  # for a whole request and its answer, however slowly they trickle
CHECK_SECONDS = 5.0  # the same for the question before the measurement
RETRY_DELAYS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # seconds between the attempts of an upload
JITTER = 0.5  # share of a delay that is left to chance, so that many hosts do not come at once
RETRY_AFTER_LIMIT = 60.0
REFUSED_FOR_GOOD = (400, 409, 413)  # sent again, the same run gets the same answer
TEXT_LIMIT = 2000  # longest text of the run document
COUNT_LIMIT = 1000000  # largest number of a CPU there
BYTES_LIMIT = 2**60  # of a try
RATE_LIMIT = 1e13  # bytes per second; no machine comes near, even with all its cores
SECONDS_LIMIT = 10000000.0
CIPHER_NAME = re.compile(r"[a-z0-9][a-z0-9@._/+-]{0,99}$")
TAG_KEY_LIMIT = 50
CIPHERS_LIMIT = 200  # of one ssh; each is measured twice

EXIT_OK, EXIT_NOT_UPLOADED, EXIT_USAGE, EXIT_NOTHING = 0, 1, 2, 3


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


class UsageError(Exception):
    """The command line or the machine's set-up asks for something impossible: exit code 2."""


class SshUnavailable(Exception):
    """ssh cannot be measured here; the text says why, in words for the user."""


class TryFailed(Exception):
    """One try gave no figure; the text says why."""


def unforeseen(error: Exception) -> str:
    """The reason of what failed in a way that nobody thought of."""
    return ("unforeseen: %s: %s" % (type(error).__name__, error))[:300]


def reading(read: Callable[[], Any], default: Any) -> Any:
    """What a reading of the machine gives; the default where it fails: no figure is lost for it."""
    try:
        return read()
    except Exception as error:  # noqa: BLE001 - whatever it is, the measurements count
        verbose(unforeseen(error))
        return default


class NoSharedFile(TryFailed):
    """A sparse file does not work as ssh's input here, or its position tells nothing."""


class Interrupted(KeyboardInterrupt):
    """SIGINT, SIGTERM or SIGHUP arrived; everything that was started is ended on the way out."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum


# --------------------------------------------------------------------------------------------
# Children: nothing that is started outlives the agent
# --------------------------------------------------------------------------------------------

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

_children = {}  # type: Dict[int, subprocess.Popen[bytes]]


def load_libc() -> Any:
    """The C library, for prctl; None where that call does not exist."""
    if ctypes is None or platform.system() != "Linux":
        return None
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return libc if hasattr(libc, "prctl") else None
    except (OSError, TypeError):
        return None


LIBC = load_libc()


def become_subreaper() -> bool:
    """Inherit orphans, so that the CPU time of every process of an sshd session is counted.

    A non-root sshd leaves before it has reaped its session; without this its time is lost.
    """
    return LIBC is not None and LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def child_environment(extra: Optional[Dict[str, str]] = None) -> Dict[str, str]:
    """The user's environment without our token and without the user's ssh agent, in C locale."""
    unwanted = ("CIPHERMARK_TOKEN", "SSH_AUTH_SOCK", "SSH_ASKPASS", "DISPLAY", "LANGUAGE")
    env = {name: text for name, text in os.environ.items() if name not in unwanted}
    env["LC_ALL"] = "C"
    env.update(extra or {})
    return env


def child_preparation(
    cpus: Optional[Set[int]], passwd: Optional[str], file_bytes: Optional[int]
) -> Callable[[], None]:
    """What a child does before exec: die with the agent, stay bounded, stay on its cores."""
    parent = os.getpid()
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    limit = CHILD_CPU_SECONDS
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)

    def prepare() -> None:
        if LIBC is not None:
            LIBC.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
            if os.getppid() != parent:  # it died before the line above took effect
                os._exit(1)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if file_bytes:
            most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            resource.setrlimit(
                resource.RLIMIT_FSIZE,
                (file_bytes if most == resource.RLIM_INFINITY else min(file_bytes, most), most),
            )
        if cpus:
            os.sched_setaffinity(0, cpus)
        if passwd:
            see_other_passwd(passwd)

    return prepare


CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000


def see_other_passwd(path: str) -> None:
    """Let this process alone see another file as /etc/passwd: a mount namespace of its own."""
    root, nothing = ctypes.c_char_p(b"/"), ctypes.c_char_p(None)
    private, bind = ctypes.c_ulong(MS_REC | MS_PRIVATE), ctypes.c_ulong(MS_BIND)
    source, target = ctypes.c_char_p(os.fsencode(path)), ctypes.c_char_p(b"/etc/passwd")
    if (
        LIBC.unshare(CLONE_NEWNS) != 0
        or LIBC.mount(nothing, root, nothing, private, nothing) != 0
        or LIBC.mount(source, target, nothing, bind, nothing) != 0
    ):
        raise OSError(ctypes.get_errno(), "no mount namespace")


def start(
    command: Sequence[str],
    stdin: Any = subprocess.DEVNULL,
    stdout: Any = subprocess.DEVNULL,
    stderr: Any = subprocess.DEVNULL,
    env: Optional[Dict[str, str]] = None,
    cpus: Optional[Set[int]] = None,
    passwd: Optional[str] = None,
    file_bytes: Optional[int] = None,
) -> "subprocess.Popen[bytes]":
    """Start a child that is ended with the agent, whatever ends the agent."""
    verbose("+ " + shell_words(command, env))
    child = subprocess.Popen(
        list(command),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=child_environment(env),
        preexec_fn=child_preparation(cpus, passwd, file_bytes),
    )
    _children[child.pid] = child
    return child


class ToolResult(NamedTuple):
    """What a finished command answered; status is negative for a signal, as in subprocess."""

    status: int
    out: str
    err: str


def run_tool(
    command: Sequence[str],
    timeout: float = TOOL_SECONDS,
    env: Optional[Dict[str, str]] = None,
    passwd: Optional[str] = None,
) -> ToolResult:
    """Run a command to its end, at most `timeout` seconds; never raises for what it answers."""
    pipe = subprocess.PIPE
    try:
        child = start(command, stdout=pipe, stderr=pipe, env=env, passwd=passwd)
    except OSError as error:
        return ToolResult(127, "", "%s: %s" % (command[0], error.strerror))
    except subprocess.SubprocessError as error:
        return ToolResult(126, "", "%s: %s" % (command[0], error))
    try:
        out, err = all_output(child, timeout)
    except TryFailed as error:
        return ToolResult(124, "", str(error))
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        for stream in (child.stdout, child.stderr):
            if stream:
                stream.close()
        _children.pop(child.pid, None)
    return ToolResult(child.returncode, decode(out), decode(err))


def all_output(child: "subprocess.Popen[bytes]", timeout: float) -> Tuple[bytes, bytes]:
    """All that a tool says until it ends, on both its outputs; TryFailed when it says too much."""
    deadline = time.monotonic() + timeout
    said = {stream.fileno(): b"" for stream in (child.stdout, child.stderr) if stream}
    out, err = said
    unended = set(said)
    while unended:
        ready = select.select(unended, [], [], max(0.0, deadline - time.monotonic()))[0]
        if not ready:
            raise TryFailed("no answer within %g s" % timeout)
        for descriptor in ready:
            chunk = os.read(descriptor, 65536)
            said[descriptor] += chunk
            if not chunk:
                unended.discard(descriptor)
            if len(said[descriptor]) > TOOL_BYTES:
                raise TryFailed("an answer of more than %d bytes" % TOOL_BYTES)
    try:
        child.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise TryFailed("no end within %g s" % timeout)
    return said[out], said[err]


def decode(raw: bytes) -> str:
    """Text of a tool; bytes that are no UTF-8 become replacement characters."""
    return raw.decode("utf-8", "replace")


def note_reaped(pid: int, status: int) -> None:
    """Tell subprocess that a child it started has been waited for here."""
    child = _children.pop(pid, None)
    if child is not None:
        child.returncode = (
            -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        )


def reap(pid: int, flags: int = 0) -> Tuple[int, int, float]:
    """wait4: (pid, exit status, CPU seconds of user and system); pid 0 when nothing has ended."""
    reaped, status, usage = os.wait4(pid, flags)
    if reaped:
        note_reaped(reaped, status)
    return reaped, status, usage.ru_utime + usage.ru_stime


def reap_orphans() -> None:
    """Wait for what a finished child left to us, which ends by itself within a moment."""
    deadline = time.monotonic() + ORPHAN_SECONDS
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if reap(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)


def end_children() -> None:
    """Kill and reap whatever is still running, also orphans that sshd left to us."""
    for child in list(_children.values()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
    deadline = time.monotonic() + REAP_SECONDS
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if reap(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.005)


# --------------------------------------------------------------------------------------------
# Readings of the machine: how busy, by whom, and what may make a run doubtful
# --------------------------------------------------------------------------------------------


def read_text(path: str) -> Optional[str]:
    """A small file as text, or None where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return decode(file.read(MIB))
    except OSError:
        return None


def read_number(path: str) -> Optional[int]:
    """A file that holds one whole number, or None."""
    text = (read_text(path) or "").strip()
    return int(text) if re.match(r"-?[0-9]{1,18}$", text) else None


class CpuTimes(NamedTuple):
    """CPU seconds of all cores since boot: at work, stolen by the hypervisor, and all."""

    busy: float
    steal: float
    total: float


def parse_proc_stat(text: str, ticks: int = 100) -> Optional[CpuTimes]:
    """The first line of /proc/stat. Guest time is already part of user time."""
    match = re.match(r"cpu +([0-9 ]+)", text)
    if not match:
        return None
    ticked = [whole(word, BYTES_LIMIT) for word in match.group(1).split()][:8]
    columns = [known / ticks for known in ticked if known is not None]
    if len(columns) < len(ticked):
        return None
    columns += [0.0] * (8 - len(columns))
    user, nice, system, idle, iowait, irq, softirq, steal = columns
    busy = user + nice + system + irq + softirq
    return CpuTimes(busy, steal, busy + steal + idle + iowait)


def read_cpu_times() -> Optional[CpuTimes]:
    return parse_proc_stat(read_text("/proc/stat") or "", int(os.sysconf("SC_CLK_TCK")))


def own_cpu_seconds() -> float:
    """CPU seconds of the agent and of every child it has waited for."""
    mine = resource.getrusage(resource.RUSAGE_SELF)
    theirs = resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + theirs.ru_utime + theirs.ru_stime


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


def foreign_before_start() -> Optional[float]:
    """CPU cores used by others while the agent waits half a second."""
    watch = ForeignWatch()
    time.sleep(QUIET_CHECK_SECONDS)
    return watch.cores()


def wait_until_quiet(limit: float, say: Callable[[str], None]) -> Optional[float]:
    """Foreign CPU cores just before the start, after at most so many seconds of waiting."""
    until = time.monotonic() + limit
    foreign = foreign_before_start()
    if foreign is not None and foreign > FOREIGN_LIMIT and time.monotonic() < until:
        text = (
            "Other processes use %.0f %% of one CPU; waiting up to %g s for them (--wait 0: not)."
        )
        say(text % (foreign * 100, limit))
    while foreign is not None and foreign > FOREIGN_LIMIT and time.monotonic() < until:
        foreign = foreign_before_start()
    return foreign


def swapped_pages() -> Optional[int]:
    """Pages swapped in and out since boot."""
    found = re.findall(r"^pswp(?:in|out) ([0-9]{1,18})$", read_text("/proc/vmstat") or "", re.M)
    return sum(int(count) for count in found) if found else None


def cgroup_folders(listing: str, base: str = "/sys/fs/cgroup") -> List[str]:
    """Folders of the control groups that can limit our CPU: our own and all above it.

    `listing` is /proc/self/cgroup, of version 2, version 1 or both; in a container its path may
    be one of the host's, of which only the end of it, or nothing, is there.
    """
    folders = []  # type: List[str]
    for controllers, path in re.findall(r"^\d+:([^:\n]*):(.*)$", listing, re.M):
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = controllers if os.path.isdir(os.path.join(base, controllers)) else "cpu"
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for depth in range(len(parts), -1, -1):
            folders.append(os.path.join(base, mount, *parts[:depth]))
    return [folder for folder in folders if os.path.isdir(folder)]


def own_cgroups() -> List[str]:
    return cgroup_folders(read_text("/proc/self/cgroup") or "0::/")


def throttle_events() -> Optional[int]:
    """Thermal throttling events of all cores, plus those of our control groups' CPU quotas."""
    paths = glob.glob("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count")
    counts = [read_number(path) for path in paths]
    for folder in own_cgroups():
        text = read_text(folder + "/cpu.stat") or ""
        quota = re.search(r"^nr_throttled ([0-9]{1,18})$", text, re.M)
        counts.append(int(quota.group(1)) if quota else None)
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


# Bits of get_throttled of the Raspberry Pi's firmware: what is so now. The same 16 bits further
# up: what has been so since the machine was started.
FIRMWARE_SIGNS = (
    (0, "undervoltage", "the supply voltage was too low"),
    (1, "throttled", "the firmware capped the CPU frequency"),
    (2, "throttled", "the firmware throttled the CPU"),
    (3, "throttled", "the firmware slowed the CPU down for its temperature"),
)


def firmware_state(base: str = "/sys") -> Optional[int]:
    """get_throttled of a Raspberry Pi, from sysfs, vcgencmd or its voltage sensor; else None."""
    for path in glob.glob(base + "/devices/platform/soc*/*firmware/get_throttled"):
        return hexadecimal(read_text(path) or "")
    if shutil.which("vcgencmd"):
        answer = run_tool(["vcgencmd", "get_throttled"])
        if answer.out.startswith("throttled="):
            return hexadecimal(answer.out[len("throttled=") :])
    for path in glob.glob(base + "/class/hwmon/hwmon*/name"):
        if (read_text(path) or "").strip() == "rpi_volt":
            return read_number(os.path.join(os.path.dirname(path), "in0_lcrit_alarm"))
    return None


def hexadecimal(text: str) -> Optional[int]:
    """A number such as 0x50005, or 50005 as sysfs writes it."""
    return int(text, 16) if re.match(r"(0x)?[0-9a-f]{1,8}\s*$", text) else None


def firmware_conditions(before: Optional[int], after: Optional[int]) -> List[Json]:
    """What a Raspberry Pi's firmware did during the run, or may have done."""
    if before is None or after is None:
        return []
    found = []
    for bit, code, words in FIRMWARE_SIGNS:
        now, ever = 1 << bit, 1 << bit + 16
        if (before | after) & now or after & ~before & ever:
            found.append(condition(code, words + " during the run"))
        elif after & ever:
            text = words + " since the machine was started, maybe also during the run"
            found.append(condition(code, text))
    return found


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
        text = "other processes used %.0f %% of one CPU before the start" % (foreign * 100)
        found.append(condition("busy", text))
    if disturbed[0]:
        text = "during %d of %d tries other processes used more than %.0f %% of one CPU"
        found.append(condition("disturbed", text % (disturbed + (FOREIGN_LIMIT * 100,))))
    found += counter_conditions(before, after) + limit_conditions()
    if slow_governor(governor):
        found.append(condition("governor", "the CPU frequency governor is %s" % governor))
    for name in CAPABILITY_VARIABLES:
        if os.environ.get(name):
            text = "%s=%s is set for everything that was measured"
            code = name.split("_")[1]
            found.append(condition(code, text % (name, os.environ[name][:200])))
    return found


def limit_conditions() -> List[Json]:
    """A frequency or a share of the CPU that somebody has set below what the machine has."""
    found = []
    folder = "/sys/devices/system/cpu/cpu0/cpufreq/"
    allowed, able = (
        read_number(folder + "scaling_max_freq"),
        read_number(folder + "cpuinfo_max_freq"),
    )
    if allowed and able and allowed < 0.95 * able:
        text = "the CPU may run at %d of its %d MHz" % (allowed // 1000, able // 1000)
        found.append(condition("frequency", text))
    cores = lowest_quota(own_cgroups())
    if cores is not None and cores < (os.cpu_count() or 1):
        text = "a CPU quota allows %.2f of %d CPUs" % (cores, os.cpu_count() or 1)
        found.append(condition("quota", text))
    return found


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


def slow_governor(governor: Optional[str]) -> bool:
    """Whether this governor may keep the CPU slow under load.

    `powersave` only means that where the driver does not choose the frequency by itself.
    """
    driver = read_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver") or ""
    return governor in ("userspace", "conservative") or (
        governor == "powersave" and "pstate" not in driver
    )


def counter_conditions(before: MachineState, after: MachineState) -> List[Json]:
    """Steal, swapping and throttling during the run."""
    found = []
    if before.times and after.times and after.times.total > before.times.total:
        stolen = after.times.steal - before.times.steal
        share = stolen / (after.times.total - before.times.total)
        if share > STEAL_LIMIT:
            text = "the hypervisor gave %.1f %% of the CPU time to others" % (share * 100)
            found.append(condition("steal", text))
    if before.swapped is not None and (after.swapped or 0) > before.swapped:
        text = "the machine swapped %d pages during the run" % (
            (after.swapped or 0) - before.swapped
        )
        found.append(condition("swap", text))
    if before.throttled is not None and (after.throttled or 0) > before.throttled:
        text = "the CPU was throttled %d times during the run"
        found.append(condition("throttled", text % ((after.throttled or 0) - before.throttled)))
    return found + firmware_conditions(before.firmware, after.firmware)


def sibling_cpus(cpu: int) -> Set[int]:
    """The logical CPUs that share a core with this one, itself included."""
    path = "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list" % cpu
    return parse_cpu_list(read_text(path) or "") or {cpu}


def parse_cpu_list(text: str) -> Set[int]:
    """CPU numbers of the kernel's list form, such as 0-1,4."""
    cpus = set()  # type: Set[int]
    for first, last in re.findall(r"\b([0-9]{1,5})(?:-([0-9]{1,5}))?\b", text):
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def cpus_for_pinning() -> Optional[Tuple[int, int]]:
    """Two logical CPUs on two cores, the fastest first; None where that is impossible."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    allowed = sorted(os.sched_getaffinity(0), key=lambda cpu: (-cpu_capacity(cpu), cpu))
    others = [cpu for cpu in allowed[1:] if cpu not in sibling_cpus(allowed[0])]
    return (allowed[0], others[0]) if others else None


def cpu_capacity(cpu: int) -> int:
    """The kernel's relative speed of a CPU (differs on big.LITTLE machines); 0 if unknown."""
    return read_number("/sys/devices/system/cpu/cpu%d/cpu_capacity" % cpu) or 0


# --------------------------------------------------------------------------------------------
# Environment: what can change on a host and affects speed. Unknown is None, never a guess.
# --------------------------------------------------------------------------------------------

ARM_VENDORS = {
    0x41: "ARM",
    0x48: "HiSilicon",
    0x50: "APM",
    0x51: "Qualcomm",
    0x61: "Apple",
    0xC0: "Ampere",
}
ARM_PARTS = {
    0xC05: "Cortex-A5",
    0xC07: "Cortex-A7",
    0xC08: "Cortex-A8",
    0xC09: "Cortex-A9",
    0xC0D: "Cortex-A17",
    0xC0E: "Cortex-A17",
    0xC0F: "Cortex-A15",
    0xD01: "Cortex-A32",
    0xD02: "Cortex-A34",
    0xD03: "Cortex-A53",
    0xD04: "Cortex-A35",
    0xD05: "Cortex-A55",
    0xD06: "Cortex-A65",
    0xD07: "Cortex-A57",
    0xD08: "Cortex-A72",
    0xD09: "Cortex-A73",
    0xD0A: "Cortex-A75",
    0xD0B: "Cortex-A76",
    0xD0C: "Neoverse-N1",
    0xD0D: "Cortex-A77",
    0xD40: "Neoverse-V1",
    0xD41: "Cortex-A78",
    0xD44: "Cortex-X1",
    0xD46: "Cortex-A510",
    0xD47: "Cortex-A710",
    0xD48: "Cortex-X2",
    0xD49: "Neoverse-N2",
    0xD4A: "Neoverse-E1",
    0xD4B: "Cortex-A78C",
    0xD4D: "Cortex-A715",
    0xD4E: "Cortex-X3",
    0xD4F: "Neoverse-V2",
    0xD80: "Cortex-A520",
    0xD81: "Cortex-A720",
    0xD82: "Cortex-X4",
    0xD84: "Neoverse-V3",
}


def cut(text: Optional[str]) -> Optional[str]:
    """A text that fits the run document; empty is None."""
    stripped = (text or "").strip()
    return stripped[:TEXT_LIMIT] or None


def whole(text: Optional[str], most: int = COUNT_LIMIT) -> Optional[int]:
    """A decimal or 0x number from 0 to `most`, or None."""
    word = (text or "").strip()
    if not re.match(r"(?:[0-9]{1,20}|0x[0-9a-fA-F]{1,16})$", word):
        return None
    number = int(word, 16 if word.startswith("0x") else 10)
    return number if number <= most else None


def real(text: str) -> Optional[float]:
    """A decimal number from 0 on, or None: also for what a float takes beside them (inf, 1e9)."""
    return float(text) if re.match(r"[0-9]{1,20}(?:\.[0-9]{0,20})?$", text.strip()) else None


def cpu_speed(cpu: int) -> int:
    """What tells fast cores from slow ones: capacity or, without it, the highest frequency."""
    folder = "/sys/devices/system/cpu/cpu%d/" % cpu
    return cpu_capacity(cpu) or read_number(folder + "cpufreq/cpuinfo_max_freq") or 0


def parse_cpuinfo(
    text: str, cpus: Optional[Set[int]] = None, speed: Callable[[int], int] = cpu_speed
) -> Json:
    """CPU facts of /proc/cpuinfo, in the words of the run document.

    Where cores differ, those of `cpus` (None: of all), by their speed.
    """
    blocks = [
        dict(re.findall(r"^([^:\n]*?)\s*:[ \t]*(.*)$", block, re.M))
        for block in text.strip().split("\n\n")
    ]
    first = blocks[0] if blocks else {}
    arm = [block for block in blocks if "CPU implementer" in block]
    if arm:
        used = [block for block in arm if cpus is None or whole(block.get("processor")) in cpus]
        return arm_facts(sorted(used or arm, key=lambda block: -speed(processor(block))))
    flags = first.get("flags") or first.get("isa") or ""
    return {
        "model": cut(first.get("model name") or first.get("cpu model") or first.get("cpu")),
        "vendor": cut(first.get("vendor_id")),
        "family": whole(first.get("cpu family")),
        "model_id": whole(first.get("model")),
        "stepping": whole(first.get("stepping")),
        "cores": count_cores(blocks),
        "flags": flags.split() or None,
    }


def processor(block: Dict[str, str]) -> int:
    """The number of a CPU; kernels that describe all in one block give none."""
    return whole(block.get("processor")) or 0


def arm_name(block: Dict[str, str]) -> Optional[str]:
    """ARM names its CPUs by numbers; the well-known ones are translated."""
    part = whole(block.get("CPU part"))
    known = ARM_PARTS.get(part or 0) if whole(block["CPU implementer"]) == 0x41 else None
    return known or cut(block.get("model name"))


def arm_facts(blocks: Sequence[Dict[str, str]]) -> Json:
    """Of CPUs, the fastest first: the numbers of the first, the names of all kinds."""
    names = list(collections.OrderedDict.fromkeys(map(arm_name, blocks)))
    first = blocks[0]
    return {
        "model": " + ".join(map(str, names)) if None not in names else None,
        "vendor": ARM_VENDORS.get(whole(first["CPU implementer"]) or 0),
        "family": whole(first.get("CPU architecture")),
        "model_id": whole(first.get("CPU part")),
        "stepping": whole(first.get("CPU revision")),
        "cores": None,
        "flags": first.get("Features", "").split() or None,
    }


def count_cores(blocks: Iterable[Dict[str, str]]) -> Optional[int]:
    """Physical cores: distinct (package, core) pairs of /proc/cpuinfo."""
    pairs = {
        (block["physical id"], block["core id"])
        for block in blocks
        if "physical id" in block and "core id" in block
    }
    return len(pairs) or None


def topology_cores() -> Optional[int]:
    """Physical cores as the kernel's topology files tell."""
    pairs = set()
    for folder in glob.glob("/sys/devices/system/cpu/cpu[0-9]*/topology"):
        pairs.add((read_number(folder + "/physical_package_id"), read_number(folder + "/core_id")))
    pairs = {pair for pair in pairs if pair[1] is not None}
    return len(pairs) or None


def system_tool(name: str) -> str:
    """Path of a program of macOS and FreeBSD that the PATH of cron leaves out."""
    return find_program(name, None, ("/usr/sbin", "/sbin")) or name


def sysctl(name: str) -> Optional[str]:
    """A kernel value of macOS or FreeBSD."""
    answer = run_tool([system_tool("sysctl"), "-n", name])
    return cut(answer.out) if answer.status == 0 else None


def bsd_cpu() -> Json:
    """CPU facts on macOS and FreeBSD."""
    features = "%s %s" % (
        sysctl("machdep.cpu.features") or "",
        sysctl("machdep.cpu.leaf7_features") or "",
    )
    model = sysctl("machdep.cpu.brand_string") or sysctl("hw.model")
    return {
        "model": model,
        "vendor": sysctl("machdep.cpu.vendor")
        or ("Apple" if (model or "").startswith("Apple") else None),
        "family": whole(sysctl("machdep.cpu.family")),
        "model_id": whole(sysctl("machdep.cpu.model")),
        "stepping": whole(sysctl("machdep.cpu.stepping")),
        "cores": whole(sysctl("hw.physicalcpu") or sysctl("kern.smp.cores")),
        "flags": features.lower().split()
        or apple_flags(run_tool([system_tool("sysctl"), "hw.optional"]).out),
    }


# hw.optional of Apple silicon, and what Linux calls the same on other ARM cores.
APPLE_FLAGS = (
    ("floatingpoint", "fp"),
    ("AdvSIMD", "asimd"),
    ("FEAT_AES", "aes"),
    ("FEAT_PMULL", "pmull"),
    ("FEAT_SHA1", "sha1"),
    ("FEAT_SHA256", "sha2"),
    ("armv8_crc32", "crc32"),
    ("FEAT_LSE", "atomics"),
    ("FEAT_FP16", "fphp"),
    ("FEAT_RDM", "asimdrdm"),
    ("FEAT_SHA3", "sha3"),
    ("FEAT_DotProd", "asimddp"),
    ("FEAT_SHA512", "sha512"),
    ("FEAT_SME", "sme"),
)


def apple_flags(text: str) -> Optional[List[str]]:
    """CPU flags from `sysctl hw.optional`; None where it says nothing of AES (macOS 11)."""
    values = dict(re.findall(r"^hw\.optional\.(?:arm\.)?(\w+): (\d+)$", text, re.M))
    if "FEAT_AES" not in values:
        return None
    return [flag for name, flag in APPLE_FLAGS if values.get(name) == "1"]


def lscpu_model(text: str) -> Optional[str]:
    """The model by lscpu, which knows more ARM cores than we do; of several, the fastest first."""
    found = []
    for part in re.split(r"(?m)^\s*Model name: *", text)[1:]:
        fastest = re.search(r"^\s*CPU max MHz: *([\d.]+)", part, re.M)
        speed = real(fastest.group(1)) if fastest else None
        found.append((-(speed or 0.0), cut(part.split("\n")[0])))
    names = [name for _, name in sorted(found, key=lambda pair: pair[0])]
    if None in names or {"-", "unknown"} & set(names):
        return None
    return " + ".join(map(str, names)) or None


def board() -> Optional[str]:
    """The machine by the device tree that its firmware handed over: no PC has one."""
    return cut((read_text("/proc/device-tree/model") or "").rstrip("\0"))


def max_mhz() -> Optional[float]:
    """The highest frequency that any core may reach, in MHz."""
    paths = glob.glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/cpuinfo_max_freq")
    known = [khz for khz in map(read_number, paths) if khz and 0 < khz < 1000 * COUNT_LIMIT]
    return max(known) / 1000.0 if known else None


def governor() -> Optional[str]:
    return cut(read_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))


def cpu_environment() -> Json:
    """environment.cpu of the run document."""
    text = read_text("/proc/cpuinfo") if platform.system() == "Linux" else None
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    facts = parse_cpuinfo(text, allowed) if text else bsd_cpu()
    if facts["model"] is None:
        facts["model"] = lscpu_model(run_tool(["lscpu"]).out)
    facts["flags"] = [flag[:100] for flag in (facts["flags"] or [])[:1000]] or None
    facts["board"] = board()
    facts["cores"] = facts["cores"] or topology_cores()
    facts["architecture"] = cut(platform.machine())
    facts["threads"] = os.cpu_count()
    facts["max_mhz"] = max_mhz()
    facts["governor"] = governor()
    return facts


EMPTY_CPU = dict.fromkeys(
    list(parse_cpuinfo("")) + ["board", "architecture", "threads", "max_mhz", "governor"]
)  # type: Json

VM_SIGNS = (
    ("kvm", "kvm"),
    ("qemu", "qemu"),
    ("vmware", "vmware"),
    ("virtualbox", "oracle"),
    ("innotek", "oracle"),
    ("xen", "xen"),
    ("microsoft corporation", "microsoft"),
    ("amazon ec2", "amazon"),
    ("google compute", "google"),
    ("bhyve", "bhyve"),
    ("parallels", "parallels"),
)


def virtualization(flags: Optional[List[str]]) -> Optional[str]:
    """The kind of virtual machine, else of container, "none" on bare metal, None if unknown.

    The words are those of systemd-detect-virt, which is asked first.
    """
    found = (detect_virt("--vm") if platform.system() == "Linux" else None) or sign_of_vm(flags)
    if found in (None, "none"):
        return detect_virt("--container") if container() else found
    return found


def detect_virt(kind: str) -> Optional[str]:
    answer = run_tool(["systemd-detect-virt", kind])
    return cut(answer.out) if answer.status in (0, 1) else None


def container() -> Optional[str]:
    """The kind of container we are in, or None."""
    found = detect_virt("--container")
    if found is None and os.path.exists("/.dockerenv"):
        return "docker"
    return None if found == "none" else found


def sign_of_vm(flags: Optional[List[str]]) -> Optional[str]:
    """The hypervisor by DMI, where systemd is absent; "none" only when x86 shows no sign of one."""
    dmi = " ".join(
        read_text("/sys/class/dmi/id/" + name) or "" for name in ("sys_vendor", "product_name")
    ).lower()
    for sign, name in VM_SIGNS:
        if sign in dmi:
            return name
    if flags is None or platform.machine() not in ("x86_64", "i686", "i386"):
        return None
    return "vm-other" if "hypervisor" in flags else "none"


def memory_bytes() -> Optional[int]:
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError):
        return None


def parse_os_release(text: str) -> Dict[str, str]:
    """Name and value pairs of os-release; quotes removed."""
    pairs = re.findall(r"^([A-Z_0-9]+)=(.*)$", text, re.M)
    return {name: value.strip().strip("\"'") for name, value in pairs}


def os_environment() -> Json:
    """environment.os of the run document."""
    kernel = cut("%s %s" % (platform.system(), platform.release()))
    if platform.system() == "Darwin":
        return {
            "id": "macos",
            "name": "macOS",
            "version": cut(platform.mac_ver()[0]),
            "kernel": kernel,
        }
    text = read_text("/etc/os-release") or read_text("/usr/lib/os-release") or ""
    release = parse_os_release(text)
    return {
        "id": cut(release.get("ID") or platform.system().lower()),
        "name": cut(release.get("NAME") or platform.system()),
        "version": cut(release.get("VERSION_ID") or (None if release else platform.release())),
        "kernel": kernel,
    }


def parse_openssl_version(text: str) -> Json:
    """environment.openssl from `openssl version -a`."""
    lines = text.strip().splitlines()
    first = lines[0][:TEXT_LIMIT] if lines else ""
    same = re.match(r"(.+?) +\(Library: (.+)\)$", first)
    if same and same.group(1) == same.group(2):
        first = same.group(1)
    named = dict(re.findall(r"^([A-Za-z ]+): *(.*)$", text, re.M))
    return {
        "version_text": cut(first),
        "built_on": cut(named.get("built on")),
        "platform": cut(named.get("platform")),
        "options": cut(named.get("options")),
        "compiler": cut(named.get("compiler")),
        "cpu_settings": cut(named.get("CPUINFO")),
    }


EMPTY_OPENSSL = parse_openssl_version("")


def machine_id() -> Optional[str]:
    """SHA-256 of the machine's own id with our salt, so that the id cannot be recovered."""
    raw = read_text("/etc/machine-id") or read_text("/var/lib/dbus/machine-id")
    if raw is None and platform.system() == "FreeBSD":
        raw = sysctl("kern.hostuuid")
    if raw is None and platform.system() == "Darwin":
        answer = run_tool([system_tool("ioreg"), "-rd1", "-c", "IOPlatformExpertDevice"])
        raw = platform_uuid(answer.out)
    if raw is None or not raw.strip():
        return None
    return hashlib.sha256((MACHINE_ID_SALT + raw.strip()).encode("utf-8")).hexdigest()


def platform_uuid(text: str) -> Optional[str]:
    """The id of a Mac, from what ioreg prints of IOPlatformExpertDevice."""
    match = re.search(r'"IOPlatformUUID" = "([0-9A-Fa-f-]{36})"', text)
    return match.group(1) if match else None


def load_average() -> Optional[List[float]]:
    try:
        return [round(load, 2) for load in os.getloadavg()]
    except OSError:
        return None


def parse_ssh_version(text: str) -> Optional[str]:
    """`OpenSSH_9.2p1 Debian-2+deb12u6` out of what ssh -V or sshd prints."""
    match = re.search(r"OpenSSH_[^,\r\n]+", text)
    return cut(match.group(0)) if match else None


def parse_ssh_library(text: str) -> Optional[str]:
    """`OpenSSL 3.0.19 27 Jan 2026`, `LibreSSL 3.3.6` or `without OpenSSL` out of the same."""
    match = re.search(r"OpenSSH_[^,\r\n]+, *([^\r\n]*\S)", text)
    return cut(match.group(1)) if match else None


OPENSSH_FACTS = ("client", "server", "library", "server_library", "default_cipher")


def default_cipher(ssh: str) -> Optional[str]:
    """The cipher that the client asks for first, with the machine's own configuration."""
    match = re.search(r"^ciphers ([^,\s]{1,100})", run_tool([ssh, "-G", "127.0.0.1"]).out, re.M)
    return match.group(1).lower() if match else None


# --------------------------------------------------------------------------------------------
# The private sshd: one per connection, on the loopback address, gone when the client goes
# --------------------------------------------------------------------------------------------


def find_program(name: str, given: Optional[str], places: Sequence[str] = ()) -> Optional[str]:
    """Absolute path of a program: the given one, else from PATH and the places."""
    if given is not None:
        path = os.path.abspath(given)
        if not os.access(path, os.X_OK) or os.path.isdir(path):
            raise UsageError("--%s %s: there is no program that can be run" % (name, given))
        return path
    path_list = os.pathsep.join([os.environ.get("PATH", os.defpath)] + list(places))
    found = shutil.which(name, path=path_list)
    return os.path.abspath(found) if found else None


def library_folders(sshd: str) -> List[str]:
    """Library folders of an unpacked package: <root>/usr/sbin/sshd -> <root>/usr/lib/..."""
    folder = pathlib.Path(sshd).resolve().parent
    root = folder.parent.parent if folder.parent.name == "usr" else folder.parent
    if str(root) == "/":
        return []
    found = []
    for base in ("usr/lib", "lib", "usr/lib64", "lib64"):
        for place in [root / base] + sorted((root / base).glob("*-*")):
            if any(place.glob("*.so*")):
                found.append(str(place))
    return found


def sshd_library_path(sshd: str) -> Dict[str, str]:
    """The extra environment without which this sshd does not start; empty for an installed one."""
    answer = run_tool([sshd, "-?"])
    if "shared librar" not in answer.err and "ibrary not loaded" not in answer.err:
        return {}
    folders = library_folders(sshd)
    extra = {"LD_LIBRARY_PATH": os.pathsep.join(folders)}
    if not folders or parse_ssh_version(run_tool([sshd, "-?"], env=extra).err) is None:
        raise SshUnavailable("%s does not start: %s" % (sshd, one_line(answer.err)))
    return extra


def one_line(text: str) -> str:
    """The last line that is not a debug message."""
    lines = [line.strip() for line in text.splitlines() if not line.startswith("debug")]
    return next((line[:500] for line in reversed(lines) if line), "no message")


def version_number(text: Optional[str]) -> Tuple[int, int]:
    """(9, 2) of OpenSSH_9.2p1; unknown counts as new."""
    match = re.search(r"OpenSSH_([0-9]{1,4})\.([0-9]{1,4})", text or "")
    return (int(match.group(1)), int(match.group(2))) if match else (99, 0)


def split_sshd_lines(sshd: str, version: Tuple[int, int]) -> List[str]:
    """Since 9.8 sshd starts helper programs at compiled-in paths; an unpacked one has its own."""
    root = pathlib.Path(sshd).resolve().parent.parent
    lines = []
    for keyword, name, since in (
        ("SshdSessionPath", "sshd-session", (9, 8)),
        ("SshdAuthPath", "sshd-auth", (10, 0)),
    ):
        if version < since or str(root) == "/usr":
            continue
        for folder in ("lib/openssh", "lib/ssh", "libexec", "libexec/openssh"):
            if (root / folder / name).exists():
                lines.append("%s %s" % (keyword, root / folder / name))
                break
    return lines


class Channel(NamedTuple):
    """What an ssh connection is asked for; None leaves the choice to the client."""

    cipher: Optional[str]
    mac: Optional[str] = None
    compression: bool = False

    def in_words(self) -> str:
        words = [self.cipher or "client's choice"]
        if self.mac:
            words.append("with " + self.mac)
        if self.compression:
            words.append("compressed")
        return " ".join(words)

    def difference(self, used: "Negotiated") -> Optional[str]:
        """In words, what was negotiated instead of what was asked for."""
        if self.cipher is not None and used.cipher != self.cipher:
            return "%s instead of %s" % (used.cipher, self.cipher)
        if self.mac is not None and used.mac != self.mac:
            return "%s instead of %s" % (used.mac, self.mac)
        if self.compression != (used.compression not in (None, "none")):
            return "compression %s" % used.compression
        return None


def has_own_mac(cipher: str) -> bool:
    """Ciphers that authenticate by themselves use none of the MACs."""
    return "gcm" not in cipher and "poly1305" not in cipher


def ssh_channels(ciphers: Sequence[str], macs: Sequence[str], compression: bool) -> List[Channel]:
    """Every combination that makes a difference."""
    channels = []
    for cipher in ciphers:
        for mac in macs if macs and has_own_mac(cipher) else [DEFAULT_MAC]:
            name = None if mac == DEFAULT_MAC else mac
            channels += [
                Channel(cipher, name, packed) for packed in (False, True)[: 1 + compression]
            ]
    return channels


def sshd_configuration(
    folder: str,
    ciphers: Sequence[str],
    version: Tuple[int, int],
    use_pam: bool,
    extra: Sequence[str],
    macs: Sequence[str] = (),
) -> str:
    """sshd_config of the private server: only our key, every cipher the client offers."""
    lines = [
        "HostKey %s/host_key" % folder,
        "AuthorizedKeysFile %s/authorized_keys" % folder,
        "StrictModes no",  # the folder may lie below a group-writable one
        "UsePAM %s" % ("yes" if use_pam else "no"),
        "PidFile none",
        "PasswordAuthentication no",
        "PermitRootLogin without-password",
        "PrintMotd no",
        "LogLevel INFO",  # to our own file; tells of locked accounts
        "UseDNS no",
        "Ciphers " + ",".join(ciphers),
    ]
    if version < (7, 5):
        lines.append("UsePrivilegeSeparation no")  # needed by a server that is not root
    if version >= (6, 9):
        lines.append("PermitUserRC no")
    if version >= (7, 8):
        # bash reads ~/.bashrc when it is started by sshd at shell level 0; this is level 1.
        lines.append("SetEnv SHLVL=1")
    if macs:
        lines.append("MACs " + ",".join(macs))
    return "\n".join(lines + list(extra)) + "\n"


def client_command(
    ssh: str, folder: str, user: str, port: int, channel: Channel, token: str
) -> List[str]:
    """The ssh command of every connection; without a cipher, the client's own choice."""
    options = (
        "IdentitiesOnly=yes BatchMode=yes StrictHostKeyChecking=yes HostKeyAlias=%s "
        "UserKnownHostsFile=%s/known_hosts GlobalKnownHostsFile=/dev/null ControlMaster=no "
        "ControlPath=none PreferredAuthentications=publickey"
    ) % (HOST_ALIAS, folder)
    command = [ssh, "-F", "/dev/null", "-v", "-T", "-a", "-x", "-i", folder + "/user_key"]
    command += ["-p", str(port), "-l", user]
    for option in options.split():
        command += ["-o", option]
    return command + channel_options(channel) + ["127.0.0.1", remote_command(token)]


def channel_options(channel: Channel) -> List[str]:
    """Options of ssh that ask for this channel."""
    words = ["-o", "Compression=%s" % ("yes" if channel.compression else "no")]
    if channel.cipher:
        words += ["-c", channel.cipher]
    if channel.mac:
        words += ["-m", channel.mac]
    return words


def remote_command(token: str) -> str:
    """Says when the stream may start and when all of it has arrived.

    The token keeps what a login shell may print from being taken for a marker.
    """
    return "printf R%s; cat >/dev/null; printf D%s" % (token, token)


def server_command(sshd: str, folder: str) -> List[str]:
    return [sshd, "-i", "-e", "-f", folder + "/sshd_config"]


class Negotiated(NamedTuple):
    """What client and server agreed on, by the client's own log."""

    cipher: Optional[str]
    mac: Optional[str]
    kex: Optional[str]
    compression: Optional[str]


NAME = r"(\S{1,100})"  # as long as the run document takes: a far end may write what it likes
NEW_KEX_LINE = re.compile(r"kex: client->server cipher: %s MAC: %s compression: %s" % ((NAME,) * 3))
OLD_KEX_LINE = re.compile(r"kex: client->server %s %s %s" % ((NAME,) * 3))


def parse_negotiated(log: str) -> Negotiated:
    """Algorithms from `ssh -v`; AEAD ciphers have no MAC of their own (`<implicit>`).

    The last ones: with ProxyJump the log begins with those of the host in between.
    """
    kex = (re.findall(r"kex: algorithm: " + NAME, log) or [None])[-1]
    found = NEW_KEX_LINE.findall(log) or OLD_KEX_LINE.findall(log)
    if not found:
        return Negotiated(None, None, kex, None)
    cipher, mac, compression = found[-1]
    return Negotiated(cipher.lower(), None if mac.startswith("<") else mac, kex, compression)


def explain_failure(ssh_log: str, sshd_log: str, received: str) -> str:
    """Why a connection gave no figure, in words; `received` is what the far side printed."""
    for sign, words in (
        ("no matching cipher", "this sshd refuses it"),
        ("Unknown cipher type", "this ssh does not know it"),
        ("account is locked", "the account is locked, and this sshd lets no locked account in"),
        ("account is currently not available", "the account has no login shell"),
        ("This account is not available", "the account has no login shell"),
        (
            "setgroups: Operation not permitted",
            "sshd needs a real user here, not this container's root",
        ),
        ("No user exists for uid", "this user id has no account in the passwd file"),
        ("Permission denied", "sshd refused the temporary key: " + one_line(sshd_log)),
    ):
        if sign in ssh_log or sign in sshd_log or sign in received:
            return words
    return "%s (sshd: %s)" % (one_line(ssh_log), one_line(sshd_log))


def process_start_time(pid: int) -> Optional[str]:
    """Start of a process in clock ticks since boot: with the pid it names one process only."""
    line = read_text("/proc/%d/stat" % pid)
    return line.rsplit(")", 1)[-1].split()[19] if line else None


def is_running(pid: int, started: str) -> bool:
    """Whether the process that wrote itself down as owner still runs."""
    now = process_start_time(pid)
    if now is not None or os.path.exists("/proc/self/stat"):
        return now == started
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def sweep_stale_folders() -> None:
    """Remove what an agent of ours left that was killed with SIGKILL."""
    for folder in glob.glob(os.path.join(tempfile.gettempdir(), WORK_PREFIX + "*")):
        with contextlib.suppress(OSError):
            status = os.lstat(folder)
            owner = (read_text(folder + "/owner") or "").split()
            ours = status.st_uid == os.getuid() and stat.S_ISDIR(status.st_mode)
            if not ours or len(owner) != 2 or not owner[0].isdigit():
                continue
            if not is_running(int(owner[0]), owner[1]):
                remove_work_folder(folder)


def remove_work_folder(folder: str) -> None:
    """Remove our folder, and the privilege separation directory if we made that."""
    made = (read_text(folder + "/made_directory") or "").strip()
    if made:
        with contextlib.suppress(OSError):
            remove_unused_directory(made)
    shutil.rmtree(folder, ignore_errors=True)


def remove_unused_directory(path: str) -> None:
    """Remove it, unless another agent has come to use it; OSError then."""
    with open_directory(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rmdir(path)


@contextlib.contextmanager
def open_directory(path: str) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class SshEnd:
    """The far end of ssh connections, and the folder with their logs."""

    target = {"kind": "loopback", "name": None}  # type: Json
    label = ""  # what the user calls it, where there may be several
    warm_up_limit = WARM_UP_SECONDS
    pilots = 2  # of each channel

    def __init__(self, ssh: str) -> None:
        self.ssh = ssh
        self.folder = ""
        self.holding = contextlib.ExitStack()
        self.marker = uuid.uuid4().hex[:12]
        self.inherits_orphans = become_subreaper()
        self.version = None  # type: Optional[str]
        self.negotiated = Negotiated(None, None, None, None)  # of the latest connection
        self.connection_cpu = 0.0  # seconds of the client for one that carries nothing

    def __enter__(self) -> Any:
        try:
            self.folder = tempfile.mkdtemp(prefix=WORK_PREFIX)
        except OSError as error:
            raise SshUnavailable("no temporary directory can be made: %s" % error)
        self.write("owner", "%d %s" % (os.getpid(), process_start_time(os.getpid())))
        return self

    def __exit__(self, *_: object) -> None:
        self.holding.close()
        remove_work_folder(self.folder)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def write(self, name: str, text: str) -> None:
        with open(self.path(name), "w") as file:
            file.write(text)

    def read(self, name: str) -> str:
        return read_text(self.path(name)) or ""

    def command(self, channel: Channel, port: int) -> List[str]:
        """The ssh command of a connection."""
        raise NotImplementedError  # each kind of server has its own

    def client_environment(self) -> Dict[str, str]:
        """What ssh gets beside the environment of every child."""
        return {}

    def transfer(
        self, channel: Channel, source: int, cpus: Optional[Tuple[int, int]]
    ) -> "Transfer":
        raise NotImplementedError  # each kind of server has its own

    def first_connection(self) -> Negotiated:
        """A connection that carries nothing; returns the default algorithms."""
        self.connection_cpu = self.zero_connect().client_cpu
        if self.version is None:  # the banner leaves the patch level out
            banners = re.findall(r"remote software version (\S.*)", self.read("ssh.log"))
            self.version = cut(banners[-1]) if banners else None
        return self.negotiated

    def zero_connect(self) -> "Usage":
        try:
            return self.connect_once()
        except TryFailed as error:
            raise SshUnavailable("%s" % error)

    def connect_once(self) -> "Usage":
        with self.transfer(Channel(None), subprocess.DEVNULL, None) as transfer:
            transfer.wait_for("R")
            return transfer.finish()


class RemoteHost(SshEnd):
    """A real remote end, reached as the user reaches it: with the user's own configuration."""

    warm_up_limit = 3.0  # the window of a long line opens slowly
    pilots = 1  # the client's CPU seconds hardly scatter

    def __init__(self, ssh: str, address: str, shown: str) -> None:
        super().__init__(ssh)
        self.address = address
        self.client_version = version_number(parse_ssh_version(run_tool([ssh, "-V"]).err))
        self.inherits_orphans = False  # its CPU time cannot be told from here
        self.label = shown
        self.target = {"kind": "remote", "name": shown}

    def command(self, channel: Channel, port: int) -> List[str]:
        return remote_client_command(
            self.ssh, self.address, channel, self.marker, self.client_version
        )

    def client_environment(self) -> Dict[str, str]:
        """The user's ssh agent, which the private sshd has no use for."""
        names = ("SSH_AUTH_SOCK",)
        return {name: os.environ[name] for name in names if name in os.environ}

    def transfer(
        self, channel: Channel, source: int, cpus: Optional[Tuple[int, int]]
    ) -> "Transfer":
        return RemoteTransfer(self, channel, source, None)

    def explain(self, log: str) -> str:
        """Why it refused, in words; what would name the host only if the run may."""
        if os.path.getsize(self.path("ssh.log")) >= LOG_BYTES:
            return "the far end made ssh write a log of %d MiB" % (LOG_BYTES // MIB)
        offer = re.search(r"no matching (\S+) found\. Their offer: (\S+)", log)
        if offer:
            kind = {"cipher": "this cipher"}.get(offer.group(1), "this " + offer.group(1))
            return "the remote sshd refuses %s (it offers %s)" % (kind, offer.group(2)[:500])
        for sign, words in (
            (
                "Permission denied",
                "the login was refused, and BatchMode asks for no password: set up a key",
            ),
            (
                "Host key verification failed",
                "its host key is not known: connect once by hand and accept it",
            ),
            ("Unknown cipher type", "this ssh does not know it"),
        ):
            if sign in log:
                return words
        return one_line(log) if self.label == self.address else "the connection failed"


def remote_client_command(
    ssh: str, address: str, channel: Channel, token: str, version: Tuple[int, int] = (99, 0)
) -> List[str]:
    """ssh with the user's configuration, except for what would spoil a measurement.

    No shared connection, no prompt, no terminal, no LocalCommand, and no RemoteCommand (since
    7.6) beside ours.
    """
    command = [ssh, "-v", "-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "ControlMaster=no"]
    command += ["-o", "ControlPath=none", "-o", "ClearAllForwardings=yes"]
    command += ["-o", "PermitLocalCommand=no"]
    if version >= (7, 6):
        command += ["-o", "RemoteCommand=none"]
    return command + channel_options(channel) + [address, remote_command(token)]


class PrivateServer(SshEnd):
    """Keys, configuration and programs for connections to a private sshd."""

    def __init__(
        self, ssh: str, sshd: str, ciphers: Sequence[str], macs: Sequence[str] = ()
    ) -> None:
        super().__init__(ssh)
        self.sshd = sshd
        self.macs = list(macs)  # empty: those of sshd's own default
        self.ciphers = list(ciphers)  # all that the client offers: its default among them
        self.refused = []  # type: List[str]
        self.sshd_env = {}  # type: Dict[str, str]
        self.library = None  # type: Optional[str]
        self.passwd = None  # type: Optional[str]
        self.use_pam = False
        self.user = own_user_name()

    def command(self, channel: Channel, port: int) -> List[str]:
        return client_command(self.ssh, self.folder, self.user, port, channel, self.marker)

    def transfer(
        self, channel: Channel, source: int, cpus: Optional[Tuple[int, int]]
    ) -> "Transfer":
        return Transfer(self, channel, source, cpus)

    def prepare(self) -> None:
        """Make keys and a configuration that this sshd accepts; SshUnavailable says why not."""
        self.sshd_env = sshd_library_path(self.sshd)
        said = run_tool([self.sshd, "-?"], env=self.sshd_env).err
        self.version, self.library = parse_ssh_version(said), parse_ssh_library(said)
        self.make_key("host_key")
        self.make_key("user_key")
        host = self.read("host_key.pub").split()
        self.write("known_hosts", "%s %s %s\n" % (HOST_ALIAS, host[0], host[1]))
        limits = 'from="127.0.0.1",no-pty,no-port-forwarding,no-agent-forwarding,no-X11-forwarding '
        self.write("authorized_keys", limits + self.read("user_key.pub"))
        self.configure()

    def make_key(self, name: str) -> None:
        """ed25519, or RSA where that is not allowed (FIPS)."""
        beside = os.path.join(os.path.dirname(self.ssh), "ssh-keygen")
        keygen = beside if os.access(beside, os.X_OK) else "ssh-keygen"
        for kind in (["-t", "ed25519"], ["-t", "rsa", "-b", "3072"]):
            answer = run_tool(
                [keygen, "-q", "-N", "", "-C", HOST_ALIAS] + kind + ["-f", self.path(name)]
            )
            if answer.status == 0:
                return
        raise SshUnavailable("ssh-keygen failed: " + one_line(answer.err))

    def configure(self) -> None:
        """Write sshd_config and amend it until `sshd -t` accepts it."""
        self.hold_separation_directory(SEPARATION_DIRECTORY)
        for _ in range(5):
            answer = self.check(self.ciphers)
            if answer.status == 0:
                return
            missing = re.search(r"Missing privilege separation directory: (\S+)", answer.err)
            if missing:
                self.make_separation_directory(missing.group(1))
            elif "Privilege separation user" in answer.err and self.passwd is None:
                self.add_separation_user()
            elif "cipher spec" in answer.err:
                self.drop_unknown_ciphers()
            elif "mac spec" in answer.err.lower():
                self.drop_unknown_macs()
            else:
                break
        raise SshUnavailable("%s: %s" % (self.sshd, one_line(answer.err)))

    def check(self, ciphers: Sequence[str], macs: Optional[Sequence[str]] = None) -> ToolResult:
        """`sshd -t` with a configuration that enables these ciphers."""
        version = version_number(self.version)
        extra = split_sshd_lines(self.sshd, version)
        text = sshd_configuration(
            self.folder, ciphers, version, self.use_pam, extra, self.macs if macs is None else macs
        )
        self.write("sshd_config", text)
        command = [self.sshd, "-t", "-f", self.path("sshd_config")]
        return run_tool(command, env=self.sshd_env, passwd=self.passwd)

    def add_separation_user(self) -> None:
        """As root sshd wants an account `sshd`, which comes with its package.

        An sshd that is only unpacked gets a copy of /etc/passwd with that account in it, which
        only this sshd sees. It needs the right to mount, which containers mostly lack.
        """
        nobody = "sshd:x:65534:65534::/nonexistent:/bin/false\n"
        self.write("passwd", (read_text("/etc/passwd") or "") + nobody)
        os.chmod(self.path("passwd"), 0o644)  # noqa: S103 - as /etc/passwd itself
        self.passwd = self.path("passwd")
        if LIBC is None or self.check(self.ciphers).status == 126:
            raise SshUnavailable(
                "as root this sshd needs an account named sshd; install "
                "openssh-server, or run the agent as an ordinary user"
            )

    def make_separation_directory(self, path: str) -> None:
        """As root sshd wants this (normally made at boot); the note is for whoever cleans up."""
        self.write("made_directory", path)
        try:
            os.mkdir(path, 0o755)
        except FileExistsError:
            pass  # another agent was quicker
        except OSError as error:
            text = "sshd needs the directory %s: %s"
            raise SshUnavailable(text % (path, error.strerror))
        self.hold_separation_directory(path)

    def hold_separation_directory(self, path: str) -> None:
        """Keep another agent, which may have made it, from removing it while we run."""
        with contextlib.suppress(OSError):
            descriptor = self.holding.enter_context(open_directory(path))
            fcntl.flock(descriptor, fcntl.LOCK_SH)

    def drop_unknown_ciphers(self) -> None:
        """One unknown name makes sshd reject the whole list: ask for each alone."""
        known = [name for name in self.ciphers if "cipher spec" not in self.check([name]).err]
        self.refused += [cipher for cipher in self.ciphers if cipher not in known]
        self.ciphers = known
        if not known:
            raise SshUnavailable("sshd knows none of the client's ciphers")

    def drop_unknown_macs(self) -> None:
        """The same for MACs; a connection that asks for a dropped one is refused in words."""
        self.macs = [
            name
            for name in self.macs
            if "mac spec" not in self.check(self.ciphers, [name]).err.lower()
        ]

    def zero_connect(self) -> "Usage":
        try:
            return self.connect_once()
        except TryFailed as error:
            locked = "account is locked" in self.read("sshd.log")
            if not locked or self.use_pam:
                raise SshUnavailable("%s" % error)
        self.use_pam = True
        self.configure()
        return self.zero_connect()


def own_user_name() -> str:
    """The account of this process; ssh needs one to log in as."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        text = "user id %d has no account in the passwd file"
        raise SshUnavailable(text % os.getuid())


class Usage(NamedTuple):
    """Times of one finished connection."""

    setup_seconds: float  # from starting ssh to the remote command's first word
    ended_at: float  # perf_counter when the remote command had read everything
    client_cpu: float
    server_cpu: Optional[float]  # None where it cannot be told


class Transfer:
    """One ssh connection with its own sshd, from start to the last reaped process.

    Use as a context manager: leaving it ends every process of the connection.
    """

    def __init__(
        self,
        server: Any,
        channel: Channel,
        source: int,
        cpus: Optional[Tuple[int, int]],
    ) -> None:
        self.server = server
        self.channel = channel
        self.source = source
        self.cpus = cpus
        self.received = b""
        self.feeders = set()  # type: Set[int]
        self.servers = set()  # type: Set[int]
        self.setup_seconds = 0.0

    def __enter__(self) -> "Transfer":
        try:
            self.started = time.perf_counter()
            self.connect()
        except (OSError, subprocess.SubprocessError) as error:
            end_children()
            raise TryFailed("no connection could be started: %s" % error)
        except BaseException:
            end_children()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.output)
        if _children:
            end_children()

    def connect(self) -> None:
        """Be our own inetd: accept the one connection of our ssh and hand it to sshd."""
        server = self.server
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with contextlib.closing(listener):
            listener.bind(("127.0.0.1", 0))
            listener.listen(1)
            self.start_client(listener.getsockname()[1])
            connection = self.accept(listener)
        with contextlib.closing(connection), open(server.path("sshd.log"), "wb") as log:
            sshd = start(
                server_command(server.sshd, server.folder),
                stdin=connection.fileno(),
                stdout=connection.fileno(),
                stderr=log,
                env=server.sshd_env,
                cpus={self.cpus[1]} if self.cpus else None,
                passwd=server.passwd,
            )
        self.servers.add(sshd.pid)

    def start_client(self, port: int) -> None:
        server = self.server
        command = server.command(self.channel, port)
        self.output, write_end = os.pipe()
        try:
            with open(server.path("ssh.log"), "wb") as log:
                self.ssh = start(
                    command,
                    stdin=self.source,
                    stdout=write_end,
                    stderr=log,
                    env=server.client_environment(),
                    cpus={self.cpus[0]} if self.cpus else None,
                    file_bytes=LOG_BYTES,
                )
        except BaseException:
            os.close(self.output)
            raise
        finally:
            os.close(write_end)

    def accept(self, listener: socket.socket) -> socket.socket:
        """The connection of our ssh; TryFailed when it gives up before."""
        deadline = time.monotonic() + TOOL_SECONDS
        while time.monotonic() < deadline:
            if select.select([listener], [], [], 0.1)[0]:
                return listener.accept()[0]
            if reap(self.ssh.pid, os.WNOHANG)[0]:
                raise self.failure()
        raise self.failure()

    def failure(self) -> TryFailed:
        """Ends the connection, so that its logs are complete, and says why it failed."""
        end_children()
        logs = self.server.read("ssh.log"), self.server.read("sshd.log")
        return TryFailed(explain_failure(logs[0], logs[1], decode(self.received)))

    def wait_for(self, marker: str, timeout: float = TOOL_SECONDS) -> float:
        """perf_counter at the arrival of a marker of the remote command."""
        wanted = (marker + self.server.marker).encode("ascii")
        deadline = time.monotonic() + timeout
        while wanted not in self.received:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.output], [], [], left)[0]:
                end_children()
                raise TryFailed("the transfer did not end within %g s" % timeout)
            chunk = os.read(self.output, 65536)
            if not chunk:
                raise self.failure()
            self.received = (self.received + chunk)[-65536:]
        now = time.perf_counter()
        if marker == "R":
            self.setup_seconds = now - self.started
            self.negotiated = parse_negotiated(self.server.read("ssh.log"))
            self.server.negotiated = self.negotiated
        return now

    def finish(self, timeout: float = TRY_SECONDS) -> Usage:
        """Wait for the end of the stream, reap every process, account for its CPU seconds."""
        ended_at = self.wait_for("D", timeout)
        client, server, complete = 0.0, 0.0, False
        wanted = {self.ssh.pid} | self.servers | self.feeders
        status = None
        deadline = time.monotonic() + REAP_SECONDS
        while time.monotonic() < deadline:
            try:
                pid, code, seconds = reap(-1, os.WNOHANG)
            except ChildProcessError:
                complete = True
                break
            if pid == 0:
                time.sleep(0.002)
            elif pid == self.ssh.pid:
                client, status = seconds, code
            elif pid not in self.feeders:
                server += seconds
            if pid in wanted:
                wanted.discard(pid)
                if not wanted:
                    deadline = time.monotonic() + ORPHAN_SECONDS
        if wanted or status != 0:
            raise self.failure()
        self.check_negotiated()
        trusted = complete and self.server.inherits_orphans
        return Usage(self.setup_seconds, ended_at, client, server if trusted else None)

    def check_negotiated(self) -> None:
        """A measurement of another cipher than the one asked for is an error, not a result."""
        different = self.channel.difference(self.negotiated)
        if different:
            raise TryFailed("ssh negotiated " + different)


class RemoteTransfer(Transfer):
    """A connection to a real remote end."""

    def connect(self) -> None:
        self.start_client(0)

    def failure(self) -> TryFailed:
        end_children()
        return TryFailed(self.server.explain(self.server.read("ssh.log")))


# --------------------------------------------------------------------------------------------
# ssh tries: pipeline (dd into ssh) and steady (slope of the progress in a sparse file)
# --------------------------------------------------------------------------------------------


def dd_command(mib: int) -> List[str]:
    """bs in bytes, because dd of BSD and GNU spell a mebibyte differently."""
    return ["dd", "if=/dev/zero", "bs=%d" % MIB, "count=%d" % mib]


def parse_dd(text: str) -> int:
    """Bytes that dd says it wrote; 0 if it does not say."""
    match = re.search(r"^([0-9]{1,18}) bytes", text, re.M)
    if match:
        return int(match.group(1))
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


def reference_of(pilots: Sequence[Tried]) -> Reference:
    server = [pilot.usage.server_cpu for pilot in pilots if pilot.usage.server_cpu is not None]
    return Reference(
        pilots[0].total,
        statistics.median(pilot.usage.client_cpu for pilot in pilots),
        statistics.median(server) if server else None,
    )


def cpu_of_bytes(tried: Tried, reference: Reference) -> Tuple[Optional[float], Optional[float]]:
    """CPU seconds of client and server for the bytes that were timed, in a running stream.

    The slope between the reference and this transfer: neither the connection nor the start of
    the stream is in it. None where a transfer is too short to tell it within 5 %.
    """
    beyond = tried.total - reference.total
    client = tried.usage.client_cpu - reference.client_cpu  # type: Optional[float]
    server = None
    if tried.usage.server_cpu is not None and reference.server_cpu is not None:
        server = tried.usage.server_cpu - reference.server_cpu
    known = [seconds for seconds in (client, server) if seconds is not None]
    if beyond <= 0 or min(known) <= 0 or sum(known) < LEAST_CPU_SECONDS * len(known):
        return None, None
    share = tried.moved / beyond
    ends = [None if end is None else round(end * share, 6) for end in (client, server)]
    return ends[0], ends[1]


def ssh_sample(tried: Tried, reference: Reference) -> Json:
    """A sample of the run document."""
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
    try:
        with server.transfer(channel, read_end, None) as transfer:
            os.close(read_end)
            read_end = -1
            transfer.wait_for("R")
            began = time.perf_counter()
            dd = start(dd_command(mib), stdout=write_end, stderr=subprocess.PIPE)
            transfer.feeders.add(dd.pid)
            os.close(write_end)
            write_end = -1
            usage = transfer.finish()
            said = dd.stderr.read() if dd.stderr else b""
            if dd.stderr:
                dd.stderr.close()
    finally:
        for descriptor in (read_end, write_end):
            if descriptor >= 0:
                os.close(descriptor)
    moved = parse_dd(decode(said))
    if moved != mib * MIB:
        raise TryFailed("dd wrote %d bytes instead of %d" % (moved, mib * MIB))
    return Tried(moved, usage.ended_at - began, moved, usage, watch.cores())


class FileSource:
    """A sparse file as ssh's standard input.

    Agent and ssh share one open file description, so its position is ssh's progress, read at no
    cost to the transfer; truncating the file to nothing ends the stream. The file has no name
    left once it is open: nothing remains whatever happens.
    """

    def __init__(self) -> None:
        shared = "/dev/shm"  # noqa: S108 - memory: a hole in it costs no page cache  # nosec B108
        folder = shared if os.access(shared, os.W_OK) else None
        try:
            self.read_end, path = tempfile.mkstemp(prefix=WORK_PREFIX, dir=folder)
        except OSError as error:
            raise NoSharedFile("no temporary file can be made: %s" % error)
        os.unlink(path)
        try:
            os.ftruncate(self.read_end, SPARSE_BYTES)
        except OSError as error:
            os.close(self.read_end)
            raise NoSharedFile("no sparse file can be made: %s" % error)
        self.limit = float(SPARSE_BYTES)

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def position(self) -> int:
        return os.lseek(self.read_end, 0, os.SEEK_CUR)

    def end(self) -> None:
        os.ftruncate(self.read_end, 0)

    def close(self) -> None:
        os.close(self.read_end)


class PipeSource:
    """Zeros written by the agent into a pipe, where the position of a shared file tells nothing.

    Slower than a file for the fastest ciphers, since writing costs CPU: the series says so.
    """

    zeros = bytes(65536)
    limit = float("inf")

    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.write_end, False)
        self.written = 0

    def wait(self, seconds: float) -> None:
        """Write for so long."""
        until = time.perf_counter() + seconds
        while True:
            left = until - time.perf_counter()
            if left <= 0:
                return
            if select.select([], [self.write_end], [], left)[1]:
                with contextlib.suppress(BlockingIOError):
                    self.written += os.write(self.write_end, self.zeros)

    def position(self) -> int:
        return self.written

    def end(self) -> None:
        os.close(self.write_end)
        self.write_end = -1

    def close(self) -> None:
        if self.write_end >= 0:
            os.close(self.write_end)
        os.close(self.read_end)


class Source:
    """Which source the steady method uses on this machine: a file, until one does not work."""

    make = FileSource  # type: Callable[[], Any]


def wait_for_first_byte(source: Any) -> None:
    """Return when ssh has begun to read its input."""
    deadline = time.perf_counter() + STEADY_STALL_SECONDS
    while source.position() == 0:
        if time.perf_counter() > deadline:
            raise NoSharedFile("ssh did not read its input within %g s" % STEADY_STALL_SECONDS)
        source.wait(STEADY_POLL_SECONDS)


def warm_up(source: Any, limit: float) -> None:
    """Let the stream get up to speed: until two tenths of a second are within 5 % of each other."""
    source.wait(WARM_UP_SECONDS)
    until = time.perf_counter() + limit - WARM_UP_SECONDS
    before = 0.0
    while time.perf_counter() < until:
        began, first = time.perf_counter(), source.position()
        source.wait(0.1)
        now = (source.position() - first) / (time.perf_counter() - began)
        if before and abs(now - before) < 0.05 * before:
            return
        before = now


def steady_window(
    source: Any, seconds: float, warm_up_limit: float = WARM_UP_SECONDS
) -> Tuple[int, float]:
    """(bytes, seconds) of a window in the middle of the stream, after the warm-up."""
    warm_up(source, warm_up_limit)
    began, first = time.perf_counter(), source.position()
    while True:
        source.wait(STEADY_POLL_SECONDS)
        now, position = time.perf_counter(), source.position()
        elapsed, moved = now - began, position - first
        if elapsed >= seconds and (moved >= STEADY_MIN_BYTES or elapsed >= STEADY_MAX_SECONDS):
            return moved, elapsed


def steady_try(
    server: SshEnd, channel: Channel, seconds: float, cpus: Optional[Tuple[int, int]]
) -> Tried:
    """The cipher's own rate: no feeding process, no start-up, slope in a running stream."""
    watch = ForeignWatch()
    with contextlib.closing(Source.make()) as source:
        with server.transfer(channel, source.read_end, cpus) as transfer:
            transfer.wait_for("R")
            wait_for_first_byte(source)
            moved, elapsed = steady_window(source, seconds, server.warm_up_limit)
            source.end()
            usage = transfer.finish()
            total = source.position()
        if moved <= 0:
            raise TryFailed("the stream stood still")
        if total >= source.limit:
            raise TryFailed("ssh read all of the source before the try was over")
        return Tried(moved, elapsed, total, usage, watch.cores())


def steady_try_or_pipe(
    server: SshEnd, channel: Channel, seconds: float, cpus: Optional[Tuple[int, int]]
) -> Tried:
    """Change to the pipe for the rest of the run when a shared file position does not move."""
    try:
        return steady_try(server, channel, seconds, cpus)
    except NoSharedFile:
        if Source.make is PipeSource:
            raise
        verbose("the position of a shared file tells nothing here: using a pipe")
        Source.make = PipeSource
        return steady_try(server, channel, seconds, cpus)


def pilot_mib(channel: Channel, remote: bool = False) -> int:
    """Less where the cipher, or maybe the line, is slow."""
    slow = remote or (channel.cipher or "").startswith(SLOW_CIPHERS)
    return SLOW_PILOT_MIB if slow else PILOT_MIB


def sized_mib(bytes_per_second: float, seconds: float) -> int:
    """MiB for a try of so many seconds at this rate."""
    return max(SLOW_PILOT_MIB, min(PIPELINE_MAX_MIB, round(bytes_per_second * seconds / MIB)))


def rate(sample: Json) -> float:
    """Bytes per second of a sample."""
    return float(sample["bytes"] / sample["seconds"])


def offered_macs(ssh: str) -> List[str]:
    """`ssh -Q mac`; empty for clients without that."""
    answer = run_tool([ssh, "-Q", "mac"])
    return answer.out.split() if answer.status == 0 else []


def offered_ciphers(ssh: str) -> List[str]:
    """What the client can do: `ssh -Q cipher`, or a fixed list for clients without that."""
    answer = run_tool([ssh, "-Q", "cipher"])
    lines = [line.strip().lower() for line in answer.out.splitlines()]
    names = list(collections.OrderedDict.fromkeys(filter(CIPHER_NAME.match, lines)))
    return names[:CIPHERS_LIMIT] if answer.status == 0 and names else list(SSH_OLD_CIPHERS)


# --------------------------------------------------------------------------------------------
# openssl tries
# --------------------------------------------------------------------------------------------


class SpeedAbilities(NamedTuple):
    """What `openssl speed` of this version can be told."""

    seconds: bool  # -seconds and -bytes, since 1.1.1
    providers: bool  # -provider, since 3.0
    machine: bool = True  # -mr; assumed until it is refused


def speed_abilities(openssl: str) -> SpeedAbilities:
    answer = run_tool([openssl, "speed", "-help"])
    text = answer.out + answer.err
    return SpeedAbilities("-seconds" in text and "-bytes" in text, "-provider " in text)


class Asked(NamedTuple):
    """One way to call `openssl speed`; without a block size, all of its sizes."""

    cipher: str
    acceleration: str = "default"
    operation: str = "encrypt"
    block_size: Optional[int] = OPENSSL_BLOCK
    threads: int = 1

    def in_words(self) -> str:
        words = [self.cipher]
        if self.acceleration == "masked":
            words.append("without AES hardware")
        if self.operation == "decrypt":
            words.append("decrypt")
        if self.threads > 1:
            words.append("in %d processes" % self.threads)
        return " ".join(words)

    def part_in_words(self) -> str:
        """What of the cipher this measures."""
        sizes = "at %d bytes" % self.block_size if self.block_size else "at all block sizes"
        return " ".join((self.in_words() + " " + sizes).split(" ")[1:])


def speed_command(openssl: str, asked: Asked, seconds: int, able: SpeedAbilities) -> List[str]:
    """`-evp` always: without it rc4 answers 0.00 and AES leaves its instructions unused."""
    command = [openssl, "speed"]
    if able.machine:
        command.append("-mr")
    if able.seconds:
        command += ["-seconds", str(seconds)]
        if asked.block_size:
            command += ["-bytes", str(asked.block_size)]
    if asked.operation == "decrypt":
        command.append("-decrypt")
    if asked.threads > 1:
        # Each process counts its own CPU seconds: with fewer cores than processes their sum lies.
        command += ["-elapsed", "-multi", str(asked.threads)]
    if able.providers and asked.cipher in OPENSSL_LEGACY:
        command += ["-provider", "legacy", "-provider", "default"]
    return command + ["-evp", asked.cipher]


class SpeedResult(NamedTuple):
    """One block size of one `openssl speed`: so many blocks in SECONDS of CPU time."""

    block_size: int
    blocks: int
    seconds: float


def parse_speed(text: str, cipher: str) -> List[SpeedResult]:
    """The +DT and +R lines of `openssl speed -mr` (standard error) for this cipher.

    Nothing for another cipher's name, for a count of zero, for no time, or for what is no number.
    """
    results = []
    block_size = None  # type: Optional[int]
    for line in text.splitlines():
        fields = line.strip().split(":")
        if fields[0] == "+DT" and len(fields) == 4:
            block_size = whole(fields[3]) if same_cipher(fields[1], cipher) else None
        elif fields[0] == "+R" and len(fields) == 4 and block_size:
            if same_cipher(fields[2], cipher):
                results.append(speed_result(block_size, fields[1], fields[3]))
            block_size = None
    return [result for result in results if result]


def speed_result(block_size: Optional[int], blocks: str, seconds: str) -> Optional[SpeedResult]:
    """None where these are no numbers above zero that a run document can hold."""
    counted, lasted = whole(blocks, BYTES_LIMIT), real(seconds)
    if not block_size or not counted or not lasted:
        return None
    if counted * block_size > BYTES_LIMIT or lasted > SECONDS_LIMIT:
        return None
    return SpeedResult(block_size, counted, lasted)


def parse_speed_human(text: str, cipher: str) -> List[SpeedResult]:
    """The same from the lines that `openssl speed` prints for people, on standard error.

    Doing aes-128-gcm for 3s on 8192 size blocks: 593844 aes-128-gcm's in 3.00s
    """
    pattern = (
        r"Doing (\S+)(?: ops)? for \S+s on (\d+) size blocks: (\d+) \S+(?: ops)? in (\d+\.?\d*)s"
    )
    found = [
        speed_result(whole(block), blocks, seconds)
        for name, block, blocks, seconds in re.findall(pattern, text)
        if same_cipher(name, cipher)
    ]
    return [result for result in found if result]


def parse_multi(out: str, cipher: str) -> Dict[int, float]:
    """Bytes per second by block size: the sum row of `openssl speed -multi -mr`.

    The rows of the single processes ("Got: +F...") are not added to it, but must all be of this
    cipher: OpenSSL 1.1.1 names the sum only `evp`.
    """
    header = re.search(r"^(?:Got: )?\+H:([\d:]+)", out, re.M)
    children = re.findall(r"^Got: \+F:\d+:([^:\n]+):", out, re.M)
    summed = re.search(r"^\+F:\d+:([^:\n]+):([\d.:]+)$", out, re.M)
    if not header or not summed or not children:
        return {}
    names = [name for name in children + [summed.group(1)] if name != "evp"]
    if not names or not all(same_cipher(name, cipher) for name in names):
        return {}
    sizes = map(whole, header.group(1).split(":"))
    pairs = zip(sizes, map(real, summed.group(2).split(":")))  # noqa: B905 - new in 3.10
    return {size: rate_of_all for size, rate_of_all in pairs if size and rate_of_all}


def same_cipher(printed: str, asked: str) -> bool:
    name = printed.lower()
    return OPENSSL_ALIASES.get(name, name) == asked


def zero_rate(text: str) -> bool:
    """Whether the +F line on standard output holds a rate that is no number above zero."""
    rates = re.findall(r"^\+F:\d+:[^:\n]+:(.+)$", text, re.M)
    return any(not real(word) for line in rates for word in line.split(":"))


class NoMachineOutput(TryFailed):
    """This `openssl speed` does not know -mr."""


def openssl_try(
    openssl: str,
    asked: Asked,
    seconds: int,
    able: SpeedAbilities,
    mask: Optional[Tuple[str, str]] = None,
) -> Dict[int, Json]:
    """Samples by block size. Seconds are CPU seconds, as openssl counts them by default."""
    # openssl leaves the processes of -multi unwaited for: they come to us, with their CPU time.
    inherits = asked.threads == 1 or become_subreaper()
    watch = ForeignWatch()
    env = dict([mask]) if mask and asked.acceleration == "masked" else None
    sizes = 1 if asked.block_size else len(OPENSSL_SIZES)
    answer = run_tool(
        speed_command(openssl, asked, seconds, able), TRY_SECONDS + sizes * seconds, env
    )
    if able.machine and re.search(r"(bad|unknown|invalid|unrecognized) option", answer.err.lower()):
        raise NoMachineOutput(one_line(answer.err))
    if answer.status != 0:
        raise TryFailed(explain_openssl(answer.err))
    if asked.threads > 1:
        found = multi_samples(answer.out, asked, seconds if able.seconds else OPENSSL_OLD_SECONDS)
    else:
        results = parse_speed(answer.err, asked.cipher) or parse_speed_human(
            answer.err, asked.cipher
        )
        found = {} if zero_rate(answer.out) else samples_of_results(results)
    sizes_asked = [asked.block_size] if asked.block_size else OPENSSL_SIZES
    found = {size: sample for size, sample in found.items() if size in sizes_asked}
    if not found:
        raise TryFailed("openssl speed answered no rate for it")
    fastest = max(map(rate, found.values()))
    if fastest > RATE_LIMIT:
        raise TryFailed("openssl speed answered an impossible rate: %.3g B/s" % fastest)
    if asked.threads > 1 and inherits:
        reap_orphans()
    foreign = watch.cores() if inherits else None
    for sample in found.values():
        sample["foreign_cpu"] = foreign
    return found


def samples_of_results(results: Sequence[SpeedResult]) -> Dict[int, Json]:
    return {
        result.block_size: {
            "bytes": result.blocks * result.block_size,
            "seconds": result.seconds,
        }
        for result in results
    }


def multi_samples(out: str, asked: Asked, seconds: int) -> Dict[int, Json]:
    """-multi tells only the summed rate: bytes are that rate times the seconds asked for."""
    return {
        size: {
            "bytes": int(round(summed * seconds)),
            "seconds": float(seconds),
            "derived_from": "rate",
        }
        for size, summed in parse_multi(out, asked.cipher).items()
        if 1 <= summed * seconds <= BYTES_LIMIT
    }


def mask_variable(
    machine: str, cpu_settings: Optional[str] = None, flags: Optional[List[str]] = None
) -> Optional[Tuple[str, str]]:
    """Name and value of the variable that turns off the AES hardware; None: none is known.

    `cpu_settings` is what `openssl version -a` says of the CPU (CPUINFO, since 3.0).
    """
    known = re.search(r"OPENSSL_(armcap|ppccap)=0x([0-9a-f]{1,16})\b", cpu_settings or "", re.I)
    if machine in ("x86_64", "amd64", "AMD64", "i686", "i586", "i386"):
        return "OPENSSL_ia32cap", MASK_X86
    if machine.startswith(("aarch64", "arm")):
        if known:
            left = int(known.group(2), 16) & ~(ARM_AES | ARM_PMULL)
        elif flags:
            left = sum({bit for name, bit in ARM_FLAGS if name in flags})
            left |= ARM_SHA512 if "sha512" in flags else 0
        else:
            return None
        return "OPENSSL_armcap", "0x%x" % left
    if machine.startswith(("ppc", "powerpc")):
        left = int(known.group(2), 16) & ~PPC_CRYPTO if known else PPC_WITHOUT_CRYPTO
        return "OPENSSL_ppccap", "0x%x" % left
    return ("OPENSSL_s390xcap", MASK_S390X) if machine == "s390x" else None


def explain_openssl(err: str) -> str:
    """Why openssl speed failed, in words where the reason is a known one."""
    for sign, words in (
        ("unable to load provider legacy", "the legacy provider of this OpenSSL is not installed"),
        ("unsupported", "this OpenSSL does not offer it"),
        ("unknown cipher or digest", "this OpenSSL does not know it"),
        ("Unknown algorithm", "this OpenSSL does not know it"),
    ):
        if sign in err:
            return words
    return "openssl speed failed: " + one_line(err)[:300]


# --------------------------------------------------------------------------------------------
# Series and the plan that interleaves their tries
# --------------------------------------------------------------------------------------------


class Series:
    """One configuration and its tries, as a measurement of the run document."""

    def __init__(self, tool: str, cipher: str, acceleration: str = "default", **facts: Any) -> None:
        self.tool = tool
        self.cipher = cipher
        self.acceleration = acceleration
        self.facts = facts
        self.samples = []  # type: List[Json]

    def document(self) -> Json:
        head = {"tool": self.tool, "cipher": self.cipher, "acceleration": self.acceleration}  # type: Json
        head.update(self.facts)
        head["samples"] = self.samples
        return head

    def median(self) -> float:
        return statistics.median(rate(sample) for sample in self.samples)

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
        self.entries = collections.OrderedDict()  # type: Dict[Tuple[str, str, str], str]

    def add(self, tool: str, cipher: str, reason: str, part: str = "") -> None:
        """`part` names what of the cipher was not measured; empty: all of it."""
        self.entries.setdefault((tool, cipher, part), reason[:1000])

    def document(self) -> List[Json]:
        return [
            {"tool": tool, "cipher": cipher, "reason": reason}
            for (tool, cipher, _), reason in self.entries.items()
        ]


class Budget:
    """Time that may still be spent on repeating disturbed tries."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def allows(self, seconds: float) -> bool:
        return self.left >= seconds

    def spend(self, seconds: float) -> None:
        self.left -= seconds


def disturbed(sample: Json) -> bool:
    foreign = sample.get("foreign_cpu")
    return foreign is not None and foreign > FOREIGN_LIMIT


def tries_until_quiet(attempt: Callable[[], Json], budget: Budget, samples: List[Json]) -> None:
    """Adds the sample of one try, and of its repeats if others disturbed it; every one is kept."""
    for number in range(1 + MAX_REPEATS):
        began = time.monotonic()
        samples.append(attempt())
        spent = time.monotonic() - began
        if number:
            budget.spend(spent)
        if not disturbed(samples[-1]) or not budget.allows(spent):
            break


class SshPlan:
    """Rounds over all channels in a new random order each, both methods."""

    def __init__(
        self,
        server: SshEnd,
        channels: Sequence[Channel],
        depth: Depth,
        cpus: Optional[Tuple[int, int]],
        skipped: Skipped,
        progress: "Progress",
    ) -> None:
        self.server = server
        self.channels = channels
        self.depth = depth
        self.cpus = cpus
        self.skipped = skipped
        self.progress = progress
        self.budget = Budget(depth.repeat_seconds)
        self.series = collections.OrderedDict()  # type: Dict[Tuple[Channel, str], Series]
        self.pilots = collections.defaultdict(list)  # type: Dict[Channel, List[Tried]]
        self.rates = {}  # type: Dict[Channel, float]
        self.failures = collections.Counter()  # type: Dict[Channel, int]
        self.reasons = {}  # type: Dict[Tuple[Channel, str], str]

    def run(self) -> List[Series]:
        for number in range(self.server.pilots):
            for channel in self.channels:
                self.progress.step("ssh %s: warm-up" % channel.in_words(), pilot_cost())
                if number == 0 or channel in self.rates:
                    self.guarded(channel, "warm-up", self.pilot)
        for number in range(self.depth.tries):
            order = list(self.channels)
            random.shuffle(order)
            for channel in order:
                for method, attempt in (("steady", self.steady), ("pipeline", self.pipeline)):
                    self.turn(channel, method, attempt, number + 1)
        return self.results()

    def results(self, interrupted: bool = False) -> List[Series]:
        """What has been measured, also when the run ends early."""
        for channel in self.channels:
            self.explain_gaps(channel, NOT_REACHED if interrupted else "not tried")
        return [series for series in self.series.values() if series.samples]

    def turn(
        self, channel: Channel, method: str, attempt: Callable[[Channel], None], number: int
    ) -> None:
        """One try, unless its series needs no more of them."""
        cost = ssh_try_cost(self.depth, method)
        if self.complete(channel, method):
            self.progress.drop(cost)
            return
        words = (channel.in_words(), method, number, self.depth.tries)
        self.progress.step("ssh %s: %s, round %d of %d" % words, cost)
        if channel in self.rates and self.failures[channel] < 2:
            self.guarded(channel, method, attempt)

    def complete(self, channel: Channel, method: str) -> bool:
        series = self.series.get((channel, method))
        return series is not None and series.complete(self.depth.stable)

    def guarded(self, channel: Channel, step: str, attempt: Callable[[Channel], None]) -> None:
        try:
            attempt(channel)
            self.failures[channel] = 0
        except TryFailed as error:
            self.note_failure(channel, step, str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, the other tries count
            end_children()
            self.note_failure(channel, step, unforeseen(error))

    def note_failure(self, channel: Channel, step: str, reason: str) -> None:
        self.failures[channel] += 1
        self.reasons[channel, step] = reason
        verbose("ssh %s, %s: %s" % (channel.in_words(), step, reason))

    def explain_gaps(self, channel: Channel, untried: str) -> None:
        """Why a channel, or one method of it, has no sample at all."""
        methods = ("steady", "pipeline")
        series = [self.series.get((channel, method)) for method in methods]
        pairs = zip(methods, series)  # noqa: B905 - new in 3.10
        missing = [name for name, one in pairs if not (one and one.samples)]
        told = [
            self.reasons[channel, name]
            for name in ["warm-up"] + missing
            if (channel, name) in self.reasons
        ]
        if not missing:
            return
        reason = (told or [untried])[0]
        if len(missing) == 1:
            reason = "%s: %s" % (missing[0], reason)
        cipher = channel.cipher or ""
        part = channel.in_words()[len(cipher) :].strip()
        part = " ".join(word for word in (self.server.label, part) if word)
        self.skipped.add("ssh", cipher, "%s: %s" % (part, reason) if part else reason, part)

    def pilot(self, channel: Channel) -> None:
        """A warm-up connection: the first one's rate sizes the first try."""
        mib = pilot_mib(channel, bool(self.server.label))
        pilot = pipeline_try(self.server, channel, mib)
        self.pilots[channel].append(pilot)
        if channel in self.rates:
            return
        self.rates[channel] = pilot.moved / pilot.seconds
        for method in ("pipeline", "steady"):
            pinned = method == "steady" and self.cpus is not None
            series = ssh_series(
                channel, method, self.server.negotiated, pinned, self.server.target, pilot.total
            )
            if self.server.label:
                series.facts["server"] = self.server.version
            self.series[channel, method] = series

    def try_seconds(self, channel: Channel, seconds: float) -> float:
        """These seconds; more where others leave too little CPU time in them to tell its cost."""
        if self.server.label:  # a line is slow whatever the CPU does
            return seconds
        pilot = reference_of(self.pilots[channel])
        cost = (pilot.client_cpu - self.server.connection_cpu) / pilot.total
        wanted = pilot.total + WANTED_CPU_SECONDS / max(cost, LEAST_CPU_SECONDS_A_BYTE)
        return max(seconds, min(LONGEST_TIMES * seconds, wanted / self.rates[channel]))

    def sample(self, channel: Channel, tried: Tried) -> Json:
        return ssh_sample(tried, reference_of(self.pilots[channel]))

    def steady(self, channel: Channel) -> None:
        series = self.series[channel, "steady"]

        def attempt() -> Json:
            seconds = self.try_seconds(channel, self.depth.steady_seconds)
            tried = steady_try_or_pipe(self.server, channel, seconds, self.cpus)
            series.facts["source"] = "pipe" if Source.make is PipeSource else "file"
            return self.sample(channel, tried)

        tries_until_quiet(attempt, self.budget, series.samples)
        if not self.series[channel, "pipeline"].samples:
            # The pilot is too short to tell a fast cipher's rate: a pipeline reaches about 3/4
            # of the steady rate, so that the first try lasts about as long as the others.
            self.rates[channel] = max(self.rates[channel], 0.75 * rate(series.samples[-1]))

    def pipeline(self, channel: Channel) -> None:
        def attempt() -> Json:
            seconds = self.try_seconds(channel, self.depth.pipeline_seconds)
            mib = sized_mib(self.rates[channel], seconds)
            return self.sample(channel, pipeline_try(self.server, channel, mib))

        series = self.series[channel, "pipeline"]
        tries_until_quiet(attempt, self.budget, series.samples)
        self.rates[channel] = series.median()


def ssh_series(
    channel: Channel,
    method: str,
    negotiated: Negotiated,
    pinned: bool,
    target: Json,
    reference_bytes: Optional[int],
) -> Series:
    """`reference_bytes`: of a pilot, whose CPU seconds are taken off those of each sample."""
    return Series(
        "ssh",
        channel.cipher or "",
        mac=channel.mac,
        compression=channel.compression,
        negotiated=dict(negotiated._asdict()),
        method=method,
        pinned=pinned,
        target=target,
        reference_bytes=reference_bytes,
    )


def pilot_cost() -> float:
    return CONNECT_SECONDS + 0.15


def ssh_try_cost(depth: Depth, method: str) -> float:
    """Expected wall seconds of a try, for the estimate."""
    if method == "pipeline":
        return CONNECT_SECONDS + depth.pipeline_seconds
    return CONNECT_SECONDS + WARM_UP_SECONDS + depth.steady_seconds


class SpeedWork(NamedTuple):
    """What `openssl speed` is asked: often (once each round), and once in the run."""

    often: List[Asked]
    once: List[Asked]
    rounds: int

    def steps(self) -> List[Asked]:
        return self.once + self.often * self.rounds


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
    block = OPENSSL_BLOCK if able.seconds else None
    often = [Asked(cipher, block_size=block) for cipher in ciphers]
    often += [Asked(cipher, "masked", block_size=block) for cipher in masked]
    if threads > 1:
        often += [Asked(cipher, block_size=block, threads=threads) for cipher in ciphers]
    once = []  # type: List[Asked]
    if able.seconds:
        size = OPENSSL_OLD_BLOCK if depth.name == "quick" else None
        once += [Asked(cipher, block_size=size) for cipher in ciphers]
    if depth.name != "quick":
        size = None if depth.name == "thorough" else block
        once += [Asked(cipher, operation="decrypt", block_size=size) for cipher in ciphers]
    return SpeedWork(often, once, depth.tries if able.seconds else 1)


class OpensslPlan:
    """Rounds over all that is asked, in a new random order each."""

    def __init__(
        self,
        openssl: str,
        able: SpeedAbilities,
        work: SpeedWork,
        mask: Optional[Tuple[str, str]],
        depth: Depth,
        skipped: Skipped,
        progress: "Progress",
    ) -> None:
        self.openssl = openssl
        self.mask = mask
        self.able = able
        self.work = work
        self.depth = depth
        self.skipped = skipped
        self.progress = progress
        self.failed = {}  # type: Dict[Asked, str]
        self.done = collections.Counter()  # type: Dict[Asked, int]
        self.tried = set()  # type: Set[Asked]
        self.series = {}  # type: Dict[Asked, Series]

    def run(self) -> List[Series]:
        for number in range(self.work.rounds):
            order = self.work.often + (self.work.once if number == 0 else [])
            random.shuffle(order)
            for asked in order:
                cost = openssl_try_cost(self.depth, self.able, asked)
                if self.complete(asked):
                    self.progress.drop(cost)
                    continue
                label = "openssl %s, round %d of %d"
                words = (asked.in_words(), number + 1, self.work.rounds)
                self.progress.step(label % words, cost)
                if asked._replace(block_size=None) not in self.failed:
                    self.attempt(asked)
                self.tried.add(asked)
        return self.results()

    def complete(self, asked: Asked) -> bool:
        series = self.series.get(asked)
        return series is not None and series.complete(self.depth.stable)

    def attempt(self, asked: Asked) -> None:
        try:
            samples = self.samples(asked)
        except TryFailed as error:
            self.note_failure(asked, str(error))
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, the other tries count
            end_children()
            self.note_failure(asked, unforeseen(error))
            return
        self.done[asked] += 1
        for block_size, sample in samples.items():
            key = asked._replace(block_size=block_size)
            if key not in self.series:
                self.series[key] = openssl_series(key)
                if self.mask and asked.acceleration == "masked":
                    self.series[key].facts["mask"] = "=".join(self.mask)
            self.series[key].samples.append(sample)

    def note_failure(self, asked: Asked, reason: str) -> None:
        """It is not tried again; skipped, unless a part of it has been measured before."""
        kind = asked._replace(block_size=None)
        self.failed[kind] = reason
        if not self.measured_in_part(kind):
            words = asked.in_words()[len(asked.cipher) :].strip()
            reason = "%s: %s" % (words, reason) if words else reason
            self.skipped.add("openssl", asked.cipher, reason, words)

    def measured_in_part(self, kind: Asked) -> bool:
        return any(known._replace(block_size=None) == kind for known in self.series)

    def explain_gaps(self) -> None:
        """Say which tries a failure left out where others were made."""
        for asked in self.work.often + self.work.once:
            kind = asked._replace(block_size=None)
            wanted = self.work.rounds if asked in self.work.often else 1
            if kind in self.failed and self.measured_in_part(kind) and self.done[asked] < wanted:
                part = asked.part_in_words()
                words = "%s: %d of %d tries, then it was given up: %s"
                words %= (part, self.done[asked], wanted, self.failed[kind])
                self.skipped.add("openssl", asked.cipher, words, part)

    def samples(self, asked: Asked) -> Dict[int, Json]:
        """One call; a version that does not know -mr is asked again for what people read."""
        seconds = self.depth.openssl_seconds
        try:
            return openssl_try(self.openssl, asked, seconds, self.able, self.mask)
        except NoMachineOutput as error:
            verbose("openssl speed without -mr: %s" % error)
            self.able = self.able._replace(machine=False)
            return openssl_try(self.openssl, asked, seconds, self.able, self.mask)

    def results(self, interrupted: bool = False) -> List[Series]:
        """All series, less masked ones that tell nothing, also when the run ends early."""
        self.explain_gaps()
        if interrupted:
            self.note_unreached()
        measured = {asked: series for asked, series in self.series.items() if series.samples}
        kept = []
        for asked in sorted(measured, key=str):
            plain = measured.get(asked._replace(acceleration="default"))
            reason = ""
            if asked.acceleration == "masked":
                reason = mask_fault(plain, measured[asked], interrupted)
            if reason:
                self.skipped.add("openssl", asked.cipher, reason, "masked")
            else:
                kept.append(measured[asked])
        return kept

    def note_unreached(self) -> None:
        """Name each cipher, or part of one, that had not had its first try."""
        begun = {asked.cipher for asked in self.tried}
        for asked in self.work.once + self.work.often:
            if asked not in self.tried:
                part = asked.part_in_words() if asked.cipher in begun else ""
                reason = "%s: %s" % (part, NOT_REACHED) if part else NOT_REACHED
                self.skipped.add("openssl", asked.cipher, reason, part)


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


def openssl_try_cost(depth: Depth, able: SpeedAbilities, asked: Asked) -> float:
    """Expected wall seconds of a call, for the estimate."""
    if not able.seconds:
        return 5.0 * OPENSSL_OLD_SECONDS
    return 0.05 + depth.openssl_seconds * (1 if asked.block_size else len(OPENSSL_SIZES))


# --------------------------------------------------------------------------------------------
# Progress
# --------------------------------------------------------------------------------------------

_verbose = False


def say(text: str, stream: Optional[TextIO]) -> Optional[OSError]:
    """Write a text to a standard stream, now; the error if it did not arrive.

    No run may be lost for what is said: a terminal can hang up, a pipe break, a disk be full, and a
    stream that was closed at the start is None. The text goes straight to the descriptor, so
    that nothing is left in a buffer to fail once more at the end.
    """
    try:
        if stream is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        left = text.encode(stream.encoding or "ascii", "replace")
        while left:
            left = left[os.write(stream.fileno(), left) :]
    except OSError as error:
        return error
    return None


def show(text: str) -> int:
    """Print what a command was asked for; a reader that leaves early has had enough."""
    error = say(text + "\n", sys.stdout)
    if error is None or isinstance(error, BrokenPipeError):
        return EXIT_OK
    complain("standard output cannot be written: %s" % error.strerror)
    return EXIT_NOT_UPLOADED


def at_terminal(stream: Optional[TextIO]) -> bool:
    return stream is not None and stream.isatty()


def verbose(text: str) -> None:
    """A line for -v, on standard error."""
    if _verbose:
        say(printable(text) + "\n", sys.stderr)


def shell_words(command: Sequence[str], env: Optional[Dict[str, str]] = None) -> str:
    """A command as one would type it."""
    words = ["%s=%s" % (name, shlex.quote(text)) for name, text in sorted((env or {}).items())]
    return " ".join(words + [shlex.quote(word) for word in command])


class Progress:
    """Says on standard error what is being done and how long the rest will take.

    Modes: live (one line that is overwritten), plain (lines), json (an object a line), none.
    """

    PLAIN_EVERY_SECONDS = 10.0

    def __init__(self, mode: str) -> None:
        if mode == "auto":
            mode = "live" if at_terminal(sys.stderr) else "plain"
        self.mode = mode
        self.total = 0
        self.done = 0
        self.planned = 0.0
        self.planned_done = 0.0
        self.label = ""
        self.current = 0.0
        self.started = time.monotonic()
        self.last_line = 0.0

    def plan(self, steps: int, seconds: float) -> None:
        """Announce steps and the seconds that they are expected to take."""
        self.total += steps
        self.planned += seconds

    def begin(self) -> None:
        self.started = time.monotonic()

    def leave_out(self, steps: int, seconds: float) -> None:
        """What was announced with these figures, and has begun, ends here."""
        self.total -= steps
        self.planned -= seconds
        self.done, self.planned_done, self.label, self.current = 0, 0.0, "", 0.0
        self.started = time.monotonic()

    def step(self, label: str, seconds: float) -> None:
        """A step begins; the one before it is done."""
        if self.label:
            self.done += 1
        self.planned_done += self.current
        self.label, self.current = printable(label), seconds
        self.show()

    def drop(self, seconds: float, steps: int = 1) -> None:
        """Steps that were announced turn out to be unnecessary."""
        self.total -= steps
        self.planned -= seconds

    def finish(self) -> None:
        if self.label:
            self.done, self.planned_done = self.total, self.planned
            self.label = "done"
            self.show(last=True)

    def remaining(self) -> float:
        """Seconds left: planned ones, corrected by how the plan has held so far."""
        pace = 1.0
        if self.planned_done > 5.0:
            pace = (time.monotonic() - self.started) / self.planned_done
        return max(0.0, (self.planned - self.planned_done) * pace)

    def show(self, last: bool = False) -> None:
        if self.mode == "json":
            self.write_json({})
        elif self.mode == "live":
            text = "[%d/%d] %s, about %d s left" % (
                self.done,
                self.total,
                self.label,
                self.remaining(),
            )
            say("\r\x1b[K" + ("" if last else text[:100]), sys.stderr)
        elif self.mode == "plain" and not last:
            now = time.monotonic()
            if self.last_line == 0.0 or now - self.last_line >= self.PLAIN_EVERY_SECONDS:
                self.last_line = now
                text = "%d of %d: %s, about %d s left\n"
                say(text % (self.done, self.total, self.label, self.remaining()), sys.stderr)

    def write_json(self, extra: Json) -> None:
        line = {"done": self.done, "total": self.total, "label": self.label}  # type: Json
        line.update(extra)
        say(json.dumps(line) + "\n", sys.stderr)

    def note(self, text: str) -> None:
        """A sentence for the user."""
        if self.mode == "json":
            self.write_json({"note": text})
        elif self.mode != "none":
            prefix = "\r\x1b[K" if self.mode == "live" else ""
            say(prefix + printable(text) + "\n", sys.stderr)


# --------------------------------------------------------------------------------------------
# The run: discover, measure, build the document
# --------------------------------------------------------------------------------------------


class RunOptions(NamedTuple):
    """What the command line asked the run command for."""

    depth: Depth
    tools: Tuple[str, ...]
    ciphers: Optional[Tuple[str, ...]]
    ssh: Optional[str]
    sshd: Optional[str]
    openssl: Optional[str]
    mask: bool
    threads: int
    macs: Tuple[str, ...]
    compression: bool
    targets: Tuple[str, ...]
    name: Optional[str]
    tags: Dict[str, str]
    anonymous: bool


# Members of the document whose values are no free text, so that no name can be in them.
VOCABULARY = re.compile(
    "schema|run_id|name|version|id|started_at|finished_at|model|vendor|board|architecture|flags|"
    "governor|virtualization|container|depth|tool|cipher|operation|method|acceleration|kind|mac|"
    "kex|compression|source|timing|derived_from|code|default_cipher"
)
NOBODY = ("root", "localhost", "openssl", "openssh", "libressl", "ssh", "sshd", "linux")
HOME_PATH = re.compile(r"(/(?:home|Users)/)[^/\s:;,=\"'<>()]+")


def own_names(targets: Sequence[str]) -> Set[str]:
    """Account and host names of this machine, and of the far ends."""
    names = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")}
    with contextlib.suppress(KeyError):
        names.add(pwd.getpwuid(os.getuid()).pw_name)
    for host in (socket.gethostname(), platform.node()):
        names.update((host, host.split(".")[0]))
    for address in targets:
        names.update([address] + re.split(r"[@:/\[\]]", re.sub("^ssh://", "", address)))
    return {name for name in names if len(name) > 1 and not name.isdigit()} - set(NOBODY)


def own_homes() -> Set[str]:
    """Home directories of this account, wherever they are."""
    homes = {os.path.expanduser("~")}
    with contextlib.suppress(KeyError):
        homes.add(pwd.getpwuid(os.getuid()).pw_dir)
    homes.update([os.path.realpath(home) for home in homes])
    return {home.rstrip("/") for home in homes if os.path.isabs(home)} - {"", "/root"}


def without_names(value: Any, names: Set[str], member: str = "") -> Any:
    """The value with home directories and these names left out of every free text in it.

    A name that begins with a slash is the path of a directory.
    """
    if isinstance(value, dict) and member == "tags":
        return {
            without_names(key, names)[:TAG_KEY_LIMIT]: without_names(text, names)
            for key, text in value.items()
        }
    if isinstance(value, dict):
        return {name: without_names(inner, names, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_names(one, names, member) for one in value]
    if not isinstance(value, str) or VOCABULARY.fullmatch(member):
        return value
    text = HOME_PATH.sub(r"\1NAME", value)
    for name in sorted(names, key=len, reverse=True):
        before = "" if name.startswith("/") else "(?<![a-z0-9])"
        text = re.sub("(?i)%s%s(?![a-z0-9])" % (before, re.escape(name)), "NAME", text)
    return text


def utc_now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def host_name(options: RunOptions, run_id: str) -> str:
    if options.anonymous:
        return "anonymous-" + run_id[:8]
    return (options.name or socket.gethostname() or "unnamed")[:200]


class Run:
    """One execution of the agent: collects what becomes the run document."""

    def __init__(self, options: RunOptions, progress: Progress) -> None:
        self.options = options
        self.progress = progress
        self.run_id = str(uuid.uuid4())
        self.started_at = utc_now()
        self.skipped = Skipped()
        self.series = []  # type: List[Series]
        self.openssh = dict.fromkeys(OPENSSH_FACTS)  # type: Json
        self.pinned_cpus = None  # type: Optional[Tuple[int, int]]
        self.ssh = find_program("ssh", options.ssh)
        self.sshd = find_program("sshd", options.sshd, SSHD_PLACES)
        self.openssl = find_program("openssl", options.openssl)
        self.able = SpeedAbilities(False, False)
        self.mask = None  # type: Optional[Tuple[str, str]]
        self.plan = None  # type: Union[SshPlan, OpensslPlan, None]
        self.begun = []  # type: List[Union[SshPlan, OpensslPlan]]
        self.interrupted = None  # type: Optional[Interrupted]
        self.offered = []  # type: List[str]

    # Discovery

    def ssh_ciphers(self) -> List[str]:
        """The ciphers to measure with ssh; notes why there are none."""
        if "ssh" not in self.options.tools:
            return []
        if self.ssh is None:
            self.progress.note("ssh is not measured: no ssh was found in PATH (give --ssh PATH)")
            return []
        self.offered = offered_ciphers(self.ssh)
        self.skip_missing_ciphers(self.offered)
        chosen = [name for name in self.offered if self.wanted(name)]
        if self.sshd is None and chosen and not self.options.targets:
            missing = SSHD_MISSING.format(
                places=", ".join(SSHD_PLACES), install=install_command("sshd")
            )
            self.progress.note("ssh is not measured: " + missing)
            for cipher in chosen:
                self.skipped.add("ssh", cipher, "no sshd on this machine")
            return []
        return chosen

    def wanted(self, cipher: str) -> bool:
        return self.options.ciphers is None or cipher in self.options.ciphers

    def skip_missing_ciphers(self, offered: Sequence[str]) -> None:
        asked = [name for name in self.options.ciphers or () if name in SSH_OLD_CIPHERS]
        for cipher in asked or SSH_BASELINES:
            if cipher not in offered and self.wanted(cipher):
                self.skipped.add("ssh", cipher, "this OpenSSH does not offer it")

    def openssl_ciphers(self) -> List[str]:
        """The ciphers to measure with openssl; fewer for versions that take 15 s for each."""
        if "openssl" not in self.options.tools:
            return []
        if self.openssl is None:
            text = "openssl is not measured: none was found in PATH (give --openssl PATH)"
            self.progress.note(text)
            return []
        self.able = speed_abilities(self.openssl)
        if self.options.ciphers is not None:
            return [name for name in OPENSSL_KNOWN if name in self.options.ciphers]
        if self.options.depth.name == "thorough":
            return list(OPENSSL_KNOWN)
        if self.able.seconds or self.options.depth.name == "standard":
            return list(OPENSSL_QUICK)
        for cipher in OPENSSL_QUICK:
            if cipher not in OPENSSL_OLD_QUICK:
                reason = (
                    "this openssl speed has no -seconds and takes 15 s a cipher: not in a quick run"
                )
                self.skipped.add("openssl", cipher, reason)
        return list(OPENSSL_OLD_QUICK)

    def masked_ciphers(self, ciphers: Sequence[str]) -> List[str]:
        """Ciphers to repeat with the AES hardware turned off."""
        chosen = [name for name in MASKED_CIPHERS if name in ciphers]
        slow = not self.able.seconds and self.options.depth.name == "quick"
        if not self.options.mask or slow:
            return []
        if self.mask is None:
            for cipher in chosen:
                reason = "masked: no way is known to turn the AES hardware of %s off"
                reason %= platform.machine() or "this machine"
                self.skipped.add("openssl", cipher, reason, "masked")
            return []
        return chosen

    def check_cipher_names(self) -> None:
        """A name that neither tool knows is a mistake worth stopping for."""
        text = (
            "--ciphers: neither ssh nor openssl is known to have %s (`ssh -Q cipher` lists the "
            "names of ssh; those of openssl here: %s)"
        )
        for name in self.options.ciphers or ():
            known = name in OPENSSL_KNOWN or name in SSH_OLD_CIPHERS
            if not known and (self.ssh is None or name not in offered_ciphers(self.ssh)):
                raise UsageError(text % (name, ", ".join(OPENSSL_KNOWN)))
        macs = offered_macs(self.ssh) if self.ssh and self.options.macs else []
        for name in self.options.macs:
            if macs and name not in macs + [DEFAULT_MAC]:
                text = "--macs: this ssh does not know %s; it knows %s, and %s is its own choice"
                raise UsageError(text % (name, ", ".join(macs), DEFAULT_MAC))

    # Measuring

    def measure(self) -> Json:
        """Everything; returns the run document, whose measurements may be empty."""
        self.check_cipher_names()
        ssh_ciphers = self.ssh_ciphers()
        openssl_ciphers = self.openssl_ciphers()
        environment = self.environment()
        self.mask = mask_variable(
            platform.machine(),
            environment["openssl"]["cpu_settings"],
            environment["cpu"]["flags"],
        )
        masked = self.masked_ciphers(openssl_ciphers)
        work = openssl_work(
            self.options.depth, self.able, openssl_ciphers, masked, self.options.threads
        )
        self.announce(ssh_ciphers, openssl_ciphers, work)
        limit, note = self.options.depth.wait_seconds, self.progress.note
        foreign = reading(lambda: wait_until_quiet(limit, note), None)
        before = reading(machine_state, MachineState(None, None, None))
        if foreign is not None and foreign <= FOREIGN_LIMIT:
            self.pinned_cpus = reading(cpus_for_pinning, None)
        self.progress.begin()
        try:
            self.measure_tools(ssh_ciphers, openssl_ciphers, work)
            ignore_signals()  # from here on there is a run to lose
        except Interrupted as signalled:
            self.interrupted = signalled
            self.end_early(ssh_ciphers, work)
        self.progress.finish()
        governed = environment["cpu"]["governor"]
        found = reading(
            lambda: conditions_of_run(
                foreign, before, machine_state(), self.disturbed_tries(), governed
            ),
            [],
        )
        if self.interrupted:
            text = "a signal (%d) ended the run before all was measured" % self.interrupted.signum
            found.append(condition("interrupted", text))
        return self.document(environment, found)

    def measure_tools(
        self, ssh_ciphers: Sequence[str], openssl_ciphers: Sequence[str], work: SpeedWork
    ) -> None:
        if ssh_ciphers and not self.options.targets:
            self.measure_ssh(ssh_ciphers)
        for address, shown in self.remote_ends() if ssh_ciphers else ():
            self.measure_remote(RemoteHost(self.ssh or "", address, shown), ssh_ciphers)
        if openssl_ciphers and self.openssl:
            self.carry_out(self.openssl_plan(work))

    def remote_ends(self) -> List[Tuple[str, str]]:
        """The address of each target, and what the document calls it."""
        targets = self.options.targets
        if self.options.anonymous:
            return [(address, "remote %d" % (at + 1)) for at, address in enumerate(targets)]
        return [(address, address) for address in targets]

    def openssl_plan(self, work: SpeedWork) -> OpensslPlan:
        return OpensslPlan(
            self.openssl or "",
            self.able,
            work,
            self.mask,
            self.options.depth,
            self.skipped,
            self.progress,
        )

    def carry_out(self, plan: Union[SshPlan, OpensslPlan]) -> None:
        """Run a plan; while it runs, an interruption finds there what it has measured."""
        self.plan = plan
        self.begun.append(plan)
        found = plan.run()
        self.plan = None
        self.series += found

    def end_early(self, ssh_ciphers: Sequence[str], work: SpeedWork) -> None:
        """Keep what the plan at work has measured; note all that was not come to."""
        if self.plan is not None:
            self.series += self.plan.results(interrupted=True)
        begun = [plan.server.label for plan in self.begun if isinstance(plan, SshPlan)]
        for end in [shown for _, shown in self.remote_ends()] or [""]:
            if end not in begun:
                reason = "%s: %s" % (end, NOT_REACHED) if end else NOT_REACHED
                for cipher in ssh_ciphers:
                    self.skipped.add("ssh", cipher, reason, end)
        if not any(isinstance(plan, OpensslPlan) for plan in self.begun):
            self.openssl_plan(work).results(interrupted=True)

    def announce(self, ssh: Sequence[str], openssl: Sequence[str], work: SpeedWork) -> None:
        """Print the estimate and give the progress line its plan."""
        depth = self.options.depth
        for _ in self.options.targets or ("loopback",):
            if ssh:
                self.progress.plan(*self.ssh_cost(ssh))
        costs = [openssl_try_cost(depth, self.able, asked) for asked in work.steps()]
        self.progress.plan(len(costs), sum(costs))
        if ssh or openssl:
            text = "Measuring %d ssh and %d openssl ciphers (%s); this takes %s %s."
            about = "about" if depth.stable is None else "at most about"
            words = in_words(self.progress.planned)
            self.progress.note(text % (len(ssh), len(openssl), depth.name, about, words))

    def ssh_cost(self, ciphers: Sequence[str]) -> Tuple[int, float]:
        """Steps and seconds that ssh is expected to take."""
        depth = self.options.depth
        channels = len(self.channels(ciphers))
        both = ssh_try_cost(depth, "steady") + ssh_try_cost(depth, "pipeline")
        pilots = (RemoteHost if self.options.targets else PrivateServer).pilots
        seconds = first_connection_cost() + channels * (pilots * pilot_cost() + depth.tries * both)
        return 1 + channels * (pilots + 2 * depth.tries), seconds

    def channels(self, ciphers: Sequence[str]) -> List[Channel]:
        return ssh_channels(ciphers, self.options.macs, self.options.compression)

    def measure_ssh(self, ciphers: Sequence[str]) -> None:
        ssh, sshd = self.ssh or "", self.sshd or ""
        macs = offered_macs(ssh) if self.options.macs else []
        try:
            with PrivateServer(ssh, sshd, self.offered, macs) as server:
                self.progress.step("ssh: private sshd, first connection", first_connection_cost())
                server.prepare()
                negotiated = server.first_connection()
                self.openssh["server"] = server.version
                self.openssh["server_library"] = server.library
                self.openssh["default_cipher"] = self.openssh["default_cipher"] or negotiated.cipher
                plan = SshPlan(
                    server,
                    self.channels([name for name in ciphers if name in server.ciphers]),
                    self.options.depth,
                    self.pinned_cpus,
                    self.skipped,
                    self.progress,
                )
                for cipher in server.refused:
                    if cipher in ciphers:
                        self.skipped.add("ssh", cipher, "this sshd does not know it")
                self.carry_out(plan)
        except SshUnavailable as error:
            self.leave_out_ssh(ciphers, str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, openssl is measured
            self.leave_out_ssh(ciphers, unforeseen(error))

    def leave_out_ssh(self, ciphers: Sequence[str], reason: str) -> None:
        end_children()
        self.progress.leave_out(*self.ssh_cost(ciphers))
        self.progress.note("ssh is not measured: %s" % reason)
        for cipher in ciphers:
            self.skipped.add("ssh", cipher, reason)

    def measure_remote(self, host: RemoteHost, ciphers: Sequence[str]) -> None:
        """A remote end by the user's own configuration; what it refuses is told and left out."""
        try:
            with host:
                self.progress.step(
                    "ssh to %s: first connection" % host.label, first_connection_cost()
                )
                host.first_connection()
                channels = self.channels(ciphers)
                plan = SshPlan(
                    host, channels, self.options.depth, None, self.skipped, self.progress
                )
                self.carry_out(plan)
                if len(self.options.targets) == 1:
                    self.openssh["server"] = host.version
        except SshUnavailable as error:
            self.leave_out_remote(host, ciphers, str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, the rest is measured
            self.leave_out_remote(host, ciphers, unforeseen(error))

    def leave_out_remote(self, host: RemoteHost, ciphers: Sequence[str], reason: str) -> None:
        end_children()
        steps, seconds = self.ssh_cost(ciphers)
        self.progress.drop(seconds - first_connection_cost(), steps - 1)
        self.progress.note("ssh to %s is not measured: %s" % (host.label, reason))
        for cipher in ciphers:
            self.skipped.add("ssh", cipher, "%s: %s" % (host.label, reason), host.label)

    def disturbed_tries(self) -> Tuple[int, int]:
        samples = [sample for series in self.series for sample in series.samples]
        return sum(1 for sample in samples if disturbed(sample)), len(samples)

    def environment(self) -> Json:
        cpu = reading(cpu_environment, EMPTY_CPU)
        openssl = EMPTY_OPENSSL
        if self.openssl:
            openssl = parse_openssl_version(run_tool([self.openssl, "version", "-a"]).out)
        if self.ssh:
            said = run_tool([self.ssh, "-V"]).err
            self.openssh["client"] = parse_ssh_version(said)
            self.openssh["library"] = parse_ssh_library(said)
            self.openssh["default_cipher"] = default_cipher(self.ssh)
        return {
            "cpu": cpu,
            "virtualization": reading(lambda: virtualization(cpu["flags"]), None),
            "container": reading(container, None),
            "memory_bytes": reading(memory_bytes, None),
            "os": reading(os_environment, dict.fromkeys(("id", "name", "version", "kernel"))),
            "openssl": openssl,
            "openssh": self.openssh,
            "load_average": reading(load_average, None),
        }

    def document(self, environment: Json, conditions: List[Json]) -> Json:
        options = self.options
        document = {
            "schema": SCHEMA,
            "run_id": self.run_id,
            "agent": {"name": "ciphermark-agent", "version": VERSION},
            "started_at": self.started_at,
            "finished_at": utc_now(),
            "host": {
                "name": host_name(options, self.run_id),
                "machine_id": None if options.anonymous else machine_id(),
                "named": options.name is not None and not options.anonymous,
            },
            "tags": options.tags,
            "settings": {
                "depth": options.depth.name,
                "tries": options.depth.tries,
                "pinned_cpus": list(self.pinned_cpus) if self.pinned_cpus else None,
            },
            "environment": environment,
            "conditions": conditions,
            "measurements": [series.document() for series in self.series],
            "skipped": self.skipped.document(),
        }  # type: Json
        if not options.anonymous:
            return document
        names = own_names(options.targets) - {environment["os"]["id"] or ""} | own_homes()
        return dict(without_names(document, names))


def first_connection_cost() -> float:
    """Expected wall seconds with the making of the keys, for the estimate."""
    return 0.3 + CONNECT_SECONDS


def in_words(seconds: float) -> str:
    minutes, rest = divmod(int(round(seconds / 5.0)) * 5, 60)
    if not minutes:
        return "%d s" % max(rest, 5)
    return "%d min %d s" % (minutes, rest) if rest else "%d min" % minutes


# --------------------------------------------------------------------------------------------
# Files, spool, upload
# --------------------------------------------------------------------------------------------


def finite(value: Any) -> Any:
    """The value with null for every number that JSON does not have."""
    if isinstance(value, dict):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def dumps(document: Json) -> str:
    return json.dumps(finite(document), indent=1, allow_nan=False) + "\n"


def is_special(path: str) -> bool:
    """Whether there is a device, a FIFO or the like, which is written to and not replaced."""
    return os.path.exists(path) and not os.path.isfile(path)


def write_output(path: str, text: str) -> None:
    """Write what --output names: a file whole or not at all, also where a link points to."""
    if is_special(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        write_atomically(os.path.realpath(path), text)


def write_atomically(path: str, text: str) -> None:
    """Write a whole file or nothing; permissions by the umask."""
    part = "%s.part-%d" % (path, os.getpid())
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except (OSError, Interrupted):
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def state_folders() -> List[str]:
    """Where runs are kept: in the home or, where that cannot be written, a temporary directory."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local/state")
    folders = [os.path.join(home, "ciphermark")]
    with contextlib.suppress(OSError):  # there may be no temporary directory either
        folders.append(os.path.join(tempfile.gettempdir(), "ciphermark-%d" % os.getuid()))
    return folders


def spool_folders() -> List[str]:
    return [os.path.join(folder, "spool") for folder in state_folders()]


def is_private(folder: str) -> bool:
    """Whether nobody else can have put something there; in the home the owner decides that."""
    if folder == state_folders()[0]:
        return True
    status = os.lstat(folder)
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.getuid()
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


class NotKept(Exception):
    """The run could not be written anywhere; the text says where and why not."""


def keep_in_spool(document: Json) -> str:
    """Path of the kept run."""
    reasons = []
    for folder in state_folders():
        try:
            os.makedirs(os.path.dirname(folder), exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o700)
            if not is_private(folder):
                raise OSError(errno.EPERM, "others can write there")
            path = os.path.join(folder, "spool", "run-%s.json" % document["run_id"])
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            write_atomically(path, dumps(document))
            return path
        except OSError as error:
            reasons.append("%s: %s" % (folder, error.strerror or error))
    raise NotKept("the run could not be kept (%s)" % "; ".join(reasons))


def keep_or_print(document: Json) -> str:
    """Keep a run that was not delivered in the spool, else print it; says where it is now."""
    try:
        return "the run is kept in %s" % keep_in_spool(document)
    except NotKept as error:
        say(dumps(document), sys.stdout)
        return "%s: here it is, on standard output" % error


def spooled_runs() -> List[str]:
    """The runs that wait in the spool, the oldest first."""
    found = []  # type: List[str]
    for folder in state_folders():
        with contextlib.suppress(OSError):
            if is_private(folder):
                found += glob.glob(os.path.join(glob.escape(folder), "spool", "run-*.json"))
    return sorted(found, key=lambda path: reading(lambda: os.path.getmtime(path), 0.0))


def is_spooled(path: str) -> bool:
    return os.path.dirname(os.path.abspath(path)) in spool_folders()


class UploadFailed(Exception):
    """The server did not take the run; the text says why, a line each."""


class Refused(UploadFailed):
    """The server will never take this run; `answer` is what it said."""

    def __init__(self, why: str, answer: str) -> None:
        super().__init__(why)
        self.answer = answer


def remove_sent(path: str) -> None:
    """Another agent may have sent and removed it at the same time."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def set_aside(path: str, answer: str) -> str:
    """Move a refused run from spool/ to rejected/, with the answer beside it; the new path."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(path))), "rejected")
    moved = os.path.join(folder, os.path.basename(path))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    write_atomically(os.path.splitext(moved)[0] + ".answer.txt", answer)
    os.replace(path, moved)
    return moved


class PlainAnswers(urllib.request.HTTPErrorProcessor):
    """Every answer as it is: no exception for a status, no redirect followed with our token."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


class Answer(NamedTuple):
    """An HTTP answer; status 0 means that no connection came about, body then says why."""

    status: int
    body: str
    retry_after: Optional[str]


class Site(NamedTuple):
    """Where to upload, with which token, and whom to believe that it is there."""

    server: str
    token: str
    trust: Optional[ssl.SSLContext] = None  # None: the system's certificates
    again: str = ""  # the command that sends there what waits in the spool
    say: Callable[[str], None] = verbose  # for what happens on the way


def trust_of(ca_file: Optional[str]) -> Optional[ssl.SSLContext]:
    """Certificates of this file, and only these; UsageError when it holds none."""
    if ca_file is None:
        return None
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # ssl.SSLError is one
        reason = "it holds no certificates" if isinstance(error, ssl.SSLError) else error.strerror
        raise UsageError("--ca-file %s cannot be used: %s" % (ca_file, reason))


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OSError after so long, whatever is waited for: a name, a handshake, one more byte."""

    def end(_signum: int, _frame: object) -> None:
        raise socket.timeout("no whole answer within %g s" % seconds)

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again, should a destructor swallow it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ask(site: Site, url: str, body: Optional[bytes] = None, seconds: float = 0) -> Answer:
    """POST this gzipped body, or GET without one."""
    headers = {
        "Authorization": "Bearer " + site.token,
        "Accept": "application/json",
        "User-Agent": "ciphermark-agent/" + VERSION,
    }
    if body is not None:
        headers.update({"Content-Type": "application/json", "Content-Encoding": "gzip"})
    method = "GET" if body is None else "POST"
    request = urllib.request.Request(url, data=body, headers=headers, method=method)
    tls = urllib.request.HTTPSHandler(context=site.trust)
    opener = urllib.request.build_opener(PlainAnswers, tls)
    try:
        with time_limit(seconds or EXCHANGE_SECONDS), opener.open(request) as answer:
            found = Answer(
                answer.status, decode(answer.read(MIB)), answer.headers.get("Retry-After")
            )
            location = answer.headers.get("Location")
    except urllib.error.URLError as error:
        return Answer(0, str(error.reason), None)
    except (OSError, ValueError, http.client.HTTPException) as error:
        return Answer(0, "the answer broke off: %s" % error, None)
    if 300 <= found.status < 400 and location:
        words = "the server redirects to %s; if that is right, give it as --server"
        raise UploadFailed(words % location.split("?")[0])
    return found


def upload(site: Site, document: Json) -> str:
    """Send a run; returns what to tell the user. The run_id makes sending twice harmless."""
    url = site.server.rstrip("/") + "/api/v1/runs/"
    body = gzip.compress(json.dumps(finite(document), allow_nan=False).encode("utf-8"))
    answer = ask(site, url, body)
    for number, delay in enumerate(RETRY_DELAYS):
        if not worth_retrying(answer):
            break
        wait = pause(answer, delay)
        site.say(retry_words(answer, wait, number + 2))
        time.sleep(wait)
        answer = ask(site, url, body)
    if answer.status in REFUSED_FOR_GOOD and is_ciphermark_error(answer):
        raise Refused(
            explain_answer(url, answer), "HTTP status %d\n\n%s" % (answer.status, answer.body)
        )
    if not is_receipt(answer, document):
        raise UploadFailed(explain_answer(url, answer))
    # The page for people; the answer's own url is the API's.
    words = "uploaded: %s/runs/%s/" % (site.server.rstrip("/"), document["run_id"])
    return words + name_words(answer, document)


def name_words(answer: Answer, document: Json) -> str:
    """A line when the server lists this machine by another name than the one given."""
    host = parse_object(answer.body).get("host")
    shown = host.get("name") if isinstance(host, dict) else None
    own = document.get("host")
    given = own.get("name") if isinstance(own, dict) else None
    if shown in (None, given):
        return ""
    words = "\nthe server lists this machine as %s, not as %s: an editor can rename it there"
    return words % (shown, given)


def is_receipt(answer: Answer, document: Json) -> bool:
    """Whether this is Ciphermark saying that it has this run, and not a portal's page."""
    named = parse_object(answer.body).get("run_id")
    return answer.status in (200, 201, 202) and named == document["run_id"].lower()


def is_ciphermark_error(answer: Answer) -> bool:
    """Whether Ciphermark itself says no, and not a proxy before it."""
    said = parse_object(answer.body)
    return isinstance(said.get("type"), str) and isinstance(said.get("errors"), list)


def retry_words(answer: Answer, wait: float, attempt: int) -> str:
    said = "answered %d" % answer.status if answer.status else "does not answer (%s)" % answer.body
    words = "the server %s; trying again in %.0f s, %d of %d"
    return words % (said, wait, attempt, len(RETRY_DELAYS) + 1)


def foresee_refusal(site: Site) -> Optional[str]:
    """Why an upload to this site would fail as things are now, asked before minutes of measuring.

    An upload token may read nothing, so 403 is what a good one gets; a bad one gets 401.
    """
    url = site.server.rstrip("/") + "/api/v1/runs/"
    try:
        answer = ask(site, url, seconds=CHECK_SECONDS)
    except UploadFailed as error:
        return str(error)
    if answer.status == 401:
        way_out = "(Ctrl-C, and start again with a token of %s/tokens/)"
        return explain_answer(url, answer) + "\n" + way_out % site.server.rstrip("/")
    foreign = answer.status == 200 and not parse_object(answer.body)
    return explain_answer(url, answer) if foreign or answer.status in (0, 404) else None


def worth_retrying(answer: Answer) -> bool:
    if distrusted(answer) or speaks_no_tls(answer):
        return False
    return answer.status in (0, 429) or answer.status >= 500


def distrusted(answer: Answer) -> bool:
    """Whether the server's certificate was refused: it will not change in a minute."""
    return answer.status == 0 and "CERTIFICATE_VERIFY_FAILED" in answer.body


def speaks_no_tls(answer: Answer) -> bool:
    """Whether https was asked of a server that answers in plain http (OpenSSL 1.0 to 3 words)."""
    signs = ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "RECORD_LAYER_FAILURE")
    text = answer.body.upper().replace(" ", "_")
    return answer.status == 0 and any(sign in text for sign in signs)


def pause(answer: Answer, delay: float) -> float:
    """Seconds to wait: our own delay with some jitter, longer where the server asks for it."""
    asked = reading(lambda: asked_wait((answer.retry_after or "").strip()), 0.0)
    own = delay * random.uniform(1.0 - JITTER, 1.0)
    return max(own, min(float(asked), RETRY_AFTER_LIMIT))


def asked_wait(text: str) -> float:
    """Seconds of a Retry-After: a number, or the date until which to wait; 0 for none."""
    if re.match("[0-9]+$", text):
        return float(text)
    date = email.utils.parsedate_tz(text)
    return email.utils.mktime_tz(date) - time.time() if date else 0.0


def parse_object(text: str) -> Json:
    """A JSON object, or an empty one for anything else."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def explain_answer(url: str, answer: Answer) -> str:
    """Why an upload failed, with every error that the server names."""
    if distrusted(answer):
        return (
            "%s shows a certificate that is not trusted here (%s); give the certificate of its "
            "authority with --ca-file" % (url, answer.body)
        )
    if speaks_no_tls(answer):
        return "%s does not speak TLS; if the address is right, write http:// for it" % url
    if answer.status == 0:
        return "%s cannot be reached: %s" % (url, answer.body)
    words = {
        200: "but not as Ciphermark does; is there a proxy or a sign-in page in between?",
        401: "the server does not know this token",
        403: "this token may not upload; make one with the scope `upload`",
        404: "there is no Ciphermark at this address",
        409: "the server has another run with the same run_id",
        413: "the run is too large for the server",
        429: "the server asks to come back later",
    }
    foreign = answer.status == 400 and not is_ciphermark_error(answer)
    known = words.get(200 if foreign or answer.status in (201, 202) else answer.status)
    lines = ["%s answered %d%s" % (url, answer.status, ": " + known if known else "")]
    errors = parse_object(answer.body).get("errors")
    for error in errors if isinstance(errors, list) else []:
        if isinstance(error, dict):
            lines.append("  %s: %s" % (error.get("attr") or error.get("code"), error.get("detail")))
    return printable("\n".join(lines))


def printable(text: str) -> str:
    """Text from outside, without control characters that a terminal would obey."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)


# --------------------------------------------------------------------------------------------
# Tables for the terminal
# --------------------------------------------------------------------------------------------


def megabytes(bytes_per_second: float) -> str:
    """Rate in 10^6 bytes per second, three significant digits."""
    value = bytes_per_second / 1e6
    return "%.0f" % value if value >= 100 else "%.1f" % value


def rates_of(measurement: Json) -> List[float]:
    return sorted(rate(sample) for sample in measurement["samples"])


def cpu_per_gb(measurement: Json) -> str:
    """Median CPU seconds of both ends for 10^9 bytes."""
    costs = []
    for end in ("client_cpu_seconds", "server_cpu_seconds"):
        known = [
            sample[end] / sample["bytes"] * 1e9
            for sample in measurement["samples"]
            if sample.get(end)
        ]
        costs.append("%.2f" % statistics.median(known) if known else "?")
    return " + ".join(costs)


def table(rows: Sequence[Sequence[str]]) -> List[str]:
    """Columns aligned: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))  # noqa: B905 - new in 3.10
        ).rstrip()
        for row in rows
    ]


def spread(rates: Sequence[float]) -> str:
    return "%s (%s-%s)" % (
        megabytes(statistics.median(rates)),
        megabytes(rates[0]),
        megabytes(rates[-1]),
    )


def ssh_table(measurements: Sequence[Json]) -> List[str]:
    """MB/s of both methods, CPU seconds a GB of the pipeline."""
    by_cipher = collections.OrderedDict()  # type: Dict[str, Dict[str, Json]]
    for measurement in measurements:
        if measurement["tool"] == "ssh":
            channel = Channel(
                measurement["cipher"], measurement.get("mac"), measurement.get("compression", False)
            )
            far = (measurement.get("target") or {}).get("name")
            name = channel.in_words() + (" to %s" % far if far else "")
            methods = by_cipher.setdefault(name, {})
            methods[measurement.get("method", "pipeline")] = measurement
    if not by_cipher:
        return []
    rows = [("ssh, MB/s: median (range)", "pipeline", "steady", "CPU s/GB client + server")]
    for cipher, methods in sorted(by_cipher.items(), key=lambda item: -best(item[1])):
        cells = [
            spread(rates_of(methods[name])) if name in methods else "-"
            for name in ("pipeline", "steady")
        ]
        costs = cpu_per_gb(methods.get("steady") or methods["pipeline"])
        rows.append((printable(cipher), cells[0], cells[1], costs))
    return table(rows)


def best(methods: Dict[str, Json]) -> float:
    return max(statistics.median(rates_of(measurement)) for measurement in methods.values())


def openssl_table(measurements: Sequence[Json]) -> List[str]:
    """MB/s by block size, and the range at the largest."""
    rows = collections.OrderedDict()  # type: Dict[str, Dict[int, List[float]]]
    for measurement in measurements:
        if measurement["tool"] == "openssl":
            asked = Asked(
                measurement["cipher"],
                measurement.get("acceleration", "default"),
                measurement.get("operation", "encrypt"),
                threads=measurement.get("threads", 1),
            )
            sizes = rows.setdefault(printable(asked.in_words()), {})
            sizes[measurement["block_size"]] = rates_of(measurement)
    if not rows:
        return []
    columns = sorted({size for sizes in rows.values() for size in sizes})
    head = ["openssl speed, MB/s: median"] + ["%d B" % size for size in columns] + ["range"]
    lines = [head]
    for name, sizes in sorted(rows.items(), key=lambda row: -statistics.median(largest(row[1]))):
        cells = [
            megabytes(statistics.median(sizes[size])) if size in sizes else "-" for size in columns
        ]
        ends = largest(sizes)
        lines.append([name] + cells + ["%s-%s" % (megabytes(ends[0]), megabytes(ends[-1]))])
    return table(lines)


def largest(sizes: Dict[int, List[float]]) -> List[float]:
    """The rates of the largest block size."""
    return sizes[max(sizes)]


def result_text(document: Json) -> str:
    """Those lines for the end of a run, which is worth more than they."""
    return str(reading(lambda: "\n".join(result_lines(document)) + "\n", ""))


def result_lines(document: Json) -> List[str]:
    """A run as tables, conditions and reasons below."""
    host = printable(str(document["host"]["name"]))
    cpu = printable(str(document["environment"]["cpu"].get("model")))
    lines = ["%s, %s, %s" % (host, cpu, printable(str(document["started_at"]))), ""]
    for part in (ssh_table(document["measurements"]), openssl_table(document["measurements"])):
        lines += part + [""] if part else []
    for entry in document.get("conditions", []):
        lines.append(
            "doubt: %s: %s" % (printable(entry["code"]), printable(str(entry.get("detail"))))
        )
    reasons = collections.OrderedDict()  # type: Dict[str, List[str]]
    for entry in document.get("skipped", []):
        key = "%s: %s" % (entry["tool"], entry["reason"])
        reasons.setdefault(key, []).append(str(entry["cipher"]))
    for reason, ciphers in reasons.items():
        lines.append("not measured: %s (%s)" % (printable(", ".join(ciphers)), printable(reason)))
    return lines


# --------------------------------------------------------------------------------------------
# Doctor: what can be measured here, and what would enable the rest
# --------------------------------------------------------------------------------------------


class Finding(NamedTuple):
    """One capability: whether it is there, what was found, what would enable it."""

    name: str
    able: bool
    detail: str
    remedy: str = ""


# The package that has a program, by the package manager that is on this machine.
PACKAGES = (
    ("apt-get", "apt install %s", {"sshd": "openssh-server", "ssh": "openssh-client"}),
    ("dnf", "dnf install %s", {"sshd": "openssh-server", "ssh": "openssh-clients"}),
    ("yum", "yum install %s", {"sshd": "openssh-server", "ssh": "openssh-clients"}),
    ("zypper", "zypper install %s", {"sshd": "openssh-server", "ssh": "openssh-clients"}),
    ("apk", "apk add %s", {"sshd": "openssh-server", "ssh": "openssh-client"}),
    ("pacman", "pacman -S %s", {"sshd": "openssh", "ssh": "openssh"}),
    ("brew", "brew install %s", {"sshd": "openssh", "ssh": "openssh", "openssl": "openssl@3"}),
    ("pkg", "pkg install %s", {"sshd": "openssh-portable", "ssh": "openssh-portable"}),
)


def install_command(program: str) -> str:
    """The command that installs a program here."""
    for manager, command, packages in PACKAGES:
        if shutil.which(manager):
            return command % packages.get(program, program)
    return "install %s with the package manager of this system" % program


def doctor_findings(arguments: argparse.Namespace) -> List[Finding]:
    """Every capability, tried rather than guessed."""
    ssh = find_program("ssh", arguments.ssh)
    sshd = find_program("sshd", arguments.sshd, SSHD_PLACES)
    openssl = find_program("openssl", arguments.openssl)
    found = [
        Finding("Python", True, platform.python_version()),
        program_finding("ssh", ssh, parse_ssh_version(run_tool([ssh, "-V"]).err) if ssh else None),
        program_finding("sshd", sshd, None),
    ]
    if ssh and sshd:
        found += private_server_findings(ssh, sshd)
    version = parse_openssl_version(run_tool([openssl, "version", "-a"]).out) if openssl else {}
    found.append(program_finding("openssl", openssl, version.get("version_text")))
    if openssl:
        found += openssl_findings(openssl, version)
    return found + machine_findings() + [spool_finding()]


def program_finding(name: str, path: Optional[str], version: Optional[str]) -> Finding:
    if path is None:
        return Finding(name, False, "not found in PATH", install_command(name))
    return Finding(name, True, "%s (%s)" % (path, version) if version else path)


def private_server_findings(ssh: str, sshd: str) -> List[Finding]:
    """A connection to a private sshd, and which ciphers it lets through."""
    offered = offered_ciphers(ssh)
    try:
        with PrivateServer(ssh, sshd, offered) as server:
            server.prepare()
            server.zero_connect()
            missing = ", ".join(server.refused)
            allowed = len(server.ciphers)
    except SshUnavailable as error:
        remedy = "see the reason; as an ordinary user fewer things are needed than as root"
        return [Finding("ssh to a private sshd", False, str(error), remedy)]
    absent = [name for name in SSH_BASELINES if name not in offered]
    detail = "%d of %d ciphers" % (allowed, len(offered))
    found = [
        Finding("ssh to a private sshd", True, detail + (", not " + missing if missing else ""))
    ]
    remedy = "give an older build with --ssh and --sshd (OpenSSH 7.5 or earlier has them)"
    words = "this OpenSSH has no " + ", ".join(absent) if absent else ", ".join(SSH_BASELINES)
    found.append(Finding("baseline ciphers of ssh", not absent, words, remedy if absent else ""))
    return found


def openssl_findings(openssl: str, version: Json) -> List[Finding]:
    able = speed_abilities(openssl)
    found = [
        Finding(
            "openssl tries of one second",
            able.seconds,
            "speed -seconds" if able.seconds else "this version takes 15 s a cipher",
            "" if able.seconds else "OpenSSL 1.1.1 or later",
        )
    ]
    try:
        openssl_try(openssl, Asked("rc4"), 1, able)
        found.append(Finding("baseline ciphers of openssl", True, "rc4 answers"))
    except TryFailed as error:
        remedy = install_command("openssl-provider-legacy" if able.providers else "openssl")
        found.append(Finding("baseline ciphers of openssl", False, "rc4: %s" % error, remedy))
    flags = cpu_environment()["flags"]
    mask = mask_variable(platform.machine(), version.get("cpu_settings"), flags)
    hardware = aes_hardware(flags)
    if mask is None or hardware is False:
        detail = "no mask is known" if mask is None else "this CPU has no AES instructions"
        found.append(Finding("AES hardware turned off", False, detail))
    else:
        found.append(Finding("AES hardware turned off", True, "=".join(mask)))
    return found


def aes_hardware(flags: Optional[List[str]]) -> Optional[bool]:
    """Whether the CPU has AES instructions; None where its flags do not tell."""
    if not flags or not platform.machine().startswith(("x86", "amd64", "i", "aarch64", "arm")):
        return None
    return "aes" in flags


def machine_findings() -> List[Finding]:
    watched = read_cpu_times() is not None
    orphans = LIBC is not None
    cpus = cpus_for_pinning()
    return [
        Finding(
            "other processes watched",
            watched,
            "/proc/stat" if watched else "/proc/stat cannot be read",
            "" if watched else "run it on Linux with /proc mounted",
        ),
        Finding(
            "CPU seconds of the server",
            orphans,
            "prctl" if orphans else "needs prctl of Linux, by Python's ctypes",
            "" if orphans else "a Python with ctypes, on Linux",
        ),
        Finding(
            "ssh and sshd on a core each",
            cpus is not None,
            "CPU %d and %d" % cpus if cpus else "there are not two cores for this process",
        ),
    ]


def spool_finding() -> Finding:
    """Whether a run that cannot be uploaded can be kept."""
    folder = existing = spool_folders()[0]
    while not os.path.lexists(existing) and os.path.dirname(existing) != existing:
        existing = os.path.dirname(existing)  # doctor makes no folders: those above would be asked
    try:
        probe = os.path.join(existing, ".ciphermark-probe-%d" % os.getpid())
        write_atomically(probe, "")
        os.unlink(probe)
    except OSError as error:
        remedy = "give XDG_STATE_HOME a folder that can be written"
        return Finding("spool", False, "%s: %s" % (folder, error.strerror), remedy)
    waiting = len(spooled_runs())
    detail = "%s, %d run(s) waiting" % (folder, waiting)
    return Finding("spool", True, detail, own_file() + " upload" if waiting else "")


def command_doctor(arguments: argparse.Namespace) -> int:
    """Exit code 3 when nothing at all could be measured, as `run` would end."""
    catch_signals()
    sweep_stale_folders()
    try:
        found = doctor_findings(arguments)
    finally:
        ignore_signals()
        end_children()
    lines = []
    for finding in found:
        lines.append("%-4s %s: %s" % ("yes" if finding.able else "no", *finding[::2]))
        if finding.remedy:
            lines.append("     to do: " + finding.remedy)
    code = show(printable("\n".join(lines)))
    able = {finding.name for finding in found if finding.able}
    return code if able & {"ssh to a private sshd", "openssl"} else EXIT_NOTHING


# --------------------------------------------------------------------------------------------
# Schedule: lines for regular runs
# --------------------------------------------------------------------------------------------

SYSTEMD_UNITS = """\
# /etc/systemd/system/ciphermark-agent.service
[Unit]
Description=Ciphermark: measure the cipher speed of this machine
After=network-online.target
Wants=network-online.target

[Service]
Type=oneshot
ExecStart={command}
# 1: measured, but the server was not reached; the run waits in the spool
SuccessExitStatus=1
# what waits there from earlier weeks
ExecStartPost=-{upload}

# /etc/systemd/system/ciphermark-agent.timer
[Unit]
Description=Ciphermark once a week

[Timer]
OnCalendar=Sun 04:00
RandomizedDelaySec=1h
Persistent=true

[Install]
WantedBy=timers.target

# then: systemctl daemon-reload && systemctl enable --now ciphermark-agent.timer
"""


def command_schedule(arguments: argparse.Namespace) -> int:
    """Print both; server and token come from a configuration file, never from a command line."""
    python = sys.executable or "/usr/bin/python3"
    script = os.path.abspath(sys.argv[0])
    command = [python, script, "run", "--" + arguments.depth.name, "--progress", "none"]
    lines = []
    if "server" not in configuration(configuration_files()):
        folder = os.path.dirname(configuration_files()[1])
        lines.append(
            "# First write %s/agent.ini:\n#   [agent]\n#   server = https://SERVER\n"
            "#   token_file = %s/token\n" % (folder, folder)
        )
    upload_command = [python, script, "upload"]
    lines.append(
        SYSTEMD_UNITS.format(command=unit_words(command), upload=unit_words(upload_command))
    )
    # A percent sign begins standard input in a crontab.
    minute = random.randrange(60)  # so that many hosts do not come at once
    lines.append("# or one line of a crontab (crontab -e):")
    both = "%s >/dev/null; %s >/dev/null" % (shell_words(command), shell_words(upload_command))
    lines.append("%d 4 * * 0 %s" % (minute, both.replace("%", "\\%")))
    return show("\n".join(lines))


def unit_words(command: Sequence[str]) -> str:
    """A command line as systemd reads it."""
    return " ".join(
        '"%s"'
        % word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
        if re.search(r"[^A-Za-z0-9_./-]", word)
        else word
        for word in command
    )


# --------------------------------------------------------------------------------------------
# Command line
# --------------------------------------------------------------------------------------------


def command_run(arguments: argparse.Namespace) -> int:
    options = run_options(arguments)
    site = upload_site(arguments)
    if arguments.dry_run:
        lines = []  # type: List[str]
        for each in options_of_runs(options, arguments.openssl):
            lines += dry_run_lines(each, site.server if site else None)
        return show("\n".join(lines))
    sweep_stale_folders()
    refusal = foresee_refusal(site) if site else None
    if refusal:
        complain(refusal + "\nthe run is measured all the same, and kept until it can be sent")
    codes = []
    for number, each in enumerate(options_of_runs(options, arguments.openssl)):
        document, signalled = measured_document(each, Progress(arguments.progress))
        if signalled is not None and not document["measurements"]:
            raise signalled
        if not document["measurements"]:
            lines = ["%s: %s" % (entry["cipher"], entry["reason"]) for entry in document["skipped"]]
            complain("nothing could be measured; " + "; ".join(lines[:3] or ["no tool was found"]))
            codes.append(EXIT_NOTHING)
            continue
        output = "-" if arguments.output in OWN_OUTPUT else arguments.output
        if len(arguments.openssl) > 1 and output not in (None, "-") and not is_special(output):
            output = "-%d".join(os.path.splitext(output)) % (number + 1)
        if signalled is not None:
            return deliver_interrupted(document, output)
        codes.append(deliver(document, output, site))
    measured = [code for code in codes if code != EXIT_NOTHING]
    return max(measured) if measured else EXIT_NOTHING


def options_of_runs(options: RunOptions, paths: Sequence[str]) -> List[RunOptions]:
    """A run for each openssl; ssh is measured in the first only."""
    if len(paths) > 1 and "openssl" not in options.tools:
        raise UsageError("--openssl is given %d times, but --tools leaves it out" % len(paths))
    for path in paths:
        find_program("openssl", path)
    runs = [options._replace(openssl=path) for path in paths] or [options]
    return runs[:1] + [one._replace(tools=("openssl",)) for one in runs[1:]]


def measured_document(
    options: RunOptions, progress: Progress
) -> Tuple[Json, Optional[Interrupted]]:
    """Run with signals turned into an orderly end; the signal, if one ended it early."""
    catch_signals()
    try:
        run = Run(options, progress)
        return run.measure(), run.interrupted
    finally:
        ignore_signals()
        end_children()


def deliver_interrupted(document: Json, output: Optional[str]) -> int:
    """Keep what has been measured; whoever interrupts does not want to wait, also for no reader."""
    words = ["interrupted; everything that was started is ended"]
    to_file = output not in (None, "-") and not is_special(str(output))
    fault = output_fault(document, str(output)) if to_file else ""
    if to_file and not fault:
        words.append("what was measured is in %s" % output)
    else:
        words += [fault] if fault else []
        words.append(keep_or_print(document))
    say(result_text(document), sys.stderr)
    complain("; ".join(words))
    return EXIT_NOT_UPLOADED


# Under nohup a terminal that hangs up ends nothing.
ENDING_SIGNALS = [
    signum
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    if signum != signal.SIGHUP or signal.getsignal(signum) != signal.SIG_IGN
]


def catch_signals() -> None:
    def interrupt(signum: int, _frame: object) -> None:
        ignore_signals()  # the way out must not be interrupted again
        raise Interrupted(signum)

    for signum in ENDING_SIGNALS:
        signal.signal(signum, interrupt)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if inherited as ignored, wait4 knows nothing


def ignore_signals() -> None:
    for signum in ENDING_SIGNALS:
        signal.signal(signum, signal.SIG_IGN)


def restore_signals() -> None:
    for signum in ENDING_SIGNALS:
        signal.signal(signum, signal.SIG_DFL)


def output_fault(document: Json, output: str) -> str:
    """Write the document where --output says; why it is not there, or nothing."""
    name = "standard output" if output == "-" else output
    try:
        error = say(dumps(document), sys.stdout) if output == "-" else None
        if error:
            raise error
        if output != "-":
            write_output(output, dumps(document))
    except OSError as error:
        return "%s cannot be written: %s" % (name, error.strerror)
    return ""


def deliver(document: Json, output: Optional[str], site: Optional[Site]) -> int:
    """Write and upload the document, or keep it; then nothing that is shown can lose it."""
    nowhere = output is None and site is None
    to_stdout = output == "-" or (nowhere and not at_terminal(sys.stdout))
    target = "-" if to_stdout else output
    fault = ""
    try:
        catch_signals()
        fault = output_fault(document, target) if target else ""
        ignore_signals()
    except Interrupted:
        fault, site = "interrupted before it was written to %s" % target, None
    screen = sys.stderr if to_stdout or fault else sys.stdout
    if site:
        code = upload_or_keep(site, document, screen)
        if fault:
            complain(fault)
        return EXIT_NOT_UPLOADED if fault else code
    if fault:
        fault = "%s; %s" % (fault, keep_or_print(document))
    restore_signals()
    say(result_text(document), screen)
    if fault:
        complain(fault)
        return EXIT_NOT_UPLOADED
    if target is None:
        say("(--output FILE keeps the run, --server URL uploads it)\n", screen)
    return EXIT_OK


def upload_or_keep(site: Site, document: Json, screen: Optional[TextIO]) -> int:
    """Keep the run first: whatever happens during the upload, it is not lost."""
    path = None
    try:
        path = keep_in_spool(document)
    except NotKept as error:
        complain("%s; it is uploaded all the same" % error)
    try:
        catch_signals()
        say(result_text(document), screen)
        say(printable(upload(site, document)) + "\n", screen)
    except UploadFailed as error:
        why = "%s\nmeasured but not uploaded" % error
        if path and isinstance(error, Refused):
            complain("%s; %s" % (why, aside_words(path, error)))
            return EXIT_NOT_UPLOADED
    except Interrupted:
        why = "interrupted before it was uploaded"
    else:
        if path:
            remove_sent(path)
        waiting = len(spooled_runs())
        if waiting:
            words = "%d earlier run(s) wait in the spool: %s\n"
            say(words % (waiting, site.again), screen)
        return EXIT_OK
    if path:
        words = "%s; the run is kept in %s\nsend it later: %s %s"
        complain(words % (why, path, site.again, shlex.quote(path)))
    else:
        complain("%s; %s" % (why, keep_or_print(document)))
    return EXIT_NOT_UPLOADED


def aside_words(path: str, refused: Refused) -> str:
    """Set a refused run aside; says where it is now."""
    try:
        words = "sent again it would be refused again: it is in %s, the answer beside it"
        return words % set_aside(path, refused.answer)
    except OSError as error:
        return "the run is kept in %s (it cannot be moved: %s)" % (path, error.strerror)


def command_upload(arguments: argparse.Namespace) -> int:
    """Send saved or spooled runs; a spooled one is removed once the server has it."""
    site = upload_site(arguments)
    if site is None:
        raise UsageError(
            "upload needs --server and a token (--token, --token-file or CIPHERMARK_TOKEN)"
        )
    paths = arguments.files or spooled_runs()
    if not paths:
        say("nothing to send: there is no run in %s\n" % spool_folders()[0], sys.stdout)
    failed = malformed = False
    for path in paths:
        try:
            words = upload(site, load_document(path))
            if is_spooled(path):
                remove_sent(path)
            say(printable("%s: %s\n" % (path, words)), sys.stdout)
        except UsageError as error:  # it does not hold back the others
            if not arguments.files and not os.path.exists(path):
                continue  # another agent has sent it
            complain(str(error))
            malformed = True
        except UploadFailed as error:
            complain("%s: %s" % (path, error))
            if isinstance(error, Refused) and is_spooled(path):
                complain(aside_words(path, error))
            failed = True
    return EXIT_NOT_UPLOADED if failed else EXIT_USAGE if malformed else EXIT_OK


def command_show(arguments: argparse.Namespace) -> int:
    document = load_document(arguments.file)
    try:
        lines = result_lines(document)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the file
        words = "%s is broken: the run in it cannot be shown (%s: %s)"
        raise UsageError(words % (arguments.file, type(error).__name__, error))
    return show("\n".join(lines))


def load_document(path: str) -> Json:
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise UsageError("%s cannot be read: %s" % (path, error.strerror))
    except (ValueError, RecursionError) as error:
        raise UsageError("%s is not JSON: %s" % (path, error))
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise UsageError("%s is not a run document (%s)" % (path, SCHEMA))
    if not isinstance(document.get("run_id"), str):
        raise UsageError("%s is not a complete run document: it has no run_id" % path)
    return document


def run_options(arguments: argparse.Namespace) -> RunOptions:
    depth = arguments.depth
    if arguments.tries is not None:
        depth = depth._replace(tries=arguments.tries)
    if arguments.wait is not None:
        depth = depth._replace(wait_seconds=arguments.wait)
    if arguments.seconds is not None:
        depth = depth._replace(
            pipeline_seconds=arguments.seconds,
            steady_seconds=arguments.seconds,
            openssl_seconds=max(1, int(round(arguments.seconds))),
        )
    return RunOptions(
        depth=depth,
        tools=arguments.tools,
        ciphers=arguments.ciphers,
        ssh=arguments.ssh,
        sshd=arguments.sshd,
        openssl=None,
        mask=not arguments.no_mask,
        threads=arguments.threads,
        macs=arguments.macs,
        compression=arguments.compression,
        targets=tuple(arguments.target),
        name=arguments.name or configured_name(),
        tags=dict(arguments.tag),
        anonymous=arguments.anonymous,
    )


def configured_name() -> Optional[str]:
    name = configuration(configuration_files()).get("name")
    try:
        return host_label(name) if name else None
    except argparse.ArgumentTypeError as error:
        raise UsageError("name in the configuration file: %s" % error)


CONFIG_KEYS = ("server", "token", "token_file", "ca_file", "name")


def configuration_files() -> List[str]:
    """The files that may hold settings; what an earlier one says counts."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return [os.path.join(home, "ciphermark", "agent.ini"), "/etc/ciphermark/agent.ini"]


def configuration(paths: Sequence[str]) -> Dict[str, str]:
    """Settings of the section [agent]; UsageError for a file that says something else."""
    settings = {}  # type: Dict[str, str]
    for path in paths:
        parser = configparser.ConfigParser(interpolation=None)
        try:
            with open(path, encoding="utf-8-sig") as file:  # editors of Windows write a mark
                parser.read_file(file)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            if isinstance(error, PermissionError) and path.startswith("/etc/"):
                continue  # root's own, with a token in it
            raise UsageError("%s cannot be read: %s" % (path, error.strerror))
        except (configparser.Error, ValueError) as error:
            raise UsageError("%s is malformed: %s" % (path, one_line(str(error))))
        if parser.sections() != ["agent"]:
            raise UsageError("%s must have one section, [agent]" % path)
        for key, text in parser["agent"].items():
            if key not in CONFIG_KEYS:
                words = "%s: unknown setting %s; there are %s"
                raise UsageError(words % (path, key, ", ".join(CONFIG_KEYS)))
            settings.setdefault(key, text)
    return settings


def upload_site(arguments: argparse.Namespace) -> Optional[Site]:
    """Where to upload and with which token; a server without a token is a mistake.

    An option counts before the environment, the environment before a configuration file.
    """
    given = configuration(configuration_files())
    server = arguments.server or os.environ.get("CIPHERMARK_SERVER") or given.get("server")
    if not server:
        return None
    parts = site_parts(server)
    token = (
        arguments.token
        or token_from_file(arguments.token_file)
        or os.environ.get("CIPHERMARK_TOKEN")
        or given.get("token")
        or token_from_file(given.get("token_file"))
    )
    if not token and not getattr(arguments, "dry_run", False):
        raise UsageError("--server needs a token: --token, --token-file or CIPHERMARK_TOKEN")
    if token == PLACEHOLDER and not getattr(arguments, "dry_run", False):
        words = "TOKEN stands for a token: make one at %s/tokens/, and give it instead"
        raise UsageError(words % server.rstrip("/"))
    if token and not re.match(r"[\x21-\x7e]+$", token):
        raise UsageError("the token holds characters that no token has")
    if parts.scheme == "http" and not re.match(r"localhost$|127\.|::1$", parts.hostname or ""):
        say("warning: the token is sent unencrypted; use https\n", sys.stderr)
    trust = trust_of(arguments.ca_file or given.get("ca_file"))
    note = Progress(getattr(arguments, "progress", "plain")).note
    return Site(server, token or "", trust, upload_again(arguments), note)


def site_parts(server: str) -> urllib.parse.SplitResult:
    """The parts of an address that can be asked; UsageError for any other."""
    try:
        parts = urllib.parse.urlsplit(server)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        if usable:
            return parts
    except ValueError:  # brackets, a port that is no number
        pass
    raise UsageError("--server %s: give an address such as https://ciphermark.example" % server)


def upload_again(arguments: argparse.Namespace) -> str:
    """The command that sends what is kept to the same server.

    What a configuration file or the environment says is not repeated, and a token is not shown.
    """
    words = [sys.executable or "python3", os.path.abspath(own_file()), "upload"]
    if arguments.server:
        words += ["--server", arguments.server]
    if arguments.token_file:
        words += ["--token-file", os.path.abspath(arguments.token_file)]
    elif arguments.token or os.environ.get(TYPED_AS_OPTION):
        words += ["--token", PLACEHOLDER]
    if arguments.ca_file:
        words += ["--ca-file", os.path.abspath(arguments.ca_file)]
    return shell_words(words)


def token_from_file(path: Optional[str]) -> Optional[str]:
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read().strip()
    except (OSError, ValueError) as error:
        raise UsageError("--token-file %s cannot be read: %s" % (path, error))


def dry_run_lines(options: RunOptions, server: Optional[str]) -> List[str]:
    """Every command of a run and the shape of its document; nothing is started for it."""
    ssh = options.ssh or "ssh"
    sshd = options.sshd or shutil.which("sshd", path=os.pathsep.join(SSHD_PLACES)) or "sshd"
    openssl = options.openssl or "openssl"
    lines = ["# nothing of this is run now; FOLDER is a temporary directory, PORT a free port"]
    lines += ["", "# what this machine is (beside reading /proc, /sys and /etc/os-release)"]
    lines += [
        "lscpu    # ARM only, for the model's name",
        "systemd-detect-virt --vm",
        "systemd-detect-virt --container",
        "vcgencmd get_throttled    # Raspberry Pi only, where /sys does not tell",
        "sysctl    # macOS and FreeBSD only, for the CPU",
        "ioreg -rd1 -c IOPlatformExpertDevice    # macOS only, for the machine's id",
    ]
    lines.append(shell_words([openssl, "version", "-a"]))
    if "ssh" in options.tools:
        lines += dry_run_ssh(options, ssh, sshd)
    if "openssl" in options.tools:
        lines += dry_run_openssl(options, openssl)
    lines += [
        "",
        "# the run document" + (", sent to %s/api/v1/runs/" % server.rstrip("/") if server else ""),
    ]
    return lines + json.dumps(document_shape(options), indent=1).splitlines()


def dry_run_ssh(options: RunOptions, ssh: str, sshd: str) -> List[str]:
    names = ",".join(options.ciphers) if options.ciphers else "each of: %s -Q cipher" % ssh
    client = client_command(ssh, "FOLDER", "USER", 0, Channel("CIPHER"), "MARK")
    typed = shell_words(client).replace("-p 0 ", "-p PORT ")
    version = (99, 0)
    if options.targets:
        lines = ["", shell_words([ssh, "-V"]), shell_words([ssh, "-Q", "cipher"])]
        for address in options.targets:
            typed = shell_words(remote_client_command(ssh, address, Channel("CIPHER"), "MARK"))
            feed = shell_words(dd_command(0)).replace("count=0", "count=COUNT")
            lines += ["# CIPHER: " + names, "%s | %s" % (feed, typed), typed + " <SPARSE_FILE"]
        return lines
    return [
        "",
        "# ssh: FOLDER/sshd_config",
        *(
            "#   " + line
            for line in sshd_configuration("FOLDER", ["CIPHERS"], version, False, []).splitlines()
        ),
        shell_words([ssh, "-V"]),
        shell_words([ssh, "-G", "127.0.0.1"]),
        shell_words([ssh, "-Q", "cipher"]),
        shell_words([sshd, "-?"]),
        "ssh-keygen -q -N '' -C %s -t ed25519 -f FOLDER/host_key    # and FOLDER/user_key"
        % HOST_ALIAS,
        shell_words([sshd, "-t", "-f", "FOLDER/sshd_config"]),
        shell_words(server_command(sshd, "FOLDER"))
        + "    # one for each connection, on its socket",
        "# an empty connection, %d warm-ups (%d or %d MiB) of each cipher, then %d rounds"
        % (PrivateServer.pilots, PILOT_MIB, SLOW_PILOT_MIB, options.depth.tries),
        "# CIPHER: " + names,
        *(
            "# ... each with: " + shell_words(channel_options(channel._replace(cipher=None)))
            for channel in ssh_channels(["CIPHER"], options.macs, options.compression)
            if options.macs or options.compression
        ),
        "# pipeline, COUNT for about %g s:" % options.depth.pipeline_seconds,
        "%s | %s" % (shell_words(dd_command(0)).replace("count=0", "count=COUNT"), typed),
        "# steady, %g s after %g s of warm-up; the input is a sparse file:"
        % (options.depth.steady_seconds, WARM_UP_SECONDS),
        typed + " <SPARSE_FILE",
    ]


def dry_run_openssl(options: RunOptions, openssl: str) -> List[str]:
    able = SpeedAbilities(seconds=True, providers=True)
    ciphers = OPENSSL_KNOWN if options.depth.name == "thorough" else OPENSSL_QUICK
    chosen = [name for name in options.ciphers or ciphers if name in OPENSSL_KNOWN]
    cpu = parse_cpuinfo(read_text("/proc/cpuinfo") or "")
    mask = mask_variable(platform.machine(), None, cpu["flags"]) if options.mask else None
    masked = [cipher for cipher in MASKED_CIPHERS if cipher in chosen and mask]
    work = openssl_work(options.depth, able, chosen, masked, options.threads)
    lines = ["", shell_words([openssl, "speed", "-help"])]
    for title, part in (
        ("# openssl, each %d times" % work.rounds, work.often),
        ("# each once", work.once),
    ):
        lines.append(title)
        for asked in part:
            env = dict([mask]) if mask and asked.acceleration == "masked" else None
            command = speed_command(openssl, asked, options.depth.openssl_seconds, able)
            lines.append(shell_words(command, env))
    return lines


def document_shape(options: RunOptions) -> Json:
    """The run document with every name and no figure."""
    cpu = dict.fromkeys(
        list(parse_cpuinfo("")) + ["board", "architecture", "threads", "max_mhz", "governor"]
    )
    names = (
        "bytes",
        "seconds",
        "setup_seconds",
        "client_cpu_seconds",
        "server_cpu_seconds",
        "foreign_cpu",
    )
    ssh = ssh_series(
        Channel("CIPHER"),
        "pipeline",
        Negotiated(None, None, None, None),
        False,
        SshEnd.target,
        None,
    )
    ssh.samples = [dict.fromkeys(names)]
    openssl = openssl_series(Asked("CIPHER"))
    openssl.samples = [dict.fromkeys(("bytes", "seconds", "foreign_cpu"))]
    return {
        "schema": SCHEMA,
        "run_id": None,
        "agent": {"name": "ciphermark-agent", "version": VERSION},
        "started_at": None,
        "finished_at": None,
        "host": {"name": options.name, "machine_id": None, "named": options.name is not None},
        "tags": options.tags,
        "settings": {
            "depth": options.depth.name,
            "tries": options.depth.tries,
            "pinned_cpus": None,
        },
        "environment": {
            "cpu": cpu,
            "virtualization": None,
            "container": None,
            "memory_bytes": None,
            "os": dict.fromkeys(("id", "name", "version", "kernel")),
            "openssl": EMPTY_OPENSSL,
            "openssh": dict.fromkeys(OPENSSH_FACTS),
            "load_average": None,
        },
        "conditions": [condition("CODE", "SENTENCE")],
        "measurements": [ssh.document(), openssl.document()],
        "skipped": [{"tool": "TOOL", "cipher": "CIPHER", "reason": "SENTENCE"}],
    }


def complain(text: str) -> None:
    say("ciphermark_agent: %s\n" % printable(text), sys.stderr)


def tag_pair(text: str) -> Tuple[str, str]:
    key, separator, value = typed(text).partition("=")
    if not separator or not re.match(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,49}$", key) or len(value) > 200:
        raise argparse.ArgumentTypeError(
            "give KEY=VALUE, the key of letters, digits, dot, dash and underscore (at most 50)"
        )
    return key, value


def tool_list(text: str) -> Tuple[str, ...]:
    tools = tuple(name for name in text.split(",") if name)
    if not tools or any(name not in ("ssh", "openssl") for name in tools):
        raise argparse.ArgumentTypeError("give ssh, openssl or ssh,openssl")
    return tools


def cipher_list(text: str) -> Tuple[str, ...]:
    names = tuple(name.strip().lower() for name in text.split(",") if name.strip())
    if not names:
        raise argparse.ArgumentTypeError("give at least one cipher")
    return names


def remote_address(text: str) -> str:
    if not re.match(r"[^\s-][^\s]*$", text) or len(text) > 200:
        raise argparse.ArgumentTypeError("give USER@HOST, or a Host of your ssh configuration")
    return text


def mac_list(text: str) -> Tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise argparse.ArgumentTypeError("give at least one MAC")
    return names


def number_of_tries(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 50:
        raise argparse.ArgumentTypeError("give a number from 1 to 50")
    return int(text)


def number_of_threads(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError("give a number from 1 to 1024")
    return int(text)


def try_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= 20:
        raise argparse.ArgumentTypeError("give seconds from 0.1 to 20")
    return seconds


def wait_seconds(text: str) -> float:
    if not re.match(r"\d{1,5}(\.\d+)?$", text):
        raise argparse.ArgumentTypeError("give seconds from 0 to 99999")
    return float(text)


def typed(text: str) -> str:
    """A word of the command line; bytes that the locale could not read are taken for UTF-8."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        return os.fsencode(text).decode("utf-8", "replace")
    return text


def host_label(text: str) -> str:
    text = typed(text)
    if not text.strip() or len(text) > 200:
        raise argparse.ArgumentTypeError("give a name of 1 to 200 characters")
    return text.strip()


def add_server_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("upload")
    group.add_argument("--server", metavar="URL", help="Ciphermark server (also CIPHERMARK_SERVER)")
    tokens = group.add_mutually_exclusive_group()
    tokens.add_argument("--token", help="upload token (also CIPHERMARK_TOKEN)")
    tokens.add_argument("--token-file", metavar="FILE", help="file that holds the upload token")
    group.add_argument(
        "--ca-file", metavar="FILE", help="certificates (PEM) to trust instead of the system's"
    )


def add_depth_options(parser: Any) -> None:
    depth = parser.add_mutually_exclusive_group()
    for chosen, text in (
        (QUICK, "3 tries of each series: 1 to 2 minutes (the default)"),
        (STANDARD, "5 tries, all block sizes, decryption: about 5 minutes"),
        (THOROUGH, "more ciphers, up to 15 tries until stable: about 20 minutes"),
    ):
        depth.add_argument(
            "--" + chosen.name, dest="depth", action="store_const", const=chosen, help=text
        )


def add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", metavar="FILE", help="write the run document; - is standard output"
    )
    host = parser.add_mutually_exclusive_group()
    host.add_argument(
        "--name",
        type=host_label,
        help="name of this host (default: its host name); a server lists the machine by its newest "
        "name, unless an editor gave it one",
    )
    host.add_argument("--anonymous", action="store_true", help="no name of host or account, no id")
    parser.add_argument(
        "--tag",
        metavar="KEY=VALUE",
        type=tag_pair,
        action="append",
        default=[],
        help="may be repeated",
    )
    group = parser.add_argument_group("what is measured")
    add_depth_options(group)
    parser.set_defaults(depth=QUICK)
    group.add_argument(
        "--tools", metavar="LIST", type=tool_list, default=("ssh", "openssl"), help="ssh,openssl"
    )
    group.add_argument(
        "--ciphers", metavar="LIST", type=cipher_list, help="names of ssh and of openssl, by commas"
    )
    group.add_argument(
        "--macs",
        metavar="LIST",
        type=mac_list,
        default=(),
        help="measure ssh ciphers with each of these MACs (default: the client's choice)",
    )
    group.add_argument(
        "--compression", action="store_true", help="measure ssh also with compression"
    )
    group.add_argument("--tries", metavar="N", type=number_of_tries, help="tries of each series")
    group.add_argument("--seconds", metavar="S", type=try_seconds, help="length of a try")
    group.add_argument(
        "--threads",
        metavar="N",
        type=number_of_threads,
        default=1,
        help="measure openssl also in N processes at once",
    )
    group.add_argument(
        "--wait",
        metavar="S",
        type=wait_seconds,
        help="wait at most so long for other processes to become quiet (default: 5, 30 or 120)",
    )
    group.add_argument(
        "--no-mask", action="store_true", help="leave out the tries without AES hardware"
    )
    group.add_argument(
        "--target",
        metavar="USER@HOST",
        type=remote_address,
        action="append",
        default=[],
        help="measure ssh to this host with your own ssh configuration, not to a private sshd; "
        "may be repeated",
    )
    group.add_argument("--ssh", metavar="PATH", help="the ssh to measure")
    group.add_argument("--sshd", metavar="PATH", help="the sshd to start on the loopback address")
    group.add_argument(
        "--openssl",
        metavar="PATH",
        action="append",
        default=[],
        help="the openssl to measure; repeated: a run for each, ssh in the first",
    )
    group = parser.add_argument_group("how it tells")
    group.add_argument(
        "--dry-run",
        action="store_true",
        help="print every command and the document's shape; run nothing",
    )
    group.add_argument("--progress", choices=("auto", "plain", "json", "none"), default="auto")
    group.add_argument(
        "-v", "--verbose", action="store_true", help="print every command as it runs"
    )


def command_line() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=os.path.basename(own_file()),
        allow_abbrev=False,
        description="Measures the SSH and OpenSSL cipher speed of this machine.",
        epilog="Exit codes: 0 measured (and uploaded, where asked); 1 measured but not uploaded: "
        "the run is kept and its path printed; 2 usage; 3 nothing could be measured.",
    )
    parser.add_argument("--version", action="version", version="ciphermark_agent " + VERSION)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    run = commands.add_parser(
        "run", allow_abbrev=False, help="measure; upload if a server is given, else write JSON"
    )
    add_run_options(run)
    add_server_options(run)
    send = commands.add_parser("upload", allow_abbrev=False, help="send saved or spooled runs")
    send.add_argument(
        "files", metavar="FILE", nargs="*", help="run documents (default: all of the spool)"
    )
    add_server_options(send)
    send.add_argument("-v", "--verbose", action="store_true", help="say what is retried")
    doctor = commands.add_parser(
        "doctor",
        allow_abbrev=False,
        help="what can be measured here, what cannot, and how to change that",
    )
    for name in ("ssh", "sshd", "openssl"):
        doctor.add_argument("--" + name, metavar="PATH", help="the %s to look at" % name)
    doctor.add_argument("-v", "--verbose", action="store_true", help="print every command")
    schedule = commands.add_parser(
        "schedule", allow_abbrev=False, help="print a systemd timer, and a cron line"
    )
    schedule.set_defaults(depth=QUICK)
    add_depth_options(schedule)
    show = commands.add_parser("show", allow_abbrev=False, help="a run as tables in the terminal")
    show.add_argument("file", metavar="FILE")
    return parser


def own_file() -> str:
    """What this file is called where the user started it; /agent.py is a name too."""
    return sys.argv[0] if sys.argv[0].endswith(".py") else "ciphermark_agent.py"


COMMANDS = {
    "run": command_run,
    "doctor": command_doctor,
    "upload": command_upload,
    "show": command_show,
    "schedule": command_schedule,
}


def hide_token(argv: List[str]) -> None:
    """Start anew with the token in the environment, so that it leaves the process list."""
    if not sys.executable or not os.path.exists(sys.argv[0]):
        return
    kept, token, index = [], None, 0
    while index < len(argv):
        name, equals, text = argv[index].partition("=")
        if name == "--token" and (equals or index + 1 < len(argv)):
            index += 0 if equals else 1
            token = text if equals else argv[index]
        else:
            kept.append(argv[index])
        index += 1
    if token:
        os.environ["CIPHERMARK_TOKEN"] = token
        os.environ[TYPED_AS_OPTION] = "1"
        os.execv(sys.executable, [sys.executable, sys.argv[0]] + kept)  # noqa: S606 - no shell meant


def main(argv: Optional[List[str]] = None) -> int:
    global _verbose
    parser = command_line()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help(sys.stderr)
        return EXIT_USAGE
    if argv is None and getattr(arguments, "token", None):
        hide_token(sys.argv[1:])
    _verbose = getattr(arguments, "verbose", False)
    try:
        return COMMANDS[arguments.command](arguments)
    except UsageError as error:
        complain(str(error))
        return EXIT_USAGE
    except Interrupted as signalled:
        complain("interrupted; everything that was started is ended")
        return 128 + signalled.signum


if __name__ == "__main__":
    sys.exit(main())
