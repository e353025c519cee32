"""What a newcomer types to see a machine of theirs in the charts."""

import re
import time
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from reports.export_parameters import site_of
from store.models import Run

MEASURING_SECONDS = 15 * 60
"""What says for longer that a machine is being measured was left behind: it takes two to four."""

LOOPBACK = re.compile(r"localhost|127(\.\d+){3}|::1")


def set_up_command(request: HttpRequest, token: str) -> str:
    """The one line that fetches the agent from this server, measures and uploads."""
    server = site_of(request)
    return (
        f"curl -fsO {server}/agent.py && "
        f"python3 agent.py run --quick --server {server} --token {token}"
    )


def agent_command(request: HttpRequest) -> str:
    """The same for whoever has a token already."""
    return set_up_command(request, "TOKEN")


def lending_command(request: HttpRequest) -> str:
    """What makes this site reachable from another machine; empty where its address does that."""
    port = local_port(request)
    return f"ssh -R {port}:127.0.0.1:{port} HOST" if port else ""


def local_port(request: HttpRequest) -> int | None:
    """The port of a site whose address leads to it from its own machine only; None of others."""
    address = urlsplit(site_of(request))
    if not LOOPBACK.fullmatch(address.hostname or ""):
        return None
    return address.port or (443 if address.scheme == "https" else 80)


def is_measuring() -> bool:
    """Whether `make run` is measuring the machine of this site; what a killed one left is old."""
    try:
        begun = settings.MEASURING_FILE.stat().st_mtime
    except OSError:
        return False
    return time.time() - begun < MEASURING_SECONDS


def schedule_commands(request: HttpRequest, token: str) -> str:
    """Lines that keep server and token on a host, and print a weekly timer for it."""
    return (
        "mkdir -p ~/.config/ciphermark && (umask 077 && "
        "printf '[agent]\\nserver = %s\\ntoken = %s\\n' "
        f"{site_of(request)} {token} > ~/.config/ciphermark/agent.ini)\n"
        "python3 agent.py schedule --standard"
    )


def nobody_measured_yet() -> bool:
    """Whether no agent has uploaded a run that counts."""
    counted = Run.objects.filter(source=Run.Source.AGENT, status=Run.Status.READY, hidden=False)
    return not counted.exists()
