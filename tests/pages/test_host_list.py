import pytest
from django.test import Client

from tests.api.test_host_list import four
from tests.conftest import ApiClient, StoreRun
from tests.pages.conftest import link, page, text_of
from tests.pages.test_lists import GCM, machine, names
from tests.sample_documents import ssh_measurement

__all__ = ["four"]

URL = "/hosts/"
ADVICE = "Give the guest the host's CPU type (Proxmox: CPU type host; libvirt: cpu mode"


@pytest.mark.usefixtures("four")
def test_which_hosts_lose_aes_hardware_and_what_to_do_is_one_click_away(member: Client) -> None:
    html = page(member, URL)
    assert "1 host does not use its AES hardware (verdict: hidden)." in text_of(html)
    shown = page(member, URL + link(html, "Show causes and fixes"))
    assert names(shown) == ["guest"]
    said = text_of(shown)
    assert "The AMD EPYC 9R14 (zen4) has AES hardware, but the system" in said
    assert f"A hypervisor hides the AES hardware. {ADVICE}" in said
    assert 'id="lost"' not in shown


@pytest.mark.usefixtures("four")
def test_each_row_has_the_reason_of_its_verdict(member: Client) -> None:
    said = text_of(page(member, URL))
    assert "hardware 6.00 ×" in said
    assert "The hypervisor emulates a CPU (QEMU Virtual CPU version 2.5+)" in said
    assert "AES-128 was not measured both" not in said  # this host has no problem


@pytest.mark.usefixtures("four")
def test_headings_sort_and_once_more_turn_the_order_round(member: Client) -> None:
    html = page(member, URL, verdict=["hidden", "software", "hardware"])
    assert "aria-sort" not in html
    html = page(member, URL + link(html, "Host<"))
    assert names(html) == ["fast", "guest", "qemu"]
    assert 'aria-sort="ascending"><a class="sort" id="sort-name"' in html
    html = page(member, URL + link(html, "Host<"))
    assert names(html) == ["qemu", "guest", "fast"]
    assert 'aria-sort="descending"' in html
    assert names(page(member, URL + link(html, "AES acceleration"))) == ["guest", "qemu", "fast"]
    newest_first = link(html, "Most recently added first")
    narrowed = text_of(page(member, URL, q="guest", ordering="name"))
    assert "1 host found. Show all hosts · Most recently added first" in narrowed
    assert names(page(member, URL + newest_first)) == ["qemu", "guest", "fast"]


def test_a_host_is_found_by_the_only_name_that_begins_so(
    member: Client, reader: ApiClient, store_run: StoreRun
) -> None:
    for name in ("nas", "web-1", "web-2"):
        store_run(machine(name, ssh_measurement(GCM, 4e8)))
    found = reader.get("/api/v1/hosts/na/").json()
    assert found["name"] == "nas"
    several = reader.get("/api/v1/hosts/web/")
    assert several.status_code == 404
    assert several.json()["errors"][0]["detail"] == (
        "Unknown host 'web'; did you mean web-1, web-2?"
    )
    relative = {"relative_to": "host:na", "group_by": "host"}
    assert reader.get("/api/v1/comparison/", relative).json()["relative_to"]["label"] == "nas"
    assert "Ciphers for nas" in text_of(page(member, "/recommend/", host="na"))
