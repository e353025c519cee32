from typing import Any

import pytest

from tests.cases import each
from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import environment, openssl_measurement, run_document, ssh_measurement

URL = "/api/v1/hosts/"
PLAIN = openssl_measurement("aes-128-cbc", 12e8, 12e8)
MASKED = openssl_measurement("aes-128-cbc", 2e8, 2e8, acceleration="masked")
HIDDEN = environment(flags=["fpu"])
VIRTUAL = environment(model="QEMU Virtual CPU version 2.5+", flags=["fpu"])


def machine(name: str, *measurements: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return run_document(*measurements, host={"name": name, "machine_id": None}, **changes)


@pytest.fixture
def four(store_run: StoreRun) -> None:
    store_run(machine("fast", PLAIN, MASKED))
    store_run(machine("guest", PLAIN, environment=HIDDEN))
    store_run(machine("qemu", PLAIN, environment=VIRTUAL))
    store_run(machine("quiet", ssh_measurement("aes128-ctr", 1e8)))


def listed(client: ApiClient, **query: Any) -> list[str]:
    answer = client.get(URL, query)
    assert answer.status_code == 200, answer.content
    return [result["name"] for result in answer.json()["results"]]


@pytest.mark.usefixtures("four")
def test_a_host_says_why_it_has_its_verdict_and_what_to_do(reader: ApiClient) -> None:
    (row,) = reader.get(URL, {"verdict": "hidden"}).json()["results"]
    assert "has AES hardware, but the system does not report it" in (row["acceleration_evidence"])
    assert row["acceleration_advice"].startswith(
        "A hypervisor hides the AES hardware. Give the guest the host"
    )


@pytest.mark.usefixtures("transactional_db")
def test_hosts_are_ordered_by_speed_index_the_unknown_last_either_way(
    reader: ApiClient, store_run: StoreRun
) -> None:
    for name, rate in (("slow", 1e7), ("fast", 4e7), ("middle", 2e7)):
        store_run(machine(name, ssh_measurement("3des-cbc", rate, rate)))
    store_run(machine("silent"))
    assert listed(reader, ordering="-speed_index") == ["fast", "middle", "slow", "silent"]
    assert listed(reader, ordering="speed_index") == ["slow", "middle", "fast", "silent"]
    rows = {result["name"]: result for result in reader.get(URL).json()["results"]}
    assert rows["fast"]["speed_index"] == pytest.approx(2 * rows["middle"]["speed_index"])
    assert rows["fast"]["speed_index_tool"] == "ssh"
    assert rows["silent"]["speed_index"] is rows["silent"]["speed_index_tool"] is None


@pytest.mark.usefixtures("transactional_db")
def test_hosts_are_ordered_by_name_as_people_number_them(
    reader: ApiClient, store_run: StoreRun
) -> None:
    names = ["nas", "nas2", "NAS10", "nas10.a", "node-07", "node-8", "node-123456789012"]
    for name in sorted(names):
        store_run(machine(name))
    assert listed(reader, ordering="name") == names
    assert listed(reader, ordering="-name") == names[::-1]


@each("ordering", ("-id", "name", "-runs", "acceleration"))
@pytest.mark.usefixtures("four")
def test_every_order_is_read_page_by_page_both_ways(reader: ApiClient, ordering: str) -> None:
    whole = listed(reader, ordering=ordering)
    answer = reader.get(URL, {"ordering": ordering, "page_size": "1"}).json()
    there, back = [answer["results"][0]["name"]], list[str]()
    assert answer["previous"] is None
    while answer["next"]:
        answer = reader.get(answer["next"]).json()
        there.append(answer["results"][0]["name"])
    while answer["previous"]:
        answer = reader.get(answer["previous"]).json()
        back.insert(0, answer["results"][0]["name"])
    assert there == whole
    assert back == whole[:-1]


@each(
    ("address", "attr", "words"),
    (
        (f"{URL}?verdict=hiden", "verdict", "'hiden' is not valid; did you mean hidden"),
        (f"{URL}?ordering=speed", "ordering", "'speed' is not valid; "),
        (f"{URL}?verdicts=hidden", "verdicts", "did you mean verdict?"),
    ),
)
def test_what_cannot_be_is_refused_in_words(
    reader: ApiClient, address: str, attr: str, words: str
) -> None:
    answer = reader.get(address)
    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    assert error["attr"] == attr
    assert words in error["detail"]
