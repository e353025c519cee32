import re
from typing import Any

import pytest
from django.test import Client

from tests.conftest import StoreRun
from tests.pages.conftest import link, page, text_of
from tests.pages.test_compare_page import chart
from tests.sample_documents import environment, run_document, ssh_measurement
from tests.upgraded_fleet import AES, HOSTS, upgraded_fleet

SERIES: dict[str, Any] = {"tool": "openssl", "group_by": "openssl_series"}


@pytest.fixture(autouse=True)
def fleet(store_run: StoreRun) -> None:
    upgraded_fleet(store_run)


def test_the_cost_of_an_upgrade_is_drawn_and_told(member: Client) -> None:
    html = page(member, "/", **SERIES, split_by="cpu", relative_to="1.1.1", matched=1)
    said = text_of(html)
    assert (
        "OpenSSL throughput by OpenSSL release series and CPU, relative to 1.1.1, matched hosts"
        in said
    )
    view = chart(html)
    assert view["comparison"]["unit"] == "relative"
    drawn = {
        (group["label"], group["split"]["label"]): group["relative"][AES]
        for group in view["comparison"]["groups"]
    }
    xeon = drawn["3.0", "Intel Xeon E5-2680"]
    assert xeon["ratio"] == pytest.approx(0.93, abs=0.01)
    assert xeon["low"] <= xeon["ratio"] <= xeon["high"] < 1
    assert set(drawn) == {("3.0", "AMD EPYC 9R14"), ("3.0", "Intel Xeon E5-2680")}
    (row,) = re.findall(rf'<tr data-group="3.0 intel.*?data-cipher="{AES}"(.*?)</td>', html, re.S)
    assert "−7.0 %" in text_of(row) or "−6.6 %" in text_of(row)
    assert "within the noise" not in text_of(row)
    assert re.search(
        r"Compared with 1\.1\.1, 1 of 4 results is [67]\.\d % lower \(Intel Xeon E5-2680\); "
        r"3 show no measurable difference\.",
        said,
    )
    for name in ("relative_to", "split_by"):
        assert re.search(rf'<select id="{name}".*?selected', html)


def test_groups_of_mostly_different_hosts_offer_their_common_ones(
    member: Client, store_run: StoreRun
) -> None:
    upgraded_fleet(store_run, only_new=4 * HOSTS)
    html = page(member, "/", **SERIES)
    assert "1.1.1 and 3.0 have mostly different hosts: only 16 of 49 are in both." in text_of(html)
    assert "through an upgrade, counts once in each of its groups." in text_of(html)
    assert "counts once in each" not in text_of(page(member, "/", **{**SERIES, "group_by": "cpu"}))
    matched = text_of(page(member, "/" + link(html, "Compare only matched hosts")))
    assert "OpenSSL results from 16 of" in matched
    assert "matched hosts" in matched


def test_versions_of_a_system_are_matched_too(member: Client, store_run: StoreRun) -> None:
    for number in range(9):
        for day, version in ((1, "11"), (2, "12")):
            if version == "12" or number < 3:
                stated = environment()
                stated["os"] = {"name": "Debian GNU/Linux", "version": version}
                store_run(
                    run_document(
                        ssh_measurement("aes128-ctr", 1e8),
                        host={"name": f"debian-{number}"},
                        environment=stated,
                        started_at=f"2026-02-0{day}T00:00:00Z",
                        finished_at=f"2026-02-0{day}T00:05:00Z",
                    )
                )
    html = page(member, "/", tool="ssh", group_by="os_version")
    matched = text_of(page(member, "/" + link(html, "Compare only matched hosts")))
    assert "results from 3 of" in matched
    assert "Debian GNU/Linux 11" in matched


def test_a_view_that_cannot_match_leads_out(member: Client) -> None:
    html = page(member, "/", group_by="cpu", matched=1)
    assert "No host has results in every group." in text_of(html)
    assert "No host has a figure" not in text_of(
        page(member, "/" + link(html, "Compare all hosts"))
    )


def test_without_a_host_in_all_groups_pairs_are_offered(
    member: Client, store_run: StoreRun
) -> None:
    upgraded_fleet(store_run, other="LibreSSL 3.8.2")
    html = page(member, "/", **SERIES, matched=1)
    assert "No host has results in every group." in text_of(html)
    assert "1.1.1 and 3.0 16 hosts in both" in text_of(html)
    split = page(member, "/", **SERIES, matched=1, split_by="cpu")
    assert "OpenSSL results from 16 of" in text_of(
        page(member, "/" + link(split, "<bdi>1.1.1</bdi> and <bdi>3.0</bdi>"))
    )


def test_the_front_page_leads_to_what_the_upgrade_cost(member: Client) -> None:
    address = link(page(member, "/"), "What did the OpenSSL upgrade cost")
    answer = member.get(address, follow=True)
    said = text_of(answer.content.decode())
    assert "by OpenSSL release series and CPU, relative to 1.1.1, matched hosts" in said
    assert "OpenSSL results from 16 of" in said
    assert "Common questions" not in said
