"""`make record-site`: save a small site of this version for the tests of later ones.

Starts `make run` in a folder of its own and fills the site over HTTP, as agents and people do.
Writes recorded/VERSION.dump.gz, which is what `manage.py backup` makes, and VERSION.json: what only
its people and agents know (tokens, a password, the bytes they sent).
"""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.documents import documents
from tests.launch.tools import free_port, within
from tests.release import PROJECT, RECORDED, VERSION, newest_migration, read
from tests.sample_documents import run_document
from tests.sign_in import SIGN_IN

FOLDER = PROJECT / RECORDED
RUNS, SEED = 24, 7

READY_SECONDS = 600
"""The first start in a clone builds the frontend."""

PASSWORD = "recorded for tests"
PERSON = f"""
from django.contrib.auth.models import Group, User
person = User.objects.create_user("edith", password={PASSWORD!r})
person.groups.set(Group.objects.filter(name="editor"))
"""

CSRF = "c" * 32

TEXT = b"""$ openssl speed -evp aes-128-gcm
type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes  16384 bytes
AES-128-GCM     208541.91k   589632.10k  1103288.58k  1452031.66k  1571984.73k  1584431.10k
"""


@dataclass(frozen=True)
class Site:
    """A running site: where it is, and its data folder."""

    url: str
    folder: Path

    def manage(self, *words: str) -> str:
        """The output of a management command."""
        environment = {**os.environ, "CIPHERMARK_DATA_DIR": str(self.folder)}
        said = subprocess.check_output(
            [sys.executable, "manage.py", *words], cwd=PROJECT, env=environment, text=True
        )
        return said.strip()

    def send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        """The JSON of an answer; a body that is no bytes is sent as JSON."""
        is_text = isinstance(body, bytes)
        request = urllib.request.Request(
            f"{self.url}/api/v1/{path}",
            data=body if is_text or body is None else json.dumps(body).encode(),
            headers={"Content-Type": "text/plain" if is_text else "application/json", **headers},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def is_ready(self) -> bool:
        """Whether every part of it answers."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=10):
                return True
        except OSError:
            return False


@contextmanager
def running_site() -> Iterator[Site]:
    """A new site, as `make run` starts it."""
    folder, port = Path(tempfile.mkdtemp(prefix="cm-", dir="/tmp")), free_port()
    variables = {"CIPHERMARK_DATA_DIR": str(folder), "PORT": str(port), "MEASURE": "0"}
    command = [sys.executable, "backend/launch/bootstrap.py", "run"]
    process = subprocess.Popen(command, cwd=PROJECT, env={**os.environ, **variables})
    site = Site(f"http://127.0.0.1:{port}", folder)
    try:
        assert within(READY_SECONDS, site.is_ready)
        yield site
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


def record(site: Site) -> dict[str, Any]:
    """Fill the site; what the test has to know of it."""
    scopes = ("upload", "read")
    tokens = {one: site.manage("create_token", one, "--scope", one) for one in scopes}
    site.manage("shell", "--no-imports", "-c", PERSON)
    return {
        "documents": upload(site, {"Authorization": f"Bearer {tokens['upload']}"}),
        "tokens": tokens,
        "password": PASSWORD,
        **edit(site),
    }


def upload(site: Site, headers: dict[str, str]) -> dict[str, str]:
    """Send documents, the last of them false, and a text; each document's SHA-256 by its run."""
    false = run_document(finished_at="2020-01-01T00:00:00Z")
    sent = {}
    for document in (*documents(RUNS, SEED), false):
        site.send("POST", "runs/", document, headers)
        sent[document["run_id"]] = hashlib.sha256(json.dumps(document).encode()).hexdigest()
    site.send("POST", "imports/?host=pi&cpu=BCM2712&os=Debian+12&openssl=3.0.11", TEXT, headers)
    assert within(60, lambda: all(is_processed(site, run_id) for run_id in sent))
    return sent


def is_processed(site: Site, run_id: str) -> bool:
    """Whether the worker has ended with a run."""
    return bool(site.send("GET", f"runs/{run_id}/", None, {})["status"] != "accepted")


def edit(site: Site) -> dict[str, Any]:
    """What an editor does, and what the test has to know of it."""
    session = site.manage("shell", "--no-imports", "-c", SIGN_IN)
    headers = {"Cookie": f"sessionid={session}; csrftoken={CSRF}", "X-CSRFToken": CSRF}

    def change(method: str, path: str, **body: Any) -> Any:
        return site.send(method, path, body, headers)

    first, second, third, *_ = documents(RUNS, SEED)
    hosts = {one["name"]: one["id"] for one in site.send("GET", "hosts/", None, {})["results"]}
    kept, other = (hosts[one["host"]["name"]] for one in (first, second))
    change("PATCH", f"runs/{third['run_id']}/", hidden=True)
    change("POST", f"hosts/{kept}/merge/", other=other)
    change("PATCH", f"hosts/{kept}/", name="kept")
    make_profile(site, first["run_id"], headers)
    change("POST", "notes/", text="Racked anew.", run_id=first["run_id"])
    share = change("POST", "shares/", name="report", query="tool=ssh&group_by=os")["url"]
    return {
        "hidden": third["run_id"],
        "kept_host": kept,
        "merged_host": other,
        "share": share.removeprefix(site.url),
    }


def make_profile(site: Site, run_id: str, headers: dict[str, str]) -> None:
    """The active reference profile becomes one of this run."""
    path = "reference-profiles/"
    site.send("POST", path, {"name": "first", "from": "run", "run_id": run_id}, headers)
    path = f"{path}first/"
    assert within(60, lambda: site.send("GET", path, None, headers)["state"] == "ready")
    site.send("POST", f"{path}activate/", {}, headers)


def main() -> None:
    """Record the version of this repository."""
    name = read(PROJECT, *VERSION)
    with running_site() as site:
        known = {"migration": newest_migration(PROJECT), **record(site)}
        dump = site.folder / "site.dump"
        site.manage("backup", str(dump))
        (FOLDER / f"{name}.dump.gz").write_bytes(gzip.compress(dump.read_bytes(), mtime=0))
    (FOLDER / f"{name}.json").write_text(f"{json.dumps(known, indent=1)}\n")


if __name__ == "__main__":
    main()
