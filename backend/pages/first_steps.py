"""What a newcomer types to see a machine of theirs in the charts."""

from django.http import HttpRequest

from runs.models import Run
from runs.queries.runs import select_runs


def agent_command(request: HttpRequest) -> str:
    """The one line that fetches the agent from this server, measures and uploads."""
    server = request.build_absolute_uri("/").rstrip("/")
    return (
        f"curl -fsO {server}/agent.py && "
        f"python3 agent.py run --quick --server {server} --token TOKEN"
    )


def nobody_measured_yet() -> bool:
    """Whether no agent has uploaded a run that counts."""
    filters = {"source": (Run.Source.AGENT.value,), "status": (Run.Status.READY.value,)}
    return not select_runs(filters).exists()
