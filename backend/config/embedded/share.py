"""Stop the servers of a data folder when the last process that uses the servers ends.

Each process holds a shared lock on a file. The kernel releases the lock of a killed process. A
process that ends requests an exclusive lock. Only the last process gets this lock and stops the
servers.
"""

import atexit
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


class Share:
    def __init__(self, data_dir: Path, stop: Callable[[], None]) -> None:
        # Not inherited through exec. A fork shares the lock, which keeps the servers running.
        self._descriptor = os.open(data_dir / "services.lock", os.O_RDWR | os.O_CREAT, 0o600)
        self.process_id = os.getpid()
        self._stop = stop
        # Wait while the last process stops the servers.
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)
        atexit.register(self.release)

    def release(self) -> None:
        # A fork must not release the lock of the parent process.
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
    descriptor = os.open(data_dir / "services.starting.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
