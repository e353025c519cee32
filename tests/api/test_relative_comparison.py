from typing import Any

import pytest

from runs.models import Host
from tests.cases import each
from tests.conftest import ApiClient, StoreRun, csv_rows
from tests.upgraded_fleet import AES, DES, EPYC, HOSTS, XEON, upgraded_fleet

URL = "/api/v1/comparison/"


def asked(reader: ApiClient, **query: Any) -> dict[str, Any]:
    response = reader.get(URL, {"tool": "openssl", "group_by": "openssl_series", **query})
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def refused(reader: ApiClient, **query: Any) -> dict[str, str]:
    response = reader.get(URL, {"tool": "openssl", "group_by": "openssl_series", **query})
    assert response.status_code == 400, response.content
    return {error["attr"].partition(".")[0]: error["detail"] for error in response.json()["errors"]}


@pytest.fixture
def fleet(store_run: StoreRun) -> None:
    upgraded_fleet(store_run)


def by_group(answer: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (group["key"], group.get("split", {}).get("key", "")): group for group in answer["groups"]
    }


@pytest.mark.usefixtures("fleet")
def test_matched_hosts_of_each_cpu_tell_what_the_upgrade_cost(reader: ApiClient) -> None:
    answer = asked(reader, split_by="cpu", relative_to="1.1.1", matched=1, cipher=AES)
    groups = by_group(answer)
    xeon = groups["3.0", "intel-xeon-e5-2680"]["relative"][AES]
    assert xeon["ratio"] == pytest.approx(0.93, abs=0.01)
    assert xeon["low"] <= xeon["ratio"] <= xeon["high"] < 1
    assert (xeon["n"], xeon["beyond_noise"]) == (HOSTS, True)
    epyc = groups["3.0", "amd-epyc-9r14"]
    assert epyc["relative"][AES]["ratio"] == pytest.approx(1, abs=0.01)
    assert epyc["relative"][AES]["beyond_noise"] is False
    # The host without an old release is in no matched group.
    assert epyc["hosts"] == epyc["values"][AES]["n"] == HOSTS
    assert "relative" not in groups["1.1.1", "amd-epyc-9r14"]
    assert answer["relative_to"] == {"key": "1.1.1", "label": "1.1.1", "is_host": False}
    assert (answer["split_by"], answer["matched"]) == ("cpu", True)


@pytest.mark.usefixtures("fleet")
def test_the_file_has_the_same_ratios(reader: ApiClient) -> None:
    query: dict[str, Any] = {"split_by": "cpu", "relative_to": "1.1.1", "matched": 1}
    answer = by_group(asked(reader, **query))
    of_series = {"tool": "openssl", "group_by": "openssl_series"}
    rows = csv_rows(reader.get("/api/v1/exports/comparison.csv", {**of_series, **query}))
    assert len(rows) == sum(len(group["values"]) for group in answer.values())
    for row in rows:
        group = answer[row["group_key"], row["split_key"]]
        ratio = group.get("relative", {}).get(row["cipher"])
        if ratio is None:
            assert (row["ratio"], row["beyond_noise"]) == ("", "")
            continue
        told = [float(row[name]) for name in ("ratio", "ratio_low", "ratio_high", "ratio_n")]
        assert told == [ratio[name] for name in ("ratio", "low", "high", "n")]
        assert row["beyond_noise"] == str(ratio["beyond_noise"]).lower()
    assert {row["split"] for row in rows} == {EPYC, XEON}


@pytest.mark.usefixtures("fleet")
@each("key", ("fast", None))
def test_a_host_is_a_baseline_by_its_key_or_id(reader: ApiClient, key: str | None) -> None:
    wanted = key or Host.objects.get(slug="fast").pk
    answer = asked(reader, relative_to=f"host:{wanted}", cpu="intel-xeon-e5-2680")
    assert answer["relative_to"] == {"key": "fast", "label": "fast", "is_host": True}
    (new,) = [group for group in answer["groups"] if group["key"] == "3.0"]
    assert new["relative"][AES]["ratio"] == pytest.approx(new["values"][AES]["median"] / 9e9)
    assert DES not in new["relative"]


@pytest.mark.usefixtures("fleet")
@each(
    ("query", "parameter", "said"),
    (
        ({"relative_to": "9.9"}, "relative_to", "No openssl_series group has the key '9.9'."),
        ({"relative_to": "host:absent"}, "relative_to", "Unknown host 'absent'."),
        ({"relative_to": "host:999999"}, "relative_to", "Unknown host '999999'."),
        (
            {"split_by": "openssl_series"},
            "split_by",
            "Results are already grouped by",
        ),
        ({"split_by": "color"}, "split_by", "color"),
        ({"matched": 1, "group_by": "host"}, "matched", "cannot be matched"),
        ({"matched": "maybe"}, "matched", "use 0 or 1"),
    ),
)
def test_what_cannot_be_is_said(
    reader: ApiClient, query: dict[str, Any], parameter: str, said: str
) -> None:
    assert said in refused(reader, **query)[parameter]
