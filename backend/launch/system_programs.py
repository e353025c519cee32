"""Programs that the tests need and pip cannot bring: found, else installed, else asked for."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from launch import paths, processes
from launch.console import Problem, say

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"

USUAL_FOLDERS = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin", "/snap/bin")
"""Looked through after PATH, which may be shorter than what is installed."""


@dataclass(frozen=True)
class Need:
    """A program under any of its names, and the Debian package that has it."""

    names: tuple[str, ...]
    package: str


SSH = Need(("ssh",), "openssh-client")
SSH_KEYGEN = Need(("ssh-keygen",), "openssh-client")
OPENSSL = Need(("openssl",), "openssl")
CHROMIUM = Need(CHROMIUM_NAMES, "chromium")
NGINX = Need(("nginx",), "nginx")
PGBOUNCER = Need(("pgbouncer",), "pgbouncer")


def provide_all() -> list[Path]:
    """The browser first, then the programs that the tests look for on PATH.

    Needs no package of the virtual environment, so that what is missing is said before that is
    filled.
    """
    return [provide_chromium(), *map(provide, (SSH, SSH_KEYGEN, OPENSSL))]


def provide(need: Need) -> Path:
    """The program's path; installs its package where that needs no question."""
    found = _which(need)
    if found is None:
        _install(need)
        found = _which(need)
    if found is None:
        raise Problem(f"{_missing(need)}, and {need.package} brought none: `{_remedy(need)}`.")
    return found


def provide_chromium() -> Path:
    """`CHROMIUM`, or an installed one, or the distribution's."""
    named = os.environ.get("CHROMIUM", "")
    if named:
        found = shutil.which(named)
        if found is None:
            raise Problem(f"CHROMIUM={named} is not a program that can be started.")
        return Path(found)
    if Path(MAC_CHROME).exists():
        return Path(MAC_CHROME)
    return provide(CHROMIUM)


def provide_sshd() -> Path:
    """An sshd for the agent's tests: the machine's, or a private copy."""
    from launch import openssh  # needs the virtual environment

    found = openssh.provide_sshd(paths.data_dir(), lambda: None)
    if found is None:
        raise Problem(
            "The tests need sshd and this machine has none that can be brought without root: "
            "install it (Debian: sudo apt-get install openssh-server)."
        )
    return found


def provide_server(need: Need) -> Path:
    """A server for the tests: the machine's, or a private copy, which nothing starts by itself."""
    from config.embedded.debian_package import DebianPackage  # needs the virtual environment

    name = need.package
    private = paths.TOOLS / name / name
    if not _which(need) and not private.exists() and DebianPackage.possible():
        say(f"No {name} on this machine; unpacking a private copy into .data/tools ...")
        log = paths.data_dir() / "log" / f"{name}.log"
        package = DebianPackage(private.parent, lambda words: processes.run("apt", words, log=log))
        if package.fetch([name]):
            package.write_script(private, f"usr/sbin/{name}")
    found = private if private.exists() else _which(need)
    if found is None:
        raise Problem(f"{_missing(need)}, and there is none: `{_remedy(need)}`.")
    return found


def _which(need: Need) -> Path | None:
    folders = os.pathsep.join((os.environ.get("PATH", os.defpath), *USUAL_FOLDERS))
    found = next(filter(None, (shutil.which(name, path=folders) for name in need.names)), None)
    return Path(found) if found else None


def _missing(need: Need) -> str:
    return f"The tests need {' or '.join(need.names[:2])}"


def _remedy(need: Need) -> str:
    """The command that brings the program on this system."""
    chromium = need is CHROMIUM
    if shutil.which("snap") and chromium:  # Ubuntu's package of Chromium is an empty one
        return "sudo snap install chromium"
    if shutil.which("apt-get"):
        return f"sudo apt-get install --reinstall {need.package}"
    if shutil.which("brew") and chromium:
        return "brew install --cask google-chrome"
    return "make test CHROMIUM=/path/to/chromium" if chromium else f"install {need.package}"


def _install(need: Need) -> None:
    prefix = _administrator_prefix()
    from_snap = need is CHROMIUM and shutil.which("snap")
    if prefix is None or from_snap or shutil.which("apt-get") is None:
        raise Problem(f"{_missing(need)}, and none is installed: `{_remedy(need)}`.")
    say(f"Installing {need.package} with apt-get ...")
    log = paths.data_dir() / "log" / "apt.log"
    install = [*prefix, "apt-get", "install", "-y", "--no-install-recommends", need.package]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    status = processes.run("apt-get", install, log=log, environment=environment)
    if status != 0:
        processes.run("apt-get", [*prefix, "apt-get", "update"], log=log, environment=environment)
        status = processes.run("apt-get", install, log=log, environment=environment)
    processes.require(
        f"apt-get install {need.package}", status, log, f": run {' '.join(install)} yourself"
    )


def _administrator_prefix() -> list[str] | None:
    """What to put before a command that needs root: nothing, sudo, or None when it asks."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    asked = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n"] if asked.returncode == 0 else None
