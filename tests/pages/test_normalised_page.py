import re
from typing import Any

import pytest
from django.test import Client

from tests.conftest import ApiClient, StoreRun, csv_rows
from tests.pages.conftest import page, table_values, text_of
from tests.pages.test_compare_page import chart
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

GCM = "aes-128-gcm"
ASKED: dict[str, Any] = {"tool": "openssl", "metric": "normalised", "cipher": GCM}


def host(name: str, **rates: float) -> dict[str, Any]:
    measured = [
        openssl_measurement(cipher.replace("_", "-"), rate) for cipher, rate in rates.items()
    ]
    return run_document(*measured, host={"name": name})


@pytest.mark.usefixtures("published")
def test_ssh_names_its_profile_and_its_uncertainty(member: Client) -> None:
    html = page(member, "/", metric="normalised", group_by="os")
    assert 'href="/method/#profile"' in html
    # Mac OS X by hand: ln(b/a) = -0.2927, -0.4638, -0.2443; exp(their stdev / √3) = 1.069.
    assert "122 MB/s" in text_of(html)
    assert re.search('n = 1, uncertainty factor 1.07">122', html)
    assert ", uncertainty" not in page(member, "/", group_by="os")


def test_the_method_says_where_the_levels_come_from(member: Client) -> None:
    said = text_of(page(member, "/method/"))
    assert "ssh arcfour 179 MB/s" in said
    assert "openssl 3DES 31.2 MB/s" in said
    assert "measured on an AMD EPYC guest with OpenSSL 1.0.1 to 3.0.19" in said
    assert "speed index of this guest is 0.95" in said


@pytest.mark.usefixtures("published")
def test_openssl_is_normalised_as_soon_as_a_host_measured_3des(
    member: Client, store_run: StoreRun
) -> None:
    # The published openssl results have no baseline.
    said = text_of(page(member, "/", **ASKED))
    assert "excluded (no baseline cipher)" in said
    store_run(host("this machine", aes_128_gcm=2e9, des_ede3_cbc=62.4e6))
    (values,) = table_values(page(member, "/", **ASKED)).values()
    assert values == {GCM: pytest.approx(1e9)}


def test_a_host_that_measured_3des_alone_says_so_in_chart_table_and_files(
    member: Client, reader: ApiClient, store_run: StoreRun
) -> None:
    run = store_run(host("nas", aes_128_gcm=2e9, des_ede3_cbc=62.4e6))
    html = page(member, "/", **ASKED)
    assert list(table_values(html).values()) == [{GCM: pytest.approx(1e9)}]
    assert "1 host, 3DES only 1.00 GB/s low confidence" in text_of(html)
    assert "Baseline here: 3DES only. Reference host: AMD EPYC guest." in text_of(html)
    assert list(chart(html)["notes"].values()) == ["1 host, 3DES only"]
    (row,) = csv_rows(reader.get("/api/v1/exports/comparison.csv", ASKED))
    assert (row["uncertainty_factor"], row["single_baseline"]) == ("", "3DES only")
    rows = csv_rows(reader.get("/api/v1/exports/measurements.csv", {"cipher": GCM}))
    assert [row["single_baseline"] for row in rows] == ["3DES only"]
    (group,) = reader.get("/api/v1/comparison/", ASKED).json()["groups"]
    assert group["single_baseline"] == {GCM: ["3des"]}
    assert "Speed index, OpenSSL 2.0000 (3DES only)" in text_of(
        page(member, f"/runs/{run.run_id}/")
    )


def test_some_hosts_of_one_family_stand_beside_the_factor_of_the_others(
    member: Client, store_run: StoreRun
) -> None:
    store_run(host("nas", aes_128_gcm=2e9, des_ede3_cbc=31.2e6))
    store_run(host("web", aes_128_gcm=2e9, des_ede3_cbc=31.2e6, rc4=912e6))
    html = page(member, "/", **ASKED)
    assert "uncertainty factor 1.000" in html
    assert "uncertainty factor 1.000, some hosts 3DES only" in html
    assert list(chart(html)["notes"].values()) == ["2 hosts"]


def test_excluded_hosts_are_not_among_those_that_the_header_counts(
    member: Client, store_run: StoreRun
) -> None:
    store_run(host("nas", aes_128_gcm=2e9, des_ede3_cbc=31.2e6))
    store_run(host("bare", aes_128_gcm=3e9))
    said = text_of(page(member, "/", **ASKED))
    assert "OpenSSL results from 1 of 2 hosts in 1 group" in said
    assert "1 host excluded (no baseline cipher)." in said
    assert "no baseline" not in text_of(page(member, "/", tool="openssl"))


def test_levels_of_small_blocks_are_not_compared_with_the_profile(
    member: Client, store_run: StoreRun
) -> None:
    measured = [
        openssl_measurement(cipher, 1e9, block_size=1024) for cipher in (GCM, "des-ede3-cbc")
    ]
    store_run(run_document(*measured, ssh_measurement("3des-cbc", 2e7)))
    assert "1 host excluded (no baseline cipher)." in text_of(
        page(member, "/", **ASKED, block_size="1024")
    )
    plain = table_values(page(member, "/", **{**ASKED, "metric": "vs_3des", "block_size": "1024"}))
    assert list(plain.values()) == [{GCM: pytest.approx(1)}]
