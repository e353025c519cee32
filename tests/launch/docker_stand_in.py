"""What `docker compose` would do, done without containers, for tests of the documented lines.

The whole mapping; whatever else a line asks for ends with code 64 and is named:

    docker compose up -d                  migrate's command to its end; then web's, worker's and
                                          beat's as processes, where they do not run; web2's too
                                          where COMPOSE_PROFILES is second-web
    docker compose up -d --no-deps --wait SERVICE
                                          web or web2: its process ends, another one starts; then
                                          its health check until it passes
    docker compose run --rm migrate       migrate's command to its end
    docker compose run --rm --no-deps worker WORDS
                                          WORDS here
    docker compose exec [-T] web WORDS    WORDS here, while web's process runs
    docker compose run --rm -T web WORDS  migrate's command (web depends on it), then WORDS here
    docker compose stop SERVICE...        SIGTERM to their processes, and their end
    docker compose start SERVICE...       their commands as processes again

The site's folder, with its processes' ids, is CIPHERMARK_DATA_DIR; web listens on SITE_PORT, web2
on SECOND_SITE_PORT.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

from tests.launch.tools import PROJECT, within
from tests.production_shape import command_of

UNKNOWN = 64
LASTING = ("web", "worker", "beat")
PORTS = {"web": "SITE_PORT", "web2": "SECOND_SITE_PORT"}
SECONDS_TO_STOP = 120

NOTING = '"$@" & echo $! > "$0.part" && mv "$0.part" "$0.pid"; wait $!; echo $? > "$0.code"'
"""Starts a command, notes its process's id, and its exit code once it has ended."""


def folder() -> Path:
    """The site's."""
    return Path(os.environ["CIPHERMARK_DATA_DIR"])


def command(service: str) -> list[str]:
    """The service's command in the compose file, on this site's port."""
    port = os.environ[PORTS.get(service, "SITE_PORT")]
    return [word.replace(":8000", f":{port}") for word in command_of(service, folder())]


def is_running(service: str) -> bool:
    """Whether its process lives."""
    noted = folder() / f"{service}.pid"
    try:
        process = psutil.Process(int(noted.read_text()))
        return process.status() != psutil.STATUS_ZOMBIE
    except (OSError, psutil.Error):
        return False


def run(words: Sequence[str]) -> int:
    """The exit code of a command that is waited for; it has our input and output."""
    return subprocess.run(words, cwd=PROJECT, check=False).returncode


def migrate() -> int:
    """The exit code of the service that runs before all others; its input is its own."""
    done = subprocess.run(command("migrate"), cwd=PROJECT, stdin=subprocess.DEVNULL, check=False)
    return done.returncode


def start(names: Sequence[str]) -> int:
    """Start the services that do not run; 1 when one does not start."""
    return int(not all(is_running(name) or start_one(name) for name in names))


def start_one(name: str) -> bool:
    """Whether it starts."""
    noted = folder() / name
    with noted.with_suffix(".log").open("ab") as log:
        subprocess.Popen(
            ["sh", "-c", NOTING, noted, *command(name)],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    return within(60, lambda: is_running(name))


def stop(names: Sequence[str]) -> int:
    """Stop services in order; 1 when one does not end."""
    running = [name for name in names if is_running(name)]
    for name in running:
        os.kill(int((folder() / f"{name}.pid").read_text()), signal.SIGTERM)
    return int(not within(SECONDS_TO_STOP, lambda: not any(map(is_running, running))))


def up() -> int:
    """Migrate, then everything that lasts."""
    second = ("web2",) if os.environ.get("COMPOSE_PROFILES") == "second-web" else ()
    return migrate() or start((*LASTING, *second))


def replace(name: str) -> int:
    """Another process of a web server in place of the one that runs, once it is healthy."""
    url = f"http://127.0.0.1:{os.environ[PORTS[name]]}/healthz"
    check = [sys.executable, "-m", "launch.healthcheck", url]
    return stop([name]) or start([name]) or int(not within(180, lambda: run(check) == 0))


def mapped(words: Sequence[str]) -> int | None:
    """The exit code of one `docker` command; None for one that is not in the mapping."""
    match list(words):
        case ["compose", "up", "-d"]:
            return up()
        case ["compose", "up", "-d", "--no-deps", "--wait", name] if name in PORTS:
            return replace(name)
        case ["compose", "run", "--rm", "migrate"]:
            return migrate()
        case ["compose", "run", "--rm", "--no-deps", "worker", *rest] if rest:
            return run(rest)
        case ["compose", "exec", "-T", "web", *rest] | ["compose", "exec", "web", *rest] if rest:
            return run(rest) if is_running("web") else 1
        case ["compose", "run", "--rm", "-T", "web", *rest] if rest:
            return migrate() or run(rest)
        case ["compose", "stop", *names] if names and set(names) <= {*LASTING, "web2"}:
            return stop(names)
        case ["compose", "start", *names] if names and set(names) <= set(LASTING):
            return start(names)
    return None


if __name__ == "__main__":
    code = mapped(sys.argv[1:])
    if code is None:
        sys.stderr.write(f"no mapping for: docker {' '.join(sys.argv[1:])}\n")
    raise SystemExit(UNKNOWN if code is None else code)
