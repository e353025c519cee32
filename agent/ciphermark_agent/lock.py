"""One agent at a time measures on a machine: two would slow each other down."""

import contextlib
import fcntl
import os
import tempfile
import time
from typing import Callable, Iterator

from ciphermark_agent.common import OtherAgent, in_words, verbose

LOCK_SECONDS = 3600.0  # a thorough run of three builds of openssl takes less
LOCK_CHECK_SECONDS = 0.5


def wait_for_lock(lock: int, say: Callable[[str], None]) -> None:
    """Lock it once the other agent has ended; OtherAgent when it does not."""
    limit, until = in_words(LOCK_SECONDS), time.monotonic() + LOCK_SECONDS
    said = False
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if not said:
            text = "Another agent measures on this machine; waiting up to %s for it to finish."
            say(text % limit)
        said = True
        if time.monotonic() >= until:
            text = "another agent has measured on this machine for %s; nothing was measured"
            raise OtherAgent(text % limit)
        time.sleep(LOCK_CHECK_SECONDS)


@contextlib.contextmanager
def no_other_agent(say: Callable[[str], None]) -> Iterator[None]:
    """Meanwhile no other agent measures here.

    The temporary directory, which every account can open, is locked: that needs no file, and the
    kernel frees it when an agent is killed. Where there is none this agent measures all the same.
    """
    with contextlib.ExitStack() as holding:
        try:
            lock = os.open(tempfile.gettempdir(), os.O_RDONLY)
            holding.callback(os.close, lock)
            wait_for_lock(lock, say)
        except OSError as error:
            verbose("other agents are not looked for: %s" % error)
        yield
