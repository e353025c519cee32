import json
import re
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEntry
from changes.models import FleetChange, FleetChangeMember
from changes.tasks import find_changes
from hosts.models import Note
from runs.models import Host, Run
from tests.conftest import StoreRun
from tests.histories import run_of_day, with_openssl
from tests.pages.conftest import page, text_of
from tests.sample_documents import (
    environment,
    openssl_measurement,
    run_document,
    ssh_measurement,
)

HIDDEN = environment(flags=["fpu"])
OLD, NEW = "OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 3.0.11 19 Sep 2023"


@pytest.fixture
def slower(store_run: StoreRun) -> FleetChange:
    for name in ("nas", "<b>web</b>"):
        for day in range(8):
            slow = day > 4
            series = openssl_measurement("aes-128-gcm", 4e9 * (0.8 if slow else 1))
            facts = with_openssl(NEW if slow else OLD)
            store_run(run_of_day(day, series, environment=facts, host={"name": name}))
    find_changes()
    FleetChange.objects.filter(kind="silent").delete()
    return FleetChange.objects.get()


def test_the_list_names_what_changed_and_leads_to_the_evidence(
    slower: FleetChange, member: Client
) -> None:
    html = page(member, "/changes/")
    assert "−20.0 %" in html or "−20 %" in html
    assert "OpenSSL 1.1.1w → 3.0.11" in html
    assert "2 hosts" in html
    assert "<b>web</b>" not in html
    nas = Host.objects.get(name="nas")
    assert f"/hosts/{nas.pk}/?series=openssl%2F8192%2Faes-128-gcm#history" in html
    runs = Run.objects.filter(host=nas).order_by("started_at")
    assert f"/runs/{runs[4].run_id}/diff/{runs[5].run_id}/" in html
    assert "hx-post" not in html  # readers have no forms


def test_filters_of_the_address_narrow_the_list(slower: FleetChange, member: Client) -> None:
    assert "No matching changes" in page(member, "/changes/?kind=silent")
    assert f'id="change-{slower.pk}"' in page(member, "/changes/?kind=speed&host=nas&tag=rack:b2")
    assert "Ignored invalid filters" in page(member, "/changes/?kind=none", expect=400)


def test_an_editor_acknowledges_and_is_back_on_the_same_list(
    slower: FleetChange, editor: Client
) -> None:
    said = {"status": "acknowledged", "note": "the upgrade <of spring>", "list": "kind=speed"}
    answer = editor.post(f"/changes/{slower.pk}/decide/", said)
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/changes/?kind=speed#change-{slower.pk}"
    html = page(editor, "/changes/")
    assert "the upgrade &lt;of spring&gt;" in html
    assert "edith" in html
    assert AuditEntry.objects.get().action == "change.decide"
    refused = editor.post(f"/changes/{slower.pk}/decide/", said | {"note": "a\x07b"})
    assert refused.status_code == 400
    assert "Use only printable characters." in refused.content.decode()


def test_the_front_page_begins_with_what_became_slower_hides_aes_and_is_fastest(
    slower: FleetChange, member: Client, store_run: StoreRun
) -> None:
    def cards() -> list[str]:
        return [text_of(card) for card in re.findall(r'<a class="card".*?</a>', page(member, "/"))]

    assert cards() == []  # long ago
    long_ago = slower.last_at
    FleetChange.objects.update(last_at=timezone.now())
    FleetChangeMember.objects.update(at=timezone.now())
    for name, rate in (("a", 3e8), ("b", 2e8), ("c", 5e8)):
        rates = {"chacha20-poly1305@openssh.com": rate, "aes128-gcm@openssh.com": 4e8}
        measured = (ssh_measurement(cipher, rate) for cipher, rate in rates.items())
        store_run(run_document(*measured, host={"name": name}, environment=HIDDEN))
    assert cards() == [
        "2 hosts became slower in the last 30 days",
        "3 hosts do not use their AES hardware",
        "aes128-gcm is the fastest recommended cipher on 2 of 3 measured hosts",
    ]
    FleetChangeMember.objects.filter(run__host__name="nas").update(at=long_ago)
    assert cards()[0] == "1 host became slower in the last 30 days"
    addresses = re.findall(r'<a class="card" href="([^"]*)"', page(member, "/"))
    lists = [text_of(page(member, unescape(address))) for address in addresses]
    for said, same in zip(lists, ("1 host changed", "3 hosts", "3 hosts with SSH"), strict=True):
        assert same in said
    FleetChange.objects.update(status="ignored")
    assert cards()[0].startswith("3 hosts do not")


def test_one_change_has_a_page_with_its_hosts(slower: FleetChange, member: Client) -> None:
    html = page(member, f"/changes/{slower.pk}/")
    assert html.count("Compare with the previous run") == 2
    page(member, "/changes/99999/", expect=404)


def test_a_host_names_its_open_changes(slower: FleetChange, member: Client) -> None:
    address = f"/hosts/{Host.objects.get(name='nas').pk}/"
    html = page(member, address)
    assert "Unresolved changes" in html
    link = re.search(r'href="([^"]*#history)">OpenSSL aes-gcm −20(\.0)? %</a>', html)
    assert link
    drawn = re.compile(r'<option value="([^"]*)" selected>aes-\d+-gcm')
    assert drawn.search(html), "the history begins with the series that changed"
    assert drawn.search(page(member, unescape(link[1])))
    FleetChange.objects.update(status="ignored")
    assert "Unresolved changes" not in page(member, address)


def test_a_note_is_listed_and_drawn_in_the_history(slower: FleetChange, editor: Client) -> None:
    nas = Host.objects.get(name="nas")
    address = f"/hosts/{nas.pk}/"
    answer = editor.post(f"{address}notes/", {"text": "BIOS <update>", "date": "2025-03-04"})
    assert answer.headers["Location"] == f"{address}#notes"
    html = page(editor, address)
    assert "BIOS &lt;update&gt;" in html
    found = re.search(r'id="history-view"[^>]*>(.*?)</script>', html, re.S)
    assert found
    (mark,) = (mark for mark in json.loads(found[1])["marks"] if mark["kind"] == "note")
    assert (mark["label"], mark["index"]) == ("BIOS <update>", 4)
    refused = editor.post(f"{address}notes/", {"text": "BIOS", "date": "2999-01-01"})
    assert (refused.status_code, refused.context["form"]["text"].value()) == (400, "BIOS")
    assert "This date is more than a day ahead." in refused.content.decode()
    note = Note.objects.get()
    editor.post(f"/notes/{note.pk}/delete/")
    assert not Note.objects.exists()
