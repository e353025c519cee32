import json
import logging
import os
import secrets
import signal
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import connections
from redis import Redis, RedisError

from config.embedded import release_services, servers
from config.launch import frontend, processes, this_machine
from core.site_command import SiteCommand

# The start takes 2 or 3 seconds, but longer on a small host under load.
READY_SECONDS = 90.0

SERVER_SECONDS = 5.0

CELERY = ("-m", "celery", "-A", "config.celery")
# Skip the search for other workers, which takes a second.
WORKER = (*CELERY, "worker", "--concurrency", "1", "--without-mingle", "--without-gossip")

PARTS: dict[str, tuple[str, ...]] = {
    "worker": WORKER,
    "notifier": (*WORKER, "--queues", "notifications", "--hostname", "notifier@%h"),
    "beat": (*CELERY, "beat", "--pidfile="),
    "web": (
        *("-m", "gunicorn", "-c", "python:config.gunicorn", "config.wsgi:application"),
        *("--bind", "127.0.0.1:{port}", "--workers", "2", "--graceful-timeout", "5"),
    ),
}


class Command(SiteCommand):
    help = "Start the whole site on 127.0.0.1:PORT and measure this machine once."

    def handle(self, **_: Any) -> None:
        self.parts: dict[str, processes.Program] = {}
        # The settings have started the embedded servers unless other servers are configured.
        embedded = {server.name: server.process() for server in servers(settings.DATA_DIR)}
        self.servers = {name: process for name, process in embedded.items() if process}
        port = os.environ.get("PORT") or "8000"
        path = os.environ.get("CIPHERMARK_PATH", "").strip().rstrip("/")
        url = f"http://127.0.0.1:{port}{path}/"
        # For the processes: charts are public, and there is no proxy.
        os.environ.setdefault("CIPHERMARK_PUBLIC", "1")
        os.environ.setdefault("CIPHERMARK_SITE_URL", url)
        os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1"
        if os.environ.get("MEASURE", "") not in ("", "0", "1"):
            sys.exit("MEASURE must be 0 (skip the benchmark), 1 (repeat it) or unset.")
        try:
            self._prepare()
            self._start(port, url)
            this_machine.measure_if_wanted(url, self._exit_if_stopped)
            connections.close_all()
            print("Press Ctrl-C to stop.", flush=True)
            while True:
                self._exit_if_stopped()
                time.sleep(0.5)
        except KeyboardInterrupt:
            with suppress(OSError):  # closed terminal
                print("Stopping ...", flush=True)
        finally:
            self._stop()

    def _prepare(self) -> None:
        processes.end_leftovers(settings.DATA_DIR)
        logging.disable(logging.INFO)  # log messages are for production servers
        redis = Redis.from_url(settings.REDIS_URL, socket_timeout=SERVER_SECONDS)
        try:
            redis.ping()
        except RedisError as fault:
            reason = str(fault).rstrip(".")
            sys.exit(f"Cannot connect to Redis ({reason}). Start it, or correct REDIS_URL.")
        print("Preparing the database and static files ...", flush=True)
        call_command("migrate", interactive=False, verbosity=0, skip_checks=False)
        call_command("renew_runs")
        call_command("load_published", verbosity=0)
        self._make_administrator()
        stamp = settings.DATA_DIR / "static-collected-from"
        folders = (settings.FRONTEND_DIST, *settings.PROJECT_DIR.glob("backend/*/static"))
        sources = [path for folder in folders for path in folder.rglob("*")]
        digest = frontend.digest_of([settings.PROJECT_DIR / "requirements.txt", *sources])
        if not frontend.is_made(stamp, digest):
            call_command("collectstatic", interactive=False, clear=True, verbosity=0)
            stamp.write_text(digest)

    def _make_administrator(self) -> None:
        if User.objects.filter(is_superuser=True).exists():
            return
        password, path = secrets.token_urlsafe(12), _password_file()
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_text(f"{password}\n")
        admin = User.objects.create_superuser("admin", "admin@localhost", password)
        admin.groups.add(Group.objects.get(name="administrator"))

    def _start(self, port: str, url: str) -> None:
        print("Starting the web server and the workers ...", flush=True)
        for name, words in PARTS.items():
            command = [sys.executable, *(word.format(port=port) for word in words)]
            _log(name).parent.mkdir(parents=True, exist_ok=True)
            with _log(name).open("wb") as log:
                self.parts[name] = processes.start(command, settings.DATA_DIR, log)
        deadline = time.monotonic() + READY_SECONDS
        while reason := _not_ready(url):
            self._exit_if_stopped()
            if time.monotonic() > deadline:
                sys.exit(f"The site did not become ready within {READY_SECONDS:.0f} s: {reason}")
            time.sleep(0.1)
        print(f"\nCiphermark is running at {url}")
        if _password_file().exists():
            where = f"The password is in {_password_file()}"
            print(f"Sign in at {url}accounts/login/ as admin. {where}\n", flush=True)

    def _exit_if_stopped(self) -> None:
        for name, part in self.parts.items():
            if part.poll() is not None:
                sys.exit(
                    f"{name} exited (code {part.returncode}); stopping the site. Last lines of "
                    f"{_log(name)}:\n{processes.last_lines(_log(name))}"
                )
        for name, process in self.servers.items():
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                log = _log("postgres" if name == "PostgreSQL" else "redis")
                sys.exit(
                    f"{name} exited; stopping the site. Last lines of {log}:\n"
                    f"{processes.last_lines(log)}"
                )

    def _stop(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for part in self.parts.values():
            part.terminate()
        for part in self.parts.values():
            processes.end(part)
        processes.end_leftovers(settings.DATA_DIR)
        release_services(settings.DATA_DIR)


def _not_ready(url: str) -> str:
    try:
        with urllib.request.urlopen(f"{url}readyz", timeout=5):
            return ""
    except urllib.error.HTTPError as error:
        return json.dumps(json.loads(error.read()))
    except OSError as error:
        return str(error)


def _log(name: str) -> Path:
    return Path(settings.DATA_DIR) / "log" / f"{name}.log"


def _password_file() -> Path:
    return Path(settings.DATA_DIR) / "admin-password"
