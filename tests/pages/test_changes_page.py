"""/changes/, notes on the pages of hosts, runs and comparisons."""

import json
import re
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.test import Client

from store.models import AuditEntry, FleetChange, FleetChangeMember, Host, Note, Run
from tests.conftest import StoreRun
from tests.histories import run_of_day, with_openssl
from tests.pages.conftest import page
from tests.sample_documents import openssl_measurement

DAY = timedelta(days=1)
OLD, NEW = "OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 3.0.11 19 Sep 2023"


@pytest.fixture
def slower(store_run: StoreRun) -> FleetChange:
    """AES-GCM becomes 20 % slower on two hosts, with an upgrade, on the sixth day."""
    for name in ("nas", "<b>web</b>"):
        for day in range(8):
            slow = day > 4
            series = openssl_measurement("aes-128-gcm", 4e9 * (0.8 if slow else 1))
            facts = with_openssl(NEW if slow else OLD)
            store_run(run_of_day(day, series, environment=facts, host={"name": name}))
    return FleetChange.objects.get()


def test_the_list_names_what_changed_and_leads_to_the_evidence(
    slower: FleetChange, member: Client
) -> None:
    html = page(member, "/changes/")
    assert "−20.0 %" in html or "−20 %" in html
    assert "OpenSSL: OpenSSL 1.1.1w → OpenSSL 3.0.11" in html
    assert "2 hosts" in html
    assert "changed with it" not in html
    assert "<b>web</b>" not in html
    nas = Host.objects.get(name="nas")
    assert f"/hosts/{nas.pk}/?series=openssl%2F8192%2Faes-128-gcm#history" in html
    runs = Run.objects.filter(host=nas).order_by("started_at")
    assert f"/runs/{runs[4].run_id}/diff/{runs[5].run_id}/" in html
    assert "data-post-live" not in html  # readers decide nothing


def test_what_else_changed_stands_beside_the_likeliest_cause(
    store_run: StoreRun, member: Client
) -> None:
    for day in range(8):
        slow = day > 4
        facts = with_openssl(NEW if slow else OLD)
        facts["os"] = {**facts["os"], "kernel": "Linux 6.1" if slow else "Linux 5.10"}
        series = openssl_measurement("aes-128-gcm", 4e9 * (0.8 if slow else 1))
        store_run(run_of_day(day, series, environment=facts))
    assert "(changed with it: kernel)" in page(member, "/changes/")


def test_the_list_begins_with_what_happened_in_the_last_week(
    slower: FleetChange, member: Client
) -> None:
    nothing = 'In the last 7 days <span class="muted">(no runs)</span>: no confirmed change.'
    assert nothing in page(member, "/changes/")  # it was long ago
    FleetChange.objects.update(last_at=Now())
    html = page(member, "/changes/")
    lately = r'In the last 7 days <span class="muted">\(no runs\)</span>: '
    link = r'<a href="\?(direction=slower&amp;since=[^"]*)"'
    told = re.search(f'<p id="lately">{lately}{link}', html)
    assert told
    assert "2 hosts</a>. " in html
    assert f'id="change-{slower.pk}"' in page(member, "/changes/?" + told[1].replace("&amp;", "&"))
    assert "In the last 7 days" not in page(member, "/changes/?direction=slower")
    FleetChange.objects.update(status=FleetChange.Status.IGNORED)
    assert nothing in page(member, "/changes/")
    Run.objects.filter(host__name="nas").update(started_at=Now())
    assert nothing.replace("no runs", "8 runs of 1 of 2 hosts") in page(member, "/changes/")


def test_filters_of_the_address_narrow_the_list(slower: FleetChange, member: Client) -> None:
    assert "No matching changes" in page(member, "/changes/?kind=silent")
    assert f'id="change-{slower.pk}"' in page(member, "/changes/?kind=speed&host=nas&tag=rack:b2")
    assert "cannot be used" in page(member, "/changes/?kind=none", expect=400)


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


def test_one_change_has_a_page_with_its_hosts(slower: FleetChange, member: Client) -> None:
    html = page(member, f"/changes/{slower.pk}/")
    assert html.count("Both side by side") == 2
    page(member, "/changes/99999/", expect=404)


def test_a_host_names_its_open_changes(slower: FleetChange, member: Client) -> None:
    address = f"/hosts/{Host.objects.get(name='nas').pk}/"
    assert "Open changes" in page(member, address)
    # What stands there is the host's own, not the median of all hosts of the entry.
    FleetChangeMember.objects.filter(host__name="nas").update(ratio=0.7)
    over = FleetChangeMember.objects.get(host__name="nas")
    over.pk, over.family, over.ended_at = None, "aes-ctr", over.at
    over.save()
    html = page(member, address)
    assert re.search(r"openssl aes-gcm −30(\.0)? %", html)
    assert "openssl aes-ctr" not in html  # as before again
    slower.last_at += 30 * DAY  # another host changed later
    slower.save()
    own = FleetChangeMember.objects.get(host__name="nas", family="aes-gcm").at
    assert f"{own:%Y-%m-%d %H:%M} UTC, 2 hosts" in re.sub("<[^>]*>", "", page(member, address))
    # Another entry in between, and the first one has a later part: each keeps all of its own.
    over.pk, over.family, over.ended_at, over.at = None, "chacha20", None, over.at + 2 * DAY
    over.save()
    slower.pk = None
    slower.save()
    over.pk, over.family, over.change, over.at = None, "3des", slower, over.at - DAY
    over.save()
    html = page(member, address)
    assert all(f"openssl {one} −30" in html for one in ("aes-gcm", "chacha20", "3des"))
    FleetChange.objects.update(status="ignored")
    assert "Open changes" not in page(member, address)


def test_a_note_is_listed_and_drawn_in_the_history(slower: FleetChange, editor: Client) -> None:
    nas = Host.objects.get(name="nas")
    address = f"/hosts/{nas.pk}/"
    answer = editor.post(f"{address}notes/", {"text": "BIOS <update>", "date": "2025-03-04"})
    assert answer.headers["Location"] == f"{address}#notes"
    html = page(editor, address)
    assert "BIOS &lt;update&gt;" in html
    found = re.search(r'id="history-view"[^>]*>(.*?)</script>', html, re.S)
    assert found
    (mark,) = (one for one in json.loads(found[1])["marks"] if one["kind"] == "note")
    assert (mark["label"], mark["index"]) == ("BIOS <update>", 4)
    note = Note.objects.get()
    editor.post(f"/notes/{note.pk}/delete/")
    assert not Note.objects.exists()
