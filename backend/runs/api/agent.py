"""The agent script, served so that a host needs one line to be set up."""

from django.conf import settings
from django.http import FileResponse, HttpRequest


def agent_script(request: HttpRequest) -> FileResponse:
    """`curl -fsO https://SERVER/agent.py`"""
    return FileResponse(
        settings.AGENT_SCRIPT.open("rb"), filename="agent.py", content_type="text/x-python"
    )
