"""A site that a released version left behind is upgraded: nothing is lost, and all of it works.

`recorded/` has the sites; README.md beside this file says how they were made.
"""

import gzip
import hashlib
import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import global_settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client, override_settings
from django.urls import reverse
from psycopg import sql
from pytest_django import DjangoDbBlocker

from ingest.processing.run_processing import process_run
from pages.urls import urlpatterns
from results.analytics.engine import engine
from results.comparison.comparison import compare
from results.selection import ComparisonQuery
from store.models import Run, RunDocument
from store.run_documents import document_bytes
from tests.conftest import ApiClient, signed_in
from tests.production_shape import services
from tests.results.comparison_reference import compare_in_python, without_doubts
from tests.sample_documents import run_document
from tests.upgrades.figures import measured, shown
from tests.upgrades.recording import FOLDER

Rows = dict[str, dict[Any, dict[str, Any]]]

KEPT: dict[str, tuple[str, ...]] = {
    "auth_user": (),
    "auth_user_groups": (),
    "runs_apitoken": (),
    "runs_auditentry": (),
    "runs_host": ("id", "name", "machine_id"),
    "runs_importedtext": ("id", "body", "received_at"),
    "runs_note": (),
    "runs_run": ("id", "run_id", "status", "hidden", "source", "received_at", "host_id"),
    "runs_rundocument": (),
    "runs_share": (),
}
"""Columns of which nothing may change, of the tables that nobody could fill again; () for all."""


@dataclass(frozen=True)
class Upgraded:
    """A recorded site that now has this version. `before`: rows that it had."""

    facts: dict[str, Any]
    before: Rows

    def client(self, scope: str) -> ApiClient:
        """Who has the token of that time."""
        return ApiClient(self.facts["tokens"][scope])


def kept_rows() -> Rows:
    """The rows of `KEPT` by table and primary key, of those tables that there are."""
    found = {}
    with connection.cursor() as cursor:
        for table in set(KEPT) & set(connection.introspection.table_names(cursor)):
            key = connection.introspection.get_primary_key_column(cursor, table)
            rows = sql.SQL("SELECT to_jsonb(t) FROM {} t").format(sql.Identifier(table))
            cursor.execute(rows)
            texts = [json.loads(row) for (row,) in cursor.fetchall()]
            found[table] = {row[key]: row for row in texts}
    return found


@contextmanager
def another_database(name: str) -> Iterator[None]:
    """Everything in this process uses a new database, until the end."""
    usual = connection.settings_dict["NAME"]
    _on_the_server("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)  # of a run that was killed
    _on_the_server("CREATE DATABASE {}", name)
    _use(name)
    try:
        yield
    finally:
        _use(usual)
        _on_the_server("DROP DATABASE {} WITH (FORCE)", name)


def _on_the_server(statement: str, name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(statement).format(sql.Identifier(name)))


def _use(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name
    engine().forget()


def upgrade() -> None:
    """What the service `migrate` of the compose file runs, but for the static files."""
    for step in services()["migrate"]["command"][-1].split(" && "):
        command = shlex.split(step)[2:]
        if command[0] != "collectstatic":
            call_command(*command, verbosity=0)


@pytest.fixture(
    scope="module", params=sorted(FOLDER.glob("*.json")), ids=lambda path: str(path.stem)
)
def site(
    request: pytest.FixtureRequest,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Upgraded]:
    """Each recorded site in turn."""
    path: Path = request.param
    dump = tmp_path_factory.mktemp("recorded") / "site.dump"
    dump.write_bytes(gzip.decompress(path.with_name(f"{path.stem}.dump.gz").read_bytes()))
    with django_db_blocker.unblock(), another_database("upgraded"):
        call_command("restore", str(dump), verbosity=0)
        before = kept_rows()
        upgrade()
        yield Upgraded(json.loads(path.read_text()), before)


def test_what_people_and_agents_left_is_there_byte_for_byte(site: Upgraded) -> None:
    now = kept_rows()
    for table, rows in site.before.items():
        for key, row in rows.items():
            columns = set(KEPT[table] or row) & set(now[table][key])
            assert {one: now[table][key][one] for one in columns} == {
                one: row[one] for one in columns
            }, table
    bodies = RunDocument.objects.filter(run__source="agent").values_list("run__run_id", "body")
    stored = {str(run_id): hashlib.sha256(body or b"").hexdigest() for run_id, body in bodies}
    assert stored == site.facts["documents"]


def test_figures_are_those_of_the_documents(site: Upgraded) -> None:
    reader = site.client("read")
    statuses = []
    for run_id in set(site.facts["documents"]) - {site.facts["hidden"]}:
        run = reader.get(f"/api/v1/runs/{run_id}/").json()
        statuses.append(run["status"])
        if run["status"] == "ready":
            document = reader.get(f"/api/v1/runs/{run_id}/document/").json()
            assert shown(run) == pytest.approx(measured(document))
    assert set(statuses) == {"ready", "rejected"}


def test_comparisons_are_what_their_definition_says(site: Upgraded) -> None:
    for tool in ("ssh", "openssl"):
        for group_by in ("cpu", "host"):
            for metric in ("throughput", "normalised"):
                query = ComparisonQuery(tool=tool, group_by=group_by, metric=metric)
                answer = without_doubts(compare(query))
                assert answer == compare_in_python(query)
                assert answer.groups or metric != "throughput"


def some_run() -> Run:
    """One that an agent sent."""
    return Run.objects.filter(status="ready", source="agent", hidden=False).earliest("pk")


def test_tokens_are_accepted_and_a_new_run_joins_the_old_ones(site: Upgraded) -> None:
    agent, reader = site.client("upload"), site.client("read")
    known = some_run()
    again = document_bytes(known.document)
    assert agent.upload(again).status_code == 200
    new = run_document(host=json.loads(again)["host"])
    assert agent.upload(new).status_code == 202
    process_run(Run.objects.get(run_id=new["run_id"]).pk)
    run = reader.get(f"/api/v1/runs/{new['run_id']}/").json()
    assert (run["status"], run["host_id"]) == ("ready", known.host_id)


@override_settings(PASSWORD_HASHERS=global_settings.PASSWORD_HASHERS)
def test_people_sign_in_and_may_what_they_could(site: Upgraded) -> None:
    person = Client()
    known = {"username": "edith", "password": site.facts["password"]}
    assert person.post(reverse("login"), known).status_code == 302
    groups = bool(site.before.get("auth_user_groups"))
    assert (person.get(reverse("hidden-runs")).status_code == 200) == groups


def test_what_editors_decided_holds(site: Upgraded) -> None:
    reader, facts = site.client("read"), site.facts
    if facts["hidden"] is None:
        return
    shown = reader.get("/api/v1/runs/?host=&page_size=200").json()["results"]
    assert facts["hidden"] not in {one["run_id"] for one in shown}
    former = signed_in("mary").get(reverse("host-page", args=[facts["merged_host"]]), follow=True)
    assert former.redirect_chain[-1][0].endswith(f"/hosts/{facts['kept_host']}/")
    assert Client().get(facts["share"]).status_code == 200


NEEDS_MORE = {
    *("run-pages-diff", "host-pages-diff", "start-download", "profile-comparison", "embed"),
    *("add-group-note", "save-upload", "login", "logout", "oidc-start", "oidc-callback"),
}
"""Pages that show nothing without a form, parameters or settings."""


def test_every_page_answers(site: Upgraded) -> None:
    administrator = Client()
    administrator.force_login(User.objects.get(username="admin"))
    plain = {str(one.name) for one in urlpatterns if not one.pattern.converters} - NEEDS_MORE
    pages = [reverse(name) for name in sorted(plain)]
    run = some_run()
    pages += [reverse("run-page", args=[run.run_id]), reverse("host-page", args=[run.host_id])]
    answers = {page: administrator.get(page, follow=True).status_code for page in pages}
    assert {page: code for page, code in answers.items() if code != 200} == {}
