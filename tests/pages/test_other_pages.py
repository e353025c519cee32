import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client

from runs.models import Run
from tests.cases import each
from tests.conftest import ApiClient, StoreRun
from tests.histories import run_of_day
from tests.pages.conftest import beside, link, page, text_of
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

GCM = "aes128-gcm@openssh.com"
PAGES = ("/", "/hosts/", "/hosts/1/", "/runs/", "/runs/0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d6e/",
         "/method/")  # fmt: skip


@each("address", PAGES)
@pytest.mark.django_db
def test_readers_must_sign_in_and_come_back(client: Client, address: str) -> None:
    response = client.get(f"{address}?a=b")
    assert response.status_code == 302
    assert response["Location"] == f"/accounts/login/?next={address}%3Fa%3Db"


@pytest.mark.django_db
def test_signing_in_leads_back_and_signing_out_leads_out(client: Client) -> None:
    User.objects.create_user("alice", password="correct horse battery")
    assert "Sign in to open this page" in text_of(page(client, "/accounts/login/", next="/runs/"))
    response = client.post(
        "/accounts/login/",
        {"username": "alice", "password": "correct horse battery", "next": "/runs/"},
    )
    assert response["Location"] == "/runs/"
    assert "alice Sign out" in text_of(page(client, "/runs/"))
    client.post("/accounts/logout/")
    assert client.get("/runs/").status_code == 302


def test_empty_lists_lead_to_the_first_upload(member: Client) -> None:
    assert "python3 agent.py run" in text_of(page(member, "/runs/"))
    assert "python3 agent.py run" in text_of(page(member, "/hosts/"))


def test_a_run_shows_everything_that_is_known_of_it(member: Client, store_run: StoreRun) -> None:
    noisy = ssh_measurement("aes128-ctr", 1e8, 2e8, 3e8)
    agreed = {"cipher": GCM, "mac": "umac-64-etm@openssh.com", "kex": "curve25519-sha256"}
    document = run_document(
        ssh_measurement(GCM, 400e6, 410e6, 420e6, negotiated=agreed),
        noisy,
        ssh_measurement("3des-cbc", 20e6),
        openssl_measurement("aes-128-gcm", 4e9),
        skipped=[{"tool": "ssh", "cipher": "arcfour", "reason": "this OpenSSH does not offer it"}],
    )
    run = store_run(document)
    html = page(member, f"/runs/{run.run_id}/")
    said = text_of(html)
    for fact in (
        str(run.run_id),
        "410 MB/s",
        "noisy",
        "1 measurement is noisy",
        "umac-64-etm@openssh.com, curve25519-sha256",
        "busy : other programs used 0.12 CPU cores",
        "this OpenSSH does not offer it",
        "AMD EPYC 9R14",
        "24 GiB",
        "Speed index, SSH",
        "Tag rack b2",
        "820000000 bytes in 2.0 s",
        "8 KiB",
    ):
        assert fact in said, fact
    assert f"/api/v1/runs/{run.run_id}/document/" in html
    assert '<time datetime="2025-11-21T06:48:10Z"' in html


def test_a_run_being_processed_refreshes_itself(member: Client, uploader: ApiClient) -> None:
    document = run_document()
    assert uploader.upload(document).status_code == 202
    Run.objects.update(status="accepted")
    html = page(member, f"/runs/{document['run_id']}/")
    assert "is being processed" in text_of(html)
    assert "every 2s" in html
    Run.objects.update(received_at=F("received_at") - timedelta(minutes=5))
    assert "every 15s" in page(member, f"/runs/{document['run_id']}/")
    assert '<noscript><meta http-equiv="refresh"' in html


def test_a_rejected_run_says_why(member: Client, store_run: StoreRun) -> None:
    run = store_run(run_document())
    Run.objects.filter(pk=run.pk).update(status="rejected", rejection="The clock ran backwards.")
    html = page(member, f"/runs/{run.run_id}/")
    assert "Run rejected: The clock ran backwards." in text_of(html)
    assert "data-pending" not in html


@pytest.mark.usefixtures("published")
def test_a_published_run_names_page_author_and_date(member: Client) -> None:
    run = Run.objects.filter(provenance__page__author__startswith="Micha").first()
    assert run is not None
    said = text_of(page(member, f"/runs/{run.run_id}/"))
    assert "Getting the most out of SSH" in said
    assert "Michał Turecki" in said
    assert "2015-09-03" in said


def numbers_of_hosts(html: str) -> list[str]:
    return re.findall(r"host (\d)</bdi></a>", html)


def test_runs_are_listed_by_when_they_were_measured_page_by_page(
    member: Client, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The runs are uploaded out of order.
    # Of runs with the same start, the later upload comes first.
    monkeypatch.setattr("core.api_view.ByCursor.page_size", 2)
    for number, day in ((2, 3), (5, 9), (0, 1), (3, 5), (4, 5), (1, 2)):
        store_run(run_of_day(day, ssh_measurement(GCM, 1e8), host={"name": f"host {number}"}))
    address: str | None = ""
    seen = []
    while address is not None:
        html = page(member, f"/runs/{address}")
        seen += numbers_of_hosts(html)
        address = beside(html, "next")
        Run.objects.filter(host__name="host 5").delete()  # a run on the first page
    assert seen == ["5", "4", "3", "2", "1", "0"]
    assert numbers_of_hosts(page(member, f"/runs/{beside(html, 'prev')}")) == ["3", "2"]


def test_a_host_shows_its_latest_values(member: Client, store_run: StoreRun) -> None:
    store_run(run_document(ssh_measurement(GCM, 100e6), openssl_measurement("aes-128-gcm", 4e9)))
    run = store_run(
        run_document(
            ssh_measurement(GCM, 200e6),
            started_at="2025-11-22T06:48:10Z",
            finished_at="2025-11-22T06:52:31Z",
        )
    )
    assert run.host is not None
    html = page(member, f"/hosts/{run.host.pk}/")
    said = text_of(html)
    assert "2 runs" in said
    latest = text_of(html.partition('id="results-title"')[2])
    assert "200 MB/s" in latest
    assert "100 MB/s" not in latest
    assert "4.00 GB/s" in latest
    assert html.count('<figure class="chart" data-chart=') == 2
    assert "nas" in text_of(page(member, "/hosts/"))


@each(
    "address",
    ("/nowhere/", "/hosts/4711/", "/hosts/nas-9/", "/runs/0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d6e/"),
)
def test_what_is_not_there_is_a_page_of_the_site(member: Client, address: str) -> None:
    html = page(member, address, expect=404)
    assert "Page not found" in text_of(html)
    assert "given query" not in html
    assert "site-header" in html


def test_a_fault_of_the_server_is_a_page_of_the_site(
    member: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr("hosts.views.hosts.agent_command", broken)
    member.raise_request_exception = False
    html = page(member, "/hosts/", expect=500)
    assert "Something went wrong on the server" in text_of(html)
    assert "the disk is on fire" not in html


def test_the_method_page_explains_every_metric(member: Client) -> None:
    from cipherspeed.choices import METRICS

    html = page(member, "/method/")
    for metric in METRICS:
        assert f'id="{metric.key}"' in html
    assert "179 MB/s" in text_of(html)


def test_a_change_is_confirmed_with_a_way_back(editor: Client, store_run: StoreRun) -> None:
    run = store_run(run_document(ssh_measurement(GCM, 4e8)))
    address = f"/runs/{run.run_id}/hide/"
    asked = text_of(page(editor, address))
    assert "nas, 20" in asked
    done = editor.post(address, follow=True).content.decode()
    assert "Run hidden: nas, 20" in text_of(done)
    back = editor.post(link(done, "Undo"), follow=True).content.decode()
    assert "Run unhidden: nas, 20" in text_of(back)
