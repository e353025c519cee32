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

from launch import places, processes
from launch.telling import say

SECONDS = 60.0
"""For everything: a slow mirror must not keep the site from its measurement."""

USUAL_FOLDERS = "/usr/sbin:/usr/local/sbin:/sbin:/opt/homebrew/sbin:/usr/pkg/sbin"

Watch = Callable[[], None]


def provide_sshd(data_dir: Path, watch: Watch) -> Path | None:
    """The path of an sshd that starts, or None when there is none and none can be brought."""
    installed = find_installed()
    if installed is not None:
        return installed
    copy = PrivateCopy(data_dir / "openssh", watch)
    if not starts(copy.program) and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        say("No sshd on this machine; unpacking a private copy into the data folder ...")
        copy.fetch()
    return copy.program if starts(copy.program) else None


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


class PrivateCopy:
    """openssh-server and the libraries it lacks, unpacked in a folder of their own."""

    def __init__(self, folder: Path, watch: Watch) -> None:
        self.folder = folder
        self.program = folder / "sshd"
        self._root = folder / "root"
        self._packages = folder / "packages"
        self._log = folder / "fetch.log"
        self._watch = watch
        self._deadline = 0.0

    def fetch(self) -> None:
        """Download, unpack and write the program; without success nothing is written."""
        self._deadline = time.monotonic() + SECONDS
        for folder in (self._packages / "partial", self.folder / "lists" / "partial"):
            folder.mkdir(parents=True, exist_ok=True)
        if not self._download([]):
            own_lists = ["-o", f"Dir::State::lists={self.folder / 'lists'}"]
            if not (self._apt(own_lists, "update") and self._download(own_lists)):
                return
        if self._unpack():
            self._write_program()
            shutil.rmtree(self._packages)
            for folder in (self.folder / "lists", self._root / "usr" / "share"):
                shutil.rmtree(folder, ignore_errors=True)

    def _download(self, lists: Sequence[str]) -> bool:
        """The server of the installed client's version, or else the one that is offered."""
        version = self._client_version()
        names = [f"openssh-server={version}"] if version else []
        return any(
            self._apt(lists, "--download-only", "--no-install-recommends", "install", name)
            for name in [*names, "openssh-server"]
        )

    def _apt(self, lists: Sequence[str], *words: str) -> bool:
        options = {
            "Debug::NoLocking": "1",
            "Dir::Cache::archives": f"{self._packages}/",
            "Dir::Cache::pkgcache": "",
            "Dir::Cache::srcpkgcache": "",
            "APT::Sandbox::User": "",
            "Acquire::Retries": "1",
        }
        command = ["apt-get", "-y", *lists]
        for option, setting in options.items():
            command += ["-o", f"{option}={setting}"]
        return self._step([*command, *words]) == 0

    def _step(self, command: Sequence[str | Path]) -> int:
        """Run a command within what is left of the time; -1 when it is up."""
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            return -1
        part = processes.start("apt", command, log=self._log)
        try:
            processes.wait_until(
                lambda: part.process.poll() is not None, seconds=remaining, watch=self._watch
            )
        finally:
            processes.end(part, seconds=2.0)
        return part.process.returncode

    @staticmethod
    def _client_version() -> str:
        query = ["dpkg-query", "--show", "--showformat=${Version}", "openssh-client"]
        answer = subprocess.run(query, capture_output=True, text=True, check=False)
        return answer.stdout.strip() if answer.returncode == 0 else ""

    def _unpack(self) -> bool:
        packages = sorted(self._packages.glob("*.deb"))
        shutil.rmtree(self._root, ignore_errors=True)
        return bool(packages) and all(
            self._step(["dpkg-deb", "-x", package, self._root]) == 0 for package in packages
        )

    def _write_program(self) -> None:
        """A script, so that the copy finds its own libraries and helper programs.

        `exec` with a full path: sshd starts itself again for each connection.
        """
        libraries = ":".join(
            str(path) for path in sorted({found.parent for found in self._root.rglob("*.so.*")})
        )
        session = self._root / "usr" / "lib" / "openssh" / "sshd-session"
        helpers = "".join(
            f' -o "{option}={session.with_name(name)}"'
            for option, name in (("SshdSessionPath", "sshd-session"), ("SshdAuthPath", "sshd-auth"))
            if session.with_name(name).exists()
        )
        self.program.write_text(
            "#!/bin/sh\n"
            f'LD_LIBRARY_PATH="{libraries}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"\n'
            "export LD_LIBRARY_PATH\n"
            f'exec "{self._root}/usr/sbin/sshd"{helpers} "$@"\n'
        )
        self.program.chmod(0o755)


def main() -> int:
    """Print the path of an sshd; exit code 1 when there is none."""
    program = provide_sshd(places.data_dir(), lambda: None)
    if program is None:
        sys.stderr.write(
            "There is no sshd here and none can be unpacked: install openssh-server.\n"
        )
        return 1
    print(program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
