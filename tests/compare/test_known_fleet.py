from typing import Any

import pytest

from cipherspeed.cpu import cpu_name
from cipherspeed.groups import Comparison
from compare.comparison import compare
from compare.engine import analytics
from compare.question import ComparisonQuery
from tests.conftest import StoreRun
from tests.known_fleet import COST, CPUS, known_fleet

COSTLY = {cpu_name(cpu.facts) for cpu in CPUS if cpu.costs}
OTHERS = {cpu_name(cpu.facts) for cpu in CPUS if not cpu.costs}


@pytest.fixture
def fleet(store_run: StoreRun) -> None:
    latest: dict[tuple[str, str], dict[str, Any]] = {}
    for document in known_fleet().documents():
        host = document["host"]["machine_id"]
        latest[host, document["environment"]["openssl"]["version_text"]] = document
    for document in latest.values():
        store_run(document)


def cost(tool: str) -> Comparison:
    return compare(
        ComparisonQuery(
            tool=tool,
            group_by="openssl_series",
            split_by="cpu",
            relative_to="1.1.1",
            matched=True,
        )
    )


@pytest.mark.usefixtures("fleet")
def test_the_upgrade_costs_what_it_really_costs() -> None:
    with analytics():
        assert_openssl_pays_7_percent_on_half_of_the_cpus_and_nothing_on_the_others()
        assert_ssh_pays_for_its_library_and_not_for_its_own_code()


def assert_openssl_pays_7_percent_on_half_of_the_cpus_and_nothing_on_the_others() -> None:
    found = cost("openssl")
    ratios = {
        (group.split_label, cipher): ratio
        for group in found.groups
        if group.key == "3.0"
        for cipher, ratio in group.ratios.items()
    }
    assert {cpu for cpu, _ in ratios} == COSTLY | OTHERS
    told = {True: COST, False: 1.0}
    held = [
        ratio.low <= told[cpu in COSTLY] <= ratio.high
        for (cpu, _), ratio in ratios.items()
        if ratio.low is not None and ratio.high is not None
    ]
    assert len(held) == len(ratios)
    assert sum(held) >= 0.95 * len(held)
    beyond = [ratio.beyond_noise for (cpu, _), ratio in ratios.items() if cpu in OTHERS]
    assert sum(map(bool, beyond)) <= 0.05 * len(beyond)
    costly = [ratio.ratio for (cpu, _), ratio in ratios.items() if cpu in COSTLY]
    assert all(abs(group - COST) < 0.025 for group in costly), costly


def assert_ssh_pays_for_its_library_and_not_for_its_own_code() -> None:
    held = []
    for group in cost("ssh").groups:
        for cipher, ratio in group.ratios.items():
            own = cipher.startswith("chacha20")
            expected = COST if group.split_label in COSTLY and not own else 1.0
            assert ratio.ratio == pytest.approx(expected, abs=0.05), (group.name, cipher)
            assert ratio.low is not None
            assert ratio.high is not None
            held.append(ratio.low <= expected <= ratio.high)
    assert len(held) == len(CPUS) * 6
    assert sum(held) >= 0.95 * len(held)
