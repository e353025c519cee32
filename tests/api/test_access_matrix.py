"""Test the permissions for every route and method of the URL configuration.

`DECISIONS` lists each route, the methods, and the clients that may use each method. The test fails
for an unlisted route, and if the permissions differ from the list.
"""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.audit import COMMAND
from accounts.models import ApiToken, AuditEntry
from accounts.tokens import create_token
from changes.models import FleetChange, FleetChangeMember, NotificationChannel
from compare.shares import make_share
from core import probes
from hosts.models import Note
from runs.models import HostAlias, Run
from tests.conftest import StoreRun, signed_in
from tests.sample_documents import run_document

PEOPLE = ("viewer", "editor", "administrator")
ACTORS = (
    "anonymous",
    "share link",
    "upload token",
    "read token",
    "expired token",
    "revoked token",
    "deactivated editor",
    *PEOPLE,
)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# Methods of pages and of /admin/. DELETE represents all unsupported methods.
FORM_METHODS = ("GET", "POST", "DELETE")

# /admin/ ignores tokens, so one token represents all tokens.
ADMIN_ACTORS = ("anonymous", "share link", "upload token", "deactivated editor", *PEOPLE)
# For methods that no client may use, test an anonymous client and the most privileged client of
# each kind.
REFUSED_EVERYWHERE = ("anonymous", "upload token", "editor", "administrator")

SIGN_IN = ("/accounts/login/", "/admin/login/")

EVERYBODY = frozenset(ACTORS)
UPLOADERS = frozenset({"upload token"})
API_READERS = frozenset({"read token", *PEOPLE})
PAGE_READERS = frozenset(PEOPLE)
EDITORS = frozenset({"editor", "administrator"})
ADMINISTRATORS = frozenset({"administrator"})
NOBODY: frozenset[str] = frozenset()

# For these tokens, the API returns 401 even where no token is needed.
WRONG_TOKENS = frozenset({"expired token", "revoked token"})

Rights = dict[str, frozenset[str]]

OPEN: Rights = {"GET": EVERYBODY}
# Django's own functions accept every method and change nothing.
OPEN_ANY: Rights = dict.fromkeys(METHODS, EVERYBODY)
READ: Rights = {"GET": API_READERS}
PAGE: Rights = {"GET": PAGE_READERS}
EDITORS_POST: Rights = {"POST": EDITORS}
EDITORS_FORM: Rights = {"GET": EDITORS, "POST": EDITORS}

DECISIONS: dict[str, Rights] = {
    "agent-script": OPEN,
    "agent-checksum": OPEN,
    # Signed-in users are redirected, whatever the method.
    "login": {"GET": EVERYBODY, "POST": EVERYBODY, "DELETE": PAGE_READERS},
    "logout": {"POST": EVERYBODY},
    # 404 without a provider; with one: tests/pages/test_oidc_sign_in.py
    "oidc-start": OPEN,
    "oidc-callback": OPEN,
    "share": OPEN,
    "share-csv": OPEN,
    # Pages
    "docs": OPEN,
    "docs-page": OPEN,
    "docs-picture": OPEN,
    "compare": PAGE,
    "host-pages": PAGE,
    "host-page": PAGE,
    "host-pages-diff": PAGE,
    "host-page-diff": PAGE,
    "host-page-diff-choice": PAGE,
    "run-pages": PAGE,
    "run-page": PAGE,
    "run-pages-diff": PAGE,
    "run-page-diff": PAGE,
    "run-page-diff-choice": PAGE,
    "recommend": PAGE,
    "upgrade-cost": PAGE,
    "method": PAGE,
    "hidden-runs": {"GET": EDITORS},
    "hide-run": EDITORS_FORM,
    "show-run": EDITORS_FORM,
    "remove-run": EDITORS_FORM,
    "rename-host": EDITORS_FORM,
    "merge-host-choice": {"GET": EDITORS},
    "merge-host": EDITORS_FORM,
    "remove-alias": EDITORS_FORM,
    "host-by-key": PAGE,
    "change-pages": PAGE,
    "change-page": PAGE,
    "decide-change": EDITORS_POST,
    "notifications": {"GET": ADMINISTRATORS, "POST": ADMINISTRATORS},
    "notification-channel": {"GET": ADMINISTRATORS, "POST": ADMINISTRATORS},
    "test-channel": {"POST": ADMINISTRATORS},
    "delete-channel": {"GET": ADMINISTRATORS, "POST": ADMINISTRATORS},
    "add-host-note": EDITORS_FORM,
    "delete-note": EDITORS_FORM,
    "shares": EDITORS_FORM,
    "revoke-share": EDITORS_FORM,
    "tokens": EDITORS_FORM,
    # Editors get 404 for tokens of others: tests/pages/test_tokens_page.py
    "revoke-token": EDITORS_FORM,
    "upload": EDITORS_FORM,
    "save-upload": EDITORS_POST,
    "audit": {"GET": ADMINISTRATORS},
    # The user's own pages
    # API
    "api:runs": {"GET": API_READERS, "POST": UPLOADERS},
    "api:run": {"GET": API_READERS, "PATCH": EDITORS, "DELETE": EDITORS},
    "api:run-document": READ,
    "api:run-text": READ,
    "api:imports": {"POST": UPLOADERS},
    "api:hosts": READ,
    "api:host": {"GET": API_READERS, "PATCH": EDITORS},
    "api:merge-hosts": EDITORS_POST,
    "api:changes": READ,
    "api:change": {"GET": API_READERS, "PATCH": EDITORS},
    "api:notes": {"GET": API_READERS, "POST": EDITORS},
    "api:note": {"DELETE": EDITORS},
    "api:comparison": READ,
    "api:comparison-csv": READ,
    "api:comparison-xlsx": READ,
    "api:measurements-csv": READ,
    "api:measurements-xlsx": READ,
    "api:profiles": READ,
    "api:trends": READ,
    "api:ciphers": READ,
    "api:recommendation": READ,
    "api:shares": EDITORS_POST,
    "api:run-schema": OPEN,
    "api:openapi": READ,
    "api:docs": READ,
    "api:no-such-address": OPEN_ANY,
}

LOOK: Rights = {"GET": ADMINISTRATORS}
LOOKED_AT = (
    "auth_group",
    "accounts_apitoken",
    "accounts_auditentry",
    "runs_host",
    "runs_hostalias",
    "runs_run",
    "compare_share",
)
ADMIN_ANY: Rights = dict.fromkeys(METHODS, ADMINISTRATORS)
ADMIN_FORM: Rights = {"GET": ADMINISTRATORS, "POST": ADMINISTRATORS}

# /admin/ changes only accounts; all other objects have pages of their own.
ADMIN_DECISIONS: dict[str, Rights] = {
    "index": ADMIN_ANY,
    "app_list": ADMIN_ANY,
    "login": ADMIN_ANY,
    # Users without permission are redirected.
    "logout": {**dict.fromkeys(METHODS, EVERYBODY - ADMINISTRATORS), "POST": EVERYBODY},
    "password_change": ADMIN_FORM,
    "password_change_done": LOOK,
    "autocomplete": {},
    "jsi18n": LOOK,
    "view_on_site": ADMIN_ANY,
    "auth_user_changelist": ADMIN_ANY,
    "auth_user_add": ADMIN_ANY,
    "auth_user_change": ADMIN_ANY,
    "auth_user_delete": ADMIN_ANY,
    "auth_user_history": ADMIN_ANY,
    "auth_user_password_change": ADMIN_ANY,
    # Unnamed routes redirect from old URLs, or return 404.
    "/": ADMIN_ANY,
    "*": ADMIN_ANY,
    **{f"{model}_changelist": ADMIN_ANY for model in LOOKED_AT},
    **{f"{model}_history": ADMIN_ANY for model in LOOKED_AT},
    # Methods other than POST only show the form.
    **{f"{model}_change": {**LOOK, "DELETE": ADMINISTRATORS} for model in LOOKED_AT},
    **{f"{model}_add": {} for model in LOOKED_AT},
    **{f"{model}_delete": {} for model in LOOKED_AT},
}


@dataclass(frozen=True)
class Route:
    name: str
    pattern: str

    @property
    def rights(self) -> Rights | None:
        if self.name.startswith("admin:"):
            return ADMIN_DECISIONS.get(self.name.removeprefix("admin:"))
        return DECISIONS.get(self.name)

    @property
    def methods(self) -> tuple[str, ...]:
        return METHODS if self.name.startswith("api:") else FORM_METHODS


def routes(
    patterns: list[URLPattern | URLResolver], prefix: str = "/", space: str = ""
) -> Iterator[Route]:
    for pattern in patterns:
        text = str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else space
            yield from routes(pattern.url_patterns, prefix + text, inner)
        else:
            name = pattern.name or ("*" if "(?P<url>" in text else "/")
            yield Route(f"{space}{name}", prefix + text)


ROUTES = list(routes(get_resolver().url_patterns))


def test_every_address_has_a_decision_and_every_decision_an_address() -> None:
    undecided = [f"{route.name} {route.pattern}" for route in ROUTES if route.rights is None]
    assert undecided == [], "decide who may use these, in DECISIONS"
    names = {route.name for route in ROUTES}
    assert set(DECISIONS) | {f"admin:{name}" for name in ADMIN_DECISIONS} == names


@dataclass
class Site:
    values: dict[str, Any]
    clients: dict[str, Client]

    def path(self, route: Route) -> str:
        if route.name == "admin:app_list":
            return "/admin/runs/"
        if route.name == "admin:*":
            return "/admin/nowhere"
        values = self.values
        if route.name.startswith("admin:"):
            values = {**values, "object_id": self._row(route), "id": self._row(route)}
        keys = (key for path, key in values["pages"].items() if route.pattern.startswith(path))
        values = {**values, "pk": next(keys, None)}
        return re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(values[found[1]]), route.pattern)

    def _row(self, route: Route) -> Any:
        model = (*route.pattern.removeprefix("/admin/").split("/"), "")[1]
        return self.values["rows"].get(model)


@pytest.fixture
def site(store_run: StoreRun, monkeypatch: pytest.MonkeyPatch) -> Site:
    # No worker is running, and a ping would wait one second for it.
    monkeypatch.setitem(probes.PARTS, "worker", lambda: True)
    # Logging thousands of rejections with tracebacks takes longer than the requests.
    monkeypatch.setattr(logging.getLogger("django.request"), "disabled", True)
    run, other = store_run(run_document()), store_run(run_document(host={"name": "other"}))
    assert run.host_id
    share, secret = make_share("report", "", 30, made_by=None, by=COMMAND)
    clients = {"anonymous": Client(), "share link": Client()}
    clients["share link"].get(f"/shares/{secret}/")
    for name in ("upload", "read", "expired", "revoked"):
        token = create_token(name, "upload" if name == "upload" else "read")
        clients[f"{name} token"] = Client(headers={"authorization": f"Bearer {token}"})
    now = timezone.now()
    ApiToken.objects.filter(name="expired").update(expires_at=now - timedelta(seconds=1))
    ApiToken.objects.filter(name="revoked").update(revoked_at=now)
    for name in (*PEOPLE, "deactivated editor"):
        clients[name] = signed_in(name, name.removeprefix("deactivated "))
    User.objects.filter(username="deactivated editor").update(is_active=False)
    someone = User.objects.create_user("someone")
    alias, change = _alias(other), _change_of(run)
    note = Note.objects.create(host_id=run.host_id, text="x", at=now, made_by="edith")
    values: dict[str, Any] = {
        "run_id": run.run_id,
        "other_id": other.host_id,
        "host_id": run.host_id,
        "key": "nas",
        "name": "operations",
        "change_id": change.pk,
        "note_id": note.pk,
        "secret": secret,
        "rest": "nowhere",
        "pages": {
            "/hosts/aliases/": alias.pk,
            "/hosts/": run.host_id,
            "/tokens/": ApiToken.objects.get(name="upload").pk,
            "/shares/": share.pk,
            "/changes/": change.pk,
            "/notifications/": NotificationChannel.objects.create(name="ops").pk,
            "/notes/": note.pk,
        },
        "content_type_id": 1,
        "rows": {
            "user": someone.pk,
            "group": Group.objects.get(name="viewer").pk,
            "run": run.pk,
            "host": run.host_id,
            "apitoken": ApiToken.objects.get(name="upload").pk,
            "share": share.pk,
            "auditentry": AuditEntry.objects.values_list("pk", flat=True)[0],
            "hostalias": alias.pk,
        },
    }
    return Site(values, clients)


def _change_of(run: Run) -> FleetChange:
    assert run.host
    assert run.started_at
    when = {"first_at": run.started_at, "last_at": run.started_at}
    change = FleetChange.objects.create(kind="silent", direction="silent", **when)
    FleetChangeMember.objects.create(change=change, run=run, at=run.started_at)
    return change


def _alias(run: Run) -> HostAlias:
    assert run.host is not None
    return HostAlias.objects.create(host=run.host, name="former")


def let_in(site: Site, actor: str, method: str, path: str) -> bool | None:
    """Return whether `actor` may send a request, or None for an unsupported method (405).

    Changes by the request are rolled back, so that every request sees the same objects.
    """
    client = site.clients[actor]
    cookies = {name: morsel.value for name, morsel in client.cookies.items()}
    with transaction.atomic():
        response = client.generic(method, path, b"{}", content_type="application/json")
        for _ in getattr(response, "streaming_content", ()):
            pass  # reading to the end closes the file
        transaction.set_rollback(True)
    client.cookies.clear()
    client.cookies.load(cookies)
    assert response.status_code < 500, f"{method} {path} as {actor}: {response.status_code}"
    if response.status_code == 405:
        return None
    location = response.headers.get("Location", "")
    to_sign_in = response.status_code == 302 and location.startswith(SIGN_IN)
    return not (response.status_code in (401, 403) or to_sign_in)


def path_of(site: Site, route: Route) -> str:
    if route.name == "run-page-diff":
        other = Run.objects.exclude(run_id=site.values["run_id"]).values_list("run_id", flat=True)
        site = Site({**site.values, "other_id": other[0]}, site.clients)
    return site.path(route)


def test_on_a_private_site_each_comes_in_where_it_was_decided_and_nowhere_else(
    site: Site,
) -> None:
    wrong = []
    for route in ROUTES:
        path = path_of(site, route)
        for method in route.methods:
            rights = (route.rights or {}).get(method, NOBODY)
            for actor in actors(route) if rights else REFUSED_EVERYWHERE:
                wrong += _disagreement(site, actor, method, route, path, actor in rights)
    assert not wrong, "\n".join(wrong)


def actors(route: Route) -> tuple[str, ...]:
    return ADMIN_ACTORS if route.name.startswith("admin:") else ACTORS


READERS = ("anonymous", "upload token", "revoked token", "deactivated editor")
# Clients and methods to test on a public site
STRANGERS = (*product(READERS, ["GET"]), ("anonymous", "POST"), ("upload token", "POST"))


def test_on_a_public_site_everybody_reads_and_nobody_does_more(
    site: Site, settings: Settings
) -> None:
    settings.CIPHERMARK_PUBLIC = True
    wrong = []
    for route in ROUTES:
        if route.name.startswith("admin:") and route.name != "admin:index":
            continue
        rights = route.rights or {}
        is_read = rights.get("GET") in (API_READERS, PAGE_READERS)
        path = path_of(site, route)
        for actor, method in STRANGERS:
            reads = is_read and method == "GET"
            decided = actor in rights.get(method, NOBODY) or reads
            wrong += _disagreement(site, actor, method, route, path, decided)
    assert not wrong, "\n".join(wrong)


def _disagreement(
    site: Site, actor: str, method: str, route: Route, path: str, decided: bool
) -> list[str]:
    decided = decided and not _refuses_wrong_tokens(route, actor)
    found = let_in(site, actor, method, path)
    if bool(found) == decided:
        return []
    return [f"{actor}: {method} {path} ({route.name}): let in {found}, decided {decided}"]


def _refuses_wrong_tokens(route: Route, actor: str) -> bool:
    open_to_all = ("api:run-schema", "api:no-such-address")
    return actor in WRONG_TOKENS and route.name.startswith("api:") and route.name not in open_to_all


# No framework knows the method FOO.
OTHER_METHODS = ("HEAD", "OPTIONS", "TRACE", "FOO")


def test_no_method_at_any_address_is_a_server_error(site: Site) -> None:
    paths = [*(path_of(site, route) for route in ROUTES), "/healthz", "/readyz", "/nowhere"]
    for path, method in product(paths, OTHER_METHODS):
        let_in(site, "administrator", method, path)
    doors = ("/", "/admin/", "/api/v1/runs/", "/nowhere")
    for path, actor, method in product(doors, ("anonymous", "upload token"), OTHER_METHODS):
        let_in(site, actor, method, path)
