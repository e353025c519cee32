import fcntl
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from config.launch.processes import MARK, end_leftovers, leftovers
from tests.launch.tools import PROJECT, free_port, private_folder, servers_of, within

START_SECONDS = 180


class RunningSite:
    def __init__(self, data_dir: Path, *words: str, **variables: str) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        kept = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith(("CIPHERMARK_", "DATABASE_", "REDIS_URL", "DJANGO_", MARK))
        }
        self.process = subprocess.Popen(
            [sys.executable, *(words or ("manage.py", "run_site"))],
            cwd=PROJECT,
            env={
                **kept,
                "PYTHONPATH": str(PROJECT / "backend"),
                "PYTHONUNBUFFERED": "1",
                "CIPHERMARK_DATA_DIR": str(data_dir),
                "CIPHERMARK_VENV": sys.prefix,
                "MEASURE": "0",
                "http_proxy": "http://127.0.0.1:9",  # must not be used for the site itself
                "PORT": str(self.port),
                **variables,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def output(self) -> str:
        return "".join(self.lines)

    def says(self, text: str, seconds: float = START_SECONDS) -> bool:
        return within(seconds, lambda: text in self.output or self.process.poll() is not None) and (
            text in self.output
        )

    def ended(self, seconds: float = 120) -> int:
        status = self.process.wait(seconds)
        self._reader.join()
        return status

    def part(self, *words: str) -> psutil.Process:
        children = psutil.Process(self.process.pid).children()
        return next(child for child in children if set(words) <= set(child.cmdline()))

    def remains(self) -> list[psutil.Process]:
        return leftovers(self.data_dir)

    def close(self) -> None:
        self.process.kill()
        self.ended()
        end_leftovers(self.data_dir)

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            self.lines.extend(stream)


@pytest.fixture(scope="module")
def lasting_folder() -> Iterator[Path]:
    # Each start must work with the data of the previous start.
    with private_folder() as folder:
        yield folder


@pytest.fixture
def site(lasting_folder: Path) -> Iterator[RunningSite]:
    running = RunningSite(lasting_folder)
    try:
        assert running.says("Press Ctrl-C to stop."), running.output
        yield running
    finally:
        running.close()


def nothing_is_left(site: RunningSite) -> bool:
    return site.remains() == [] and servers_of(site.data_dir) == set()


def test_it_tells_where_the_site_is_and_a_closed_terminal_and_ctrl_c_end_it_with_its_data_kept(
    lasting_folder: Path, site: RunningSite
) -> None:
    # The second start has a path prefix and a misspelt setting, and measures this host.
    # Killing the agent does not end the site.
    url = f"http://127.0.0.1:{site.port}/"
    assert f"Ciphermark is running at {url}" in site.output
    for part in ("gunicorn", "celery"):
        assert Path(site.part(part).cmdline()[0]).parent == Path(sys.executable).parent
    with urllib.request.urlopen(f"{url}api/v1/runs/", timeout=60) as answer:
        assert json.load(answer)["results"], "the published runs are readable without signing in"
    password = site.data_dir / "admin-password"
    assert f"accounts/login/ as admin. The password is in {password}" in site.output
    assert stat.S_IMODE(password.stat().st_mode) == 0o600
    assert password.read_text().strip() not in site.output

    made = password.read_text()
    os.killpg(site.process.pid, signal.SIGHUP)
    assert site.ended() == 0
    assert nothing_is_left(site)
    settings = {"CIPHERMARK_PATH": "/bench/", "CIPHERMARK_PROXYS": "1"}
    second = RunningSite(lasting_folder, MEASURE="1", http_proxy="", **settings)
    try:
        assert second.says("This takes"), second.output
        url = f"http://127.0.0.1:{second.port}/bench/"
        assert f"Ciphermark is running at {url}\n" in second.output
        assert f"Sign in at {url}accounts/login/ as admin" in second.output
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert answer.status == 200
        assert second.output.count("CIPHERMARK_PROXYS is not a setting") == 1
        assert "did you mean CIPHERMARK_PROXIES?" in second.output
        assert password.read_text() == made
        second.part("run", "--quick").kill()
        assert second.says("The benchmark failed (exit code -9)"), second.output
        assert second.says("Press Ctrl-C to stop.")
        assert {child.name() for child in second.remains()}.isdisjoint({"ssh", "sshd", "openssl"})
        assert not (lasting_folder / "upload-token").exists()
        os.killpg(second.process.pid, signal.SIGINT)
        assert second.ended() == 0
        assert nothing_is_left(second)
    finally:
        second.close()


def test_a_killed_server_is_named_with_its_last_words_and_takes_the_rest_with_it(
    site: RunningSite,
) -> None:
    pid_file = site.data_dir / "postgres" / "postmaster.pid"
    os.kill(int(pid_file.read_text().split()[0]), signal.SIGKILL)
    assert site.ended() == 1
    assert re.search(r"PostgreSQL exited; .*\.log:\n {2,}\S", site.output)
    # Child processes of a killed PostgreSQL detect this and exit.
    assert within(60, lambda: nothing_is_left(site)), site.remains()


def test_a_killed_supervisor_leaves_nothing_behind(site: RunningSite) -> None:
    site.process.kill()
    assert site.ended() == -signal.SIGKILL
    assert within(60, lambda: nothing_is_left(site)), site.remains()


def test_what_a_killed_start_left_is_ended_by_the_next(data_dir: Path) -> None:
    environment = {**os.environ, MARK: str(data_dir)}
    orphan = subprocess.Popen(["sleep", "600"], env=environment)
    stranger = subprocess.Popen(["sleep", "600"], env={**environment, MARK: "/elsewhere"})
    try:
        end_leftovers(data_dir)
        assert orphan.poll() is not None
        assert stranger.poll() is None
    finally:
        for process in (orphan, stranger):
            process.kill()
            process.wait()


BOOTSTRAP = ("backend/config/launch/bootstrap.py", "run")


def test_a_second_start_and_a_taken_or_impossible_port_are_one_sentence(data_dir: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        expected = {
            port: f"Port {port} is not available (Address already in use). Stop the program",
            "http": "PORT=http is not a port number",
            "70000": "PORT=70000 is not a port number",
        }
        for port, sentence in expected.items():
            start = RunningSite(data_dir, *BOOTSTRAP, PORT=port)
            assert start.ended() == 1
            assert start.output.startswith(sentence)
            assert start.output.count("\n") == 1
    with (data_dir / "run.lock").open("w") as lock:
        lock.write("process 1, port 8000")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        start = RunningSite(data_dir, *BOOTSTRAP)
        assert start.ended() == 1
    assert "`make run` is already running in this folder (process 1, port 8000)" in start.output
    assert start.output.count("\n") == 1


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    (
        ("MEASURE", "often", "MEASURE must be 0 (skip the benchmark), 1 (repeat it) or unset."),
        ("REDIS_URL", "redis://:word@127.0.0.1:9/0", "Cannot connect to Redis ("),
    ),
)
def test_a_setting_that_makes_no_sense_is_one_sentence(
    lasting_folder: Path, setting: str, value: str, sentence: str
) -> None:
    site = RunningSite(lasting_folder, **{setting: value})
    assert site.ended() == 1
    assert site.output.startswith(sentence)
    assert site.output.count("\n") == 1
    assert "word" not in site.output
