"""Files of a run: the one that --output names, and the spool of runs that wait."""

import contextlib
import errno
import glob
import os
import stat
import sys
import tempfile
from typing import List

from ciphermark_agent.common import Interrupted, Json, dumps, reading, say


def is_special(path: str) -> bool:
    """Whether there is a device, a FIFO or the like, which is written to and not replaced."""
    return os.path.exists(path) and not os.path.isfile(path)


def write_output(path: str, text: str) -> None:
    """Write what --output names: a file whole or not at all, also where a link points to."""
    if is_special(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        write_atomically(os.path.realpath(path), text)


def write_atomically(path: str, text: str) -> None:
    """Write a whole file or nothing; permissions by the umask."""
    part = "%s.part-%d" % (path, os.getpid())
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except (OSError, Interrupted):
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def state_folders() -> List[str]:
    """Where runs are kept: in the home or, where that cannot be written, a temporary directory."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local/state")
    folders = [os.path.join(home, "ciphermark")]
    with contextlib.suppress(OSError):  # there may be no temporary directory either
        folders.append(os.path.join(tempfile.gettempdir(), "ciphermark-%d" % os.getuid()))
    return folders


def spool_folders() -> List[str]:
    return [os.path.join(folder, "spool") for folder in state_folders()]


def is_private(folder: str) -> bool:
    """Whether nobody else can have put something there; in the home the owner decides that."""
    if folder == state_folders()[0]:
        return True
    status = os.lstat(folder)
    closed = not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and closed


class NotKept(Exception):
    """The run could not be written anywhere; the text says where and why not."""


def keep_in_spool(document: Json) -> str:
    """Path of the kept run."""
    reasons = []
    for folder in state_folders():
        try:
            os.makedirs(os.path.dirname(folder), exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o700)
            if not is_private(folder):
                raise OSError(errno.EPERM, "others can write there")
            path = os.path.join(folder, "spool", "run-%s.json" % document["run_id"])
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            write_atomically(path, dumps(document))
            return path
        except OSError as error:
            reasons.append("%s: %s" % (folder, error.strerror or error))
    raise NotKept("the run could not be kept (%s)" % "; ".join(reasons))


def keep_or_print(document: Json) -> str:
    """Keep a run that was not delivered in the spool, else print it; says where it is now."""
    try:
        return "the run is kept in %s" % keep_in_spool(document)
    except NotKept as error:
        say(dumps(document), sys.stdout)
        return "%s: here it is, on standard output" % error


def spooled_runs() -> List[str]:
    """The runs that wait in the spool, the oldest first."""
    found: List[str] = []
    for folder in state_folders():
        with contextlib.suppress(OSError):
            if is_private(folder):
                found += glob.glob(os.path.join(glob.escape(folder), "spool", "run-*.json"))
    return sorted(found, key=lambda path: reading(lambda: os.path.getmtime(path), 0.0))


def is_spooled(path: str) -> bool:
    return os.path.dirname(os.path.abspath(path)) in spool_folders()


def remove_sent(path: str) -> None:
    """Another agent may have sent and removed it at the same time."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def set_aside(path: str, answer: str) -> str:
    """Move a refused run from spool/ to rejected/, with the answer beside it; the new path."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(path))), "rejected")
    moved = os.path.join(folder, os.path.basename(path))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    write_atomically(os.path.splitext(moved)[0] + ".answer.txt", answer)
    os.replace(path, moved)
    return moved
