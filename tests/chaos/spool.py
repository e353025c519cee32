"""Agents whose disk is full: what they measured is uploaded, or printed whole, never half kept."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.chaos.clients import Share
from tests.chaos.parts import wait_until
from tests.chaos.site import Site
from tests.production_shape import PROJECT

SPOOL_FAULT = "agent: disk of the spool full"

KEEP_OR_UPLOAD = """
import json, resource, sys
from ciphermark_agent import delivery, upload
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
upload.RETRY_DELAYS = (0.1,)
document = json.load(open(sys.argv[1]))
sys.exit(delivery.deliver(document, None, upload.Site(sys.argv[2], sys.argv[3]), False))
"""
"""What `run` does with its document; no file may grow beyond 1,000 bytes, as on a full disk."""


def full_spool(site: Site, token: str, documents: list[dict[str, Any]], share: Share) -> None:
    """The first document while the site is up, the second while it is down; the rest later.

    What an agent prints because it can keep it nowhere is sent by `upload FILE` afterwards.
    """
    up, down, *rest = documents
    if _keep_or_upload(site, token, up).returncode == 0:
        share.acknowledged.append(up["run_id"])
    else:
        share.faults.append("with its disk full an agent does not upload to a site that is there")
    site.parts["web"].kill()
    printed = _keep_or_upload(site, token, down)
    site.parts["web"].start()
    wait_until(site.is_ready, 60, "the site is not ready again")
    if printed.returncode != 1 or json.loads(printed.stdout) != down:
        share.faults.append("with its disk full an agent does not print the run that it has")
        return
    for document in (json.loads(printed.stdout), *rest):
        _upload(site, token, document, share)


def _keep_or_upload(site: Site, token: str, document: dict[str, Any]) -> Any:
    path = _saved(site, document)
    command = [sys.executable, "-c", KEEP_OR_UPLOAD, str(path), site.url, token]
    return subprocess.run(
        command, env=_home(site), cwd=PROJECT / "agent", capture_output=True, text=True, check=False
    )


def _upload(site: Site, token: str, document: dict[str, Any], share: Share) -> None:
    path = _saved(site, document)
    command = [sys.executable, "ciphermark_agent", "upload", str(path), "--server", site.url]
    environment = {**_home(site), "CIPHERMARK_TOKEN": token}
    sent = subprocess.run(
        command, env=environment, cwd=PROJECT / "agent", capture_output=True, text=True, check=False
    )
    if sent.returncode == 0:
        share.acknowledged.append(document["run_id"])
    else:
        share.faults.append(f"upload FILE: {sent.stderr.strip()}")


def _saved(site: Site, document: dict[str, Any]) -> Path:
    path = site.folder / "to-upload.json"
    path.write_text(json.dumps(document))
    return path


def _home(site: Site) -> dict[str, str]:
    return {**os.environ, "HOME": str(site.folder), "XDG_STATE_HOME": str(site.folder / "state")}
