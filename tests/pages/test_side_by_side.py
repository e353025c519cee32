import re
from typing import Any

import pytest
from django.test import Client

from runs.models import Host, Run
from tests.conftest import StoreRun
from tests.histories import run_of_day, with_openssl
from tests.pages.conftest import page, text_of
from tests.sample_documents import environment, openssl_measurement, ssh_measurement

GCM = "aes128-gcm@openssh.com"
OLD, NEW = "OpenSSL 3.0.15 3 Sep 2024", "OpenSSL 3.0.19 27 Jan 2026"


def keys(runs: list[Run]) -> list[str]:
    return [run.host.slug for run in runs if run.host]


@pytest.fixture
def hosts(store_run: StoreRun) -> list[Run]:
    i7 = environment(model="Intel(R) Core(TM) i7-3770 CPU @ 3.40GHz")
    rates: dict[str, tuple[float, dict[str, Any]]] = {
        "nas": (100e6, environment()),
        "web": (144e6, i7),
        "old": (50e6, with_openssl(OLD)),
    }
    return [
        store_run(
            run_of_day(
                day,
                ssh_measurement(GCM, rate, rate, rate),
                *([ssh_measurement("aes256-ctr", *[1e8] * 3)] if name != "old" else []),
                openssl_measurement("aes-128-cbc", *[rate * 9] * 3),
                host={"name": name},
                environment=stated,
            )
        )
        for day, (name, (rate, stated)) in enumerate(rates.items())
    ]


def test_hosts_stand_against_the_first_or_the_one_chosen(member: Client, hosts: list[Run]) -> None:
    html = page(member, "/hosts/diff/", host=keys(hosts))
    said = text_of(html)
    assert "3 hosts side by side" in said
    assert "Each host is compared with nas, 2025-03-01 ." in said
    assert re.findall(r'"number side"><bdi>([^<]*)<', html)[:3] == [
        "nas, 2025-03-01",
        "web, 2025-03-02",
        "old, 2025-03-03",
    ]
    assert "aes128-gcm @openssh.com 100 MB/s 144 MB/s +44.0 % 50.0 MB/s −50.0 %" in said
    assert "aes256-ctr 100 MB/s 100 MB/s +0.0 % , within the noise –" in said
    assert "CPU AMD EPYC 9R14 Intel Core i7-3770 AMD EPYC 9R14" in said
    assert "OpenSSL OpenSSL 3.0.19 OpenSSL 3.0.19 OpenSSL 3.0.15" in said
    # The square root of 1.44 x 1.
    assert "+20.0 % 2 series: 1 faster, 0 slower" in said
    other = text_of(page(member, "/hosts/diff/", host=keys(hosts), baseline="web"))
    assert "Each host is compared with web, 2025-03-02 ." in other
    assert "aes128-gcm @openssh.com 144 MB/s 100 MB/s −30.6 % 50.0 MB/s −65.3 %" in other


def test_no_difference_is_stated_across_a_change_of_the_tool(
    member: Client, store_run: StoreRun
) -> None:
    runs = [
        store_run(
            run_of_day(
                day,
                openssl_measurement("aes-128-gcm", rate, rate, rate, block_size=16),
                environment=with_openssl(version),
            )
        )
        for day, (version, rate) in enumerate(((OLD, 8e8), (OLD, 4e8), (NEW, 5e7)))
    ]
    chosen = [str(run.run_id) for run in runs]
    html = page(member, "/runs/diff/", run=chosen)
    said = text_of(html)
    assert "1 difference across the change is not shown" in said
    assert "800 MB/s 400 MB/s −50.0 % 50.0 MB/s tool changed" in said
    asked = text_of(page(member, "/runs/diff/", run=chosen, across="1"))
    assert "800 MB/s 400 MB/s −50.0 % 50.0 MB/s −93.8 %" in asked


@pytest.mark.parametrize(
    ("count", "said"),
    ((0, "No hosts are selected"), (1, "Only one host is selected"), (5, "5 hosts are selected")),
)
def test_too_few_or_too_many_are_refused_in_words(member: Client, count: int, said: str) -> None:
    html = page(member, "/hosts/diff/", expect=400, host=[f"h{number}" for number in range(count)])
    assert f"{said}. Select 2 to 4 in the" in text_of(html)


def test_the_lists_offer_what_can_be_ticked(member: Client, hosts: list[Run]) -> None:
    Run.objects.filter(pk=hosts[0].pk).update(status="rejected")
    Host.objects.all().refresh_latest_run()
    for address, name, values in (
        ("/hosts/", "host", keys(hosts[1:])),
        ("/runs/", "run", [str(run.run_id) for run in hosts[1:]]),
    ):
        html = page(member, address)
        boxes = re.findall(rf'form="side-by-side" name="{name}" value="([^"]*)"', html)
        assert sorted(boxes) == sorted(values)
        assert f'action="/{name}s/diff/"' in html


def diff(first: Run, second: Run) -> str:
    return f"/runs/{first.run_id}/diff/{second.run_id}/"


def test_the_older_run_is_the_baseline_in_either_address(
    member: Client, store_run: StoreRun
) -> None:
    busy = [{"code": "busy", "detail": "other programs used 12 %"}]
    older, newer = (
        store_run(
            run_of_day(day, ssh_measurement(GCM, rate, rate, rate), rest, conditions=conditions)
        )
        for day, rate, rest, conditions in (
            (0, 125e6, ssh_measurement("aes256-ctr", 9e7), busy),
            (1, 100e6, openssl_measurement("rc4", 1e9), []),
        )
    )
    for address in (diff(older, newer), diff(newer, older)):
        html = page(member, address)
        said = text_of(html)
        assert "2 runs side by side" in said
        assert "100 MB/s −20.0 %" in said
        assert "busy" in said
        assert "2 results without a counterpart are not shown" in said
        headings = re.findall(r'"number side"><bdi>([^<]*)<', html)
        assert headings == ["nas, 2025-03-01", "nas, 2025-03-02"]
        assert "Leave out" not in html


def test_two_hosts_are_compared_by_their_latest_results(
    member: Client, hosts: list[Run], store_run: StoreRun
) -> None:
    nas, web = hosts[0], hosts[1]
    store_run(run_of_day(5, ssh_measurement(GCM, 72e6, 72e6, 72e6), host={"name": "web"}))
    html = page(member, f"/hosts/{nas.host_id}/diff/{web.host_id}/")
    said = text_of(html)
    assert "100 MB/s 72.0 MB/s −28.0 %" in said
    assert "aes256-ctr 100 MB/s 100 MB/s" in said
    same = page(member, "/hosts/diff/", host=["nas", "web"])
    figures = r"data-value=.*?</td>"
    assert re.findall(figures, same) == re.findall(figures, html)


@pytest.mark.parametrize("kind", ("runs", "hosts"))
def test_what_is_not_there_is_a_404(member: Client, store_run: StoreRun, kind: str) -> None:
    run = store_run(run_of_day(0))
    unknown = "0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d6e"
    own, unknown = (run.run_id, unknown) if kind == "runs" else (run.host_id, "4711")
    for path in (f"{own}/diff/{unknown}/", f"{unknown}/diff/{own}/", f"{unknown}/diff/"):
        page(member, f"/{kind}/{path}", expect=404)


def test_a_run_offers_those_of_its_host_and_searches_others(
    member: Client, store_run: StoreRun
) -> None:
    first, second = store_run(run_of_day(0)), store_run(run_of_day(1))
    foreign = store_run(run_of_day(1, host={"name": "web-7"}))
    html = page(member, f"/runs/{second.run_id}/")
    assert f'href="/runs/{second.run_id}/diff/"' in html
    choice = page(member, f"/runs/{second.run_id}/diff/")
    assert re.findall(r'href="(/runs/[^"]*/diff/[^"]+/)"', choice) == [diff(first, second)]
    found = page(member, f"/runs/{second.run_id}/diff/", q="WEB")
    assert re.findall(r'href="(/runs/[^"]*/diff/[^"]+/)"', found) == [diff(foreign, second)]
    nobody = page(member, f"/runs/{second.run_id}/diff/", q="nobody")
    assert "No other run matches" in text_of(nobody)
    alone = page(member, f"/runs/{foreign.run_id}/diff/")
    assert "This host has no other run" in text_of(alone)
