from typing import Any

import pytest

from accounts.audit import COMMAND
from compare import comparison
from hosts.editing import merge_hosts
from runs.models import Host
from tests.cases import each
from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import (
    environment,
    openssl_measurement,
    run_document,
    ssh_measurement,
)

URL = "/api/v1/comparison/"


def compare(reader: ApiClient, **query: Any) -> dict[str, Any]:
    response = reader.get(URL, query)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def medians(answer: dict[str, Any], cipher: str) -> dict[str, float]:
    return {
        group["label"]: group["values"][cipher]["median"]
        for group in answer["groups"]
        if cipher in group["values"]
    }


def host(name: str, *measurements: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return run_document(*measurements, host={"name": name}, **changes)


@pytest.mark.usefixtures("published")
def test_the_published_i7_2635qm_stands_at_its_figure(reader: ApiClient) -> None:
    answer = compare(
        reader, tool="ssh", group_by="cpu", metric="throughput", cipher="aes128-gcm@openssh.com"
    )
    group = next(group for group in answer["groups"] if group["key"] == "intel-core-i7-2635qm")
    assert group == {
        "key": "intel-core-i7-2635qm",
        "label": "Intel Core i7-2635QM",
        "hosts": 1,
        "values": {
            "aes128-gcm@openssh.com": {
                "median": 328370000.0,
                "q1": 328370000.0,
                "q3": 328370000.0,
                "min": 328370000.0,
                "max": 328370000.0,
                "n": 1,
            }
        },
    }
    assert answer["unit"] == "B/s"
    assert answer["profile"] is None
    assert answer["ciphers"] == ["aes128-gcm@openssh.com"]
    assert answer["excluded"] == {"no_baseline": 0}


@pytest.mark.usefixtures("published")
def test_normalised_by_os_equals_the_worked_example(reader: ApiClient) -> None:
    answer = compare(reader, group_by="os", metric="normalised", cpu="intel-core-i7-2635qm")
    assert medians(answer, "aes128-ctr") == {
        "Fedora": pytest.approx(230.26e6, rel=0.002),
        "macOS": pytest.approx(121.70e6, rel=0.002),
    }
    assert answer["profile"] == "2015"


@pytest.mark.usefixtures("published")
def test_no_bar_group_mixes_two_systems(reader: ApiClient) -> None:
    # This laptop measured GCM on Fedora and, later, only CTR on Mac OS X.
    answer = compare(reader, cpu="intel-core-i7-2635qm")
    (group,) = answer["groups"]
    (fedora,) = (
        group
        for group in compare(reader, cpu="intel-core-i7-2635qm", group_by="os")["groups"]
        if group["label"] == "Fedora"
    )
    assert group["values"] == fedora["values"]
    assert group["values"]["aes128-gcm@openssh.com"]["median"] == 328370000.0
    assert group["values"]["aes128-ctr"]["median"] == pytest.approx(230.26e6, rel=0.002)


def test_a_host_votes_with_the_environment_of_its_latest_run_that_was_asked_for(
    reader: ApiClient, store_run: StoreRun
) -> None:
    old, new = (environment() for _ in range(2))
    new["os"]["version"] = "13"

    def run(day: int, seen: dict[str, Any], **rates: float) -> None:
        figures = [ssh_measurement(name.replace("_", "-"), rate) for name, rate in rates.items()]
        when = f"2025-11-{day:02}T06:00:00Z"
        store_run(host("nas", *figures, environment=seen, started_at=when, finished_at=when))

    run(1, old, aes128_ctr=1e8, aes256_ctr=9e7)
    run(2, new, aes128_ctr=2e8, aes192_ctr=15e7)
    run(3, new, aes128_ctr=3e8)
    run(4, old, aes256_ctr=8e7)

    def voted(**asked: Any) -> dict[str, float]:
        groups = compare(reader, **asked)["groups"]
        return {
            cipher: value["median"] for group in groups for cipher, value in group["values"].items()
        }

    assert voted() == {"aes128-ctr": 1e8, "aes256-ctr": 8e7}
    assert voted(cipher=["aes128-ctr", "aes192-ctr"]) == {"aes128-ctr": 3e8, "aes192-ctr": 15e7}
    assert voted(cipher="aes256-ctr") == {"aes256-ctr": 8e7}


def test_openssl_compares_at_8_kib_and_counts_the_hosts_without(
    reader: ApiClient, store_run: StoreRun
) -> None:
    cbc = "aes-128-cbc"
    store_run(host("old", openssl_measurement(cbc, 1e9, block_size=1024)))
    store_run(host("other", openssl_measurement("rc4", 5e8, block_size=16)))
    store_run(
        host(
            "new",
            openssl_measurement(cbc, 2e9, block_size=8192),
            openssl_measurement(cbc, 3e9, block_size=16384),
        )
    )
    answer = compare(reader, tool="openssl", group_by="host", cipher=cbc)
    assert medians(answer, cbc) == {"new": 2e9}
    assert answer["excluded"] == {"no_baseline": 0, "no_block_size": 1}
    answer = compare(reader, tool="openssl", group_by="host", block_size=16384)
    assert medians(answer, cbc) == {"new": 3e9}
    assert answer["excluded"] == {"no_baseline": 0, "no_block_size": 2}


def test_machines_without_a_baseline_are_excluded_and_counted(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(host("bare", ssh_measurement("aes128-ctr", 200e6)))
    store_run(host("full", ssh_measurement("aes128-ctr", 200e6), ssh_measurement("3des-cbc", 20e6)))
    answer = compare(reader, group_by="host", metric="vs_3des", cipher="aes128-ctr")
    assert medians(answer, "aes128-ctr") == {"full": pytest.approx(10)}
    assert answer["unit"] == "ratio"
    assert answer["excluded"] == {"no_baseline": 1}


def test_cpu_cost_is_compared_where_both_ends_were_measured(
    reader: ApiClient, store_run: StoreRun
) -> None:
    costed = ssh_measurement("aes128-ctr", 200e6)
    for sample in costed["samples"]:
        sample.update(client_cpu_seconds=0.4, server_cpu_seconds=0.8)
    store_run(host("costed", costed))
    store_run(host("bare", ssh_measurement("aes128-ctr", 200e6)))
    answer = compare(reader, group_by="host", metric="cpu_seconds_per_gb")
    assert medians(answer, "aes128-ctr") == {"costed": pytest.approx(3.0)}
    assert answer["unit"] == "s/GB"


@pytest.fixture
def stored(store_run: StoreRun) -> None:
    store_run(run_document())


@pytest.mark.usefixtures("stored")
@each(
    ("group_by", "labels"),
    (
        ("cpu", ["AMD EPYC 9R14"]),
        ("cpu_vendor", ["AMD"]),
        ("architecture", ["x86_64"]),
        ("microarchitecture", ["zen4"]),
        ("os", ["Debian GNU/Linux"]),
        ("os_version", ["Debian GNU/Linux 12"]),
        ("openssl", ["OpenSSL 3.0.19"]),
        ("openssl_series", ["3.0"]),
        ("openssh", ["OpenSSH 9.2p1"]),
        ("virtualization", ["kvm"]),
        ("acceleration", ["Unknown"]),
        ("host", ["nas"]),
        ("tag:rack", ["b2"]),
        ("tag:row", ["Not tagged"]),
    ),
)
def test_runs_can_be_grouped_by(reader: ApiClient, group_by: str, labels: list[str]) -> None:
    answer = compare(reader, group_by=group_by)
    assert [group["label"] for group in answer["groups"]] == labels
    assert answer["group_by"] == group_by


@pytest.mark.usefixtures("stored")
@each(
    ("name", "matching", "other"),
    (
        ("host", "nas", "other"),
        ("cpu", "amd-epyc-9r14", "intel"),
        ("cpu_vendor", "amd", "intel"),
        ("os", "debian-gnu-linux", "fedora"),
        ("openssl", "openssl-3.0.19", "openssl-1.0.1f"),
        ("openssl_series", "3.0", "1.1.1"),
        ("openssh", "openssh-9.2p1", "openssh-5.3"),
        ("virtualization", "kvm", "xen"),
        ("tag", "rack:b2", "rack:b3"),
        ("source", "agent", "published"),
        ("since", "2025-11-21", "2025-11-22"),
        ("until", "2025-11-21", "2025-11-20"),
    ),
)
def test_filters_keep_what_matches(reader: ApiClient, name: str, matching: str, other: str) -> None:
    assert len(compare(reader, **{name: matching})["groups"]) == 1
    assert compare(reader, **{name: other})["groups"] == []


@each(
    ("query", "attr"),
    (
        ({"tool": "tls"}, "tool"),
        ({"group_by": "password"}, "group_by"),
        ({"group_by": "tag:"}, "group_by"),
        ({"group_by": "tag:a'b"}, "group_by"),
        ({"metric": "speed"}, "metric"),
        ({"block_size": "0"}, "block_size"),
        ({"threads": "99999999999"}, "threads"),
        ({"since": "yesterday"}, "since"),
        ({"since": "2030-01-02", "until": "2030-01-01"}, "until"),
        ({"until": "2026-02-31"}, "until"),
        ({"compression": "maybe"}, "compression"),
        ({"tag": "rack"}, "tag"),
        ({"cpu": "x" * 500}, "cpu"),
        ({"host": "a\x00b"}, "host"),
        ({"cipher": [str(number) for number in range(500)]}, "cipher"),
        ({"since": "0001-01-01T00:00:00+23:59"}, "since"),
    ),
)
def test_a_parameter_that_makes_no_sense_is_named(
    reader: ApiClient, query: dict[str, Any], attr: str
) -> None:
    response = reader.get(URL, query)
    assert response.status_code == 400
    assert [error["attr"] for error in response.json()["errors"]] == [attr]


@each("offset", ("+00:00", "+16:00", "+23:59", "-23:00"))
@each("name", ("since", "until"))
def test_a_moment_may_name_any_zone(reader: ApiClient, name: str, offset: str) -> None:
    assert compare(reader, **{name: f"2026-01-01T00:00:00{offset}"})["groups"] == []


def test_a_host_that_is_merged_while_it_is_compared_is_asked_for_again(
    reader: ApiClient, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        store_run(host(name, ssh_measurement("aes128-ctr", 1e8)))
    kept, other = Host.objects.order_by("name")
    names = comparison.group_names

    def merged_before(*asked: Any) -> Any:
        if Host.objects.filter(pk=other.pk).exists():
            merge_hosts(kept.pk, other.pk, COMMAND)
        return names(*asked)

    monkeypatch.setattr(comparison, "group_names", merged_before)
    reader.raise_request_exception = False
    answer = reader.get(URL, {"group_by": "host"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert medians(compare(reader, group_by="host"), "aes128-ctr") == {"a": 1e8}


def test_hostile_text_in_filters_finds_nothing_and_breaks_nothing(reader: ApiClient) -> None:
    for text in ("' OR 1=1 --", "%s", "{}", "\u202e", "'; DROP TABLE runs_run; --"):
        assert compare(reader, cpu=text, host=text)["groups"] == []
        refused = reader.get("/api/v1/comparison/", {"cipher": text})
        assert refused.json()["errors"][0]["detail"] == f"Unknown cipher {text!r}."


@pytest.mark.django_db
@pytest.mark.parametrize(
    "filtered",
    ({}, {"source": "agent"}, {"until": "2030-01-01"}),
    ids=["all", "source", "until"],
)
def test_a_figure_of_few_hosts_says_how_many_are_doubtful(
    reader: ApiClient, store_run: StoreRun, filtered: dict[str, str]
) -> None:
    def measured(name: str, model: str, *rates: float, **changes: Any) -> None:
        quiet = {"conditions": [], "environment": environment(model=model), **changes}
        store_run(host(name, ssh_measurement("aes128-ctr", *rates), **quiet))

    measured("calm", "Model 1", 1e8, 1e8, 1e8)
    measured("scatters", "Model 1", 1e8, 2e8, 3e8)
    disturbed = [{"code": "busy", "detail": "other work"}]
    measured("busy", "Model 2", 1e8, conditions=disturbed)
    for number in range(6):
        measured(f"many{number}", "Model 3", 1e8, conditions=disturbed)
    measured("alone", "Model 4", 1e8)

    answer = compare(reader, group_by="cpu", **filtered)
    told = {group["label"]: group.get("doubtful") for group in answer["groups"]}
    assert told == {
        "Model 1": {"aes128-ctr": 1},
        "Model 2": {"aes128-ctr": 1},
        "Model 3": None,
        "Model 4": None,
    }
