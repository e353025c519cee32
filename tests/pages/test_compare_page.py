import json
import os
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.cases import each
from tests.conftest import ApiClient, StoreRun, csv_rows
from tests.histories import with_openssl
from tests.pages.conftest import link, page, table_values, text_of
from tests.sample_documents import environment, openssl_measurement, run_document, ssh_measurement

GCM = "aes128-gcm@openssh.com"
I7 = "intel-core-i7-2635qm"


def machine(name: str, *measurements: dict[str, Any], cpu: str = "AMD EPYC 9R14") -> dict[str, Any]:
    return run_document(*measurements, host={"name": name}, environment=environment(model=cpu))


def chart(html: str) -> dict[str, Any]:
    found = re.search(r'<script id="chart-view" type="application/json">(.*?)</script>', html)
    assert found is not None
    view: dict[str, Any] = json.loads(found[1])
    return view


@pytest.mark.usefixtures("published")
def test_the_published_figures_stand_in_table_and_chart(member: Client) -> None:
    html = page(member, "/", cipher=GCM)
    assert table_values(html)[I7] == {GCM: 328370000.0}
    assert "328 MB/s" in text_of(html)
    group = next(group for group in chart(html)["comparison"]["groups"] if group["key"] == I7)
    assert group["values"][GCM]["median"] == 328370000.0


def test_a_machine_without_sshd_is_led_to_and_told_what_ssh_needs(
    member: Client, store_run: StoreRun
) -> None:
    store_run(machine("bare", openssl_measurement("aes-128-gcm", 1e9)))
    said = text_of(page(member, "/"))
    assert "sudo apt install openssh-server" in said
    assert "/?tool=openssl&amp;group_by=cpu" in page(member, "/")
    assert "openssh-server" not in text_of(page(member, "/", tool="openssl"))
    store_run(machine("whole", ssh_measurement(GCM, 1e8)))
    assert "openssh-server" not in text_of(page(member, "/"))


@pytest.mark.usefixtures("published")
def test_table_chart_and_api_have_the_same_numbers(member: Client, reader: ApiClient) -> None:
    html = page(member, "/", group_by="os", source="published")
    view = chart(html)
    drawn = {
        group["key"]: {name: value["median"] for name, value in group["values"].items()}
        for group in view["comparison"]["groups"]
    }
    assert table_values(html) == drawn
    (address,) = re.findall(r'href="(/api/v1/comparison/[^"]*)"', html)
    answer = reader.get(unescape(address)).json()
    for shown in (answer, view["comparison"]):  # the page shows the fastest first
        shown["ciphers"].sort()
        shown["groups"].sort(key=lambda group: group["key"])
    assert answer == view["comparison"]


@pytest.mark.usefixtures("published")
def test_a_machine_measured_by_an_agent_stands_out_from_the_published(
    member: Client, store_run: StoreRun
) -> None:
    store_run(machine("nas", ssh_measurement(GCM, 400e6)))
    html = page(member, "/", group_by="cpu")
    assert html.count("Measured with the agent") == 1
    counted = re.search(
        r"results from (\d+) of (\d+) hosts in \d+ groups \(sources: agent, p", text_of(html)
    )
    assert counted is not None
    assert int(counted[1]) < int(counted[2])
    assert f"{counted[2]} hosts ({int(counted[2]) - 1} published)" in text_of(
        page(member, "/hosts/")
    )
    assert chart(html)["measured_here"] == ["amd-epyc-9r14"]


def test_what_is_often_asked_is_one_click_away(member: Client, store_run: StoreRun) -> None:
    for name in ("nas", "web"):
        store_run(machine(name, ssh_measurement(GCM, 400e6)))
    html = page(member, "/")
    (asked,) = re.findall(r'<p class="asks.*?</p>', html)
    addresses = [unescape(match) for match in re.findall(r'href="([^"]*)"', asked)]
    assert len(addresses) == 2
    answers = [member.get(address, follow=True) for address in addresses]
    assert {answer.status_code for answer in answers} == {200}
    assert 'name="client"' in answers[1].content.decode()  # the form for two hosts
    assert "Common questions" not in text_of(page(member, "/", group_by="os"))


def test_a_cpu_leads_to_its_versions_of_the_operating_system(
    member: Client, store_run: StoreRun
) -> None:
    for number, version in enumerate(("11", "12", "12")):
        system = {"id": "debian", "name": "Debian GNU/Linux", "version": version}
        facts = {**environment(model="VIA C7" if number == 2 else "AMD EPYC 9R14"), "os": system}
        measured = ssh_measurement(GCM, (number + 1) * 1e8)
        store_run(run_document(measured, host={"name": f"h{number}"}, environment=facts))
    for group_by, hosts in (("cpu", 2), ("os", 3)):
        html = page(member, "/", group_by=group_by)
        assert html.count(">by OS version<") == 1
        versions = page(member, "/" + link(html, "by OS version"))
        assert set(table_values(versions)) == {"debian-gnu-linux-11", "debian-gnu-linux-12"}
        assert f"results from {hosts} of 3 hosts" in text_of(versions)


def test_while_this_machine_is_measured_the_page_says_so(
    member: Client, tmp_path: Path, settings: Any
) -> None:
    settings.MEASURING_FILE = tmp_path / "measuring"
    assert "is being measured" not in text_of(page(member, "/"))
    settings.MEASURING_FILE.touch()
    assert "This server is being measured" in text_of(page(member, "/"))
    os.utime(settings.MEASURING_FILE, (0, 0))  # left by a killed `make run`
    assert "is being measured" not in text_of(page(member, "/"))


def test_groups_of_several_machines_show_quartiles_and_n(
    member: Client, store_run: StoreRun
) -> None:
    for name, rate in (("a", 100e6), ("b", 200e6), ("c", 300e6)):
        store_run(machine(name, ssh_measurement(GCM, rate)))
    html = page(member, "/")
    assert re.search('title="[^"]*, n = 3, quartiles 150 – 250 MB/s"', html)
    assert "3 hosts" in text_of(html)


def test_a_view_without_figures_of_its_block_size_offers_the_other_sizes(
    member: Client, store_run: StoreRun
) -> None:
    sizes = (openssl_measurement("aes-128-gcm", 1e9, block_size=size) for size in (1024, 16384))
    store_run(machine("a", *sizes))
    html = page(member, "/", tool="openssl", host="a")
    assert "Show 1 KiB blocks Show 16 KiB blocks" in text_of(html)
    assert "8 KiB blocks" not in text_of(html)
    assert table_values(page(member, "/", tool="openssl", host="a", block_size="16384"))
    assert "tool=openssl&amp;host=a&amp;block_size=16384" in html


@pytest.mark.usefixtures("published")
def test_filters_that_leave_nothing_can_be_cleared(member: Client) -> None:
    html = page(member, "/", cpu="no-such-cpu", os="linux")
    said = text_of(html)
    assert "No matching results." in said
    assert 'href="?"' in html
    assert re.search(r'value="no-such-cpu"[^>]*checked', html)


def test_at_most_six_ciphers_are_shown_unasked(member: Client, store_run: StoreRun) -> None:
    names = ("camellia-128", "camellia-192", "camellia-256", "cast5", "idea", "rc2", "seed", "sm4")
    store_run(machine("a", *(openssl_measurement(f"{name}-cbc", 1e8) for name in names)))
    (values,) = table_values(page(member, "/", tool="openssl")).values()
    assert len(values) == 6


@each(
    ("query", "said"),
    (
        ({"tool": "gpg"}, "tool : 'gpg' is not valid; use ssh or openssl."),
        ({"tool": "ssl"}, "tool : 'ssl' is not valid; use ssh or openssl."),
        ({"tool": "shh"}, "tool : 'shh' is not valid; did you mean ssh?"),
        ({"group_by": "opensssl"}, "did you mean openssl"),
        ({"cipher": "aes128-gmc"}, "did you mean aes128-gcm@openssh.com?"),
        ({"metric": "speed", "group_by": "colour"}, "group_by : 'colour' is not valid; use"),
        ({"block_size": "big", "tool": "openssl"}, "block_size : Enter a whole number."),
        ({"since": "yesterday"}, "since : Enter a date (2026-11-21)"),
    ),
)
def test_a_bad_parameter_is_refused_in_words(
    member: Client, query: dict[str, str], said: str
) -> None:
    html = page(member, "/", expect=400, **query)
    assert said in text_of(html)
    assert 'id="compare-form"' in html


def test_groups_can_be_sorted_and_the_best_stands_first_in_page_and_files(
    member: Client, reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(
        machine("a", ssh_measurement(GCM, 1e8), ssh_measurement("aes128-ctr", 3e8), cpu="Slow")
    )
    store_run(
        machine("b", ssh_measurement(GCM, 4e8), ssh_measurement("aes128-ctr", 1e8), cpu="Quick")
    )
    store_run(machine("c", ssh_measurement("aes128-ctr", 2e8), cpu="Zero"))
    assert list(table_values(page(member, "/"))) == ["quick", "slow", "zero"]
    assert list(table_values(page(member, "/", sort="best"))) == ["quick", "slow", "zero"]
    by_ctr = page(member, "/", sort="cipher:aes128-ctr")
    assert list(table_values(by_ctr)) == ["slow", "zero", "quick"]
    for sort in ("", "name", "cipher:aes128-ctr"):
        html = page(member, "/", sort=sort)
        csv, groups = (
            unescape(re.findall(rf'href="(/api/v1/{path}[^"]*)"', html)[0])
            for path in ("exports/comparison.csv", "comparison/")
        )
        shown, rows = list(table_values(html)), csv_rows(reader.get(csv))
        assert list(dict.fromkeys(row["group_key"] for row in rows)) == shown
        assert [group["key"] for group in reader.get(groups).json()["groups"]] == shown


@pytest.mark.usefixtures("published")
def test_published_groups_lead_to_their_sources(member: Client) -> None:
    html = page(member, "/")
    assert f"/runs/?cpu={I7}" in html
    runs = page(member, "/runs/", cpu=I7)
    first = re.search(r'href="(/runs/[0-9a-f-]{36}/)"', runs)
    assert first is not None
    assert "Source of these results" in text_of(page(member, first[1]))


@pytest.mark.usefixtures("published")
def test_imported_results_are_marked_beside_published_ones(
    member: Client, store_run: StoreRun
) -> None:
    assert "Unknown CPU published 3 hosts" in text_of(page(member, "/", cipher=GCM))
    slow = run_document(
        ssh_measurement(GCM, 1e6), host={"name": "slow"}, environment=environment(model=None)
    )
    store_run(slow, "import")
    assert "Unknown CPU imported published 4 hosts" in text_of(page(member, "/", cipher=GCM))


def test_the_page_allows_no_inline_code_or_style(member: Client, store_run: StoreRun) -> None:
    store_run(machine("a"))
    response = member.get("/")
    policy = response["Content-Security-Policy"]
    assert "unsafe" not in policy
    html = response.content.decode()
    assert " style=" not in html
    assert not re.search(r" on[a-z]+=", html)
    for script in re.findall(r"<script[^>]*>", html):
        assert " src=" in script or 'type="application/json"' in script


@each("host", (False, True))
def test_no_difference_is_stated_across_a_change_of_the_tool(
    member: Client, reader: ApiClient, store_run: StoreRun, host: bool
) -> None:
    for name, version, rate in (("old", "OpenSSL 3.0.15", 1e9), ("new", "OpenSSL 3.0.16", 1.2e8)):
        measured = (openssl_measurement(cipher, rate) for cipher in ("aes-128-gcm", "aes-128-cbc"))
        store_run(run_document(*measured, host={"name": name}, environment=with_openssl(version)))
    reference = "host:old" if host else "openssl-3.0.15"
    asked: dict[str, Any] = {"tool": "openssl", "group_by": "openssl", "relative_to": reference}
    said = text_of(page(member, "/", **asked))
    assert "120 MB/s low confidence tool changed" in said
    assert said.count("−88 %") == 1  # for CBC, which is measured as before
    drawn = chart(page(member, "/", **asked))["comparison"]
    new = reader.get("/api/v1/comparison/", asked).json()["groups"][-1]["relative"]
    assert new["aes-128-gcm"]["tool_changed"] is True
    assert new["aes-128-gcm"]["ratio"] == pytest.approx(0.12)
    assert "tool_changed" not in new["aes-128-cbc"]
    assert (drawn["unit"], drawn["groups"][-1]["relative"]) == ("relative", new)
    rows = csv_rows(reader.get("/api/v1/exports/comparison.csv", asked))
    told = {row["cipher"]: row["tool_changed"] for row in rows if row["ratio"] not in ("", "1.0")}
    assert told == {"aes-128-gcm": "true", "aes-128-cbc": "false"}


def test_releases_on_both_sides_of_a_change_of_the_tool_are_told_apart(
    member: Client, store_run: StoreRun
) -> None:
    for name, version in (("old", "OpenSSL 3.0.15"), ("new", "OpenSSL 3.0.19")):
        store_run(
            run_document(
                openssl_measurement("aes-128-gcm", 1e9),
                openssl_measurement("aes-128-cbc", 1e9),
                host={"name": name},
                environment=with_openssl(version),
            )
        )
    html = page(member, "/", tool="openssl", group_by="openssl")
    said = text_of(html)
    assert "The openssl speed command changed between these releases" in said
    assert "aes-128-gcm: OpenSSL 3.0.15" in said
    assert "OpenSSL 3.0.19 the new one" in said
    assert '"openssl-3.0.19": "1 host, tool changed"' in html
    for quiet in ({"cipher": "aes-128-cbc"}, {"group_by": "cpu"}):
        query = {"tool": "openssl", "group_by": "openssl", **quiet}
        assert "the tool changed" not in text_of(page(member, "/", 200, **query))


def test_a_filter_searches_all_of_its_values(
    member: Client, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compare.facets.MOST_OPTIONS", 2)
    for number in range(5):
        store_run(run_document(host={"name": f"H{number}"}, tags={"rack": f"R{number}"}))
    for key, name, value in (("host", "host", "h4"), ("tag-rack", "tag", "rack:R4")):
        html = page(member, f"/?find-{key}={value[-2:].lower()}")
        (shown,) = re.findall(rf'id="facet-{key}".*?</details>', html, re.S)
        assert re.findall(rf'name="{name}" value="([^"]*)"', shown) == [value]
        assert '<span class="badge">5</span>' in shown
        assert "more" not in text_of(shown)
        (shown,) = re.findall(rf'id="facet-{key}".*?</details>', page(member, "/"), re.S)
        assert "3 more" in text_of(shown)
