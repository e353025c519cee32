"""What the host's page says beyond the latest figures: history, standing, delivery."""

import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from store.models import Run
from tests.conftest import StoreRun, csv_rows
from tests.histories import run_of_day, with_openssl
from tests.pages.conftest import page, text_of
from tests.sample_documents import openssl_measurement, ssh_measurement

GCM = "aes128-gcm@openssh.com"
OLD, NEW = "OpenSSL 3.0.15 3 Sep 2024", "OpenSSL 3.0.19 27 Jan 2026"


def address(run: Run) -> str:
    return f"/hosts/{run.host_id}/"


def falling(store_run: StoreRun) -> Run:
    """Three runs of 400 MB/s and two of 300 with another OpenSSL; the latest."""
    for day, rate in enumerate((400e6, 404e6, 396e6, 300e6, 302e6)):
        environment = with_openssl(NEW if day < 3 else OLD)
        run = store_run(
            run_of_day(day, ssh_measurement(GCM, rate, rate, rate), environment=environment)
        )
    return run


def history_of(html: str) -> str:
    found = re.search(r'<section [^>]*id="history".*?</section>', html, re.S)
    assert found is not None
    return found[0]


def test_the_history_tells_its_changes_and_their_likely_cause(
    member: Client, store_run: StoreRun
) -> None:
    run = falling(store_run)
    html = history_of(page(member, address(run)))
    said = text_of(html)
    assert "24.8 % slower than the median of 3 runs before" in said
    assert "400 MB/s → 301 MB/s" in said
    assert "OpenSSL: OpenSSL 3.0.19 → OpenSSL 3.0.15" in said
    assert "−24.8 %" in said
    assert f"/diff/{run.run_id}/" not in html
    assert len(re.findall(r'<td class="number" data-value=', html)) == 5
    assert 'data-history="history-view"' in html


def test_a_change_by_a_disturbed_run_says_what_disturbed_it(
    member: Client, store_run: StoreRun
) -> None:
    busy = [{"code": "busy", "detail": "other processes used 31 % of the CPU"}]
    for day, rate in enumerate((4e8, 4e8, 4e8, 4e8, 2e8)):
        conditions = busy if rate == 2e8 else []
        run = store_run(run_of_day(day, ssh_measurement(GCM, rate), conditions=conditions))
    said = text_of(page(member, address(run)))
    assert "disturbed other processes used 31 % of the CPU" in said


def test_a_change_that_its_family_confirms_is_not_left_as_unconfirmed(
    member: Client, store_run: StoreRun
) -> None:
    """Soon after another change: the series has too few runs before it, the list has it."""
    for day in range(12):
        level = 1.0 if day < 6 else 0.8 if day < 8 else 0.3
        environment = with_openssl(OLD if day < 6 else NEW if day < 8 else OLD)
        series = [
            openssl_measurement(f"aes-{bits}-cbc", 1e9 * level * (1 + 0.002 * (day % 3)))
            for bits in (128, 256)
        ]
        run = store_run(run_of_day(day, *series, environment=environment))
    said = text_of(history_of(page(member, address(run), series="openssl/16384/aes-128-cbc")))
    assert "unconfirmed: too few runs before it" in said
    told = "Confirmed as a change of openssl aes-cbc , which looks at 2 series and up to six runs"
    assert told in said
    assert "Part of a change of openssl aes-cbc ." in said


def test_a_steady_history_says_that_nothing_changed(member: Client, store_run: StoreRun) -> None:
    for day in range(4):
        run = store_run(run_of_day(day, ssh_measurement(GCM, 1e8)))
    assert "4 runs, and no change among them" in text_of(page(member, address(run)))


def test_the_address_chooses_series_and_metric(member: Client, store_run: StoreRun) -> None:
    run = store_run(
        run_of_day(
            0,
            ssh_measurement(GCM, 1e8),
            openssl_measurement("aes-128-gcm", 3e9, block_size=1024),
            openssl_measurement("aes-128-gcm", 1e9, acceleration="masked"),
        )
    )
    html = page(member, address(run), series="openssl/16384/aes-128-gcm/masked")
    history = history_of(html)
    assert 'value="openssl/16384/aes-128-gcm/masked" selected' in history
    assert "1.00 GB/s" in text_of(history)
    assert "acceleration=masked" in history
    nothing = history_of(page(member, address(run), metric="cpu_seconds_per_gb"))
    assert "No run of this host has a value of “CPU seconds per GB”" in text_of(nothing)


def test_a_host_with_many_series_offers_some_and_a_search(
    member: Client, store_run: StoreRun
) -> None:
    sizes = [openssl_measurement("aes-128-gcm", 1e9, block_size=16 * n) for n in range(1, 161)]
    run = store_run(run_of_day(0, ssh_measurement(GCM, 1e8), *sizes))
    html = history_of(page(member, address(run)))
    assert html.count('<option value="openssl/') + html.count('<option value="ssh/') == 150
    assert "The first of 161 series are offered" in text_of(html)
    found = f"?find-series=GCM+2560&series=ssh/pipeline/{GCM}"
    html = history_of(page(member, address(run) + found))
    assert re.findall(r'<option value="(\w+/[^"]+)"', html) == [
        f"ssh/pipeline/{GCM}",
        "openssl/2560/aes-128-gcm",
    ]
    assert "1 of 161 series found" in text_of(html)
    html = history_of(page(member, address(run) + "?find-series=<i>nobody"))
    assert "No series of this host has “<i>nobody” in its name" in text_of(html)


def test_every_series_of_the_picker_leads_to_its_own_value(
    member: Client, store_run: StoreRun
) -> None:
    target = {"kind": "remote", "name": "backup"}
    run = store_run(
        run_of_day(
            0,
            ssh_measurement(GCM, 1e8),
            ssh_measurement(GCM, 2e8, method="steady", pinned=True),
            ssh_measurement(GCM, 3e8, method="steady"),
            ssh_measurement(GCM, 4e8, target=target),
            ssh_measurement(GCM, 5e8, acceleration="masked"),
            ssh_measurement(GCM, 6e8, compression=True),
            ssh_measurement(GCM, 7e8, mac="hmac-sha2-256"),
            openssl_measurement("aes-128-gcm", 8e8),
            openssl_measurement("aes-128-gcm", 9e8, operation="decrypt"),
            openssl_measurement("aes-128-gcm", 10e8, threads=4),
        )
    )
    keys = re.findall(r'<option value="((?:ssh|openssl)/[^"]*)"', page(member, address(run)))
    values = set()
    for key in keys:
        history = history_of(page(member, address(run), series=key))
        assert f'value="{key}" selected' in history
        values |= {float(one) for one in re.findall(r'data-value="([^"]*)"', history)}
    assert (len(keys), values) == (10, {number * 1e8 for number in range(1, 11)})


def test_other_series_and_other_hosts_are_lines_of_one_history(
    member: Client, store_run: StoreRun
) -> None:
    for day in range(2):
        mine = store_run(
            run_of_day(
                day,
                ssh_measurement(GCM, 1e8),
                ssh_measurement("aes256-ctr", 2e8),
                openssl_measurement("aes-128-gcm", 5e9),
            )
        )
        other = store_run(run_of_day(day, ssh_measurement(GCM, 4e8), host={"name": "web"}))
    assert mine.host
    assert other.host
    asked: dict[str, Any] = {
        "also": ["ssh/pipeline/aes256-ctr", "openssl/16384/aes-128-gcm", "nothing"],
        "host": [other.host.slug, "nobody", mine.host.slug],
    }
    html = history_of(page(member, address(mine), **asked))
    found = re.search(r'<script id="history-view"[^>]*>(.*?)</script>', html)
    assert found
    lines = json.loads(found[1])["lines"]
    assert [(one["label"], [point["median"] for point in one["points"]]) for one in lines] == [
        (f"nas: {GCM}", [1e8, 1e8]),
        ("nas: aes256-ctr", [2e8, 2e8]),
        (f"web: {GCM}", [4e8, 4e8]),
    ]
    assert len({(one["slot"], tuple(one["dash"])) for one in lines}) == 3
    said = text_of(html)
    assert "no such host: openssl/16384/aes-128-gcm , nothing , nobody ." in said
    assert len(re.findall(r'<td class="number" data-value=', html)) == 6
    assert html.count(" checked>") == 2
    csv_address = re.search(r'href="([^"]*history\.csv[^"]*)"', html)
    assert csv_address
    rows = csv_rows(member.get(unescape(csv_address[1])))
    assert [(row["host"], row["throughput_bytes_per_second"]) for row in rows] == [
        *(("nas", "100000000.0"), ("nas", "200000000.0"), ("web", "400000000.0")),
    ] * 2


def test_a_history_has_at_most_eight_lines(member: Client, store_run: StoreRun) -> None:
    sizes = [openssl_measurement("aes-128-gcm", 1e9, block_size=16 * n) for n in range(1, 12)]
    run = store_run(run_of_day(0, *sizes))
    store_run(run_of_day(1, *sizes))
    also = [f"openssl/{16 * n}/aes-128-gcm" for n in range(2, 12)]
    first: dict[str, Any] = {"series": "openssl/16/aes-128-gcm"}
    html = history_of(page(member, address(run), also=also, **first))
    assert "at most 8 lines: 3 more are left out" in text_of(html)
    assert html.count('class="series-ink"') == 8
    offered = history_of(page(member, address(run), **{**first, "find-host": "nobody"}))
    assert offered.count('name="also"') == 10
    assert "No other host has “nobody” in its name" in text_of(offered)


def test_an_address_that_cannot_be_is_answered_in_words(
    member: Client, store_run: StoreRun
) -> None:
    run = store_run(run_of_day(0, ssh_measurement(GCM, 1e8)))
    said = text_of(page(member, address(run), expect=400, metric="vs_3des"))
    assert "'vs_3des' is none of throughput" in said
    said = text_of(page(member, address(run), expect=400, since="never"))
    assert "is no date" in said
    assert "None of this host's latest runs measured" in text_of(
        page(member, address(run), series="ssh/pipeline/nobody-has-this")
    )


def test_a_break_of_the_tool_is_told_with_its_sources(member: Client, store_run: StoreRun) -> None:
    for day, version in enumerate((OLD, OLD, NEW, NEW)):
        run = store_run(
            run_of_day(
                day,
                openssl_measurement("aes-128-gcm", 9e8 / (1 + day)),
                environment=with_openssl(version),
            )
        )
    html = history_of(page(member, address(run)))
    said = text_of(html)
    assert "The tool changed between OpenSSL 3.0.15 and OpenSSL 3.0.19" in said
    assert "https://github.com/openssl/openssl/issues/28063" in html


def test_a_host_stands_among_all_hosts_one_vote_each(member: Client, store_run: StoreRun) -> None:
    for number, rates in enumerate(((1e8,), (2e8,), (9e8, 3e8), (5e8,))):
        for day, rate in enumerate(rates):
            store_run(run_of_day(day, ssh_measurement(GCM, rate), host={"name": f"n{number}"}))
    mine = store_run(run_of_day(0, ssh_measurement(GCM, 4e8), ssh_measurement("aes128-ctr", 1e8)))
    said = text_of(page(member, address(mine)))
    # The host n2 was fast once; its latest run counts: 1, 2 and 3e8 are beaten, 5e8 is not.
    assert "faster than 75 % of 4 other hosts" in said
    assert "2 of 5" in said
    assert "no other host measured it" in said


def test_noisy_and_disturbed_figures_say_so_beside_them(
    member: Client, store_run: StoreRun
) -> None:
    scattered = (4e8, 2e8, 6e8)
    calm = store_run(run_of_day(0, ssh_measurement(GCM, *scattered), conditions=[]))
    said = text_of(page(member, address(calm)))
    assert "400 MB/s noisy no other host" in said
    both = store_run(
        run_of_day(1, ssh_measurement(GCM, *scattered), conditions=[{"code": "swapping"}])
    )
    html = page(member, address(both))
    assert "400 MB/s noisy, disturbed no other host" in text_of(html)
    assert 'title="The spread is above 5 %; swapping"' in html
    assert text_of(page(member, "/")).count("400 MB/s low confidence") == 1


def test_what_ssh_delivers_is_as_doubtful_as_the_run(member: Client, store_run: StoreRun) -> None:
    measured = ssh_measurement(GCM, 4e8, 4e8, 4e8), openssl_measurement("aes-128-gcm", 1e9)
    calm = store_run(run_of_day(0, *measured, conditions=[]))
    html = page(member, address(calm))
    assert "low confidence" not in text_of(html)
    # One run is a sentence, not a chart with an empty axis.
    assert "1 run so far" in text_of(html)
    assert "history-view" not in html
    said = text_of(
        page(member, address(store_run(run_of_day(1, *measured, conditions=[{"code": "steal"}]))))
    )
    assert "40 % low confidence" in said
    assert "disturbed 0.0 %" in said


def test_hosts_beyond_a_change_of_the_tool_are_no_rivals(
    member: Client, store_run: StoreRun
) -> None:
    def store(name: str, version: str, gcm: float, cbc: float) -> Run:
        return store_run(
            run_of_day(
                0,
                openssl_measurement("aes-128-gcm", gcm),
                openssl_measurement("aes-128-cbc", cbc),
                host={"name": name},
                environment=with_openssl(version),
            )
        )

    store("old", OLD, 9e9, 9e8)
    store("new", "OpenSSL 3.4.1 11 Feb 2025", 1e9, 1e8)
    mine = store("mine", NEW, 2e9, 2e8)
    said = text_of(page(member, address(mine)))
    assert "faster than 100 % of 1 other host 1 of 2" in said
    assert "faster than 50 % of 2 other hosts 2 of 3" in said


def test_ssh_is_put_beside_its_ciphers_own_speed(member: Client, store_run: StoreRun) -> None:
    costs = [
        {"bytes": 10**9, "seconds": 2.5, "client_cpu_seconds": 1.5, "server_cpu_seconds": 1.0}
    ] * 3
    run = store_run(
        run_of_day(
            0,
            ssh_measurement(GCM, samples=costs),
            ssh_measurement("chacha20-poly1305@openssh.com", 3e8),
            openssl_measurement("aes-128-gcm", 4e9),
            openssl_measurement("chacha20-poly1305", 2e9),
        )
    )
    store_run(run_of_day(1, ssh_measurement(GCM, 9e8)))
    said = text_of(page(member, address(run)))
    assert "10 % pipeline 400 MB/s 4.00 GB/s 16 KiB" in said
    assert "2.25 s/GB" in said
    assert "2.50 s/GB" in said
    assert "ssh's construction differs from the TLS one" in said


def test_a_host_with_one_tool_alone_says_that_nothing_can_be_delivered(
    member: Client, store_run: StoreRun
) -> None:
    run = store_run(run_of_day(0, ssh_measurement(GCM, 1e8)))
    assert "Not measured: no run of this host has both" in text_of(page(member, address(run)))


def test_more_runs_than_the_table_has_are_one_click_away(
    member: Client, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages.hosts.history.LATEST_ROWS", 2)
    for day in range(3):
        run = store_run(run_of_day(day, ssh_measurement(GCM, 1e8)))
    some, every = page(member, address(run)), page(member, address(run), rows="all")
    assert "2 of 3 runs shown" in text_of(some)
    assert [history_of(one).count('class="number" data-value') for one in (some, every)] == [2, 3]


def test_a_series_of_long_ago_keeps_its_latest_result(member: Client, store_run: StoreRun) -> None:
    store_run(run_of_day(0, ssh_measurement("aes256-ctr", 1e8)))
    for day in (1, 2):
        run = store_run(run_of_day(day, ssh_measurement(GCM, 1e8)))
    assert "aes256-ctr" in text_of(page(member, address(run)))


def test_a_host_without_any_figure_has_no_history(member: Client, store_run: StoreRun) -> None:
    run = store_run(run_of_day(0, ssh_measurement(GCM, 1e15)))
    html = page(member, address(run))
    assert 'id="history"' not in html
