"""ssh figures stand under the library that ssh uses, openssl figures under openssl's own."""

from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from ingest.processing.run_processing import process_run
from results.comparison.facets import facets
from results.hosts.host_facets import host_facets
from results.selection import ComparisonQuery
from store.models import Environment, Run
from tests.api.test_comparison import compare
from tests.api.test_workbooks import body, opened, table
from tests.conftest import ApiClient, StoreRun, csv_rows
from tests.pages.test_lists import names
from tests.sample_documents import (
    environment,
    openssl_measurement,
    run_document,
    ssh_measurement,
)

OLD, NEW = "OpenSSL 1.0.2zl  1 Aug 2024", "OpenSSL 3.0.19 27 Jan 2026"
RELEASES = {OLD: "OpenSSL 1.0.2zl", NEW: "OpenSSL 3.0.19"}
BOTH = (ssh_measurement("aes128-ctr", 1e8, 1e8), openssl_measurement("aes-128-gcm", 1e9, 1e9))


def facts(program: str | None, library: str | None) -> dict[str, Any]:
    """An environment; without a library it is that of an older agent."""
    stated = environment()
    stated["openssl"]["version_text"] = program
    if library:
        stated["openssh"]["library"] = library
    return stated


def document(
    program: str | None, library: str | None, *measurements: dict[str, Any], **changes: Any
) -> dict[str, Any]:
    return run_document(*(measurements or BOTH), environment=facts(program, library), **changes)


def groups(reader: ApiClient, tool: str, **query: Any) -> dict[str, int]:
    """Label -> hosts."""
    answer = compare(reader, **{"tool": tool, "group_by": "openssl", **query})
    return {group["label"]: group["hosts"] for group in answer["groups"]}


def test_each_tool_is_grouped_by_its_own_library(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(document(NEW, OLD))
    assert groups(reader, "ssh") == {"OpenSSL 1.0.2zl": 1}
    assert groups(reader, "openssl") == {"OpenSSL 3.0.19": 1}
    assert groups(reader, "ssh", group_by="openssl_series") == {"1.0.2": 1}
    assert groups(reader, "openssl", group_by="openssl_series") == {"3.0": 1}
    past = {"until": "2026-01-01", "group_by": "openssl_series"}
    assert groups(reader, "ssh", **past) == {"1.0.2": 1}
    assert groups(reader, "openssl", **past) == {"3.0": 1}


@pytest.mark.parametrize(
    ("library", "release", "series"),
    (
        ("LibreSSL 3.3.6", "LibreSSL 3.3.6", "LibreSSL 3.3"),
        ("without OpenSSL", "Without OpenSSL", "Without OpenSSL"),
        (None, "OpenSSL 3.0.19", "3.0"),
        (NEW, "OpenSSL 3.0.19", "3.0"),
    ),
)
def test_of_other_libraries_and_of_older_agents(
    reader: ApiClient, store_run: StoreRun, library: str | None, release: str, series: str
) -> None:
    store_run(document(NEW, library))
    assert groups(reader, "ssh") == {release: 1}
    assert groups(reader, "ssh", group_by="openssl_series") == {series: 1}
    assert groups(reader, "openssl") == {"OpenSSL 3.0.19": 1}


def test_a_machine_without_the_openssl_program_has_the_library_of_its_ssh(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(document(None, OLD))
    assert groups(reader, "ssh") == {"OpenSSL 1.0.2zl": 1}


def test_filters_and_their_counts_go_by_the_tool_too(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(document(NEW, OLD, host={"name": "mixed"}))
    store_run(document(NEW, NEW, host={"name": "plain"}))
    for tool, expected in (
        ("ssh", {"openssl-1.0.2zl": ["mixed"], "openssl-3.0.19": ["plain"]}),
        ("openssl", {"openssl-1.0.2zl": [], "openssl-3.0.19": ["mixed", "plain"]}),
    ):
        counted = facets(ComparisonQuery(tool=tool, filters={"host": ("mixed", "plain")}))
        (facet,) = (one for one in counted if one.name == "openssl")
        counts = {option.key: option.count for option in facet.options}
        for key, hosts in expected.items():
            assert list(groups(reader, tool, group_by="host", openssl=key)) == hosts
            assert counts.get(key, 0) == len(hosts)
            chosen = facets(ComparisonQuery(tool=tool, filters={"openssl": (key,)}))
            (of_hosts,) = (one for one in chosen if one.name == "host")
            assert [option.label for option in of_hosts.options] == hosts


def test_a_run_is_found_by_either_library(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(document(NEW, OLD, host={"name": "mixed"}))
    store_run(document(NEW, None, host={"name": "plain"}))
    for key, expected in (
        ("openssl-1.0.2zl", ["mixed"]),
        ("openssl-3.0.19", ["mixed", "plain"]),
    ):
        found = reader.get("/api/v1/runs/", {"openssl": key}).json()["results"]
        assert sorted(run["host"] for run in found) == expected
    (mixed,) = reader.get("/api/v1/runs/", {"openssl_series": "1.0.2"}).json()["results"]
    assert (mixed["openssl"], mixed["ssh_library"]) == ("OpenSSL 3.0.19", "OpenSSL 1.0.2zl")
    hosts = reader.get("/api/v1/hosts/").json()["results"]
    assert {one["name"]: one["ssh_library"] for one in hosts} == {
        "mixed": "OpenSSL 1.0.2zl",
        "plain": "OpenSSL 3.0.19",
    }


@pytest.mark.parametrize("latest", ("", "1"))
def test_files_say_the_library_of_each_row_and_are_filtered_by_it(
    reader: ApiClient, store_run: StoreRun, latest: str
) -> None:
    store_run(document(NEW, OLD))
    expected = {"ssh": ("OpenSSL 1.0.2zl", "1.0.2"), "openssl": ("OpenSSL 3.0.19", "3.0")}
    assert library_by_tool(reader, latest=latest) == expected
    for tool, (release, series) in expected.items():
        for query in (
            {"openssl": release.replace(" ", "-").lower()},
            {"openssl_series": series},
            {"openssl_series": series, "tool": tool},
        ):
            assert library_by_tool(reader, latest=latest, **query) == {tool: expected[tool]}
    other = {"openssl_series": "3.0", "tool": "ssh", "latest": latest}
    assert library_by_tool(reader, **other) == {}


def library_by_tool(reader: ApiClient, **query: str) -> dict[str, tuple[str, str]]:
    rows = csv_rows(reader.get("/api/v1/exports/measurements.csv", query))
    return {row["tool"]: (row["openssl"], row["openssl_series"]) for row in rows}


def test_runs_with_several_openssl_are_one_machine_for_ssh(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(document(NEW, None, started_at="2025-11-20T06:00:00Z"))
    later = (ssh_measurement("aes128-ctr", 2e8, 2e8), BOTH[1])
    store_run(document(OLD, NEW, *later, started_at="2025-11-21T06:00:00Z"))
    assert Environment.objects.count() == 2
    assert groups(reader, "openssl") == {"OpenSSL 1.0.2zl": 1, "OpenSSL 3.0.19": 1}
    answer = compare(reader, tool="ssh", group_by="openssl")
    (group,) = answer["groups"]
    assert (group["label"], group["hosts"]) == ("OpenSSL 3.0.19", 1)
    assert group["values"]["aes128-ctr"]["n"] == 1
    assert group["values"]["aes128-ctr"]["median"] == 2e8
    (cpu,) = compare(reader, tool="ssh", group_by="cpu", host="nas")["groups"]
    assert (cpu["hosts"], cpu["values"]["aes128-ctr"]["n"]) == (1, 1)


def test_a_new_agent_on_the_same_machine_makes_no_second_environment(store_run: StoreRun) -> None:
    store_run(document(NEW, None))
    store_run(document(NEW, NEW, started_at="2025-11-21T07:00:00Z"))
    assert Environment.objects.count() == 1


def test_a_history_names_the_library_of_its_tool(reader: ApiClient, store_run: StoreRun) -> None:
    for day in range(1, 13):
        rate = 4e8 if day < 7 else 2e8
        store_run(
            document(
                OLD if day < 10 else NEW,
                NEW if day < 7 else OLD,
                ssh_measurement("aes128-ctr", rate, rate, rate),
                openssl_measurement("aes-128-gcm", 2 * rate, 2 * rate, 2 * rate),
                started_at=f"2025-10-{day:02d}T06:00:00Z",
                finished_at=f"2025-10-{day:02d}T06:05:00Z",
            )
        )
    found = {}
    for tool, cipher in (("ssh", "aes128-ctr"), ("openssl", "aes-128-gcm")):
        query = {"host": "nas", "tool": tool, "cipher": cipher}
        answer = reader.get("/api/v1/trends/", query).json()
        (change,) = answer["changes"]
        found[tool] = [one["what"] for one in change["environment_changes"]]
    assert found == {"ssh": ["OpenSSL"], "openssl": []}


def test_a_workbook_says_which_library(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(document(NEW, OLD))
    for tool, release in (("ssh", RELEASES[OLD]), ("openssl", RELEASES[NEW])):
        book = opened(body(reader, "comparison.xlsx", tool=tool, group_by="openssl"))
        assert [row["Group"] for row in table(book, "Comparison")] == [release]
        assert [row["OpenSSL"] for row in table(book, "Measurements")] == [release], tool
        (row,) = table(book, "Hosts")
        assert (row["OpenSSL"], row["Library of ssh"]) == (RELEASES[NEW], RELEASES[OLD])


def test_a_recommendation_is_for_hosts_by_the_library_of_their_ssh(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(document(NEW, OLD, host={"name": "mixed"}))
    store_run(document(NEW, NEW, host={"name": "plain"}))
    for series, host in (("1.0.2", "mixed"), ("3.0", "plain")):
        answer = reader.get("/api/v1/recommendation/", {"openssl_series": series}).json()
        assert [one["host"] for one in answer["hosts"]] == [host]


def test_hosts_are_listed_by_either_library(
    client: Client, store_run: StoreRun, settings: Settings
) -> None:
    store_run(document(NEW, OLD, host={"name": "mixed"}))
    store_run(document(NEW, None, host={"name": "plain"}))
    settings.CIPHERMARK_PUBLIC = True
    for series, expected in (("1.0.2", ["mixed"]), ("3.0", ["mixed", "plain"])):
        html = client.get("/hosts/", {"openssl_series": series}).content.decode()
        assert sorted(names(html)) == expected
        counted = {one.key: one.count for one in host_facets("", {}).facets[2].options}
        assert counted[series] == len(expected)
    assert "(ssh: OpenSSL 1.0.2zl)" in client.get("/hosts/").content.decode()


@pytest.mark.parametrize(
    ("said", "filled_in", "label"),
    (
        ("OpenSSL 1.0.2zl  1 Aug 2024", None, "OpenSSL 1.0.2zl"),
        ("LibreSSL 3.3.6", None, "LibreSSL 3.3.6"),
        ("without OpenSSL", None, "Without OpenSSL"),
        ("without OpenSSL", "OpenSSL 3.0.19", "Without OpenSSL"),
    ),
)
def test_an_imported_text_has_the_library_of_its_ssh(
    reader: ApiClient, uploader: ApiClient, said: str, filled_in: str | None, label: str
) -> None:
    text = f"$ ssh -V\nOpenSSH_7.4p1, {said}\naes128-ctr: 100 MB/s\n3des-cbc: 20 MB/s\n"
    address = "/api/v1/imports/?format=auto&host=attic"
    address += f"&openssl={filled_in}" if filled_in else ""
    answer = uploader.post(address, text, content_type="text/plain")
    assert answer.status_code == 202, answer.content
    for run in Run.objects.filter(status="accepted"):
        process_run(run.pk)
    assert groups(reader, "ssh") == {label: 1}


@pytest.mark.parametrize("name", ("measurements.csv", "measurements.xlsx"))
@pytest.mark.parametrize("tool", ("", "ssh", "openssl"))
def test_files_of_either_tool_take_the_filter(
    reader: ApiClient, store_run: StoreRun, name: str, tool: str
) -> None:
    store_run(document(NEW, OLD))
    for query in ({"openssl": "openssl-1.0.2zl"}, {"openssl_series": "1.0.2"}):
        asked = {**query, **({"tool": tool} if tool else {})}
        answer = reader.get(f"/api/v1/exports/{name}", asked)
        assert answer.status_code == 200
        assert answer.getvalue()
