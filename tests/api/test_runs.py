import re

import pytest
from django.test import Client

from runs.models import Run
from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

URL = "/api/v1/runs/"


def test_an_accepted_run_is_listed_before_it_is_processed(
    uploader: ApiClient, reader: ApiClient
) -> None:
    document = run_document()
    uploader.upload(document)
    (row,) = reader.get(URL).json()["results"]
    assert (row["run_id"], row["status"]) == (document["run_id"], "accepted")
    assert (row["host"], row["host_name"], row["cpu"]) == (None, "nas", None)


def test_a_ready_run_has_statistics_and_normalised_values(
    reader: ApiClient, store_run: StoreRun
) -> None:
    run = store_run(
        run_document(
            ssh_measurement("3des-cbc", 19_126_310.0 * 2),
            ssh_measurement("aes128-ctr", 100e6, 200e6, 150e6),
            openssl_measurement("aes-128-ctr", 2e9),
        )
    )
    answer = reader.get(f"{URL}{run.run_id}/").json()
    assert answer["status"] == "ready"
    assert answer["measurement_count"] == 3
    found = {measurement["cipher"]: measurement for measurement in answer["measurements"]}
    ctr = found["aes128-ctr"]
    assert (ctr["median"], ctr["minimum"], ctr["maximum"], ctr["n"]) == (150e6, 100e6, 200e6, 3)
    assert ctr["noisy"]
    assert ctr["normalised"] == pytest.approx(75e6)
    assert ctr["samples"][0] == {"bytes": 200_000_000, "seconds": 2.0}
    assert found["aes-128-ctr"]["normalised"] is None
    (index,) = answer["speed_indices"]
    assert (index["tool"], index["families"]) == ("ssh", ["3des"])
    assert index["index"] == pytest.approx(2)
    assert index["uncertainty"] is None
    assert answer["environment"]["os"]["version"] == "12"
    assert answer["conditions"][0]["code"] == "busy"


def test_a_rejected_run_says_why_and_keeps_its_document(
    reader: ApiClient, store_run: StoreRun
) -> None:
    contradiction = run_document(
        started_at="2025-11-21T07:00:00Z", finished_at="2025-11-21T06:00:00Z"
    )
    run = store_run(contradiction)
    answer = reader.get(f"{URL}{run.run_id}/").json()
    assert (answer["status"], answer["rejection"]) == (
        "rejected",
        "finished_at is before started_at; check the host's clock and measure again",
    )
    assert answer["measurements"] == []
    assert reader.get(f"{URL}{run.run_id}/document/").json() == contradiction


def test_an_implausible_figure_is_kept_and_flagged(reader: ApiClient, store_run: StoreRun) -> None:
    run = store_run(run_document(ssh_measurement("aes128-ctr", 900e9)))
    (measurement,) = reader.get(f"{URL}{run.run_id}/").json()["measurements"]
    assert measurement["implausible"]
    assert measurement["median"] is None
    assert measurement["samples"] == [{"bytes": 1_800_000_000_000, "seconds": 2.0}]


def test_a_hidden_run_is_gone(reader: ApiClient, store_run: StoreRun) -> None:
    run = store_run(run_document())
    Run.objects.update(hidden=True)
    assert reader.get(URL).json()["results"] == []
    assert reader.get(f"{URL}{run.run_id}/").status_code == 404
    assert reader.get(f"{URL}{run.run_id}/document/").status_code == 404


def test_the_list_goes_on_by_cursor_and_loses_nothing(
    reader: ApiClient, store_run: StoreRun
) -> None:
    stored = [str(store_run(run_document()).run_id) for _ in range(5)]
    seen: list[str] = []
    url: str | None = f"{URL}?page_size=2"
    while url:
        page = reader.get(url).json()
        seen += [row["run_id"] for row in page["results"]]
        url = page["next"]
    assert seen == stored[::-1]


def test_api_and_page_list_the_latest_measured_run_first(
    reader: ApiClient, member: Client, store_run: StoreRun
) -> None:
    days = ("2025-11-21", "2025-11-23", "2025-11-22")
    runs = {
        day: store_run(
            run_document(
                ssh_measurement("aes128-ctr", 1e8),
                started_at=f"{day}T06:00:00Z",
                finished_at=f"{day}T07:00:00Z",
            )
        )
        for day in days
    }
    latest_first = [str(runs[day].run_id) for day in sorted(days, reverse=True)]
    assert [row["run_id"] for row in reader.get(URL).json()["results"]] == latest_first
    html = member.get("/runs/").content.decode()
    linked = re.findall(
        r'<th scope="row"><a href="/runs/([^/]*)/" title[^>]*><time[^>]*>([^<]*)', html
    )
    assert [run_id for run_id, _ in linked] == latest_first
    assert linked[0][1] == "2025-11-23 06:00 UTC"
