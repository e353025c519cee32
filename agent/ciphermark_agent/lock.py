"""One agent at a time measures on a machine: two would slow each other down."""

import contextlib
import fcntl
import os
import tempfile
import time
from typing import Callable, Iterator, Optional

from ciphermark_agent.common import OtherAgent, in_words, verbose

LOCK_NAME = "ciphermark-agent.lock"
LOCK_SECONDS = 3600.0  # a thorough run of three builds of openssl takes less
LOCK_CHECK_SECONDS = 0.5


def lock_path() -> str:
    """The same for all accounts that share a temporary directory."""
    return os.path.join(tempfile.gettempdir(), LOCK_NAME)


def take_lock() -> Optional[int]:
    """The lock, or None while another agent has it; OSError where nothing can be locked.

    Every account can open the file, and none writes to what may be another's.
    """
    with contextlib.suppress(FileExistsError):
        made = os.open(lock_path(), os.O_RDONLY | os.O_CREAT | os.O_EXCL)
        os.fchmod(made, 0o444)  # whatever the umask
        os.close(made)
    try:
        lock = os.open(lock_path(), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:  # its agent ended just now
        return None
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), os.stat(lock_path())):  # not one that was removed
            return lock
    os.close(lock)
    return None


def wait_for_lock(say: Callable[[str], None]) -> int:
    """The lock, once the other agent has ended; OtherAgent when it does not."""
    lock, limit, until = take_lock(), in_words(LOCK_SECONDS), time.monotonic() + LOCK_SECONDS
    if lock is None:
        say("Another agent measures on this machine; waiting up to %s for it to finish." % limit)
    while lock is None:
        if time.monotonic() >= until:
            text = "another agent has measured on this machine for %s; nothing was measured"
            raise OtherAgent(text % limit)
        time.sleep(LOCK_CHECK_SECONDS)
        lock = take_lock()
    return lock


@contextlib.contextmanager
def no_other_agent(say: Callable[[str], None]) -> Iterator[None]:
    """Meanwhile no other agent measures here. The kernel frees the lock of one that is killed.

    Where nothing can be locked (no temporary directory, or somebody closed the file to others)
    this agent measures all the same.
    """
    lock = None
    try:
        lock = wait_for_lock(say)
    except OSError as error:
        verbose("other agents are not looked for: %s" % error)
    try:
        yield
    finally:
        if lock is not None:
            with contextlib.suppress(OSError):  # another account's stays
                os.unlink(lock_path())
            os.close(lock)
