"""The user that PostgreSQL runs as: this one, or an unprivileged one when this is root."""

import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from config.embedded.errors import EmbeddedServiceError

ACCOUNT = "pgserver"
"""PostgreSQL refuses to run as root; the wheel it comes in uses this name too."""

READABLE = stat.S_IROTH | stat.S_IXOTH


class Identity(TypedDict, total=False):
    """The arguments of `subprocess.run` that change the user."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True)
class Account:
    """Who runs the server. `switch` is empty unless root has to become somebody else."""

    uid: int
    gid: int
    switch: Identity

    @property
    def is_other(self) -> bool:
        """Whether this process (root) has to open folders for that user."""
        return bool(self.switch)


def server_account() -> Account:
    """This user, or for root the account `pgserver`, which is made when there is none."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), {})
    entry = _existing() or _created()
    switch = Identity(user=entry.pw_uid, group=entry.pw_gid, extra_groups=[])
    return Account(entry.pw_uid, entry.pw_gid, switch)


def _existing() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(ACCOUNT)
    except KeyError:
        return None


def _created() -> pwd.struct_passwd:
    useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if useradd is None:
        raise EmbeddedServiceError(
            f"PostgreSQL does not run as root and the account {ACCOUNT} cannot be made here "
            "(no useradd): start Ciphermark as an ordinary user."
        )
    command = [useradd, "--system", "--no-create-home", "--shell", "/bin/false", ACCOUNT]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    entry = _existing()
    if entry is None:
        raise EmbeddedServiceError(
            f"PostgreSQL does not run as root and the account {ACCOUNT} cannot be made "
            f"({made.stderr.strip()}): start Ciphermark as an ordinary user."
        )
    return entry


def let_through(path: Path) -> list[Path]:
    """Let other users pass (not list) the folders above `path`; returns those it changed."""
    closed = [folder for folder in path.parents if not folder.stat().st_mode & stat.S_IXOTH]
    for folder in closed:
        folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    return closed


def let_read(tree: Path, probe: Path) -> None:
    """Let other users read a tree of programs that a strict umask closed (`probe` tells)."""
    if probe.stat().st_mode & READABLE == READABLE:
        return
    for path in (tree, *tree.rglob("*")):
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        executable = stat.S_IXOTH if path.is_dir() or mode & stat.S_IXUSR else 0
        path.chmod(mode | stat.S_IROTH | executable)
