"""The agent, served so that a host needs one line to be set up."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ingest.agent_archive import agent_release


@require_safe
def agent_script(request: HttpRequest) -> HttpResponse:
    """`curl -fsO https://SERVER/agent.py`: one file that Python runs, needing no sign-in."""
    release = agent_release()
    return HttpResponse(
        release.content,
        content_type="application/octet-stream",
        headers={
            "Content-Disposition": 'attachment; filename="agent.py"',
            "Ciphermark-Agent-Version": release.version,
            "Ciphermark-Agent-SHA256": release.sha256,
        },
    )


@require_safe
def agent_checksum(request: HttpRequest) -> HttpResponse:
    """`/agent.py.sha256`: the line that `sha256sum -c` and `shasum -c` read."""
    line = f"{agent_release().sha256}  agent.py\n"
    return HttpResponse(line, content_type="text/plain; charset=utf-8")
