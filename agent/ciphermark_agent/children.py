import contextlib
import os
import resource
import shutil
import signal
import subprocess
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from ciphermark_agent import common
from ciphermark_agent.common import MIB, TOOL_SECONDS, shell_words

REAP_SECONDS = 5.0  # for the processes of a connection to end after the transfer
ORPHAN_SECONDS = 1.0  # ... and for orphans of a login shell
CHILD_CPU_SECONDS = 120  # CPU limit that ends any child
LOG_BYTES = 8 * MIB  # of one ssh, in case of a hostile remote host
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
Variables = Optional[Dict[str, str]]  # extra environment variables of a child
_children: "Dict[int, subprocess.Popen[bytes]]" = {}
SSHD_PLACES = ("/usr/sbin", "/usr/local/sbin", "/sbin", "/opt/homebrew/sbin")
UNWANTED = ("CIPHERMARK_TOKEN", "SSH_AUTH_SOCK", "SSH_ASKPASS", "DISPLAY", "LANGUAGE")
UNDER_NOHUP = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN

try:
    import ctypes

    PRCTL: Any = ctypes.CDLL(None).prctl
except (ImportError, OSError, TypeError, AttributeError):  # not Linux
    PRCTL = None


def become_subreaper() -> bool:
    """Become the parent of orphaned processes, to measure the CPU time of sshd sessions."""
    return PRCTL is not None and PRCTL(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def start(
    command: Sequence[str],
    env: Variables = None,
    cpus: Optional[Set[int]] = None,
    file_bytes: Optional[int] = None,
    **streams: Any,
) -> "subprocess.Popen[Any]":
    """Start a child process that ends when the agent ends.

    `file_bytes`: maximum size of a file that the child writes. `cpus`: CPUs that the child may use.
    `streams`: stdin, stdout and stderr, each /dev/null by default.
    """
    common.verbose("+ " + shell_words(command, env))
    parent = os.getpid()
    inherited = {name: text for name, text in os.environ.items() if name not in UNWANTED}
    path = inherited.get("PATH", os.defpath) + ":/usr/sbin:/sbin"  # missing under cron
    env = {**inherited, "PATH": path, "LC_ALL": "C", **(env or {})}
    limits = {resource.RLIMIT_CPU: CHILD_CPU_SECONDS, resource.RLIMIT_CORE: 0}
    if file_bytes:
        limits[resource.RLIMIT_FSIZE] = file_bytes

    def prepare() -> None:
        if PRCTL is not None:
            PRCTL(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
            if os.getppid() != parent:  # it died before the line above took effect
                os._exit(1)
        for kind, most in limits.items():
            hard = resource.getrlimit(kind)[1]
            soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (soft, hard))
        if cpus:
            os.sched_setaffinity(0, cpus)

    nothing = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    options: Any = {"env": env, "preexec_fn": prepare, **nothing, **streams}
    child = subprocess.Popen(list(command), **options)
    _children[child.pid] = child
    return child


class ToolResult(NamedTuple):
    status: int  # negative for a signal, as in subprocess
    out: str
    err: str


TIMED_OUT = 124
shown: Optional[List[str]] = None  # collects the commands and files of a dry run


def run_tool(command: Sequence[str], timeout: float = 0.0, env: Variables = None) -> ToolResult:
    """Run a command with a time limit in seconds. A timeout gives a non-zero status."""
    if shown is not None:
        shown.append(shell_words(command, env))
        return ToolResult(0, "", "")
    timeout = timeout or TOOL_SECONDS
    pipes: Any = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    try:
        # After a timeout, subprocess.run of Python 3.6 waits for all holders of the pipes.
        with start(command, env, encoding="utf-8", errors="replace", **pipes) as child:
            try:
                out, err = child.communicate(timeout=timeout)
            finally:
                child.kill()
                _children.pop(child.pid, None)
    except subprocess.TimeoutExpired:
        return ToolResult(TIMED_OUT, "", "timed out after %.3g s" % timeout)
    except (OSError, subprocess.SubprocessError) as error:
        return ToolResult(127, "", "%s: %s" % (command[0], common.reason_of(error)))
    return ToolResult(child.returncode, out, err)


def reap(pid: int, flags: int = 0) -> Tuple[int, int, float]:
    """Wait for a child process. Return the process ID, the status of wait4 and the CPU seconds.

    The returned process ID is 0 if `flags` is WNOHANG and no child has ended.
    """
    reaped, status, usage = os.wait4(pid, flags)
    child = _children.pop(reaped, None)
    if child is not None:  # keep subprocess from waiting for it again
        killed = os.WIFSIGNALED(status)
        child.returncode = -os.WTERMSIG(status) if killed else os.WEXITSTATUS(status)
    return reaped, status, usage.ru_utime + usage.ru_stime


def end_children() -> None:
    for pid in list(_children):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + REAP_SECONDS
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if reap(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)


def ignore_signals(action: Any = signal.SIG_IGN) -> None:
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signum != signal.SIGHUP or not UNDER_NOHUP:
            signal.signal(signum, action)


def catch_signals() -> None:
    def interrupt(signum: int, _frame: object) -> None:
        ignore_signals()  # the cleanup must not be interrupted
        raise common.Interrupted(signum)

    ignore_signals(interrupt)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # wait4 fails if it is ignored


@contextlib.contextmanager
def time_limit(seconds: float, words: str) -> Iterator[None]:
    def end(_signum: int, _frame: object) -> None:
        raise TimeoutError(words)

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # repeat if a destructor swallows it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def read_text(path: str) -> Optional[str]:
    try:
        with open(path, "rb") as file:
            return file.read(MIB).decode("utf-8", "replace")
    except OSError:
        return None


def read_number(path: str) -> Optional[int]:
    return common.whole(read_text(path), common.BYTES_LIMIT)


def find_program(name: str, given: Optional[str], places: Sequence[str] = ()) -> Optional[str]:
    folders = os.pathsep.join([os.environ.get("PATH", os.defpath), *places])
    path = shutil.which(name if given is None else os.path.abspath(given), path=folders)
    if path is None and given is not None:
        raise common.UsageError(f"--{name} {given}: not an executable file")
    return os.path.abspath(path) if path else None
