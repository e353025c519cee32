from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.models import AuditEntry
from changes.models import FleetChange
from changes.tasks import find_changes
from runs.models import Host, Run
from tests.cases import each
from tests.conftest import ApiClient, StoreRun
from tests.histories import run_of_day, with_openssl
from tests.sample_documents import openssl_measurement, run_document

OLD, NEW = "OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 3.0.11 19 Sep 2023"


@pytest.fixture
def changed_host(store_run: StoreRun) -> Host:
    for day in range(8):
        slow = day > 4
        series = openssl_measurement("aes-128-gcm", 4e9 * (0.8 if slow else 1))
        store_run(run_of_day(day, series, environment=with_openssl(NEW if slow else OLD)))
    find_changes()
    FleetChange.objects.filter(kind="silent").delete()
    return Host.objects.get()


def listed(client: Client, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"/api/v1/changes/{query}")
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def test_the_list_says_what_changed_on_which_host_and_why(
    changed_host: Host, reader: ApiClient
) -> None:
    (entry,) = listed(reader)
    assert (entry["kind"], entry["direction"], entry["status"]) == ("speed", "slower", "new")
    assert (entry["family"], entry["hosts"], entry["confidence"]) == ("aes", 1, "high")
    assert entry["difference"] == "OpenSSL 1.1.1w → 3.0.11"
    assert entry["ratio"] == pytest.approx(0.8)
    (member,) = entry["members"]
    assert (member["host"], member["host_id"]) == (changed_host.slug, changed_host.pk)
    assert (member["tool"], member["family"]) == ("openssl", "aes-gcm")
    assert (member["cipher"], member["block_size"]) == ("aes-128-gcm", 8192)
    runs = list(Run.objects.order_by("started_at"))
    assert (member["previous_run_id"], member["run_id"]) == (
        str(runs[4].run_id),
        str(runs[5].run_id),
    )
    assert member["differences"] == [entry["difference"]]


def test_the_newest_change_comes_first(changed_host: Host, reader: ApiClient) -> None:
    first = FleetChange.objects.get()
    member = first.members.get()
    for days in (-9, 9):
        at = first.last_at + timedelta(days=days)
        other = FleetChange.objects.create(
            kind="speed", direction="faster", family="aes", first_at=at, last_at=at
        )
        member.pk, member.change = None, other
        member.save()
    times = [entry["last_at"] for entry in listed(reader)]
    assert (times, len(times)) == (sorted(times, reverse=True), 3)


@each(
    ("query", "found"),
    (
        ("?host=nas", 1),
        ("?host=web", 0),
        ("?kind=speed&kind=silent", 1),
        ("?kind=verdict", 0),
        ("?family=aes", 1),
        ("?family=aes-gcm", 1),
        ("?family=aes-ctr", 0),
        ("?tool=ssh", 0),
        ("?direction=slower", 1),
        ("?direction=faster", 0),
        ("?status=new", 1),
        ("?status=fixed&status=ignored", 0),
        ("?tag=rack:b2", 1),
        ("?tag=rack:b3", 0),
        ("?since=2025-03-06", 1),
        ("?since=2025-03-07", 0),
        ("?until=2025-03-05", 0),
    ),
)
def test_the_list_is_filtered(
    changed_host: Host, reader: ApiClient, query: str, found: int
) -> None:
    assert len(listed(reader, query)) == found


def test_an_editor_sets_status_and_note_and_the_audit_log_has_it(
    changed_host: Host, editor: Client
) -> None:
    entry = FleetChange.objects.get()
    address = f"/api/v1/changes/{entry.pk}/"
    change = {"status": "acknowledged", "note": "known since the upgrade"}
    answer = editor.patch(address, change, content_type="application/json")
    assert answer.status_code == 200
    said = answer.json()
    assert (said["status"], said["note"], said["decided_by"]) == (*change.values(), "edith")
    assert AuditEntry.objects.get().action == "change.decide"
    assert listed(editor, "?status=acknowledged")


@pytest.mark.parametrize(
    "change",
    (
        {},
        {"status": "gone"},
        {"status": "new", "nte": "x"},
        {"note": "x" * (FleetChange.LONGEST_NOTE + 1)},
        {"note": "a\x07b"},
    ),
)
def test_a_decision_that_cannot_be_is_refused(
    changed_host: Host, editor: Client, change: dict[str, str]
) -> None:
    address = f"/api/v1/changes/{FleetChange.objects.get().pk}/"
    assert editor.patch(address, change, content_type="application/json").status_code == 400
    assert not AuditEntry.objects.exists()


def made(client: Client, **note: str) -> Any:
    return client.post("/api/v1/notes/", note, content_type="application/json")


def test_notes_are_about_a_host(changed_host: Host, editor: Client, store_run: StoreRun) -> None:
    store_run(run_document(host={"name": "other"}))
    when = "2025-03-04T12:00:00Z"
    assert made(editor, text="BIOS update", at=when, host="nas").json()["at"] == when
    assert made(editor, text="a fan was off", host="other").status_code == 201
    every = editor.get("/api/v1/notes/").json()["results"]
    assert [(note["host"], note["text"]) for note in every] == [
        ("other", "a fan was off"),
        ("nas", "BIOS update"),
    ]
    of_host = editor.get("/api/v1/notes/?host=nas&since=2025-03-01&until=2025-04-01").json()
    assert [result["host"] for result in of_host["results"]] == ["nas"]
    assert AuditEntry.objects.filter(action="note.add").count() == 2


def test_notes_are_removed(changed_host: Host, editor: Client, reader: ApiClient) -> None:
    note = made(editor, text="x", host="nas").json()
    assert editor.delete(f"/api/v1/notes/{note['id']}/").status_code == 204
    assert editor.delete(f"/api/v1/notes/{note['id']}/").status_code == 404
    assert reader.get("/api/v1/notes/").json()["results"] == []
