"""Pages on paper: as many sheets as they need, nothing cut off, nothing over something else."""

import io
import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pypdf import PageObject, PdfReader

from tests.browser.conftest import OpenPage
from tests.browser.site_tools import processed, upload
from tests.live_site import LiveSite
from tests.sample_documents import (
    environment,
    openssl_measurement,
    run_document,
    ssh_measurement,
)

CIPHERS = (
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "chacha20-poly1305@openssh.com",
    "aes128-ctr",
    "aes256-ctr",
    "3des-cbc",
)
GROUPS = 20
SHEETS = 3
MACS = ("", "hmac-sha2-256", "hmac-sha2-512-etm@openssh.com")
LETTER_WIDTH = 0.45
"""Of a letter, in font sizes: less than fonts have, so that no text seems wider than it is."""


@dataclass(frozen=True)
class Text:
    """A piece of text on a sheet; `x` and `y` of its beginning and `size` in points."""

    words: str
    x: float
    y: float
    size: float

    @property
    def right(self) -> float:
        """Where it ends at the least."""
        return self.x + LETTER_WIDTH * self.size * len(self.words)

    def covers(self, other: "Text") -> bool:
        """Whether both stand in one place on lines of their own."""
        apart = abs(self.y - other.y)
        beside = self.right <= other.x or other.right <= self.x
        return not beside and 0.6 < apart < 0.55 * min(self.size, other.size)


def printed(page: Page) -> list[PageObject]:
    return list(PdfReader(io.BytesIO(page.pdf(format="A4"))).pages)


def texts(sheet: PageObject) -> list[Text]:
    """The pieces of text of a sheet and where they stand."""
    found: list[Text] = []

    def take(words: str, outer: list[float], inner: list[float], _: Any, size: float) -> None:
        x = inner[4] * outer[0] + inner[5] * outer[2] + outer[4]
        y = inner[4] * outer[1] + inner[5] * outer[3] + outer[5]
        if words.strip():
            found.append(Text(words.strip(), x, y, abs(size * inner[3] * outer[3])))

    sheet.extract_text(visitor_text=take)
    return found


@pytest.fixture(scope="module")
def twenty_groups(site: LiveSite, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Twenty CPUs with the default ciphers; every figure is there once."""
    documents = (
        run_document(
            *(
                ssh_measurement(cipher, (100 + len(CIPHERS) * group + place) * 1e6)
                for place, cipher in enumerate(CIPHERS)
            ),
            host={"name": f"paper-{group}"},
            environment=environment(model=f"Paper {group:02}"),
            tags={"set": "paper"},
        )
        for group in range(GROUPS)
    )
    lines = tmp_path_factory.mktemp("paper") / "runs.ndjson"
    lines.write_text("\n".join(map(json.dumps, documents)))
    site.manage("load_runs", str(lines), "--jobs", "1")


@pytest.fixture(scope="module")
def full_host(site: LiveSite) -> int:
    """A host with several MACs, both tools and a note, as a thorough run leaves it."""
    negotiated = {
        "kex": "sntrup761x25519-sha512@openssh.com",
        "mac": "umac-64-etm@openssh.com",
    }
    run_id = upload(
        site,
        run_document(
            *(
                ssh_measurement(cipher, 3e8, 3.1e8, 2.9e8, negotiated=negotiated, mac=mac)
                for cipher in CIPHERS
                for mac in MACS
            ),
            *(
                openssl_measurement(cipher, 1e9, block_size=size)
                for cipher in ("aes-128-gcm", "aes-256-gcm", "chacha20-poly1305", "aes-128-ctr")
                for size in (16, 1024, 16384)
            ),
            host={"name": "printed-host"},
        ),
        site.token("upload"),
    )
    host: int = processed(site, run_id)["host_id"]
    return host


@pytest.mark.usefixtures("twenty_groups")
def test_twenty_groups_take_three_sheets_and_none_is_split(open_page: OpenPage) -> None:
    page = open_page("/?tag=set:paper&group_by=cpu")
    sheets = [sheet.extract_text() for sheet in printed(page)]
    assert len(sheets) <= SHEETS
    for group in range(GROUPS):
        (where,) = (at for at, text in enumerate(sheets) if f"Paper {group:02}" in text)
        for place in range(len(CIPHERS)):
            figure = f"{100 + len(CIPHERS) * group + place} MB/s"
            assert len(re.findall(rf"\b{figure}", sheets[where])) == 1, (group, figure)


@pytest.mark.usefixtures("twenty_groups")
@pytest.mark.parametrize("which", ("compare", "host"))
def test_nothing_is_cut_off_or_printed_over(
    open_page: OpenPage, full_host: int, which: str
) -> None:
    page = open_page("/?tag=set:paper" if which == "compare" else f"/hosts/{full_host}/")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    sheets = printed(page)
    assert sum(len(texts(sheet)) for sheet in sheets) > 200
    for number, sheet in enumerate(sheets, start=1):
        placed = texts(sheet)
        assert placed, f"sheet {number} is empty"
        width = float(sheet.mediabox.width)
        assert [one for one in placed if one.x < 0 or one.right > width - 10] == []
        over = [(a, b) for a in placed for b in placed if a.y < b.y and a.covers(b)]
        assert over == [], f"sheet {number}"


def test_a_table_that_is_wider_than_a_phone_is_whole_on_paper(
    open_page: OpenPage, full_host: int
) -> None:
    page = open_page(f"/hosts/{full_host}/")
    words = " ".join(one.words for sheet in printed(page) for one in texts(sheet))
    for heading in ("CPU s/GB", "ssh adds", "Negotiated", "Source"):
        assert heading in words, heading


@pytest.mark.parametrize("scripts", (True, False), ids=("script", "no-script"))
def test_closed_parts_are_open_on_paper(open_page: OpenPage, full_host: int, scripts: bool) -> None:
    page = open_page(f"/hosts/{full_host}/", java_script_enabled=scripts)
    closed = page.locator("details.fold:not([open])")
    before = closed.count()
    assert before >= 2, "OpenSSL's standing and series begin closed"
    words = " ".join(one.words for sheet in printed(page) for one in texts(sheet))
    for cipher in ("aes-128-gcm", "aes-256-gcm", "aes-128-ctr"):
        assert words.count(cipher) > 3, cipher
    assert closed.count() == before


def test_paper_opens_parts_in_browsers_whose_css_cannot(
    open_page: OpenPage, full_host: int
) -> None:
    page = open_page(f"/hosts/{full_host}/")
    closed = page.locator("details.fold:not([open])")
    before = closed.count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(closed).to_have_count(0)
    expect(page.locator("#downloads-menu")).not_to_have_attribute("open", "")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(closed).to_have_count(before)


def test_a_recommendation_is_whole_on_paper_without_its_buttons(
    open_page: OpenPage, full_host: int
) -> None:
    page = open_page("/recommend/?host=printed-host&policy=compatible")
    lines = page.locator("#ssh-config").inner_text().split()
    sheets = printed(page)
    words = "".join(one.words for sheet in sheets for one in texts(sheet)).replace(" ", "")
    assert "".join(lines) in words
    assert "Copy" not in words
    for sheet in sheets:
        width = float(sheet.mediabox.width)
        assert [one for one in texts(sheet) if one.right > width - 10] == []
