import re
from html import unescape
from typing import Any

from django.test import Client

from compare.views.chart import TYPICAL_WINDOW, rows_height
from tests.conftest import StoreRun
from tests.pages.conftest import page, table_values
from tests.pages.test_compare_page import chart, machine
from tests.sample_documents import openssl_measurement, ssh_measurement

GCM = "aes128-gcm@openssh.com"
SIZES = (16, 1024, 16384)


def rows(html: str, *cells: str) -> list[tuple[str, ...]]:
    return [
        tuple(unescape(value) for cell in cells for value in re.findall(f'{cell}="([^"]*)"', row))
        for row in re.findall(r"<tr data-.*?</tr>", html)
    ]


def by_both_tools(name: str, factor: float = 1.0, **changes: Any) -> dict[str, Any]:
    return machine(
        name,
        ssh_measurement(GCM, 4e8 * factor),
        ssh_measurement("3des-cbc", 3e7 * factor),
        *(
            openssl_measurement("aes-128-gcm", 1e6 * size * factor, block_size=size)
            for size in SIZES
        ),
        openssl_measurement("des-ede3-cbc", 3e7 * factor),
        **changes,
    )


def test_the_matrix_has_groups_down_and_ciphers_across(member: Client, store_run: StoreRun) -> None:
    store_run(by_both_tools("nas"))
    store_run(by_both_tools("web", 2))
    store_run(machine("slow", ssh_measurement("3des-cbc", 1e6), cpu="Z80"))
    html = page(member, "/", group_by="host")
    assert chart(html)["comparison"]["ciphers"] == [GCM, "3des-cbc"]
    assert table_values(html) == {
        "web": {GCM: 8e8, "3des-cbc": 6e7},
        "nas": {GCM: 4e8, "3des-cbc": 3e7},
        "slow": {"3des-cbc": 1e6},
    }
    assert list(table_values(html)) == ["web", "nas", "slow"]  # best first
    assert re.findall(r"shade-(\d)", html) == ["4", "4", "2", "2", "0"]


def test_a_picture_names_what_it_shows_its_source_and_its_date(
    member: Client, store_run: StoreRun
) -> None:
    store_run(by_both_tools("nas"))
    picture = chart(page(member, "/", tool="openssl", tag="rack:b2"))["picture"]
    assert picture["title"] == "OpenSSL throughput by CPU"
    assert picture["subtitle"] == "encrypt, 8 KiB blocks, 1 thread; Tag rack:b2"
    assert picture["source"] == "Sources: agent"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", picture["date"])
    name = "ciphermark-openssl-throughput-by-cpu"
    assert picture["file"] == f"{name}-{picture['date']}"
    assert "median" in picture["reading"]


def test_the_room_kept_for_a_chart_is_what_it_takes() -> None:
    rows = [2 + 30 + 18 * bars for bars in (164, 165)]  # one group: layoutRows in rows.ts
    assert rows[0] <= 3000 < rows[1]  # built.ts scrolls higher charts
    assert [rows_height([bars]) for bars in (164, 165)] == [rows[0] + 26, TYPICAL_WINDOW]
