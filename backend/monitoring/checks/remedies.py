"""What starts a part of the site, by how the site itself is run."""

import os
from pathlib import Path
from typing import Literal

from django.conf import settings

Way = Literal["make run", "compose", "kubernetes", "systemd"]

CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
"""Files that Docker and Podman put into each container."""

KUBECTL = "kubectl --namespace ciphermark"


def run_by() -> Way:
    """How the site is run, as far as this process can tell."""
    if not settings.PRODUCTION:
        return "make run"
    if "KUBERNETES_SERVICE_HOST" in os.environ:
        return "kubernetes"
    return "compose" if any(mark.exists() for mark in CONTAINER_MARKS) else "systemd"


def start(part: str) -> str:
    """Starts the worker or beat."""
    commands: dict[Way, str] = {
        "make run": "make run",
        "compose": f"docker compose up -d {part}",
        "kubernetes": f"{KUBECTL} rollout restart deployment/ciphermark-{part}",
        "systemd": f"systemctl start ciphermark-{part}",
    }
    return commands[run_by()]


def start_server(name: str, service: str) -> str:
    """Starts PostgreSQL or Redis, which on other sites is a server of the reader's own."""
    commands: dict[Way, str] = {
        "make run": f"Start {name} (make run)",
        "compose": f"Start {name} (docker compose up -d {service})",
    }
    return commands.get(run_by(), f"Start {name}")


def prepare() -> str:
    """Migrates the database and collects static files."""
    commands: dict[Way, str] = {
        "make run": "make run",
        "compose": "docker compose up migrate",
        "kubernetes": f"{KUBECTL} delete job ciphermark-migrate, and apply it again",
        "systemd": "systemctl restart ciphermark-migrate",
    }
    return commands[run_by()]


def back_up() -> str:
    """Writes a backup each night."""
    commands: dict[Way, str] = {
        "make run": "manage.py backup --keep 14, called by cron",
        "compose": "docker compose --profile backup up -d",
        "kubernetes": "the CronJob of deploy/kubernetes/backup, whose dumps no other pod sees",
        "systemd": "systemctl enable --now ciphermark-backup.timer",
    }
    return commands[run_by()]
