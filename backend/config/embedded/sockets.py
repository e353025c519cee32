"""Where a server's Unix socket can lie: such a path holds only about a hundred bytes."""

import contextlib
import hashlib
import os
import re
import stat
from pathlib import Path

from config.embedded.errors import EmbeddedServiceError

LONGEST_DIRECTORY = 80
"""Bytes. The kernel allows 107 (103 on macOS) for the whole path, file name included."""

FALLBACK = "ciphermark"

PLAIN_PATH = re.compile(r"[A-Za-z0-9/._-]+")
"""Paths that mean the same in a URL, a shell and a list separated by commas."""


def socket_directory(beside: Path, owner: int) -> Path:
    """`beside` when a socket can lie there, else a private folder in /tmp that belongs to it.

    Every process computes the same answer, so TMPDIR is not asked. `owner` is the user id that
    the server runs as; a folder of anybody else is refused, for they could replace the socket.
    """
    if len(os.fsencode(beside)) <= LONGEST_DIRECTORY and PLAIN_PATH.fullmatch(str(beside)):
        return beside
    digest = hashlib.sha256(os.fsencode(beside)).hexdigest()[:16]
    folder = Path("/tmp") / f"{FALLBACK}-{owner}-{digest}"  # noqa: S108 (checked below)
    try:
        folder.mkdir(mode=0o700)
        if owner != os.geteuid():
            os.chown(folder, owner, -1)
    except FileExistsError:
        pass
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner or found.st_mode & 0o077:
        raise EmbeddedServiceError(
            f"{folder} is not a private folder of this user, so no socket can lie there: "
            "remove it and start again."
        )
    return folder


def drop_socket_directory(beside: Path, owner: int) -> None:
    """Remove the folder in /tmp, if there is one and it is empty: its server has ended."""
    folder = socket_directory(beside, owner)
    if folder != beside:
        with contextlib.suppress(OSError):
            folder.rmdir()
