"""What a newcomer types to see a machine of theirs in the charts."""

from django.http import HttpRequest

from runs.models import Run


def set_up_command(request: HttpRequest, token: str) -> str:
    """The one line that fetches the agent from this server, measures and uploads."""
    server = _server(request)
    return (
        f"curl -fsO {server}/agent.py && "
        f"python3 agent.py run --quick --server {server} --token {token}"
    )


def agent_command(request: HttpRequest) -> str:
    """The same for whoever has a token already."""
    return set_up_command(request, "TOKEN")


def schedule_commands(request: HttpRequest, token: str) -> str:
    """Lines that keep server and token on a host, and print a weekly timer for it."""
    return (
        "mkdir -p ~/.config/ciphermark && (umask 077 && "
        "printf '[agent]\\nserver = %s\\ntoken = %s\\n' "
        f"{_server(request)} {token} > ~/.config/ciphermark/agent.ini)\n"
        "python3 agent.py schedule --standard"
    )


def _server(request: HttpRequest) -> str:
    return request.build_absolute_uri("/").rstrip("/")


def nobody_measured_yet() -> bool:
    """Whether no agent has uploaded a run that counts."""
    counted = Run.objects.filter(source=Run.Source.AGENT, status=Run.Status.READY, hidden=False)
    return not counted.exists()
