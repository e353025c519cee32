from typing import Any

import pytest

from runs.models import Host, Run
from tests.conftest import StoreRun
from tests.sample_documents import openssl_measurement, run_document

MASKED = {**openssl_measurement("aes-128-cbc", 300e6), "acceleration": "masked"}


def document(*measurements: dict[str, Any], number: int) -> dict[str, Any]:
    run_id = f"0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d{number:02x}"
    return run_document(*measurements, run_id=run_id)


def verdicts() -> list[tuple[str, float | None]]:
    return [(run.acceleration, run.acceleration_factor) for run in Run.objects.order_by("run_id")]


@pytest.mark.parametrize("order", ((0, 1), (1, 0)))
def test_a_masked_run_judges_the_plain_one_beside_it(
    store_run: StoreRun, order: tuple[int, int]
) -> None:
    plain = document(openssl_measurement("aes-128-cbc", 600e6), number=1)
    masked = document(MASKED, number=2)
    for which in order:
        store_run((plain, masked)[which])
    assert verdicts() == [("hardware", 2.0), ("hardware", 2.0)]


def test_a_run_that_has_both_is_judged_by_itself(store_run: StoreRun) -> None:
    store_run(document(openssl_measurement("aes-128-cbc", 900e6), MASKED, number=1))
    store_run(document(openssl_measurement("aes-128-cbc", 600e6), MASKED, number=2))
    assert verdicts() == [("hardware", 3.0), ("hardware", 2.0)]


def test_another_host_is_no_witness(store_run: StoreRun) -> None:
    store_run(document(openssl_measurement("aes-128-cbc", 600e6), number=1))
    other = document(MASKED, number=2)
    other["host"] = {"name": "another", "machine_id": None}
    store_run(other)
    assert {verdict for verdict, _ in verdicts()} == {"unknown"}


@pytest.mark.usefixtures("published")
def test_the_published_i7_3770_uses_its_aes_instructions() -> None:
    host = Host.objects.get(name="Workstation (ossman)")
    runs = Run.objects.filter(host=host, measurements__series__tool="openssl").distinct()
    assert {run.acceleration for run in runs} == {"hardware"}
    assert {round(run.acceleration_factor or 0, 1) for run in runs} == {1.9}


@pytest.mark.usefixtures("published")
def test_a_published_machine_whose_cpu_nobody_stated_stays_unknown() -> None:
    runs = [
        run
        for run in Run.objects.select_related("environment__cpu")
        if "win7" in run.host_name.lower() or "windows" in str(run.provenance).lower()
    ]
    assert runs
    assert {run.acceleration for run in runs} == {"unknown"}


def test_the_order_of_arrival_changes_no_verdict_that_speed_proves(store_run: StoreRun) -> None:
    # The rate of the plain run proves AES hardware. The masked rate is only 1.4 times lower.
    plain = document(
        openssl_measurement("aes-128-cbc", 700e6), openssl_measurement("rc4", 842e6), number=1
    )
    masked = document(
        {**openssl_measurement("aes-128-cbc", 500e6), "acceleration": "masked"}, number=2
    )
    found = []
    for order in ((plain, masked), (masked, plain)):
        Run.objects.all().delete()
        for candidate in order:
            store_run(candidate)
        found.append(verdicts())
    assert found[0] == found[1]
    assert {verdict for verdict, _ in found[0]} == {"hardware"}


def test_a_hidden_run_is_no_witness(store_run: StoreRun) -> None:
    hidden = store_run(document(MASKED, number=1))
    Run.objects.filter(pk=hidden.pk).update(hidden=True)
    plain = store_run(document(openssl_measurement("aes-128-cbc", 600e6), number=2))
    assert plain.acceleration == "unknown"
