"""Test that the number of SQL queries per URL does not depend on the amount of data.

Each URL is requested twice. Only the queries of the second request are counted, because the first
request records the use of the token and updates the analytics copy.
"""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from runs.models import Run
from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import (
    environment,
    openssl_measurement,
    run_document,
    ssh_measurement,
)

GCM = "aes128-gcm@openssh.com"
# Number of queries that read the token
TOKEN = 1
# Number of queries that read the session and the user
SESSION = 2

# Number of queries by URL, without the query for the token
API = {
    "/api/v1/comparison/": 3,
    "/api/v1/comparison/?metric=normalised": 3,
    "/api/v1/comparison/?cpu=cpu-1": 3,
    "/api/v1/comparison/?cpu=cpu-1&metric=normalised": 3,
    "/api/v1/comparison/?group_by=host": 3,
    "/api/v1/comparison/?tool=openssl&cpu=cpu-1": 3,
    "/api/v1/comparison/?until=2026-01-01": 3,
    "/api/v1/runs/": 1,
    "/api/v1/runs/{run.run_id}/": 3,
    "/api/v1/runs/{run.run_id}/document/": 1,
    "/api/v1/hosts/": 4,
    "/api/v1/hosts/{run.host_id}/": 10,
    "/api/v1/trends/?host=m0&tool=ssh&cipher=" + GCM: 5,
    "/api/v1/recommendation/?host=m0": 11,
    "/api/v1/recommendation/?tag=rack:b2": 9,
    "/api/v1/reference-profiles/": 0,
    "/api/v1/ciphers/": 0,
}

# Number of queries by URL, without the queries for the session
PAGES = {
    "/": 16,
    "/?cpu=cpu-1": 13,
    "/?tool=openssl": 11,
    "/?tool=openssl&cpu=cpu-1": 11,
    "/?tool=openssl&host=m0": 15,
    "/hosts/": 8,
    "/hosts/{run.host_id}/": 32,
    "/runs/": 3,
    "/runs/{run.run_id}/": 5,
    "/hosts/{run.host_id}/diff/": 6,
    "/runs/{run.run_id}/diff/": 4,
    "/recommend/?host=m0": 16,
    "/method/": 2,
}


@pytest.fixture
def run(transactional_db: None, store_run: StoreRun) -> Run:
    runs = [
        store_run(
            run_document(
                ssh_measurement(GCM, 1e8 + number),
                ssh_measurement("3des-cbc", 2e7),
                openssl_measurement("aes-128-gcm", 1e9 + number),
                host={"name": f"m{min(number, 10)}"},
                environment=environment(model=f"CPU {number % 5}"),
            )
        )
        for number in range(12)
    ]
    return runs[0]


def statements(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address)
    assert response.status_code == 200, response.content
    return len(queries)


def too_many(client: Client, run: Run, expected: dict[str, int], shared: int) -> dict[str, Any]:
    """For each URL whose number of queries is wrong, return the actual and the expected number.

    `shared`: number of queries for authentication, which are not counted.
    """
    found = {}
    for address, number in expected.items():
        asked = address.format(run=run)
        statements(client, asked)
        found[address] = (statements(client, asked) - shared, number)
    return {address: counts for address, counts in found.items() if counts[0] != counts[1]}


def test_the_statements_of_the_api(reader: ApiClient, run: Run) -> None:
    assert too_many(reader, run, API, TOKEN) == {}


def test_the_statements_of_the_pages(member: Client, run: Run) -> None:
    assert too_many(member, run, PAGES, SESSION) == {}


# URLs without an expected count, for which the count must not increase either
ALSO = (
    "/?tool=openssl",
    "/hosts/?q=m&ordering=-last_run_at&os=debian-gnu-linux",
    "/hosts/diff/?host=m0&host=m1",
    "/recommend/?client=m0&server=m1",
    "/recommend/?tag=rack:b2",
    "/api/v1/recommendation/?client=m0&server=m1",
    "/api/v1/recommendation/?tag=rack:b2&host=m0&host=m1",
)


def test_more_machines_runs_and_series_take_no_more_statements(
    admin_client: Client, run: Run, store_run: StoreRun
) -> None:
    addresses = [address.format(run=run) for address in (*API, *PAGES, *ALSO)]

    def ask() -> dict[str, int]:
        return {address: statements(admin_client, address) for address in addresses}

    store_run(run_document(ssh_measurement(GCM, 1e8), host={"name": "m0"}))
    ask()
    few = ask()
    for number in range(20, 30):
        name = f"m{number}" if number % 2 else "m0"
        series = [ssh_measurement(f"cipher-{number}", 1e8), ssh_measurement(GCM, 1e8)]
        store_run(run_document(*series, host={"name": name}))
    ask()
    assert ask() == few
