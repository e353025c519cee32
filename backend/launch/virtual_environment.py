"""The virtual environment: made once, filled again only when the requirements change.

Each requirements*.in names what we chose and why; its .txt has everything that those need in turn,
one version for every Python from 3.11 and every platform, with the hashes of all files of each
version, so that an installation takes exactly what was looked at.
"""

import fcntl
import hashlib
import importlib.util
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from launch import paths, processes
from launch.console import Problem, say
from launch.python_versions import OLDEST, TOO_NEW

RUN = "requirements.txt"
TEST = "requirements-dev.txt"

NETWORK_WORDS = (
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "Name or service not known",
    "No route to host",
    "Network is unreachable",
    "Connection refused",
    "nodename nor servname",
    "ConnectTimeoutError",
    "ProxyError",
    "Max retries exceeded",
)


def prepare(requirements: str) -> None:
    """Have `.venv` with everything in the requirements file (`RUN` or `TEST`)."""
    with _one_at_a_time():
        if not _usable():
            _make()
        if not _is_filled(requirements):
            _fill(requirements)


def is_ready(requirements: str) -> bool:
    """Whether nothing has to be downloaded."""
    return _usable() and _is_filled(requirements)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    # `make run` and `make test` share the environment.
    with (paths.PROJECT / RUN).open() as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _usable() -> bool:
    program = "import pip, sys; print(*sys.version_info[:3])"
    try:
        found = subprocess.run(
            [paths.venv_python(), "-c", program], capture_output=True, text=True, check=False
        )
    except OSError:
        return False
    return OLDEST <= tuple(map(int, found.stdout.split())) < TOO_NEW


def _make() -> None:
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise Problem(
            f"{sys.executable} has no venv module: install it (Debian, Ubuntu: "
            f"apt install python{version}-venv), or name another with PYTHON=."
        )
    say(f"Making the virtual environment {paths.shown(paths.venv())} ...")
    log = paths.data_dir() / "log" / "venv.log"
    status = processes.run(
        "python -m venv", [sys.executable, "-m", "venv", "--clear", paths.venv()], log=log
    )
    processes.require("Making the virtual environment", status, log)


def _stamp(requirements: str) -> Path:
    return paths.venv() / f"filled-from-{requirements}"


def _digest(requirements: str) -> str:
    names = dict.fromkeys((RUN, requirements))  # in one order in every process
    content = b"".join((paths.PROJECT / name).read_bytes() for name in names)
    return hashlib.sha256(content).hexdigest()


def _is_filled(requirements: str) -> bool:
    stamp = _stamp(requirements)
    return stamp.exists() and stamp.read_text() == _digest(requirements)


def _fill(requirements: str) -> None:
    say(f"Installing the Python packages of {requirements} (once; about a minute) ...")
    log = paths.data_dir() / "log" / "pip.log"
    # The file lists every package. Left to resolve them again, pip takes the newest release of one
    # that another names with an extra, finds no hash for it and stops (pypa/pip#9644).
    status = _pip(
        ["-r", str(paths.PROJECT / requirements), "--no-deps", "--only-binary", ":all:"], log
    )
    if status != 0:
        _explain(log)
        processes.require("Installing the Python packages", status, log)
    _stamp(requirements).write_text(_digest(requirements))
    if requirements == TEST:
        _stamp(RUN).write_text(_digest(RUN))


def _pip(arguments: Sequence[str], log: Path) -> int:
    options = ("--disable-pip-version-check", "--no-input", "--progress-bar", "off")
    command: list[str | Path] = [paths.venv_python(), "-m", "pip", "install", *options, *arguments]
    progress = _Progress(log)
    status = processes.run("pip", command, log=log, watch=progress.show)
    progress.clear()
    return status


class _Progress:
    """One changing line on a terminal, nothing elsewhere."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._shown = ""

    def show(self) -> None:
        if not sys.stdout.isatty() or not self._log.exists():
            return
        text = _progress(self._log.read_text(errors="replace"))
        if text != self._shown:
            self._shown = text
            width = shutil.get_terminal_size().columns
            sys.stdout.write(f"\r\033[K{text[: width - 1]}")
            sys.stdout.flush()

    def clear(self) -> None:
        if self._shown:
            sys.stdout.write("\r\033[K")
            sys.stdout.flush()


def _progress(log: str) -> str:
    """Where pip is, by its log so far."""
    names = re.findall(r"^Collecting ([\w.-]+)", log, re.MULTILINE)
    if "\nInstalling collected packages" in log:
        return f"  {len(names)} packages, unpacking"
    return f"  {len(names)} packages, now {names[-1]}" if names else ""


def _explain(log: Path) -> None:
    """Raise a `Problem` for the causes that have a remedy of their own."""
    text = log.read_text(errors="replace")
    if "No space left on device" in text:
        raise Problem(f"The disk of {paths.PROJECT} is full: make room and start again.")
    if any(words in text for words in NETWORK_WORDS):
        raise Problem(
            "The Python packages cannot be downloaded: the package index cannot be reached. Check "
            f"the network or pip's proxy settings (log: {paths.shown(log)})."
        )
    missing = re.search(r"No matching distribution found for ([\w.-]+==[\w.]+)", text)
    if missing:
        raise Problem(
            f"The package index has no wheel of {missing[1]} for Python "
            f"{platform.python_version()} on {platform.system()} {platform.machine()}, and "
            "Ciphermark compiles nothing: name another Python, as in `make run "
            f"PYTHON=/path/to/python3.13`, or another index (log: {paths.shown(log)})."
        )


FILES = ("requirements", "requirements-dev")

EVERYWHERE = ("--universal", "--python-version", "3.11")
OPTIONS = (*EVERYWHERE, "--generate-hashes", "--no-annotate", "--quiet")


def make_requirements() -> int:
    """Make all of them anew where something changed; what is pinned already stays as it is."""
    for number, name in enumerate(FILES):
        same = [word for other in FILES[:number] for word in ("-c", f"{other}.txt")]
        words = ("pip", "compile", *OPTIONS, f"{name}.in", *same, "-o", f"{name}.txt")
        header = ("--custom-compile-command", "make requirements")
        status = processes.run("uv", [paths.venv() / "bin" / "uv", *words, *header])
        if status != 0:
            return status
    return 0
