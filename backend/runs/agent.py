import hashlib
import io
import re
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

FIRST_LINE = b"#!/usr/bin/env python3\n"
READABLE = 0o100644 << 16
UNIX = 3
VERSION = re.compile(r'^__version__ = "([^"]+)"', re.M)


def build_agent(package: Path) -> bytes:
    """Return `agent.py`, an executable zip archive in the format of Python's zipapp.

    The build is reproducible: the same source files always result in the same SHA-256.
    """
    archive = io.BytesIO()
    archive.write(FIRST_LINE)
    modules = [(f"{package.name}/{path.name}", path) for path in sorted(package.glob("*.py"))]
    with zipfile.ZipFile(archive, "w") as file:
        for name, path in [("__main__.py", package / "__main__.py"), *modules]:
            entry = zipfile.ZipInfo(name)
            entry.external_attr, entry.create_system = READABLE, UNIX
            file.writestr(entry, path.read_bytes())
    return archive.getvalue()


class AgentRelease(NamedTuple):
    content: bytes
    version: str
    sha256: str


@lru_cache(maxsize=1)
def agent_release() -> AgentRelease:
    package = settings.AGENT_PACKAGE
    match = VERSION.search((package / "__init__.py").read_text("utf-8"))
    if match is None:
        raise ValueError(f"{package} states no __version__")
    content = build_agent(package)
    return AgentRelease(content, match[1], hashlib.sha256(content).hexdigest())


@require_safe
def agent_script(request: HttpRequest) -> HttpResponse:
    """Serve the agent without sign-in: `curl -fsO https://SERVER/agent.py`."""
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
    """Serve `/agent.py.sha256` in the format of `sha256sum -c` and `shasum -c`."""
    line = f"{agent_release().sha256}  agent.py\n"
    return HttpResponse(line, content_type="text/plain; charset=utf-8")
