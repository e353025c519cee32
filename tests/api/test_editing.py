import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import AuditEntry
from runs.models import Host, Run, RunDocument
from tests.conftest import StoreRun
from tests.sample_documents import run_document


def change(editor: Client, method: str, path: str, **body: Any) -> Any:
    call = getattr(editor, method)
    return call(f"/api/v1/{path}", body, content_type="application/json")


def last_entry() -> AuditEntry:
    return AuditEntry.objects.latest("id")


def groups(client: Client) -> list[str]:
    found = client.get("/api/v1/comparison/?group_by=host").json()["groups"]
    return [group["key"] for group in found]


def test_a_hidden_run_counts_nowhere_and_comes_back(editor: Client, store_run: StoreRun) -> None:
    run = store_run(run_document())
    answer = change(editor, "patch", f"runs/{run.run_id}/", hidden=True)
    assert (answer.status_code, answer.json()) == (200, {"hidden": True, "run_id": str(run.run_id)})
    assert editor.get(f"/api/v1/runs/{run.run_id}/").status_code == 404
    assert groups(editor) == []
    entry = last_entry()
    assert (entry.actor_kind, entry.actor, entry.action) == ("person", "edith", "run.hide")
    assert entry.before == {"hidden": False}
    assert str(run.run_id) in entry.object_name
    change(editor, "patch", f"runs/{run.run_id}/", hidden=False)
    assert groups(editor) == ["nas"]
    assert last_entry().action == "run.show"


def test_a_removed_run_leaves_nothing_but_the_entry_of_who_removed_it(
    editor: Client, store_run: StoreRun
) -> None:
    run, kept = store_run(run_document()), store_run(run_document())
    assert change(editor, "delete", f"runs/{run.run_id}/").status_code == 204
    assert list(Run.objects.all()) == [kept]
    assert [document.run for document in RunDocument.objects.all()] == [kept]
    assert change(editor, "delete", f"runs/{run.run_id}/").status_code == 404
    entry = last_entry()
    assert entry.action == "run.remove"
    assert entry.before is not None
    assert entry.before["host_name"] == "nas"


@pytest.mark.usefixtures("published")
def test_a_published_run_is_hidden_not_removed(editor: Client) -> None:
    run = Run.objects.all()[0]
    answer = change(editor, "delete", f"runs/{run.run_id}/")
    assert answer.status_code == 409
    assert "Hide the run" in answer.json()["errors"][0]["detail"]


def test_a_renamed_host_keeps_its_key_and_gets_uploads_of_its_old_name(
    editor: Client, store_run: StoreRun
) -> None:
    host = store_run(run_document()).host
    assert host is not None
    assert groups(editor) == ["nas"]
    answer = change(editor, "patch", f"hosts/{host.pk}/", name=" Cellar ")
    shown = editor.get("/api/v1/comparison/?group_by=host").json()["groups"][0]
    assert (shown["key"], shown["label"]) == ("nas", "Cellar")
    assert answer.json() == {"id": host.pk, "host": "nas", "name": "Cellar"}
    assert store_run(run_document()).host == host
    assert store_run(run_document(host={"name": "Cellar"})).host == host
    assert (last_entry().before, last_entry().after) == ({"name": "nas"}, {"name": "Cellar"})
    change(editor, "patch", f"hosts/{host.pk}/", name="nas")
    assert store_run(run_document(host={"name": "Cellar"})).host == host


def test_two_hosts_become_one_and_later_uploads_follow(editor: Client, store_run: StoreRun) -> None:
    ids = {"machine_id": "a" * 64}
    old = store_run(run_document(host={"name": "nas-old", **ids}))
    new = store_run(run_document(host={"name": "nas"}))
    answer = change(editor, "post", f"hosts/{new.host_id}/merge/", other=old.host_id)
    assert answer.json()["host"] == "nas"
    assert set(Run.objects.values_list("host__slug", flat=True)) == {"nas"}
    assert groups(editor) == ["nas"]
    assert store_run(run_document(host={"name": "nas-old", **ids})).host == new.host
    assert editor.get(f"/hosts/{old.host_id}/")["Location"] == f"/hosts/{new.host_id}/"
    entry = last_entry()
    assert entry.before is not None
    assert entry.before["merged"]["runs"] == [str(old.run_id)]
    assert entry.before["merged"]["machine_id"] == "a" * 64
    assert editor.get(f"/api/v1/runs/{old.run_id}/document/").json()["host"]["name"] == "nas-old"


OLD_KEY = (
    "/api/v1/comparison/?group_by=host&host={}",
    "/api/v1/runs/?host={}",
    "/api/v1/trends/?tool=ssh&cipher=aes128-ctr&host={}",
    "/api/v1/recommendation/?host={}",
    "/api/v1/exports/measurements.csv?host={}",
    "/?group_by=host&host={}",
    "/runs/?host={}",
    "/recommend/?host={}",
)


def test_whoever_asks_for_a_merged_host_gets_what_it_became(
    editor: Client, store_run: StoreRun
) -> None:
    old, new, _ = (
        store_run(run_document(host={"name": name})).host_id for name in ("nas-old", "nas", "other")
    )
    change(editor, "post", f"hosts/{new}/merge/", other=old)
    for address in OLD_KEY:
        was, now = (answered(editor, address.format(key)) for key in ("nas-old", "nas"))
        assert "nas" in now, address
        assert was == now, address
    pair = "/api/v1/recommendation/?client={}&server=other"
    client, server = editor.get(pair.format("nas-old")).json()["hosts"]
    assert (client["host"], server["host"]) == ("nas", "other")
    for named in (old, "nas-old"):
        assert editor.get(f"/api/v1/hosts/{named}/").json()["id"] == new


def answered(client: Client, address: str) -> str:
    answer: Any = client.get(address, follow=True)
    assert answer.status_code == 200, address
    text = answer.getvalue().decode().replace("nas-old", "nas")
    text = re.sub(r'"(made_at|permalink)":"[^"]*"', "", text)
    text = text.replace("%3A", ":")  # in URLs of created objects
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(Z| UTC)", "", text)  # time of creation
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)


@pytest.mark.usefixtures("published")
def test_a_merge_that_cannot_be_changes_nothing(editor: Client, store_run: StoreRun) -> None:
    host = store_run(run_document()).host_id
    published = Host.objects.filter(published=True)[0].pk
    for other, status in ((host, 400), (10**9, 400), (published, 409), ("x", 400)):
        answer = change(editor, "post", f"hosts/{host}/merge/", other=other)
        assert answer.status_code == status
        assert answer.json()["errors"][0]["attr"] in ("other", None)
    assert change(editor, "post", f"hosts/{10**9}/merge/", other=host).status_code == 404


def test_a_host_is_found_by_its_number_and_by_its_key(editor: Client, store_run: StoreRun) -> None:
    host = store_run(run_document(host={"name": "nas"})).host_id
    store_run(run_document(host={"name": "web"}))
    series = "tool=ssh&cipher=aes128-ctr"
    for named in (host, "nas"):
        assert editor.get(f"/api/v1/hosts/{named}/").json()["host"] == "nas"
        assert editor.get(f"/api/v1/trends/?host={named}&{series}").json()["host_id"] == host
        advice = editor.get(f"/api/v1/recommendation/?host={named}").json()
        assert [host["host"] for host in advice["hosts"]] == ["nas"]
        runs = editor.get(f"/api/v1/runs/?host={named}").json()["results"]
        assert [run["host_name"] for run in runs] == ["nas"]
        assert change(editor, "post", "notes/", text="x", host=str(named)).status_code == 201
        assert change(editor, "patch", f"hosts/{named}/", name="nas").json()["id"] == host
    for nobody in (10**9, "nobody", "a%00b"):
        assert editor.get(f"/api/v1/hosts/{nobody}/").status_code == 404


def test_a_note_is_not_dated_in_the_future(editor: Client, store_run: StoreRun) -> None:
    store_run(run_document(host={"name": "nas"}))
    note = {"text": "x", "host": "nas"}
    refused = change(editor, "post", "notes/", **note, at="9999-12-31T00:00:00Z")
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, "at")
    assert change(editor, "post", "notes/", **note, at="2026-01-01T00:00:00Z").status_code == 201


def test_a_change_needs_the_csrf_token_of_the_session(editor: Client, store_run: StoreRun) -> None:
    run = store_run(run_document())
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = editor.cookies
    assert change(strict, "patch", f"runs/{run.run_id}/", hidden=True).status_code == 403
    assert not Run.objects.get().hidden


@pytest.mark.parametrize("machine_id", (None, "a" * 64))
def test_no_host_is_renamed_to_what_another_is_listed_by(
    editor: Client, store_run: StoreRun, machine_id: str | None
) -> None:
    store_run(run_document(host={"name": "taken", "machine_id": "b" * 64}))
    host = store_run(run_document(host={"name": "free", "machine_id": machine_id})).host_id
    answer = change(editor, "patch", f"hosts/{host}/", name="taken")
    assert answer.status_code == 409
    assert "merge them" in answer.json()["errors"][0]["detail"]
