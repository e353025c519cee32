"""What `docker compose` and systemd would do, as processes, for tests of the documented lines.

A service is a command of docker-compose.yml, with the settings that compose makes of `.env`. A unit
ciphermark-NAME is the command of the service NAME (`test_deploy.py` compares the two), with the
settings of /etc/ciphermark/ciphermark.env, once it is installed. The whole mapping; whatever else
a line asks for ends with code 64 and is named:

    docker compose build                      what runs is of an older image from now on
    docker compose [--profile backup] up -d   migrate's command to its end; then web's, worker's,
                                              beat's and those of profiles (also of `.env`), where
                                              they do not run or are of an older image
    docker compose up -d --no-deps --wait SERVICE    its process ends where it is of an older image,
                                              another one starts; then its health check, until it
                                              passes
    docker compose exec [-T] SERVICE WORDS    WORDS here, while the service's process runs
    docker compose run --rm -T web WORDS      migrate's command (web depends on it), then WORDS here
    docker compose run --rm migrate           migrate's command to its end
    docker compose run --rm --no-deps worker WORDS     WORDS here
    docker compose stop SERVICE...            SIGTERM to their processes, and their end
    docker compose start SERVICE...           their commands as processes again
    docker compose cp SERVICE:FOLDER TO       a copy of the folder
    docker compose logs [--no-log-prefix] [SERVICE...]     what their processes have written
    systemctl daemon-reload                   nothing
    systemctl enable --now ciphermark.target  as `up -d`
    systemctl stop UNIT...                    SIGTERM to their processes, and their end
    systemctl start ciphermark.target         as `enable --now`
    systemctl restart UNIT...                 as `stop` and `start`; migrate's command to its end
    systemd-run --pty|--pipe --unit ciphermark-manage WORDS                             WORDS here

The machine is the folder MACHINE, with /etc, /opt and /var in it. Its web server listens on
SITE_PORT, the second one on SECOND_SITE_PORT; its servers are DATABASE_URL and REDIS_URL.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from tests.launch.tools import PROJECT, within
from tests.production_shape import command_of, services

UNKNOWN = 64
LASTING = ("web", "worker", "beat")
OF_PROFILES = {"backup": "backup", "second-web": "web2"}
PORTS = {"web": "SITE_PORT", "web2": "SECOND_SITE_PORT"}
SECONDS_TO_STOP = 120

NOTING = '"$@" & echo $! > "$0.part" && mv "$0.part" "$0.pid"; wait $!; echo $? > "$0.code"'
"""Starts a command, notes its process's id, and its exit code once it has ended."""

VARIABLE = re.compile(r"\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}")


def machine() -> Path:
    """Its folder."""
    return Path(os.environ["MACHINE"])


def env_file(path: Path) -> dict[str, str]:
    """The variables of a file such as `.env`; none where it is absent."""
    text = path.read_text() if path.exists() else ""
    return dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))


def interpolated(text: str, values: Mapping[str, str]) -> str:
    """With its `${NAME}`, `${NAME:-otherwise}` and `${NAME:?demanded}` filled in, as by compose."""

    def value(found: re.Match[str]) -> str:
        name, sign, rest = found.groups()
        if name is None:
            return "$"
        if sign == "?" and not values.get(name):
            raise SystemExit(f"required variable {name} is missing a value: {rest}")
        return values.get(name) or rest or ""

    return VARIABLE.sub(value, text)


def container_settings() -> dict[str, str]:
    """The environment of our containers; only folders and servers are this machine's."""
    values = env_file(Path(".env"))
    made = {
        name: interpolated(text, values).replace("/var/lib/", f"{machine()}/var/lib/")
        for name, text in services()["web"]["environment"].items()
    }
    servers = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}
    return {**os.environ, **values, **made, **servers}


class Services:
    """Our services or units, as processes with these settings; commands are run in `folder`."""

    def __init__(self, settings: dict[str, str], folder: Path = PROJECT) -> None:
        self.settings, self.folder = settings, folder

    def run(self, words: Sequence[str]) -> int:
        """The exit code of a command that is waited for; it has our input and output."""
        return subprocess.run(words, cwd=self.folder, env=self.settings, check=False).returncode

    def command(self, service: str) -> list[str]:
        """The service's command in the compose file, on this machine's port."""
        address = f"127.0.0.1:{os.environ[PORTS.get(service, 'SITE_PORT')]}"
        words = command_of(service, machine() / "var/lib/ciphermark")
        if "--workers" in words:  # the second one does what the first one does
            words[words.index("--workers") + 1] = "1"
        return [
            interpolated(word, self.settings).replace("0.0.0.0:8000", address) for word in words
        ]

    def migrate(self) -> int:
        """The exit code of the service that runs before all others; its input is its own.

        It does on a machine once what would find nothing to do again.
        """
        words, done_once = self.command("migrate"), machine() / "prepared"
        if done_once.exists():
            words[-1] = " && ".join(words[-1].split(" && ")[:2])
        done_once.touch()
        done = subprocess.run(
            words,
            cwd=PROJECT,
            env=self.settings,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return done.returncode

    def up(self, *profiles: str) -> int:
        """Migrate, then start what does not run or is of an older image."""
        wanted = {*self.settings.get("COMPOSE_PROFILES", "").split(","), *profiles}
        names = (*LASTING, *(name for profile, name in OF_PROFILES.items() if profile in wanted))
        return stop(older(names)) or self.migrate() or self.start(names)

    def replace(self, name: str) -> int:
        """A web server of the newest image, once it is healthy."""
        url = f"http://127.0.0.1:{os.environ[PORTS[name]]}/healthz"
        check = [sys.executable, "-m", "launch.healthcheck", url]
        stopped = stop(older([name])) or self.start([name])
        return stopped or int(not within(180, lambda: self.run(check) == 0))

    def start(self, names: Sequence[str]) -> int:
        """Start the services that do not run; 1 when one does not start."""
        return int(not all(is_running(name) or self.start_one(name) for name in names))

    def start_one(self, name: str) -> bool:
        """Whether it starts."""
        noted = machine() / name
        with noted.with_suffix(".log").open("ab") as log:
            subprocess.Popen(
                ["sh", "-c", NOTING, noted, *self.command(name)],
                cwd=PROJECT,
                env=self.settings,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return within(60, lambda: is_running(name))

    def restart(self, names: Sequence[str]) -> int:
        """As systemd restarts units; 1 when one is not installed or does not start."""
        installed = machine() / "etc/systemd/system"
        if not all((installed / f"ciphermark-{name}.service").is_file() for name in names):
            return 1
        if "migrate" in names:
            return self.migrate()
        return stop(names) or self.start(names)


def containers() -> Services:
    """compose's."""
    return Services(container_settings())


def units() -> Services:
    """systemd's."""
    settings = env_file(machine() / "etc/ciphermark/ciphermark.env")
    return Services({**os.environ, **settings}, machine() / "opt/ciphermark")


def is_running(service: str) -> bool:
    """Whether its process lives."""
    try:
        process = psutil.Process(int((machine() / f"{service}.pid").read_text()))
        return process.status() != psutil.STATUS_ZOMBIE
    except (OSError, psutil.Error):
        return False


def older(names: Sequence[str]) -> list[str]:
    """Those that run since before an image was built."""
    image = machine() / "image"
    built = image.stat().st_mtime if image.exists() else 0.0
    running = filter(is_running, names)
    return [name for name in running if (machine() / f"{name}.pid").stat().st_mtime < built]


def stop(names: Sequence[str]) -> int:
    """Stop services in order; 1 when one does not end."""
    running = [name for name in names if is_running(name)]
    for name in running:
        os.kill(int((machine() / f"{name}.pid").read_text()), signal.SIGTERM)
    return int(not within(SECONDS_TO_STOP, lambda: not any(map(is_running, running))))


def logs(names: Sequence[str]) -> int:
    """What the services have written to their output."""
    for name in names:
        sys.stdout.write((machine() / f"{name}.log").read_text())
    return 0


def copied(place: str, to: str) -> int:
    """A folder of a service, copied to here."""
    folder = place.partition(":")[2]
    shutil.copytree(machine() / folder.lstrip("/"), Path(to) / Path(folder).name)
    return 0


def compose(words: Sequence[str]) -> int | None:
    """The exit code of one `docker compose` command; None for one that is not in the mapping."""
    match list(words):
        case ["build"]:
            (machine() / "image").touch()
            return 0
        case ["up", "-d"]:
            return containers().up()
        case ["--profile", "backup", "up", "-d"]:
            return containers().up("backup")
        case ["up", "-d", "--no-deps", "--wait", name] if name in PORTS:
            return containers().replace(name)
        case ["exec", "-T", name, *rest] | ["exec", name, *rest] if rest:
            return containers().run(rest) if is_running(name) else 1
        case ["run", "--rm", "-T", "web", *rest] if rest:
            return containers().migrate() or containers().run(rest)
        case ["run", "--rm", "migrate"]:
            return containers().migrate()
        case ["run", "--rm", "--no-deps", "worker", *rest] if rest:
            return containers().run(rest)
        case ["stop", *names] if names and {*names} <= {*LASTING, *OF_PROFILES.values()}:
            return stop(names)
        case ["start", *names] if names and {*names} <= {*LASTING, *OF_PROFILES.values()}:
            return containers().start(names)
        case ["cp", place, to]:
            return copied(place, to)
        case ["logs", "--no-log-prefix", *names] | ["logs", *names]:
            return logs(names or LASTING)
    return None


def _service(unit: str) -> str:
    return unit.removeprefix("ciphermark-")


def mapped(line: Sequence[str]) -> int | None:
    """The exit code of one command; None for one that is not in the mapping."""
    match list(line):
        case ["docker", "compose", *words]:
            return compose(words)
        case ["systemctl", "daemon-reload"]:
            return 0
        case ["systemctl", "enable", "--now", "ciphermark.target"] | [
            "systemctl",
            "start",
            "ciphermark.target",
        ]:
            return units().restart(["migrate"]) or units().restart(LASTING)
        case ["systemctl", "stop", *names] if names:
            return stop([_service(name) for name in names if not name.endswith(".socket")])
        case ["systemctl", "restart", *names] if names:
            return units().restart([_service(name) for name in names])
        case ["systemd-run", "--pty" | "--pipe", "--unit", "ciphermark-manage", *words] if words:
            return units().run(words)
    return None


if __name__ == "__main__":
    code = mapped(sys.argv[1:])
    if code is None:
        sys.stderr.write(f"no mapping for: {' '.join(sys.argv[1:])}\n")
    raise SystemExit(UNKNOWN if code is None else code)
