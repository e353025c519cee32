import contextlib
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import redis

from config.embedded.redis_program import NAMES, provide
from config.embedded.server import EmbeddedServiceError, Server, last_line

START_SECONDS = 60.0

OPTIONS = {
    "port": "0",
    "databases": "64",
    "unixsocketperm": "700",
    "daemonize": "yes",
    # Queued tasks survive a shutdown. A crash loses at most the last second.
    "appendonly": "yes",
    "save": "",
    # When memory is full, evict cached data but never queued tasks.
    "maxmemory": "256mb",
    "maxmemory-policy": "volatile-lru",
}


class RedisServer(Server):
    name = "Redis"
    place = "redis"
    program_names = NAMES
    stop_signal = signal.SIGTERM

    def ensure_running(self) -> str:
        """Start the server if necessary, wait until the server is ready, and return the URL."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if not self.processes() or not self._socket().exists():
            self.stop()
            self._start()
        deadline = time.monotonic() + START_SECONDS
        with redis.Redis(unix_socket_path=str(self._socket())) as client:
            while time.monotonic() < deadline:
                with contextlib.suppress(redis.ConnectionError, redis.TimeoutError):
                    client.ping()
                    return f"unix://{quote(str(self._socket()))}?db=0"
                time.sleep(0.02)
        raise EmbeddedServiceError(
            f"The embedded Redis in {self.folder} did not start: {last_line(self.log)} "
            f"(log: {self.log})"
        )

    def _socket(self) -> Path:
        return self.sockets() / "redis.sock"

    def _start(self) -> None:
        places = {"unixsocket": self._socket(), "dir": self.folder, "logfile": self.log}
        command = [str(provide(self.log.with_name("redis-program.log")))]
        for option, value in {**OPTIONS, **places}.items():
            command += [f"--{option}", str(value)]
        # If Redis fails, its log contains the reason.
        subprocess.run(
            command,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
