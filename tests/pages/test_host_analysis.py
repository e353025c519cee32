import re

from django.test import Client

from runs.models import Run
from tests.conftest import StoreRun
from tests.histories import run_of_day, with_openssl
from tests.pages.conftest import page, text_of
from tests.sample_documents import environment, openssl_measurement, ssh_measurement

GCM = "aes128-gcm@openssh.com"
OLD, NEW = "OpenSSL 3.0.15 3 Sep 2024", "OpenSSL 3.0.19 27 Jan 2026"


def address(run: Run) -> str:
    return f"/hosts/{run.host_id}/"


def falling(store_run: StoreRun) -> Run:
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
    assert "24.8 % slower than the median of the previous 3 runs" in said
    assert "400 MB/s → 301 MB/s" in said
    assert "OpenSSL 3.0.19 → 3.0.15" in said
    assert "−24.8 %" in said
    assert f"/diff/{run.run_id}/" not in html
    assert len(re.findall(r'<td class="number" data-value=', html)) == 5
    assert 'data-history="history-view"' in html


def test_a_step_names_an_upgrade_of_the_two_weeks_before(
    member: Client, store_run: StoreRun
) -> None:
    for day, rate in ((0, 4e8), (2, 4e8), (4, 4e8), (8, 3e8), (9, 3e8)):
        microcode = environment(microcode="0xa2" if day >= 2 else "0xa1")
        run = store_run(
            run_of_day(day, ssh_measurement(GCM, rate, rate, rate), environment=microcode)
        )
    said = text_of(history_of(page(member, address(run))))
    assert "microcode: 0xa1 → 0xa2, 6 days earlier" in said
    store_run(run_of_day(30, ssh_measurement(GCM, 2e8, 2e8, 2e8), environment=microcode))
    store_run(run_of_day(31, ssh_measurement(GCM, 2e8, 2e8, 2e8), environment=microcode))
    said = text_of(history_of(page(member, address(run))))
    assert "No environment change recorded." in said


def test_a_steady_history_says_that_nothing_changed(member: Client, store_run: StoreRun) -> None:
    for day in range(4):
        run = store_run(run_of_day(day, ssh_measurement(GCM, 1e8)))
    assert "No changes in 4 runs of this series." in text_of(page(member, address(run)))


def test_the_address_chooses_series_and_metric(member: Client, store_run: StoreRun) -> None:
    run = store_run(
        run_of_day(
            0,
            ssh_measurement(GCM, 1e8),
            openssl_measurement("aes-128-gcm", 3e9, block_size=1024),
            openssl_measurement("aes-128-gcm", 1e9, acceleration="masked"),
        )
    )
    html = page(member, address(run), series="openssl/8192/aes-128-gcm/masked")
    history = history_of(html)
    assert 'value="openssl/8192/aes-128-gcm/masked" selected' in history
    assert "1.00 GB/s" in text_of(history)
    assert "acceleration=masked" in history
    nothing = history_of(page(member, address(run), metric="cpu_seconds_per_gb"))
    assert "This host has no results for CPU seconds per GB" in text_of(nothing)


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
    assert "itself changed between OpenSSL 3.0.15 and OpenSSL 3.0.19" in said
    assert "https://github.com/openssl/openssl/issues/28063" in html


def test_a_host_stands_among_all_hosts_one_vote_each(member: Client, store_run: StoreRun) -> None:
    for number, rates in enumerate(((1e8,), (2e8,), (9e8, 3e8), (5e8,))):
        for day, rate in enumerate(rates):
            store_run(run_of_day(day, ssh_measurement(GCM, rate), host={"name": f"n{number}"}))
    mine = store_run(run_of_day(0, ssh_measurement(GCM, 4e8), ssh_measurement("aes128-ctr", 1e8)))
    said = text_of(page(member, address(mine)))
    # Host n2 was fast before, but its latest run is used: 1, 2 and 3e8 are slower, 5e8 is not.
    assert "75 (faster than 3 of 4)" in said
    assert "2 of 5" in said
    assert "no comparable hosts" in said


def test_noisy_and_disturbed_figures_say_so_beside_them(
    member: Client, store_run: StoreRun
) -> None:
    scattered = (4e8, 2e8, 6e8)
    calm = store_run(run_of_day(0, ssh_measurement(GCM, *scattered), conditions=[]))
    said = text_of(page(member, address(calm)))
    assert "400 MB/s noisy no comparable hosts" in said
    both = store_run(
        run_of_day(1, ssh_measurement(GCM, *scattered), conditions=[{"code": "swapping"}])
    )
    html = page(member, address(both))
    assert "400 MB/s noisy, disturbed no comparable hosts" in text_of(html)
    assert 'title="Tries vary by more than 5 %; swapping"' in html
    assert text_of(page(member, "/")).count("400 MB/s low confidence") == 1


def test_a_host_without_any_figure_has_no_history(member: Client, store_run: StoreRun) -> None:
    run = store_run(run_of_day(0, ssh_measurement(GCM, 1e15)))
    html = page(member, address(run))
    assert 'id="history"' not in html
