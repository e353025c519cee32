"""The agent script, served so that a host needs one line to be set up."""

import hashlib
import re
from functools import lru_cache
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

VERSION = re.compile(rb'^VERSION = "([^"]+)"', re.M)


class AgentRelease(NamedTuple):
    """The script that this server hands out, as it is on the disk when the server starts."""

    script: bytes
    version: str
    sha256: str


@lru_cache(maxsize=1)
def agent_release() -> AgentRelease:
    """The script, its version and its SHA-256 (hexadecimal)."""
    script = settings.AGENT_SCRIPT.read_bytes()
    found = VERSION.search(script)
    if found is None:
        raise ValueError(f"{settings.AGENT_SCRIPT} states no VERSION")
    return AgentRelease(script, found[1].decode(), hashlib.sha256(script).hexdigest())


@require_safe
def agent_script(request: HttpRequest) -> HttpResponse:
    """`curl -fsO https://SERVER/agent.py`: the file as it is, needing no sign-in."""
    release = agent_release()
    return HttpResponse(
        release.script,
        content_type="text/x-python; charset=utf-8",
        headers={
            "Content-Disposition": 'inline; filename="agent.py"',
            "Ciphermark-Agent-Version": release.version,
            "Ciphermark-Agent-SHA256": release.sha256,
        },
    )


@require_safe
def agent_checksum(request: HttpRequest) -> HttpResponse:
    """`/agent.py.sha256`: the line that `sha256sum -c` and `shasum -c` read."""
    line = f"{agent_release().sha256}  agent.py\n"
    return HttpResponse(line, content_type="text/plain; charset=utf-8")
