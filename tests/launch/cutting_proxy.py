"""A TCP proxy between clients and site that cuts connections while it is told to."""

import contextlib
import random
import socket
import threading
from collections.abc import Iterator

CHUNK_BYTES = 4096


class CuttingProxy:
    """Listens on a port of its own; what it cuts and when follows from its seed."""

    def __init__(self, target: int, seed: int) -> None:
        self._target = ("127.0.0.1", target)
        self._random = random.Random(seed)
        self._cutting = threading.Event()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> "CuttingProxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        _drop(self._listener)  # which ends the thread that waits for clients
        self._listener.close()
        self._drop_all()

    @contextlib.contextmanager
    def cutting(self) -> Iterator[None]:
        """Drop what is open, and meanwhile cut most connections somewhere on their way."""
        self._cutting.set()
        self._drop_all()
        try:
            yield
        finally:
            self._cutting.clear()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            site = socket.create_connection(self._target, timeout=10)
        except OSError:
            client.close()
            return
        site.settimeout(None)
        self._open |= {client, site}
        # Bytes each way until the cut: within the request, or within the answer to it.
        limits = [self._limit(), self._limit()]
        back = threading.Thread(target=self._pump, args=(site, client, limits[1]), daemon=True)
        back.start()
        self._pump(client, site, limits[0])
        back.join()
        self._open -= {client, site}
        client.close()
        site.close()

    def _limit(self) -> float:
        cut = self._cutting.is_set() and self._random.random() < 0.7
        return self._random.randrange(0, 3000) if cut else float("inf")

    def _pump(self, source: socket.socket, sink: socket.socket, limit: float) -> None:
        passed = 0
        with contextlib.suppress(OSError):
            while passed < limit and (data := source.recv(CHUNK_BYTES)):
                kept = data if passed + len(data) <= limit else data[: int(limit) - passed]
                sink.sendall(kept)
                passed += len(data)
        if passed >= limit:
            _drop(source)
        _shut(sink)

    def _drop_all(self) -> None:
        for one in list(self._open):
            _drop(one)


def _shut(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_WR)


def _drop(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
