"""The chart of a view in a frame of another site."""

import re
from html import unescape

from django.test import Client
from pytest_django.fixtures import Settings

from tests.conftest import StoreRun
from tests.pages.conftest import page
from tests.sample_documents import run_document, ssh_measurement

WIKI = "https://wiki.example.org"
CIPHER = "aes128-gcm@openssh.com"


def test_a_site_that_allows_nobody_has_no_such_page(member: Client, store_run: StoreRun) -> None:
    store_run(run_document(ssh_measurement(CIPHER, 400e6)))
    assert member.get("/embed/").status_code == 404
    assert "iframe" not in page(member, "/")


def test_a_chart_is_framed_by_the_sites_named_alone(
    member: Client, store_run: StoreRun, settings: Settings
) -> None:
    settings.CIPHERMARK_EMBED_ORIGINS = [WIKI]
    store_run(run_document(ssh_measurement(CIPHER, 400e6)))
    offered = re.search(r"<iframe src=\"([^\"]*)\"", unescape(page(member, "/?group_by=os")))
    assert offered
    assert offered[1] == "http://testserver/embed/?group_by=os"
    answer = member.get(offered[1])
    html = answer.content.decode()
    assert 'id="chart-view"' in html
    assert f"frame-ancestors {WIKI}" in answer.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in answer.headers
    # Nothing in the frame leads elsewhere within it.
    assert set(re.findall(r"<a [^>]*>", html)) - {'<a class="skip" href="#main">'} == {
        '<a href="/?group_by=os" target="_blank">'
    }
    whole = member.get("/?group_by=os")
    assert "frame-ancestors 'none'" in whole.headers["Content-Security-Policy"]
    assert whole.headers["X-Frame-Options"] == "DENY"


def test_a_frame_says_why_it_shows_nothing(member: Client, settings: Settings) -> None:
    settings.CIPHERMARK_EMBED_ORIGINS = [WIKI]
    stranger = Client().get("/embed/?group_by=os")
    assert stranger.status_code == 403
    assert "This site is private" in stranger.content.decode()
    assert WIKI in stranger.headers["Content-Security-Policy"]
    assert "<code>group_by</code>" in page(member, "/embed/?group_by=moon", expect=400)
    assert "No host has results" in page(member, "/embed/")
