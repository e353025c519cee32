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
import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from launch import processes
from launch.console import say
from tests.chaos.site import Site

NOT_APPLICABLE = "positive_data_acceptance"
NOT_OF_SESSIONS = "ignored_auth"
NOT_OF_CHANCE = "negative_data_rejection"

MOST_ROUNDS = 40
"""Of chance; each makes as many cases as there are to go, but seldom that many are different."""

MOST_EXAMPLES = 100
"""Of an operation in a round: a minute or two, after which it is said how far the role is."""

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


def cases_of(role: str, cases: int) -> int:
    """All as those who can change something; the others read what an editor reads, or nothing."""
    return cases if role in ("editor", "upload token") else cases // 2


@dataclass(frozen=True)
class API:
    """What is asked, the same for every role; `watch` raises when it shall end."""

    site: Site
    operations: int
    seed: int
    watch: Callable[[], None]


def ask(api: API, role: str, headers: Headers, wanted: int) -> Outcome:
    """At least so many requests as this role: first what the description calls for, then chance."""
    folder = api.site.folder / "fuzz"
    folder.mkdir(exist_ok=True)
    log = folder / f"{role.replace(' ', '-')}.log"
    log.unlink(missing_ok=True)
    excluded = [NOT_APPLICABLE, *([NOT_OF_SESSIONS] if "Cookie" in headers else [])]
    say(f"API as {role}: {wanted:,} requests")
    # Roles that may ask the same shall not be asked the same by chance.
    seed = zlib.crc32(f"{api.seed} {role}".encode())
    cases, failures = _run(api, _options(headers, excluded, "examples,coverage", 1, seed), log)
    for number in range(MOST_ROUNDS):
        say(f"API as {role}: {cases:,} of {wanted:,} requests, {failures} failures")
        if cases >= wanted:
            break
        examples = min(MOST_EXAMPLES, max(1, (wanted - cases) // api.operations))
        chance = [*excluded, NOT_OF_CHANCE]
        options = _options(headers, chance, "fuzzing,stateful", examples, seed + number)
        more, failed = _run(api, options, log)
        cases, failures = cases + more, failures + failed
    return Outcome(role, cases, failures, log)


def _run(api: API, options: list[str], log: Path) -> tuple[int, int]:
    """Cases and failures of one call, which adds to the log."""
    program = str(Path(sys.executable).with_name("st"))
    described = str(api.site.folder / "openapi.json")
    command = [program, "run", described, "--url", api.site.url, *options]
    with log.open("a+b") as output:
        begun = output.tell()
        processes.run("st", command, output=output, folder=log.parent, watch=api.watch)
        output.seek(begun)
        return _counted(output.read().decode(errors="replace"))


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
