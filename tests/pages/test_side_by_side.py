"""Three or more hosts or runs side by side, ticked in their lists."""

import re
from typing import Any

import pytest
from django.test import Client

from store.models import Run
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
    """Three hosts: the second is faster and has another CPU, the third lacks a series."""
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
    assert "Each compared with nas, 2025-03-01 , the baseline" in said
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
    assert "+20.0 % n = 2: 1 faster, 0 slower" in said
    other = text_of(page(member, "/hosts/diff/", host=keys(hosts), baseline="web"))
    assert "Each compared with web, 2025-03-02 , the baseline" in other
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
    ((0, "No host is chosen"), (1, "Only one host is chosen"), (13, "13 hosts are chosen")),
)
def test_too_few_or_too_many_are_refused_in_words(member: Client, count: int, said: str) -> None:
    html = page(member, "/hosts/diff/", expect=400, host=[f"h{one}" for one in range(count)])
    assert f"{said}: choose 2 to 12." in text_of(html)


def test_the_lists_offer_what_can_be_ticked(member: Client, hosts: list[Run]) -> None:
    Run.objects.filter(pk=hosts[0].pk).update(status="rejected")
    for address, name, values in (
        ("/hosts/", "host", keys(hosts[1:])),
        ("/runs/", "run", [str(run.run_id) for run in hosts[1:]]),
    ):
        html = page(member, address)
        boxes = re.findall(rf'form="side-by-side" name="{name}" value="([^"]*)"', html)
        assert sorted(boxes) == sorted(values)
        assert f'action="/{name}s/diff/"' in html
