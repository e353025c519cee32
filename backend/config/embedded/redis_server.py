"""The embedded Redis: its data and its log of writes in the data folder."""

import contextlib
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import psutil
import redis

from config.embedded import redis_program
from config.embedded.errors import EmbeddedServiceError
from config.embedded.running_servers import end_leftovers, ends_within, process_from_file
from config.embedded.sockets import drop_socket_directory, socket_directory

START_SECONDS = 60
STOP_SECONDS = 10


class RedisServer:
    """The server of one data folder, whether it runs or not."""

    name = "Redis"

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / "redis"
        self.log = data_dir / "log" / "redis.log"

    def process(self) -> psutil.Process | None:
        """The running server, or None."""
        return process_from_file(self.folder / "redis.pid", redis_program.NAMES, self.folder)

    def ensure_running(self) -> str:
        """Start the server unless it answers; returns its URL."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if self.process() is None or not self._socket().exists():
            end_leftovers(self.folder, redis_program.NAMES)
            self._start()
        self._wait_until_it_answers()
        return f"unix://{quote(str(self._socket()))}?db=0"

    def stop(self) -> None:
        """Let the server write its last seconds to disk and end; kill it when it does not."""
        process = self.process()
        if process is None:
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
        if not ends_within(process, STOP_SECONDS):
            end_leftovers(self.folder, redis_program.NAMES)
        drop_socket_directory(self.folder, self.folder.stat().st_uid)

    def _socket(self) -> Path:
        owner = self.folder.stat().st_uid
        return socket_directory(self.folder, owner) / "redis.sock"

    def _start(self) -> None:
        options = {
            "port": "0",
            "databases": "64",
            "unixsocket": str(self._socket()),
            "unixsocketperm": "700",
            "daemonize": "yes",
            "pidfile": str(self.folder / "redis.pid"),
            "logfile": str(self.log),
            "dir": str(self.folder),
            # Queued tasks survive a stop, and all but the last second of a crash.
            "appendonly": "yes",
            "save": "",
            # Answers that are kept go when the memory is full; queued tasks never do.
            "maxmemory": "256mb",
            "maxmemory-policy": "volatile-lru",
        }
        command = [str(redis_program.provide(self.log.with_name("redis-program.log")))]
        for option, value in options.items():
            command += [f"--{option}", value]
        started = subprocess.run(
            command,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if started.returncode != 0:
            raise EmbeddedServiceError(
                f"The embedded Redis in {self.folder} does not start (log: {self.log})."
            )

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        with redis.Redis(unix_socket_path=str(self._socket())) as client:
            while not self._answers(client):
                if time.monotonic() > deadline:
                    raise EmbeddedServiceError(
                        f"The embedded Redis in {self.folder} does not answer (log: {self.log})."
                    )
                time.sleep(0.02)

    @staticmethod
    def _answers(client: "redis.Redis") -> bool:
        try:
            return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False
