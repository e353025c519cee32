"""Files of a run: the one that --output names, and the spool of runs that wait."""

import contextlib
import glob
import os
from typing import List

from ciphermark_agent.common import Interrupted, Json, dumps, reading


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


def spool_folder() -> str:
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local/state")
    return os.path.join(home, "ciphermark", "spool")


def keep_in_spool(document: Json) -> str:
    """Path of the kept run."""
    path = os.path.join(spool_folder(), "run-%s.json" % document["run_id"])
    os.makedirs(spool_folder(), mode=0o700, exist_ok=True)
    write_atomically(path, dumps(document))
    return path


def spooled_runs() -> List[str]:
    """The runs that wait in the spool, the oldest first."""
    found = glob.glob(os.path.join(glob.escape(spool_folder()), "run-*.json"))
    return sorted(found, key=lambda path: reading(lambda: os.path.getmtime(path), 0.0))


def is_spooled(path: str) -> bool:
    return os.path.dirname(os.path.abspath(path)) == spool_folder()


def remove_sent(path: str) -> None:
    """Another agent may have sent and removed it at the same time."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def set_aside(path: str) -> str:
    """Rename a refused run, so that it waits no longer; its new path."""
    with contextlib.suppress(OSError):
        os.replace(path, path + ".rejected")
        return path + ".rejected"
    return path
