"""Determine which process stops the servers of a data folder.

Each process holds a shared lock on a file. When a process ends, it requests an exclusive lock. The
process that gets this lock is the last one and stops the servers. The kernel releases the lock of a
killed process.
"""

import atexit
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


class Share:
    """Represent this process's use of a data folder's servers."""

    def __init__(self, data_dir: Path, stop: Callable[[], None]) -> None:
        # Not inherited through exec. A fork shares the lock, which keeps the servers running.
        self._descriptor = os.open(data_dir / "services.lock", os.O_RDWR | os.O_CREAT, 0o600)
        self.process_id = os.getpid()
        self._stop = stop
        # Wait while the last process stops the servers.
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)
        atexit.register(self.release)

    def release(self) -> None:
        """Release the lock; stop the servers if no other process uses them. Ignore forks."""
        if self.process_id != os.getpid() or self._descriptor < 0:
            return
        atexit.unregister(self.release)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            self._stop()
        finally:
            os.close(self._descriptor)
            self._descriptor = -1


@contextmanager
def one_at_a_time(data_dir: Path) -> Iterator[None]:
    """Lock the data folder while starting servers."""
    descriptor = os.open(data_dir / "services.starting.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
