from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

URL = "/api/v1/hosts/"
LATE = {"started_at": "2025-11-21T09:00:00Z", "finished_at": "2025-11-21T09:01:00Z"}


def test_a_host_is_listed_with_its_latest_environment_and_verdict(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(
        run_document(
            openssl_measurement("aes-128-gcm", 4e9),
            openssl_measurement("aes-128-gcm", 3e8, acceleration="masked"),
        )
    )
    (row,) = reader.get(URL).json()["results"]
    assert (row["host"], row["name"], row["runs"]) == ("nas", "nas", 1)
    assert (row["cpu"], row["openssl"]) == ("AMD EPYC 9R14", "OpenSSL 3.0.19")
    assert row["acceleration"] == "hardware"
    assert "aes-128-gcm" in row["acceleration_evidence"]


def test_a_host_shows_the_latest_value_of_every_series_it_measured(
    reader: ApiClient, store_run: StoreRun
) -> None:
    run = store_run(
        run_document(ssh_measurement("aes128-ctr", 1e8), ssh_measurement("aes256-ctr", 2e8))
    )
    store_run(run_document(ssh_measurement("aes128-ctr", 3e8), **LATE))
    answer = reader.get(f"{URL}{run.host_id}/").json()
    assert {result["cipher"]: result["median"] for result in answer["results"]} == {
        "aes128-ctr": 3e8,
        "aes256-ctr": 2e8,
    }
    assert len(answer["recent_runs"]) == 2
    assert answer["last_run_at"] == "2025-11-21T09:00:00Z"


def test_two_machines_of_one_name_are_two_hosts(reader: ApiClient, store_run: StoreRun) -> None:
    for machine_id in ("a" * 64, "b" * 64, None):
        store_run(run_document(host={"name": "nas", "machine_id": machine_id}))
    rows = reader.get(URL).json()["results"]
    assert sorted(row["host"] for row in rows) == ["nas", "nas-2", "nas-3"]


def test_a_published_host_never_joins_an_uploaded_one_of_its_name(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(run_document(host={"name": "MacBookPro8,2"}), source="published")
    store_run(run_document(host={"name": "MacBookPro8,2"}))
    rows = reader.get(URL).json()["results"]
    assert sorted((row["published"], row["runs"]) for row in rows) == [(False, 1), (True, 1)]
