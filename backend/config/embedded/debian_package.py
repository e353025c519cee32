"""Programs of Debian's and Ubuntu's packages without root and without installing anything."""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

Run = Callable[[Sequence[str | Path]], int]
"""Runs a command and returns its exit code; any other number than 0 when its time is up."""


class DebianPackage:
    """A package and the libraries that the system lacks, unpacked in a folder of their own."""

    def __init__(self, folder: Path, run: Run) -> None:
        self.folder = folder
        self.root = folder / "root"
        self._packages = folder / "packages"
        self._lists = folder / "lists"
        self._run = run

    @staticmethod
    def possible() -> bool:
        """Whether this system has Debian's tools."""
        return bool(shutil.which("apt-get") and shutil.which("dpkg-deb"))

    def fetch(self, *choices: Sequence[str]) -> bool:
        """Download the first of the choices that can be had, and unpack it below `root`.

        Each choice names packages that are wanted together, even where one is installed.
        """
        for folder in (self._packages / "partial", self._lists / "partial"):
            folder.mkdir(parents=True, exist_ok=True)
        unpacked = self._download(choices) and self._unpack()
        for folder in (self._packages, self._lists, self.root / "usr" / "share"):
            shutil.rmtree(folder, ignore_errors=True)
        return unpacked

    def write_script(
        self, program: Path, original: str, arguments: str = "", before: str = ""
    ) -> None:
        """Make `program` start `root/original` with the libraries that were unpacked.

        `before` are lines of the shell that come first.
        `exec` with a full path: sshd starts itself again for each connection.
        """
        folders = sorted({found.parent for found in self.root.rglob("*.so.*")})
        libraries = ":".join(str(folder) for folder in folders)
        program.write_text(
            f"#!/bin/sh\n{before}"
            f'LD_LIBRARY_PATH="{libraries}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"\n'
            "export LD_LIBRARY_PATH\n"
            f'exec "{self.root}/{original}"{arguments} "$@"\n'
        )
        program.chmod(0o755)

    def _download(self, choices: Sequence[Sequence[str]]) -> bool:
        """With the system's package lists, or else with lists of our own."""
        if self._install(choices, []):
            return True
        own = ["-o", f"Dir::State::lists={self._lists}"]
        return self._apt(own, "update") and self._install(choices, own)

    def _install(self, choices: Sequence[Sequence[str]], lists: Sequence[str]) -> bool:
        words = ("--download-only", "--reinstall", "--no-install-recommends", "install")
        return any(self._apt(lists, *words, *names) for names in choices)

    def _apt(self, lists: Sequence[str], *words: str) -> bool:
        options = {
            "Debug::NoLocking": "1",
            "Dir::Cache::archives": f"{self._packages}{os.sep}",
            "Dir::Cache::pkgcache": "",
            "Dir::Cache::srcpkgcache": "",
            "APT::Sandbox::User": "",
            "Acquire::Retries": "1",
        }
        command = ["apt-get", "-y", *lists]
        for option, setting in options.items():
            command += ["-o", f"{option}={setting}"]
        return self._run([*command, *words]) == 0

    def _unpack(self) -> bool:
        found = sorted(self._packages.glob("*.deb"))
        shutil.rmtree(self.root, ignore_errors=True)
        return bool(found) and all(
            self._run(["dpkg-deb", "-x", package, self.root]) == 0 for package in found
        )
