import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from compare.comparison import compare
from compare.engine import analytics
from compare.facets import Facet, coverage, facets
from compare.question import ComparisonQuery
from runs.models import Run
from tests.conftest import StoreRun
from tests.histories import run_of_day
from tests.sample_documents import environment, ssh_measurement

CTR, GCM = "aes128-ctr", "aes128-gcm@openssh.com"
VERDICTS = ("hardware", "software", "masked")


def with_openssl(version: str, **changes: Any) -> dict[str, Any]:
    return {**environment(**changes), "openssl": {"version_text": f"OpenSSL {version}"}}


@pytest.fixture
def fleet(store_run: StoreRun) -> None:
    draw = random.Random(17)
    for day in range(30):
        run = store_run(
            run_of_day(
                day,
                ssh_measurement(draw.choice((CTR, GCM)), 1e8 + day),
                host={"name": f"h{draw.randrange(6)}"},
                environment=with_openssl(
                    draw.choice(("1.1.1", "3.0.9", "3.0.19")), model=f"Chip {draw.randrange(3)}"
                ),
                conditions=draw.choice(([], [{"code": "busy", "detail": "others"}])),
                tags={"rack": draw.choice("ab"), "env": draw.choice(("prod", "test"))},
            )
        )
        Run.objects.filter(pk=run.pk).update(acceleration=draw.choice(VERDICTS))


CHOSEN: tuple[Mapping[str, tuple[str, ...]], ...] = (
    {},
    {"verdict": ("hardware",)},
    {"cpu": ("chip-1",), "openssl_series": ("3.0", "1.1.1")},
    {"tag": ("rack:a", "env:prod"), "verdict": ("software", "masked")},
    {"host": ("h1", "h2"), "openssl": ("openssl-3.0.9",), "tag": ("rack:b",)},
    {"cpu": ("none",), "verdict": ("hardware",)},
    {"cpu": ("none",), "os": ("none",)},
    {"disturbed": ("no",), "cpu": ("chip-1",)},
)


def with_only(query: ComparisonQuery, facet: Facet, key: str) -> ComparisonQuery:
    others = query.filters.get("tag", ()) if facet.tag else ()
    kept = (other for other in others if not other.startswith(f"{facet.tag}:"))
    filters = {**query.filters, facet.name: (*kept, key)}
    return ComparisonQuery(group_by="host", filters=filters)


@pytest.mark.usefixtures("fleet")
def test_chosen_values_keep_their_names_though_nothing_has_them_together() -> None:
    chosen = {"cpu": ("chip-1",), "host": ("h3",), "openssl": ("openssl-3.0.9",)}
    query = ComparisonQuery(filters={**chosen, "verdict": ("unknown",), "disturbed": ("yes",)})
    labels = {option.key: option.label for facet in facets(query) for option in facet.options}
    names = ("Chip 1", "h3", "OpenSSL 3.0.9", "Unknown", "Yes")
    keys = (*(key for (key,) in chosen.values()), "unknown", "yes")
    assert tuple(labels[key] for key in keys) == names


def test_counts_are_of_hosts_that_measured_what_is_compared(store_run: StoreRun) -> None:
    store_run(run_of_day(1, ssh_measurement(CTR, 1e8), host={"name": "plain"}))
    masked = ssh_measurement(CTR, 1e7, acceleration="masked")
    store_run(run_of_day(2, masked, host={"name": "masking"}))
    for acceleration, name in (("default", "plain"), ("masked", "masking")):
        of_class = facets(ComparisonQuery(acceleration=acceleration))
        (hosts,) = (facet for facet in of_class if facet.name == "host")
        assert [option.key for option in hosts.options] == [name]


@pytest.mark.usefixtures("fleet")
def test_what_is_counted_is_hosts() -> None:
    with analytics():  # one snapshot, transferred once
        for query in (ComparisonQuery(filters=filters) for filters in CHOSEN):
            assert_each_count_is_the_hosts_that_choosing_the_value_leaves(query)
            assert_ciphers_are_counted_in_hosts(query.filters)
        for group_by in ("cpu", "openssl", "tag:rack", "acceleration", "host"):
            assert_a_host_of_several_groups_is_one_host(ComparisonQuery(group_by=group_by))


def assert_each_count_is_the_hosts_that_choosing_the_value_leaves(query: ComparisonQuery) -> None:
    for facet in facets(query):
        for option in facet.options:
            found = compare(with_only(query, facet, option.key)).groups
            assert len(found) == option.count, (query.filters, facet.name, option)
            assert option.count or option.key in query.filters[facet.name], option


def assert_ciphers_are_counted_in_hosts(filters: Mapping[str, tuple[str, ...]]) -> None:
    query = ComparisonQuery(filters=dict(filters), group_by="host")
    counts = {
        cipher: hosts
        for cipher in (GCM, CTR)
        if (hosts := len(compare(replace(query, ciphers=(cipher,))).groups))
    }
    assert coverage(query).ciphers == counts, filters


def assert_a_host_of_several_groups_is_one_host(query: ComparisonQuery) -> None:
    assert compare(query).hosts == 6, query.group_by
