"""The compare page relative to a group, matched and split."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from tests.conftest import StoreRun
from tests.histories import run_of_day, with_openssl
from tests.pages.conftest import link, page, text_of
from tests.pages.test_compare_page import chart
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement
from tests.upgraded_fleet import AES, HOSTS, upgraded_fleet

SERIES: dict[str, Any] = {"tool": "openssl", "group_by": "openssl_series"}


@pytest.fixture(autouse=True)
def fleet(store_run: StoreRun) -> None:
    upgraded_fleet(store_run)


def test_the_cost_of_an_upgrade_is_drawn_and_told(member: Client) -> None:
    html = page(member, "/", **SERIES, split_by="cpu", relative_to="1.1.1", matched=1)
    said = text_of(html)
    assert "OpenSSL throughput by OpenSSL series and CPU, relative to 1.1.1, matched hosts" in said
    view = chart(html)
    assert (view["kind"], view["comparison"]["unit"]) == ("relative", "relative")
    drawn = {group["label"]: group["values"][AES] for group in view["comparison"]["groups"]}
    xeon = drawn["3.0 · Intel Xeon E5-2680"]
    assert xeon["median"] == pytest.approx(0.93, abs=0.01)
    assert xeon["q1"] <= xeon["median"] <= xeon["q3"] < 1
    assert set(drawn) == {"3.0 · AMD EPYC 9R14", "3.0 · Intel Xeon E5-2680"}
    (row,) = re.findall(rf'data-group="3.0 intel.*?data-cipher="{AES}">(.*?)</tr>', html, re.S)
    assert "−7.0 %" in text_of(row) or "−6.6 %" in text_of(row)
    assert "within the noise" not in text_of(row)
    assert re.search(
        r"Against 1\.1\.1: 1 of 4 figures is lower beyond the noise, −[67]\.\d % "
        r"\(Intel Xeon E5-2680\); the other 3 are within it\.",
        said,
    )
    for name in ("relative_to", "split_by"):
        assert re.search(rf'<select id="{name}".*?selected', html)


def test_groups_of_mostly_different_hosts_offer_their_common_ones(
    member: Client, store_run: StoreRun
) -> None:
    upgraded_fleet(store_run, only_new=4 * HOSTS)
    html = page(member, "/", **SERIES)
    assert "1.1.1 and 3.0 hold mostly different hosts: 16 of 49 are in both." in text_of(html)
    matched = text_of(page(member, "/" + link(html, "Compare those alone")))
    assert "2 groups, 16 hosts" in matched
    assert "matched hosts" in matched


def test_groups_of_different_hosts_do_not_say_that_nothing_differs(
    member: Client, store_run: StoreRun
) -> None:
    view = {**SERIES, "relative_to": "1.1.1", "cipher": AES}
    said = text_of(page(member, "/", **view))
    assert "Compare those alone" in said
    assert "none of 1 figure differs" not in said
    assert "the groups' medians tell none of 1 figure apart; smaller differences may" in said
    assert "groups' medians" not in text_of(page(member, "/", **view, matched=1))


def test_a_view_that_cannot_match_leads_out(member: Client) -> None:
    html = page(member, "/", group_by="cpu", matched=1)
    assert "No host has a figure in every group of this view." in text_of(html)
    assert "No host has a figure" not in text_of(
        page(member, "/" + link(html, "Compare all hosts"))
    )


def test_a_metric_that_nobody_measured_is_said(member: Client) -> None:
    html = page(member, "/", **SERIES, metric="cpu_seconds_per_gb")
    assert "No run of this view measured CPU time" in text_of(html)
    assert "2 groups" in text_of(page(member, "/" + link(html, "Show plain throughput")))


def test_cpu_time_without_a_baseline_is_not_called_unmeasured(
    member: Client, store_run: StoreRun
) -> None:
    measured = ssh_measurement("aes128-ctr", 1e8)
    for sample in measured["samples"]:
        sample.update(client_cpu_seconds=0.4, server_cpu_seconds=0.8)
    store_run(run_document(measured))
    html = text_of(page(member, "/", group_by="cpu", metric="cpu_bound_normalised"))
    assert "1 host measured these ciphers without the baseline" in html
    assert "No run of this view measured CPU time" not in html


def test_without_a_host_in_all_groups_pairs_are_offered(
    member: Client, store_run: StoreRun
) -> None:
    upgraded_fleet(store_run, other="LibreSSL 3.8.2")
    html = page(member, "/", **SERIES, matched=1)
    assert "No host has a figure in every group of this view." in text_of(html)
    assert "1.1.1 and 3.0 16 hosts in both" in text_of(html)
    split = page(member, "/", **SERIES, matched=1, split_by="cpu")
    assert "4 groups, 16 hosts" in text_of(
        page(member, "/" + link(split, "<bdi>1.1.1</bdi> and <bdi>3.0</bdi>"))
    )


def test_the_front_page_leads_to_what_the_upgrade_cost(member: Client) -> None:
    address = link(page(member, "/"), "What did the OpenSSL upgrade cost")
    answer = member.get(address, follow=True)
    said = text_of(answer.content.decode())
    assert "by OpenSSL series and CPU, relative to 1.1.1, matched hosts" in said
    assert "4 groups, 16 hosts" in said
    assert "Often asked" not in said


def test_by_cpu_one_gets_to_what_each_lost(member: Client) -> None:
    html = page(member, "/", tool="openssl", split_by="openssl_series", matched=1)
    said = text_of(page(member, "/" + link(html, "compare by OpenSSL series, split by CPU")))
    assert "by OpenSSL series and CPU, relative to 1.1.1, matched hosts" in said


def test_hosts_of_unknown_openssl_are_in_nobodys_way(member: Client, store_run: StoreRun) -> None:
    upgraded_fleet(store_run, other="a build of my own")
    assert "Unknown OpenSSL" in page(member, "/", **SERIES)
    html = page(member, "/", **SERIES, relative_to="1.1.1")
    assert "1.1.1 and 3.0 hold 16 hosts in common." in text_of(html)
    assert "2 groups, 16 hosts" in text_of(page(member, "/" + link(html, "Compare those alone")))
    assert "2 groups, 16 hosts" in text_of(page(member, "/", **SERIES, matched=1))


def test_latest_undisturbed_runs_are_offered(member: Client, store_run: StoreRun) -> None:
    def run(day: int, rate: float, *conditions: dict[str, str]) -> None:
        store_run(
            run_of_day(
                day,
                openssl_measurement(AES, rate),
                host={"name": "later"},
                environment=with_openssl("OpenSSL 3.0.19"),
                conditions=list(conditions),
            )
        )

    run(1, 4e9)
    run(2, 1e9, {"code": "busy", "detail": "others"})
    asked: dict[str, Any] = {**SERIES, "relative_to": "1.1.1"}
    html = page(member, "/", **asked)
    assert (
        "and 18 hosts have one here that was disturbed, which can hide a small difference."
        in text_of(html)
    )
    address = link(html, "Count the latest undisturbed")
    html = page(member, f"/{address}&host=later")
    assert "4.00 GB/s" in text_of(html)
    assert "that was disturbed" not in html


def test_an_upgrade_is_not_looked_for_within_each_release(member: Client) -> None:
    asked: dict[str, Any] = {
        "tool": "openssl",
        "group_by": "cpu",
        "split_by": "openssl_series",
        "matched": 1,
    }
    html = page(member, "/", **asked)
    assert "Hosts seldom change their CPU: compare by OpenSSL series, split by CPU" in text_of(html)
    assert "4 groups, 16 hosts" in text_of(
        page(member, "/" + link(html, "compare by OpenSSL series"))
    )


def test_what_no_longer_fits_the_grouping_is_passed_over_and_said(member: Client) -> None:
    html = page(member, "/", tool="openssl", group_by="cpu", relative_to="3.0", split_by="host")
    said = text_of(html)
    assert "Not applied: No group by cpu has the key '3.0'." in said
    assert "Not applied: host has 17 values here; choose at most 12 by a filter." in said
    assert chart(html)["kind"] == "bars"
    assert page(member, "/", expect=400, relative_to="3.0", metric="speed")


def test_the_runs_of_a_group_are_those_of_its_split(member: Client) -> None:
    html = page(member, "/", **SERIES, split_by="cpu")
    addresses = [
        unescape(one) for one in re.findall(r'href="(/runs/\?openssl_series=[^"]*)"', html)
    ]
    assert "/runs/?openssl_series=3.0&cpu=intel-xeon-e5-2680" in addresses
    runs = page(member, "/runs/?openssl_series=3.0&cpu=intel-xeon-e5-2680")
    assert len(set(re.findall(r"/runs/[0-9a-f-]{36}/", runs))) == HOSTS


def test_a_compact_table_has_a_row_for_each_group_with_its_differences(member: Client) -> None:
    html = page(member, "/", **SERIES, relative_to="1.1.1", table="compact")
    rows = re.findall(r'<tr data-row="(.*?)".*?</tr>', html)
    assert rows == ["1.1.1", "3.0"]
    assert html.count("data-ratio=") == 2
    assert "?tool=openssl&amp;group_by=openssl_series" in html
    assert f"sort=cipher%3A{AES}" in html


def test_the_view_is_had_as_json(member: Client) -> None:
    html = page(member, "/", **SERIES, relative_to="1.1.1", scale="log", top="50")
    (address,) = re.findall(r'href="(/api/v1/comparison/[^"]*)"', html)
    answer = member.get(unescape(address)).json()
    assert answer["relative_to"]["key"] == "1.1.1"
    assert f'"http://testserver{address}"' in html.replace("&quot;", '"')
