"""The agent script, served so that a host needs one line to be set up."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse


def agent_script(request: HttpRequest) -> HttpResponse:
    """`curl -fsO https://SERVER/agent.py`: the file as it is, needing no sign-in."""
    return HttpResponse(
        settings.AGENT_SCRIPT.read_bytes(),
        content_type="text/x-python; charset=utf-8",
        headers={"Content-Disposition": 'inline; filename="agent.py"'},
    )
