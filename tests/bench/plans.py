"""EXPLAIN of what every page and every reading endpoint asks the database, at the bench's size."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from time import perf_counter
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.db import connection
from django.db.models import Count
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from results.selection import GROUPINGS
from store.models import Host, Measurement, ReferenceProfile, Run
from tests.bench.figures import Figure
from tests.bench.fleet.size import Size
from tests.bench.statements import is_select, recorded
from tests.bench.telling import say

BIG = Measurement._meta.db_table
LARGE = 20_000
"""Rows of a table of which it is worth saying that all are read."""

PERSON = "bench"
NO_PAGES = (
    *("/bench/", "/accounts/", "/api/docs/", "/api/v1/openapi.json", "/api/{rest}", "/agent.py"),
    *("/admin/", "/healthz", "/readyz", "/metrics"),
)
ADMIN_LIST = re.compile(r"/admin/runs/\w+/")
ANSWERS = (200, 302, 400, 403, 404, 405)
"""403, 405: the address takes no GET. 400, 404: asked without what it needs, or nothing there."""


NOTHING = {
    "int": "0",
    "uuid": f"{UUID(int=0)}",
    **dict.fromkeys(("str", "slug", "path", "anything"), "none"),
}
"""Values for variable parts of addresses that `_parameters` has none for: nothing is there."""

UNSEEN = {
    HTTPStatus.BAD_REQUEST: "Not looked at, `_questions` lacks what they need",
    HTTPStatus.NOT_FOUND: "Not looked at, for there is nothing",
}

KNOWN = ("host_id", "host", "run_id", "profile", "profile_id")


@dataclass(frozen=True)
class Visit:
    """One address with what its queries cost: how many, milliseconds, tables read as a whole."""

    address: str
    status: int
    queries: int
    milliseconds: float
    scanned: frozenset[str]


@dataclass(frozen=True)
class Answer:
    """One answer with the statements that it took."""

    status: int
    statements: tuple[str, ...]
    milliseconds: float


def figures(size: Size) -> list[Figure]:
    """Visit every page and print what it did; the figure counts those that scan the big table."""
    client = Client()
    rights = {"is_staff": True, "is_superuser": True}
    people = get_user_model().objects
    client.force_login(people.get_or_create(username=PERSON, defaults=rights)[0])
    visits = [_visit(client, address) for address in addresses(size)]
    people.filter(username=PERSON).delete()
    shown = [one for one in visits if one.status == HTTPStatus.OK]
    say(_report(shown))
    for status, why in UNSEEN.items():
        unseen = " ".join(one.address for one in visits if one.status == status)
        say(f"{why}: {unseen or '-'}")
    faulty = sum(BIG in one.scanned for one in shown)
    name = f"EXPLAIN: pages that scan all of {BIG}"
    slowest = max(shown, key=lambda one: one.milliseconds)
    return [
        Figure(name, f"of {len(shown)}", float(faulty), None, "0", faulty == 0),
        Figure(f"slowest: {slowest.address}", "ms", slowest.milliseconds, None, "", None),
    ]


def addresses(size: Size) -> list[str]:
    """Every address that shows something, with parameters that select much.

    On a tiny fleet, where no plan tells anything, not every grouping is tried.
    """
    chosen = _parameters()
    asked = _questions(chosen, GROUPINGS if size.name != "tiny" else GROUPINGS[:1])
    found = []
    for path in _paths(get_resolver().url_patterns):
        if path.startswith(NO_PAGES) and not ADMIN_LIST.fullmatch(path):
            continue
        filled = path.format_map({**NOTHING, **chosen})
        found += [f"{filled}{question}" for question in asked.get(path, [""])]
    return found


def _paths(patterns: list[Any], prefix: str = "/") -> Iterator[str]:
    for pattern in patterns:
        path = prefix + re.sub(r"<(\w+):(\w+)>", _place, str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from _paths(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            yield path


def _place(found: re.Match[str]) -> str:
    """Most parts are told by their names; where nothing has been given one, by their kinds."""
    kind, name = found.groups()
    if name == "other_id":
        return "{other_host_id}" if kind == "int" else "{other_id}"
    return f"{{{name}}}" if name in KNOWN else f"{{{kind}}}"


def _parameters() -> Mapping[str, str]:
    """Values for the variable parts of addresses: the host with most runs, its latest run."""
    host, other = Host.objects.annotate(of_it=Count("runs")).order_by("-of_it")[:2]
    runs = Run.objects.filter(host=host, hidden=False).order_by("-started_at")
    profile = ReferenceProfile.objects.get(active=True)
    return {
        "host_id": str(host.pk),
        "host": host.slug,
        "run_id": str(runs[0].run_id),
        "other_id": str(runs[1].run_id),
        "other_host_id": str(other.pk),
        "profile": profile.name,
        "profile_id": str(profile.pk),
    }


def _questions(chosen: Mapping[str, str], groupings: Sequence[str]) -> Mapping[str, list[str]]:
    """Query strings of addresses that need one, or do other work by it."""
    host = {"host": chosen["host"]}
    series = {"tool": "ssh", "cipher": "aes128-ctr"}
    compared = _comparisons((*groupings, "tag:site"))
    narrowed = [
        {"tool": "ssh", "metric": "normalised", "tag": "site:s3", "since": "2025-01-01"},
        *({"tool": tool, "until": "2025-06-01"} for tool in ("ssh", "openssl")),
    ]
    questions: dict[str, list[dict[str, str]]] = {
        "/": [*_comparisons(("cpu", "host", "tag:site")), *narrowed, {"group_by": "host", **host}],
        "/api/v1/comparison/": [*compared, *narrowed],
        "/api/v1/exports/comparison.csv": compared[:1],
        "/api/v1/exports/comparison.xlsx": compared[:1],
        "/api/v1/exports/measurements.csv": [host],
        "/api/v1/exports/measurements.xlsx": [host],
        "/api/v1/exports/samples.csv": [host],
        "/api/v1/trends/": [{**host, **series}],
        "/api/v1/recommendation/": [host],
        "/recommend/": [host],
        "/api/v1/reference-profiles/{profile}/compare/": [{"with": chosen["profile"]}],
        "/method/profiles/compare/": [{"profile": chosen["profile"], "with": chosen["profile"]}],
        "/runs/": [{}, host, {"tag": "site:s3"}],
        "/api/v1/runs/": [{}, host, {"tag": "site:s3"}],
    }
    return {
        path: [f"?{urlencode(one)}" if one else "" for one in asked]
        for path, asked in questions.items()
    }


def _comparisons(groupings: Sequence[str]) -> list[dict[str, str]]:
    return [
        {"tool": tool, "group_by": group_by}
        for tool in ("ssh", "openssl")
        for group_by in groupings
    ]


def _visit(client: Client, address: str) -> Visit:
    """Asked twice: what is made and kept by the first answer is explained, but not timed."""
    first, again = _answer(client, address), _answer(client, address)
    statements = {*first.statements, *again.statements}
    scanned = frozenset(table for statement in statements for table in _scanned(statement))
    return Visit(address, again.status, len(again.statements), again.milliseconds, scanned)


def _answer(client: Client, address: str) -> Answer:
    cache.clear()
    with recorded() as statements:
        begun = perf_counter()
        answer = client.get(address)
        if answer.streaming:
            for _ in answer:
                pass
        spent = (perf_counter() - begun) * 1000
    if answer.status_code not in ANSWERS:
        raise AssertionError(f"{address} answers {answer.status_code}: {answer.content[:300]!r}")
    return Answer(answer.status_code, tuple(statements), spent)


def _scanned(statement: str) -> Iterator[str]:
    """The tables that a SELECT reads from one end to the other."""
    if not is_select(statement):
        return
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement.replace('%', '%%')}")
        plan = cursor.fetchone()[0]
    yield from _scans((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])


def _scans(node: Mapping[str, Any]) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan":
        # A partition of the big table counts as the table.
        table = str(node["Relation Name"])
        yield BIG if table.startswith(BIG) else table
    for inner in node.get("Plans", ()):
        yield from _scans(inner)


def _report(visits: list[Visit]) -> str:
    large = _large_tables()
    lines = ["", f"{'queries':>7}  {'ms':>6}  address, and large tables that it reads as a whole"]
    for one in visits:
        tables = " ".join(f"[{table}]" for table in sorted(one.scanned & large))
        row = f"{one.queries:>7}  {one.milliseconds:>6.0f}  {one.address}  {tables}"
        lines.append(row.rstrip())
    return "\n".join(lines)


def _large_tables() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE reltuples >= %s", [LARGE])
        return {BIG, *(name for (name,) in cursor.fetchall())}
