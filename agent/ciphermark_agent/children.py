"""Programs that the agent starts, signals, small files of the system."""

import contextlib
import os
import platform
import pwd
import re
import resource
import select
import shutil
import signal
import subprocess
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from ciphermark_agent.common import (
    MIB,
    TOOL_SECONDS,
    Interrupted,
    TryFailed,
    UsageError,
    cut,
    decode,
    shell_words,
    verbose,
)

try:
    import ctypes
except ImportError:  # some small builds of Python leave it out; only Linux refinements need it
    ctypes = None  # type: ignore[assignment]  # a module where there is one


REAP_SECONDS = 5.0  # for the processes of a connection to end once all has arrived
ORPHAN_SECONDS = 1.0  # ... and for what a login shell may have left behind
CHILD_CPU_SECONDS = 120  # a child that outlives everything else still ends
TOOL_BYTES = MIB  # of what a tool says on each of its outputs; a megabyte is no answer
LOG_BYTES = 8 * MIB  # of one ssh: what a hostile far end can make it write
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
_children: "Dict[int, subprocess.Popen[bytes]]" = {}


def load_libc() -> Any:
    """The C library, for prctl; None where that call does not exist."""
    if ctypes is None or platform.system() != "Linux":
        return None
    try:
        libc = ctypes.CDLL(None)
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


def lower_limit(kind: int, most: int) -> None:
    """Lower a limit of this process, as far as its hard limit allows."""
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def child_preparation(cpus: Optional[Set[int]], file_bytes: Optional[int]) -> Callable[[], None]:
    """What a child does before exec: die with the agent, stay bounded, stay on its cores."""
    parent = os.getpid()

    def prepare() -> None:
        if LIBC is not None:
            LIBC.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
            if os.getppid() != parent:  # it died before the line above took effect
                os._exit(1)
        lower_limit(resource.RLIMIT_CPU, CHILD_CPU_SECONDS)
        lower_limit(resource.RLIMIT_CORE, 0)
        if file_bytes:
            lower_limit(resource.RLIMIT_FSIZE, file_bytes)
        if cpus:
            os.sched_setaffinity(0, cpus)

    return prepare


def start(
    command: Sequence[str],
    stdin: Any = subprocess.DEVNULL,
    stdout: Any = subprocess.DEVNULL,
    stderr: Any = subprocess.DEVNULL,
    env: Optional[Dict[str, str]] = None,
    cpus: Optional[Set[int]] = None,
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
        preexec_fn=child_preparation(cpus, file_bytes),
    )
    _children[child.pid] = child
    return child


class ToolResult(NamedTuple):
    """What a finished command answered; status is negative for a signal, as in subprocess."""

    status: int
    out: str
    err: str


_shown: Optional[List[str]] = None


@contextlib.contextmanager
def shown_instead(lines: List[str]) -> Iterator[None]:
    """Meanwhile `run_tool` adds commands to these lines instead of running them."""
    global _shown
    _shown = lines
    try:
        yield
    finally:
        _shown = None


def run_tool(
    command: Sequence[str],
    timeout: float = TOOL_SECONDS,
    env: Optional[Dict[str, str]] = None,
) -> ToolResult:
    """Run a command to its end, at most `timeout` seconds; never raises for what it answers."""
    if _shown is not None:
        _shown.append(shell_words(command, env))
        return ToolResult(0, "", "")
    pipe = subprocess.PIPE
    try:
        child = start(command, stdout=pipe, stderr=pipe, env=env)
    except (OSError, subprocess.SubprocessError) as error:
        why = getattr(error, "strerror", None) or error
        return ToolResult(127, "", "%s: %s" % (command[0], why))
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


def reap(pid: int, flags: int = 0) -> Tuple[int, int, float]:
    """wait4: (pid, exit status, CPU seconds of user and system); pid 0 when nothing has ended."""
    reaped, status, usage = os.wait4(pid, flags)
    child = _children.pop(reaped, None)
    if child is not None:  # tell subprocess that it has been waited for here
        ended = os.WIFSIGNALED(status)
        child.returncode = -os.WTERMSIG(status) if ended else os.WEXITSTATUS(status)
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


SSHD_PLACES = ("/usr/sbin", "/usr/local/sbin", "/sbin", "/opt/homebrew/sbin")
# What most package managers call them.
PACKAGES = {"ssh": "openssh-client", "sshd": "openssh-server", "openssl": "openssl"}
SSHD_MISSING = (
    "no sshd was found (looked in PATH, %s): install %s, or give the path of one with --sshd; "
    "one that was only unpacked from its package works (on Debian and Ubuntu `make run` of "
    "Ciphermark unpacks one by itself)"
) % (", ".join(SSHD_PLACES), PACKAGES["sshd"])


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


def system_tool(name: str) -> str:
    """Path of a program of macOS and FreeBSD that the PATH of cron leaves out."""
    return find_program(name, None, ("/usr/sbin", "/sbin")) or name


def sysctl(name: str) -> Optional[str]:
    """A kernel value of macOS or FreeBSD."""
    answer = run_tool([system_tool("sysctl"), "-n", name])
    return cut(answer.out) if answer.status == 0 else None


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


def own_user_name() -> str:
    """The account of this process; ssh needs one to log in as."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        text = "user id %d has no account in the passwd file"
        raise TryFailed(text % os.getuid())
