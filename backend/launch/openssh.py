"""An sshd for the loopback measurement: the machine's own, or a private copy of its package.

Many machines have `ssh` and no `sshd`. Where the system is Debian's kind, the package can be
downloaded and unpacked into the data folder without root and without installing anything.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from config.embedded.debian_package import DebianPackage, Run
from launch import paths, processes
from launch.console import say

SECONDS = 60.0
"""For everything: a slow mirror must not keep the site from its measurement."""

USUAL_FOLDERS = "/usr/sbin:/usr/local/sbin:/sbin:/opt/homebrew/sbin:/usr/pkg/sbin"

ACCOUNT = """\
# As root sshd wants an account named sshd, which comes with its package: it alone sees one, where
# that may be mounted (in few containers).
passwd="{folder}/passwd"
if ! grep -q "^sshd:" /etc/passwd && [ "$(id -u)" = 0 ]; then
    [ "$passwd" -nt /etc/passwd ] ||
        {{ cat /etc/passwd; echo "sshd:x:65534:65534::/nonexistent:/bin/false"; }} >"$passwd"
    if unshare -m mount --bind "$passwd" /etc/passwd 2>/dev/null; then
        exec unshare -m sh -c 'mount --bind "$0" /etc/passwd && exec "$@"' "$passwd" "$0" "$@"
    fi
fi
"""

Watch = Callable[[], None]


def provide_sshd(data_dir: Path, watch: Watch) -> Path | None:
    """The path of an sshd that starts, or None when there is none and none can be brought."""
    installed = find_installed()
    if installed is not None:
        return installed
    folder = data_dir / "openssh"
    package = DebianPackage(folder, _bounded(folder / "fetch.log", watch))
    if package.root.exists():  # a version before may have written another program
        write_program(package)
    if not starts(folder / "sshd") and DebianPackage.possible():
        say("No sshd on this machine; unpacking a private copy into the data folder ...")
        fetch(package)
    return folder / "sshd" if starts(folder / "sshd") else None


def find_installed() -> Path | None:
    """The system's sshd, if it has one that starts."""
    found = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:{USUAL_FOLDERS}")
    return Path(found) if found and starts(Path(found)) else None


def starts(program: Path) -> bool:
    """Whether the program loads its libraries and says that it is OpenSSH."""
    if not program.exists():
        return False
    # Old versions do not know -V; they then show it in the usage, which serves as well.
    try:
        answer = subprocess.run(
            [program, "-V"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "OpenSSH_" in answer.stdout + answer.stderr


def fetch(package: DebianPackage) -> None:
    """Unpack openssh-server and write the program `sshd`; without success nothing is written."""
    version = _client_version()
    choices = [[f"openssh-server={version}"]] if version else []
    if package.fetch(*choices, ["openssh-server"]):
        write_program(package)


def write_program(package: DebianPackage) -> None:
    """The program `sshd` beside the unpacked package."""
    account = ACCOUNT.format(folder=package.folder)
    program = package.folder / "sshd"
    package.write_script(program, "usr/sbin/sshd", _helpers(package.root), account)


def _client_version() -> str:
    """Of the installed package, so that client and server are of one version."""
    query = ["dpkg-query", "--show", "--showformat=${Version}", "openssh-client"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, check=False)
    except OSError:  # not every system with apt has it
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def _helpers(root: Path) -> str:
    """Options that make sshd find the programs it is split into since OpenSSH 9.8."""
    folder = root / "usr" / "lib" / "openssh"
    programs = (("SshdSessionPath", "sshd-session"), ("SshdAuthPath", "sshd-auth"))
    return "".join(
        f' -o "{option}={folder / name}"' for option, name in programs if (folder / name).exists()
    )


def _bounded(log: Path, watch: Watch) -> Run:
    """Runs commands within what is left of `SECONDS`."""
    deadline = time.monotonic() + SECONDS

    def run(command: Sequence[str | Path]) -> int:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return -1
        part = processes.start("apt", command, log=log)
        try:
            processes.wait_until(
                lambda: part.process.poll() is not None, seconds=remaining, watch=watch
            )
        finally:
            processes.end(part, seconds=2.0)
        return part.process.returncode

    return run


def main() -> int:
    """Print the path of an sshd; exit code 1 when there is none."""
    program = provide_sshd(paths.data_dir(), lambda: None)
    if program is None:
        sys.stderr.write(
            "There is no sshd here and none can be unpacked: install openssh-server.\n"
        )
        return 1
    print(program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
