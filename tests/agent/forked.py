"""Run the agent in forks of one process, because starting Python for each run is slow.

The forking process executes this file. The arguments are the path of the agent and the file
descriptor of a socket.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

PROJECT = Path(__file__).resolve().parents[2]


class Finished(NamedTuple):
    code: int
    out: str
    err: str


class Forks:
    def __init__(self, agent: Path) -> None:
        self._asking, asked = socket.socketpair()
        with asked:
            self._python = subprocess.Popen(
                [sys.executable, "-W", "error", __file__, str(agent), str(asked.fileno())],
                pass_fds=[asked.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def run(
        self, arguments: Sequence[str], before: str, env: Mapping[str, str], timeout: float
    ) -> Finished:
        """Run the agent. `before`: Python code to execute first, e.g. to change constants."""
        asked = {"arguments": arguments, "before": before, "env": dict(env)}
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        socket.send_fds(self._asking, [b"\n"], [out_end, err_end])
        os.close(out_end)
        os.close(err_end)
        self._asking.sendall(json.dumps(asked).encode() + b"\n")
        pid: int = _line(self._asking)
        self._asking.settimeout(timeout)
        try:
            with ThreadPoolExecutor(2) as pool:
                texts = pool.map(_whole, (out, err))
                code: int = _line(self._asking)
                return Finished(code, *texts)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise

    def close(self) -> None:
        self._asking.close()
        self._python.wait()


def _whole(end: int) -> str:
    with open(end, encoding="utf-8") as stream:
        return stream.read()


def _line(connection: socket.socket) -> Any:
    # Read byte by byte: a larger read could also take the start of the next message.
    text = b""
    while not text.endswith(b"\n"):
        more = connection.recv(1)
        if not more:
            return None
        text += more
    return json.loads(text)


def _serve(agent: str, connection: socket.socket) -> None:
    sys.path[:0] = [agent, str(PROJECT)]
    from tests.agent import whole

    while ends := socket.recv_fds(connection, 1, 2)[1]:
        asked = _line(connection)
        pid = os.fork()
        if pid == 0:
            connection.close()
            _become(ends, asked["env"])
            sys.argv = [agent, *asked["arguments"]]
            exec(asked["before"], {"agent": whole, "sys": sys})  # noqa: S102 - a test's own code
            sys.exit(whole.main(sys.argv[1:]))
        for end in ends:
            os.close(end)
        connection.sendall(b"%d\n" % pid)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        connection.sendall(b"%d\n" % code)


def _become(ends: Sequence[int], env: Mapping[str, str]) -> None:
    for end, number in zip(ends, (1, 2), strict=True):
        os.dup2(end, number)
        os.close(end)
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[2])) as its:
        _serve(sys.argv[1], its)
