"""schemathesis: whether the API answers as its OpenAPI document says, to all that it describes.

Every phase, every check but one. `positive_data_acceptance` does not apply: which parameters need
each other (host, or client and server) and that a name must exist cannot be said of each alone.
"""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.site import Site

NOT_APPLICABLE = "positive_data_acceptance"

SESSIONS = """
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import Group, User
from django.contrib.sessions.backends.db import SessionStore
import json
made = {}
for role in Group.objects.values_list("name", flat=True):
    user, _ = User.objects.get_or_create(username=f"fuzz-{role}")
    user.groups.set(Group.objects.filter(name=role))
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    made[role] = session.session_key
print(json.dumps(made))
"""
"""A session for a person of every group that the site knows: viewer, editor, administrator."""

CSRF = "f" * 32

Headers = Mapping[str, str]


@dataclass(frozen=True)
class Outcome:
    """What came of the cases as one role."""

    role: str
    cases: int
    failures: int
    log: Path


def roles(site: Site) -> dict[str, Headers]:
    """Who asks, with the headers that say so."""
    found: dict[str, Headers] = {"anonymous": {}}
    for scope in ("upload", "read"):
        token = site.manage("create_token", f"fuzz-{scope}", "--scope", scope).strip()
        found[f"{scope} token"] = {"Authorization": f"Bearer {token}"}
    for role, key in json.loads(site.manage("shell", "--no-imports", "-c", SESSIONS)).items():
        cookies = f"sessionid={key}; csrftoken={CSRF}"
        found[role] = {"Cookie": cookies, "X-CSRFToken": CSRF, "Referer": f"{site.url}/"}
    return found


def ask(site: Site, role: str, headers: Headers, cases: int, seed: int) -> Outcome:
    """About `cases` requests as this role."""
    folder = site.folder / "fuzz"
    folder.mkdir(exist_ok=True)
    name = role.replace(" ", "-")
    log, report = folder / f"{name}.log", folder / f"{name}.json"
    with log.open("wb") as output:
        subprocess.run(
            _command(site, headers, cases, seed, report),
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    generated, failures = _counted(log.read_text(errors="replace"))
    return Outcome(role, generated, failures, log)


def _command(site: Site, headers: Headers, cases: int, seed: int, report: Path) -> list[str]:
    described: Any = json.loads(site.program("-c", SCHEMA))
    (site.folder / "openapi.json").write_text(json.dumps(described))
    operations = sum(len(methods) for methods in described["paths"].values())
    # Coverage makes what it makes; the rest is shared out among the operations.
    examples = max(1, cases // operations)
    options = [
        *("--url", site.url, "--workers", "1", "--seed", str(seed), "--no-color", "--no-shrink"),
        *("--continue-on-failure", "--exclude-checks", NOT_APPLICABLE, "--warnings", "off"),
        *("--phases", "examples,coverage,fuzzing,stateful", "--max-examples", str(examples)),
        *("--request-timeout", "30", "--report", "json", "--report-json-path", str(report)),
    ]
    for name, text in headers.items():
        options += ["--header", f"{name}: {text}"]
    program = Path(sys.executable).with_name("st")
    return [str(program), "run", str(site.folder / "openapi.json"), *options]


SCHEMA = """
import json, django
django.setup()
from drf_spectacular.generators import SchemaGenerator
print(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))
"""


def _counted(log: str) -> tuple[int, int]:
    """Cases, and failures with errors, as the summary says; no summary is a failure."""
    cases = re.findall(r"^ +(\d+) generated", log, re.MULTILINE)
    found = re.findall(r"(\d+) (?:failure|error)s?\b", log.splitlines()[-1])
    return (int(cases[-1]), sum(map(int, found))) if cases else (0, 1)
