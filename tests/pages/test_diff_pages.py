"""Two runs, or two hosts, side by side."""

import re

import pytest
from django.test import Client

from store.models import Run
from tests.conftest import StoreRun
from tests.histories import run_of_day, with_openssl
from tests.pages.conftest import page, text_of
from tests.sample_documents import (
    environment,
    openssl_measurement,
    ssh_measurement,
)

GCM = "aes128-gcm@openssh.com"
OLD, NEW = "OpenSSL 3.0.15 3 Sep 2024", "OpenSSL 3.0.19 27 Jan 2026"
UNKNOWN = "0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d6e"


def diff(first: Run, second: Run) -> str:
    return f"/runs/{first.run_id}/diff/{second.run_id}/"


def test_two_runs_are_compared_series_by_series(member: Client, store_run: StoreRun) -> None:
    busy = [{"code": "busy", "detail": "other processes used 12 %"}]
    first = store_run(
        run_of_day(
            0,
            ssh_measurement(GCM, 100e6, 100e6, 100e6),
            ssh_measurement("aes128-ctr", 100e6, 100e6, 100e6),
            ssh_measurement("3des-cbc", 20e6),
            ssh_measurement("aes256-ctr", 90e6),
            conditions=busy,
        )
    )
    second = store_run(
        run_of_day(
            1,
            ssh_measurement(GCM, 144e6, 144e6, 144e6),
            ssh_measurement("aes128-ctr", 103e6, 103e6, 103e6),
            ssh_measurement("3des-cbc", 40e6),
            openssl_measurement("rc4", 1e9),
            environment={**environment(microcode="0xa1"), "openssl": {"version_text": OLD}},
        )
    )
    html = page(member, diff(first, second))
    said = text_of(html)
    assert "1.44 × +44.0 % faster ± 5.0 %" in said
    assert "1.03 × +3.0 % within the noise" in said
    assert "2.00 × +100.0 % too few tries to tell –" in said
    # The cube root of 1.44 x 1.03 x 2.
    assert "SSH 1.44 × +43.7 % 3 1 faster, 0 slower" in said
    assert "OpenSSL: OpenSSL 3.0.19 → OpenSSL 3.0.15" in said
    assert "microcode not stated 0xa1" in said
    assert "busy : other processes used 12 %" in said
    assert "Only nas, 2025-03-01 SSH, pipeline, loopback: aes256-ctr" in said
    assert "Only nas, 2025-03-02 OpenSSL, encrypt, 1 thread: rc4 (8 KiB blocks)" in said
    assert "Baseline: nas, 2025-03-01" in said
    assert "Compared: nas, 2025-03-02" in said
    assert "nas, 2025-03-02 compared with nas, 2025-03-01 , the baseline" in said
    assert "Swap" not in said


def test_the_older_run_is_the_baseline_in_either_address(
    member: Client, store_run: StoreRun
) -> None:
    older, newer = (
        store_run(run_of_day(day, ssh_measurement(GCM, rate, rate, rate)))
        for day, rate in enumerate((125e6, 100e6))
    )
    for address in (diff(older, newer), diff(newer, older)):
        html = page(member, address)
        assert "0.800 × −20.0 % slower" in text_of(html)
        headings = re.findall(r'<th scope="col" class="number side"><bdi>([^<]*)<', html)
        assert headings == ["nas, 2025-03-01", "nas, 2025-03-02"]


def test_no_ratio_is_stated_across_a_change_of_the_tool_unless_asked(
    member: Client, store_run: StoreRun
) -> None:
    first, second = (
        store_run(
            run_of_day(
                day,
                openssl_measurement("aes-128-gcm", rate, rate, rate, block_size=16),
                openssl_measurement("aes-128-cbc", 1e9, 1e9, 1e9, block_size=16),
                environment=with_openssl(version),
            )
        )
        for day, (version, rate) in enumerate(((OLD, 800e6), (NEW, 50e6)))
    )
    html = page(member, diff(first, second))
    said = text_of(html)
    assert "The tool changed between the two" in said
    assert "no ratio is shown for 1 series" in said
    assert "– – tool changed" in said
    assert "−93.8 %" not in said
    assert "OpenSSL 1.00 × +0.0 % 1 0 faster, 0 slower 1 across a change" in said
    assert 'href="?across=1"' in html
    asked = text_of(page(member, diff(first, second), across="1"))
    assert "0.0625 × −93.8 % slower" in asked
    assert "Ratios across the change are shown" in asked


def test_two_hosts_are_compared_by_their_latest_results(
    member: Client, store_run: StoreRun
) -> None:
    store_run(run_of_day(0, ssh_measurement(GCM, 9e6), ssh_measurement("aes256-ctr", 5e7)))
    nas = store_run(run_of_day(1, ssh_measurement(GCM, 1e8, 1e8, 1e8)))
    other = store_run(
        run_of_day(
            1,
            ssh_measurement(GCM, 3e8, 3e8, 3e8),
            ssh_measurement("aes256-ctr", 5e7),
            host={"name": "other"},
            environment={
                **environment(model="Intel(R) Core(TM) i7-3770 CPU @ 3.40GHz"),
                "openssl": {"version_text": OLD},
                "os": {"name": "Debian GNU/Linux", "version": "13"},
                "virtualization": "none",
            },
        )
    )
    html = page(member, f"/hosts/{nas.host_id}/diff/{other.host_id}/")
    said = text_of(html)
    assert "Two hosts side by side" in said
    assert "3.00 × +200.0 % faster" in said
    assert "SSH 1.73 ×" in said
    assert "AMD EPYC 9R14 → Intel Core i7-3770" in said
    facts = re.findall(r'<th scope="row">(CPU|virtualisation|OpenSSL|OS)</th>', html)
    assert facts == ["CPU", "virtualisation", "OpenSSL", "OS"]
    assert re.findall(r'"number side"><bdi>([^<]*)<', html) == [
        "nas, 2025-03-02",
        "other, 2025-03-02",
    ]
    assert f'href="/hosts/{other.host_id}/diff/{nas.host_id}/"' in html


@pytest.mark.parametrize("kind", ("runs", "hosts"))
def test_what_is_not_there_is_a_404(member: Client, store_run: StoreRun, kind: str) -> None:
    run = store_run(run_of_day(0))
    own, unknown = (run.run_id, UNKNOWN) if kind == "runs" else (run.host_id, "4711")
    for path in (f"{own}/diff/{unknown}/", f"{unknown}/diff/{own}/", f"{unknown}/diff/"):
        page(member, f"/{kind}/{path}", expect=404)
    Run.objects.update(hidden=True)
    page(member, f"/{kind}/{own}/diff/{own}/", expect=404)


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
    assert "No run to compare with has that name" in text_of(nobody)
    alone = page(member, f"/runs/{foreign.run_id}/diff/")
    assert "This host has no other run" in text_of(alone)
