import re
from typing import Any

from django.test import Client

from tests.conftest import StoreRun
from tests.pages.conftest import link, page, table_values, text_of
from tests.pages.test_compare_page import chart
from tests.sample_documents import environment, openssl_measurement, run_document, ssh_measurement

GCM = "aes128-gcm@openssh.com"


def machine(name: str, *measurements: dict[str, Any], cpu: str = "", **changes: Any) -> Any:
    known = environment(model=cpu) if cpu else environment()
    host = {"name": name, "machine_id": None}
    return run_document(*measurements, host=host, **{"environment": known, **changes})


def names(html: str) -> list[str]:
    return re.findall(r'<th scope="row" class="name"[^>]*><a [^>]*><bdi>([^<]*)</bdi>', html)


def options(html: str, facet: str) -> list[tuple[str, ...]]:
    found = re.search(rf'<fieldset class="choices" id="choices-{facet}".*?</fieldset>', html, re.S)
    assert found is not None
    return re.findall(r"<bdi>([^<]*)</bdi></span><span[^>]*>(\d+)", found[0])


def test_machines_are_filtered_by_microarchitecture_verdict_and_tag(
    member: Client, store_run: StoreRun
) -> None:
    masked = openssl_measurement("aes-128-cbc", 2e8, 2e8, acceleration="masked")
    fast = openssl_measurement("aes-128-cbc", 12e8, 12e8)
    zen = store_run(machine("zen", ssh_measurement(GCM, 4e8), fast, masked))
    sandy = store_run(
        machine(
            "sandy",
            ssh_measurement(GCM, 1e8),
            environment=environment(
                model="Intel(R) Core(TM) i7-2635QM CPU @ 2.00GHz",
                vendor="GenuineIntel",
                flags=[],
            ),
            tags={"rack": "c3"},
        )
    )
    html = page(member, "/")
    assert options(html, "tag-rack") == [("b2", "1"), ("c3", "1")]
    for choice in ("microarchitecture=zen4", "tag=rack:b2"):
        assert list(table_values(page(member, f"/?{choice}"))) == ["amd-epyc-9r14"]
    for run, cpu in ((zen, "amd-epyc-9r14"), (sandy, "intel-core-i7-2635qm")):
        assert list(table_values(page(member, f"/?verdict={run.acceleration}"))) == [cpu]
    chosen = text_of(page(member, f"/?verdict={zen.acceleration}"))
    assert f"AES acceleration {zen.acceleration.capitalize()}" in chosen


def test_groups_are_searched_and_come_page_by_page(member: Client, store_run: StoreRun) -> None:
    for number in range(25):
        store_run(machine(f"m{number}", ssh_measurement(GCM, 1e8 + number), cpu=f"CPU {number}"))
    first = page(member, "/")
    assert len(table_values(first)) == 20
    assert "20 of 25 groups shown." in text_of(first)
    assert len(table_values(page(member, "/", top="all"))) == 25
    second = page(member, "/", page="2")
    assert list(table_values(second)) == ["4", "3", "2", "1", "0"]
    assert "Groups 21 to 25 of 25 shown." in text_of(second)
    assert list(table_values(page(member, "/", page="99", sort="name"))) == [
        *("20", "21", "22", "23", "24")
    ]
    assert list(table_values(page(member, "/", q="2"))) == [
        *("24", "23", "22", "21", "20", "12", "2")
    ]
    nothing = page(member, "/", q="<b>")
    assert "No group's name contains “ <b> ”" in text_of(nothing)


def ranks(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<tr data-group="([^"]*)"><td class="number muted">(\d*)</td>', html)


def test_ranks_go_on_and_are_shared_across_pages(member: Client, store_run: StoreRun) -> None:
    for number in range(25):  # the 22 fastest are equal
        series = ssh_measurement(GCM, 1e8 * 1.2 ** min(number, 3))
        store_run(machine(f"m{number}", series, cpu=f"m{number}"))
    for group_by in ("cpu", "host"):
        assert ranks(page(member, "/", group_by=group_by, page=2)) == [
            *(("m23", "1"), ("m24", "1"), ("m2", "23"), ("m1", "24"), ("m0", "25"))
        ]


def test_a_host_leads_to_the_comparison_that_begins_with_it(
    member: Client, store_run: StoreRun
) -> None:
    runs = [store_run(machine(f"m{n}", ssh_measurement(GCM, 1e8 * 1.2**n))) for n in range(25)]
    html = page(
        member, "/" + link(page(member, f"/hosts/{runs[0].host_id}/"), "View in comparison")
    )
    assert ranks(html)[:2] == [("m0", "25"), ("m24", "1")]
    assert "m0 reference, 1 host" in text_of(html)
    view = chart(html)
    assert view["comparison"]["groups"][0]["key"] == "m0"
    assert view["notes"]["m0"] == "reference, 1 host"


def test_hosts_are_searched_filtered_and_sorted(member: Client, store_run: StoreRun) -> None:
    for name, cpu in (("beta", "CPU 1"), ("Alpha", "CPU 2"), ("gamma", "CPU 1")):
        store_run(machine(name, ssh_measurement(GCM, 1e8), cpu=cpu))
    store_run(machine("beta", ssh_measurement(GCM, 1e8), cpu="CPU 2"))
    assert names(page(member, "/hosts/")) == ["gamma", "Alpha", "beta"]
    assert names(page(member, "/hosts/?ordering=name")) == ["Alpha", "beta", "gamma"]
    assert names(page(member, "/hosts/?ordering=-runs"))[0] == "beta"
    assert names(page(member, "/hosts/?q=AM")) == ["gamma"]
    html = page(member, "/hosts/?cpu=2")
    assert names(html) == ["Alpha", "beta"], "of a host the latest run decides"
    assert "2 hosts found" in text_of(html)
    assert '<option value="1">1 (1)</option>' in html
    assert "No matching hosts." in page(member, "/hosts/?cpu=none")


def test_runs_are_searched_by_host_and_id(member: Client, store_run: StoreRun) -> None:
    run = store_run(machine("Needle", ssh_measurement(GCM, 1e8)))
    store_run(machine("hay", ssh_measurement(GCM, 1e8)))
    for text in ("needle", str(run.run_id)[:13].upper()):
        html = page(member, "/runs/", q=text)
        assert "Needle" in html
        assert "hay" not in html
    assert "No matching runs" in page(member, "/runs/", q="nothing like it")
