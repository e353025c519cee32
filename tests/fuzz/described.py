"""schemathesis: whether the API answers as its OpenAPI document says, to all that it describes.

Every phase, every check but these. `positive_data_acceptance` does not apply: which parameters need
each other (host, or client and server) and that a name must exist cannot be said of each alone.
`ignored_auth` does not apply to people: they are known by their session, and an `Authorization`
header beside it is often that of a proxy in front. `negative_data_rejection` is asked where each
parameter is wrong in one known way (coverage); where chance makes the values, a list in an address
that holds `false` is one with the text "false", which is right.
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
NOT_OF_SESSIONS = "ignored_auth"
NOT_OF_CHANCE = "negative_data_rejection"

MOST_ROUNDS = 40
"""Of chance; each makes as many cases as there are to go, but seldom that many are different."""

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
    sessions = json.loads(site.manage("shell", "--no-imports", "-c", SESSIONS))
    for role in ("viewer", "editor", "administrator"):
        key = sessions[role]
        cookies = f"sessionid={key}; csrftoken={CSRF}"
        found[role] = {"Cookie": cookies, "X-CSRFToken": CSRF, "Referer": f"{site.url}/"}
    return found


@dataclass(frozen=True)
class Asking:
    """What is asked of the site, the same for every role: at least `cases` requests."""

    site: Site
    operations: int
    cases: int
    seed: int


def ask(asking: Asking, role: str, headers: Headers) -> Outcome:
    """At least so many requests as this role: first what the description calls for, then chance."""
    folder = asking.site.folder / "fuzz"
    folder.mkdir(exist_ok=True)
    log = folder / f"{role.replace(' ', '-')}.log"
    log.unlink(missing_ok=True)
    excluded = [NOT_APPLICABLE, *([NOT_OF_SESSIONS] if "Cookie" in headers else [])]
    options = _options(headers, excluded, "examples,coverage", 1, asking.seed)
    cases, failures = _run(asking.site, options, log)
    for number in range(MOST_ROUNDS):
        if cases >= asking.cases:
            break
        examples = max(1, (asking.cases - cases) // asking.operations)
        seed = asking.seed + number
        chance = _options(headers, [*excluded, NOT_OF_CHANCE], "fuzzing,stateful", examples, seed)
        more, failed = _run(asking.site, chance, log)
        cases, failures = cases + more, failures + failed
    return Outcome(role, cases, failures, log)


def _run(site: Site, options: list[str], log: Path) -> tuple[int, int]:
    """Cases and failures of one call, which adds to the log."""
    program = str(Path(sys.executable).with_name("st"))
    command = [program, "run", str(site.folder / "openapi.json"), "--url", site.url, *options]
    done = subprocess.run(
        command, cwd=log.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    with log.open("ab") as output:
        output.write(done.stdout)
    return _counted(done.stdout.decode(errors="replace"))


def describe(site: Site) -> int:
    """Write the OpenAPI document into the site's folder; the number of its operations."""
    described: Any = json.loads(site.program("-c", SCHEMA))
    (site.folder / "openapi.json").write_text(json.dumps(described))
    return sum(len(methods) for methods in described["paths"].values())


def _options(
    headers: Headers, excluded: list[str], phases: str, examples: int, seed: int
) -> list[str]:
    options = [
        *("--workers", "1", "--seed", str(seed), "--no-color", "--no-shrink", "--warnings", "off"),
        *("--continue-on-failure", "--exclude-checks", ",".join(excluded), "--phases", phases),
        *("--max-examples", str(examples), "--generation-database", "none"),
        *("--request-timeout", "30"),
    ]
    for name, text in headers.items():
        options += ["--header", f"{name}: {text}"]
    return options


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
