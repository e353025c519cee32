"""`make run`: start the site part by part, watch it, and end it in order.

Order of start: PostgreSQL and Redis, the database's content, worker and web server, the benchmark
of this machine. Whatever ends by itself ends everything, with its last words on the screen.
"""

import os
import re
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from config.embedded import (
    EmbeddedServiceError,
    redis_program,
    release_services,
    start_services,
    stopped_services,
)
from launch import (
    benchmark,
    frontend,
    node,
    orphan_processes,
    paths,
    preconditions,
    processes,
)
from launch.console import Problem, say, tell_problem
from launch.processes import Interrupted, Part

READY_SECONDS = 90.0
"""Long enough for a small machine under load; normally two or three."""

WATCH_SECONDS = 0.2
SERVER_CHECK_SECONDS = 1.0

NO_SETTING = r"CIPHERMARK_\w+ is no setting of this version.*"
"""What a part writes into its log of a misspelt setting (`config.env`)."""


@dataclass
class Site:
    """The running parts of one `make run`."""

    port: int
    data_dir: Path
    parts: list[Part] = field(default_factory=list)
    embedded: frozenset[str] = frozenset()
    _servers_checked: float = 0.0

    @property
    def url(self) -> str:
        """Where the site is; with the slash at its end."""
        path = os.environ.get("CIPHERMARK_PATH", "").strip().rstrip("/")
        return f"http://{preconditions.HOST}:{self.port}{path}/"

    def log(self, name: str) -> Path:
        """The log file of a part."""
        return self.data_dir / "log" / f"{name}.log"

    def start_part(self, name: str, *arguments: str | Path) -> None:
        """Start a part that is to run until we end."""
        command = [paths.venv_python(), *arguments]
        part = processes.start(name, command, log=self.log(name), folder=paths.BACKEND)
        self.parts.append(part)

    def watch(self) -> None:
        """Raise a `Problem` as soon as a part or an embedded server has ended."""
        for part in self.parts:
            ending = part.ending()
            if ending is not None:
                self._report(part.name, ending, part.log)
        if self.embedded and time.monotonic() - self._servers_checked > SERVER_CHECK_SECONDS:
            self._servers_checked = time.monotonic()
            for name in self.embedded.intersection(stopped_services(self.data_dir)):
                log = self.log("postgres" if name == "PostgreSQL" else "redis")
                self._report(name, "has stopped", log)

    def _report(self, name: str, ending: str, log: Path | None) -> None:
        if log is not None:
            say(f"The last lines of {paths.shown(log)}:\n{processes.last_lines(log)}")
        raise Problem(f"{name} {ending}; stopping the rest.")

    def stop(self) -> None:
        """End everything, newest first: no new work comes in while the worker finishes its own."""
        processes.ignore_signals()
        for part in reversed(self.parts):
            processes.end(part)
        orphan_processes.end_marked_processes(self.data_dir)
        release_services(self.data_dir)


def run_site() -> int:
    """Everything from the frontend's build to the last part's end; returns the exit code."""
    folder = paths.data_dir()
    _choose_settings()
    lock = preconditions.FolderLock.take(folder, "run")
    site = Site(preconditions.chosen_port(), folder)
    os.environ.setdefault("CIPHERMARK_SITE_URL", site.url)
    lock.describe(f"process {os.getpid()}, {site.url}")
    mode = benchmark.chosen_mode()
    _clear_the_way(site)
    try:
        return _run_until_the_end(site, mode)
    finally:
        site.stop()
        say("Stopped. `make run` starts again with the same data.")


def _run_until_the_end(site: Site, mode: benchmark.Mode) -> int:
    try:
        _start(site)
        benchmark.measure_if_wanted(site.url, site.data_dir, mode, site.watch)
        say("Ctrl-C stops everything.")
        while True:
            site.watch()
            time.sleep(WATCH_SECONDS)
    except Interrupted as interrupted:
        say(f"\n{interrupted}: stopping ...")
        return 0
    except Problem as problem:
        tell_problem(problem)
        return 1


def _choose_settings() -> None:
    """The environment of every part, where the user has not chosen otherwise."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # This site listens on this machine only; its charts are readable without signing in.
    os.environ.setdefault("CIPHERMARK_PUBLIC", "1")
    # A proxy for the rest of the world must not stand between us and our own site.
    for name in ("no_proxy", "NO_PROXY"):
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), preconditions.HOST)))


def _clear_the_way(site: Site) -> None:
    found = orphan_processes.end_marked_processes(site.data_dir)
    if found:
        ended = "a process" if found == 1 else f"{found} processes"
        say(f"Ended {ended} that an earlier start had left behind.")
    preconditions.check_port(site.port)


def _start(site: Site) -> None:
    if not _is_given("REDIS_URL"):
        _provide_redis(site)
    if not frontend.is_built():
        frontend.build(node.provide())
    _start_servers(site)
    _prepare(site)
    _start_worker(site)
    _start_web(site)
    say("Starting the web server and the worker ...")
    if not processes.wait_until(lambda: _is_ready(site), seconds=READY_SECONDS, watch=site.watch):
        say(processes.last_lines(site.log("worker")))
        say(processes.last_lines(site.log("web")))
        raise Problem(f"The site is not ready after {READY_SECONDS:.0f} s; stopping it.")
    _greet(site)


def _is_given(name: str) -> bool:
    return bool(os.environ.get(name) or os.environ.get(f"{name}_FILE"))


def _provide_redis(site: Site) -> None:
    """Early: where none can be had, that is said before the frontend is built."""
    if redis_program.find() is None:
        say("No Redis or Valkey >= 6.2 on PATH; fetching one into .data/tools ...")
    try:
        redis_program.provide(site.log("redis-program"))
    except EmbeddedServiceError as error:
        raise Problem(str(error)) from error


def _start_servers(site: Site) -> None:
    postgres, redis = not _is_given("DATABASE_URL"), not _is_given("REDIS_URL")
    site.embedded = frozenset(
        name for name, wanted in (("PostgreSQL", postgres), ("Redis", redis)) if wanted
    )
    if not site.embedded:
        return
    if postgres and os.geteuid() == 0:
        say(
            "Running as root: PostgreSQL runs as the user `pgserver` (made when absent), who may "
            "now pass through, not list, the folders above the data."
        )
    say(f"Starting {' and '.join(sorted(site.embedded))} in {paths.shown(site.data_dir)} ...")
    try:
        start_services(site.data_dir, postgres=postgres, redis=redis)
    except EmbeddedServiceError as error:
        raise Problem(str(error)) from error


def _prepare(site: Site) -> None:
    log = site.log("prepare")
    command: list[str | Path] = [paths.venv_python(), "-m", "launch.prepare"]
    status = processes.run("prepare", command, log=log, watch=site.watch)
    if status == os.EX_CONFIG:
        raise Problem(processes.last_lines(log, 1).strip())
    processes.require("Preparing the database", status, log)
    for sentence in re.findall(NO_SETTING, log.read_text(errors="replace")):
        say(sentence)


def _start_worker(site: Site) -> None:
    site.start_part(
        "worker",
        *("-m", "celery", "-A", "config.celery", "worker", "--beat"),
        *("--concurrency", "1"),
        # There is no other worker to look for, which would take a second.
        *("--without-mingle", "--without-gossip"),
    )
    site.start_part(
        "notifier",
        *("-m", "celery", "-A", "config.celery", "worker", "--queues", "notifications"),
        *("--concurrency", "1", "--hostname", "notifier@%h"),
        *("--without-mingle", "--without-gossip"),
    )


def _start_web(site: Site) -> None:
    site.start_part("web", *web_server(site.port))


def web_server(port: int, workers: int = 2) -> tuple[str, ...]:
    """The arguments of Python that start the web server; `make bench` measures the same one."""
    return (
        *("-m", "gunicorn", "-c", "python:config.gunicorn", "config.wsgi:application"),
        *("--bind", f"{preconditions.HOST}:{port}", "--workers", str(workers)),
        *("--graceful-timeout", "5"),
    )


def _is_ready(site: Site) -> bool:
    try:
        with urllib.request.urlopen(f"{site.url}readyz", timeout=5) as answer:
            return int(answer.status) == 200
    except (urllib.error.URLError, OSError):
        return False


def _greet(site: Site) -> None:
    password = paths.password_file(site.data_dir)
    say(f"\nCiphermark runs at {site.url}")
    if password.exists():
        say(
            f"Sign in at {site.url}accounts/login/ as {paths.ADMINISTRATOR}; the password is in "
            f"{paths.shown(password)}\n"
        )
