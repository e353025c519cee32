from collections.abc import Iterable
from typing import Any

import pytest

from tests.api.test_comparison import compare
from tests.conftest import ApiClient, StoreRun, csv_rows
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

FLEET = {
    "a": {"env": "prod", "dc": "fra"},
    "b": {"env": "prod", "dc": "ams"},
    "c": {"env": "test", "dc": "fra"},
    "d": {"env": "prod"},
    "e": {},
}
SETS = (
    ("env:prod",),
    ("env:prod", "env:test"),
    ("env:prod", "dc:fra"),
    ("env:test", "dc:ams"),
    ("env:prod", "env:test", "dc:fra", "dc:ams"),
)


@pytest.fixture
def fleet(store_run: StoreRun) -> None:
    for name, tags in FLEET.items():
        figures = (ssh_measurement("aes128-ctr", 1e8), openssl_measurement("aes-128-gcm", 1e9))
        store_run(run_document(*figures, host={"name": name}, tags=tags))


def expected(asked: Iterable[str]) -> list[str]:
    wanted: dict[str, set[str]] = {}
    for query in asked:
        key, value = query.split(":")
        wanted.setdefault(key, set()).add(value)
    return [
        name
        for name, tags in FLEET.items()
        if all(tags.get(key) in values for key, values in wanted.items())
    ]


def keys(groups: Iterable[dict[str, Any]]) -> list[str]:
    return [group["key"] for group in groups]


@pytest.mark.usefixtures("fleet")
def test_every_place_with_a_tag_filter_narrows_by_key_and_widens_by_value(
    reader: ApiClient,
) -> None:
    for query in SETS:
        hosts = expected(query)
        for tool in ("ssh", "openssl"):
            answer = compare(reader, group_by="host", tag=query, tool=tool)
            assert keys(answer["groups"]) == hosts, query
            past = compare(reader, group_by="host", tag=query, tool=tool, until="2026-01-01")
            assert keys(past["groups"]) == hosts, query
        runs = reader.get("/api/v1/runs/", {"tag": query}).json()["results"]
        assert sorted(run["host"] for run in runs) == hosts, query
        rows = csv_rows(reader.get("/api/v1/exports/measurements.csv", {"tag": query}))
        assert sorted({row["host"] for row in rows}) == hosts, query
        advised = reader.get("/api/v1/recommendation/", {"tag": query}).json()
        assert sorted(host["host"] for host in advised["hosts"]) == hosts, query
