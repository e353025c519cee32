"""`make run`, with every real part: what it tells, and that nothing outlives it.

Started in the environment that `make` has made, from where the target goes on by itself.
"""

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

from launch import benchmark, orphan_processes, preconditions
from launch.console import Problem
from launch.processes import MARK
from launch.site import Site
from tests.launch.tools import PROJECT, free_port, private_folder, servers_of, within

START_SECONDS = 180


class RunningSite:
    """A `make run`, or another target, of this test, with what it has printed so far."""

    def __init__(self, data_dir: Path, target: str = "run", **variables: str) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        kept = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith(("CIPHERMARK_", "DATABASE_", "REDIS_URL", "DJANGO_", MARK))
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "launch", "--inside", target],
            cwd=PROJECT,
            env={
                **kept,
                "PYTHONPATH": str(PROJECT / "backend"),
                "PYTHONUNBUFFERED": "1",
                "CIPHERMARK_DATA_DIR": str(data_dir),
                "CIPHERMARK_VENV": sys.prefix,
                "MEASURE": "0",
                "http_proxy": "http://127.0.0.1:9",  # not for our own site
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
        """Our own child whose command line has these words."""
        children = psutil.Process(self.process.pid).children()
        return next(child for child in children if set(words) <= set(child.cmdline()))

    def remains(self) -> list[psutil.Process]:
        return orphan_processes.marked_processes(self.data_dir)

    def close(self) -> None:
        self.process.kill()
        self.ended()
        orphan_processes.end_marked_processes(self.data_dir)

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            self.lines.extend(stream)


@pytest.fixture(scope="module")
def lasting_folder() -> Iterator[Path]:
    """One data folder for the starts of this module: each must cope with how the last one ended."""
    with private_folder() as folder:
        yield folder


@pytest.fixture
def site(lasting_folder: Path) -> Iterator[RunningSite]:
    running = RunningSite(lasting_folder)
    try:
        assert running.says("Ctrl-C stops everything."), running.output
        yield running
    finally:
        running.close()


def nothing_is_left(site: RunningSite) -> bool:
    return site.remains() == [] and servers_of(site.data_dir) == set()


def test_it_tells_where_the_site_is_and_a_closed_terminal_and_ctrl_c_end_it_with_its_data_kept(
    lasting_folder: Path, site: RunningSite
) -> None:
    """The second start measures; an agent that is killed does not end the site. It lies below a
    path, and a setting is misspelt.
    """
    url = f"http://127.0.0.1:{site.port}/"
    assert f"Ciphermark runs at {url}" in site.output
    for part in ("gunicorn", "celery"):
        assert Path(site.part(part).cmdline()[0]).parent == Path(sys.executable).parent
    with urllib.request.urlopen(f"{url}api/v1/runs/", timeout=60) as answer:
        assert json.load(answer)["results"], "the published runs are readable without signing in"
    password = site.data_dir / "admin-password"
    assert f"accounts/login/ as admin; the password is in {password}" in site.output
    assert stat.S_IMODE(password.stat().st_mode) == 0o600
    assert password.read_text().strip() not in site.output

    again = RunningSite(site.data_dir)
    assert again.ended() == 1
    assert again.output.count("\n") == 1
    assert f"already runs in this folder (process {site.process.pid}, {url})" in again.output

    os.killpg(site.process.pid, signal.SIGHUP)
    assert site.ended() == 0
    assert nothing_is_left(site)
    settings = {"CIPHERMARK_PATH": "/bench/", "CIPHERMARK_PROXYS": "1"}
    second = RunningSite(lasting_folder, MEASURE="1", http_proxy="", **settings)
    try:
        assert second.says(" of 1") or second.says("this takes"), second.output
        url = f"http://127.0.0.1:{second.port}/bench/"
        assert f"Ciphermark runs at {url}\n" in second.output
        assert f"Sign in at {url}accounts/login/ as admin" in second.output
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert answer.status == 200
        assert second.output.count("CIPHERMARK_PROXYS is no setting of this version") == 1
        assert "did you mean CIPHERMARK_PROXIES?" in second.output
        log = (lasting_folder / "log" / "prepare.log").read_text()
        assert "No migrations to apply" in log
        assert "Superuser created" not in log
        second.part("run", "--quick").kill()
        assert second.says("The benchmark did not finish (exit code -9)"), second.output
        assert second.says("Ctrl-C stops everything.")
        assert {child.name() for child in second.remains()}.isdisjoint({"ssh", "sshd", "openssl"})
        assert not (lasting_folder / "upload-token").exists()
        os.killpg(second.process.pid, signal.SIGINT)
        assert second.ended() == 0
        assert nothing_is_left(second)
    finally:
        second.close()


def test_a_killed_server_is_named_and_takes_the_rest_with_it(site: RunningSite) -> None:
    pid_file = site.data_dir / "postgres" / "postmaster.pid"
    os.kill(int(pid_file.read_text().split()[0]), signal.SIGKILL)
    assert site.ended() == 1
    assert "PostgreSQL has stopped; stopping the rest." in site.output
    assert re.search(r"The last lines of .*\.log:\n {2,}\S", site.output)
    # What a killed PostgreSQL has started notices that by itself.
    assert within(60, lambda: nothing_is_left(site)), site.remains()


def test_a_killed_part_is_named_with_its_last_words(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CIPHERMARK_DATA_DIR", str(data_dir))
    monkeypatch.setenv("CIPHERMARK_VENV", sys.prefix)
    site = Site(0, data_dir)
    site.start_part("worker", "-c", "import time; print('so far', flush=True); time.sleep(600)")
    (part,) = site.parts
    assert within(60, lambda: "so far" in site.log("worker").read_text())
    site.watch()
    part.process.kill()
    part.process.wait()
    with pytest.raises(Problem, match=r"worker was ended by signal 9 \(SIGKILL\); stopping the"):
        site.watch()
    assert re.search(r"The last lines of .*\.log:\n {2,}so far", capsys.readouterr().out)


def test_a_killed_supervisor_leaves_nothing_behind(site: RunningSite) -> None:
    site.process.kill()
    assert site.ended() == -signal.SIGKILL
    assert within(60, lambda: nothing_is_left(site)), site.remains()


def test_what_a_killed_start_left_is_ended_by_the_next(data_dir: Path) -> None:
    environment = {**os.environ, MARK: str(data_dir)}
    orphan = subprocess.Popen(["sleep", "600"], env=environment)
    stranger = subprocess.Popen(["sleep", "600"], env={**environment, MARK: "/elsewhere"})
    try:
        assert orphan_processes.end_marked_processes(data_dir) == 1
        assert orphan.poll() is not None
        assert stranger.poll() is None
    finally:
        for process in (orphan, stranger):
            process.kill()
            process.wait()


def test_a_setting_that_makes_no_sense_is_one_sentence(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = RunningSite(data_dir, PORT="http")
    assert site.ended() == 1
    assert "PORT=http is not a port number" in site.output
    assert site.output.count("\n") == 1
    monkeypatch.setenv("PORT", "70000")
    with pytest.raises(Problem, match="PORT=70000 is not a port number"):
        preconditions.chosen_port()
    monkeypatch.setenv("MEASURE", "often")
    with pytest.raises(Problem, match="MEASURE=often is unknown"):
        benchmark.chosen_mode()


def test_a_setting_of_the_site_that_makes_no_sense_is_one_sentence(lasting_folder: Path) -> None:
    site = RunningSite(lasting_folder, CIPHERMARK_PROXIES="x")
    assert site.ended() == 1
    assert "\nCIPHERMARK_PROXIES is 'x'; it must be a whole number from 0.\n" in site.output
    assert "Traceback" not in site.output
    assert ".log" not in site.output


def test_a_taken_port_is_one_sentence_with_the_way_out(data_dir: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        site = RunningSite(data_dir, PORT=str(port))
        assert site.ended() == 1
    assert site.output == (
        f"Port {port} is taken by another program: stop it, or choose another port with "
        f"`PORT={port + 1} make run`.\n"
    )
    assert servers_of(data_dir) == set()
