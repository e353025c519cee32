from typing import Any

import pytest

from runs.models import Environment
from tests.api.test_comparison import compare
from tests.conftest import ApiClient, StoreRun, csv_rows
from tests.sample_documents import (
    environment,
    openssl_measurement,
    run_document,
    ssh_measurement,
)

OLD, NEW = "OpenSSL 1.0.2zl  1 Aug 2024", "OpenSSL 3.0.19 27 Jan 2026"
BOTH = (ssh_measurement("aes128-ctr", 1e8, 1e8), openssl_measurement("aes-128-gcm", 1e9, 1e9))


def facts(program: str | None, library: str | None) -> dict[str, Any]:
    # Older agents do not report the library of ssh.
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


def test_files_say_the_library_of_each_row_and_are_filtered_by_it(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(document(NEW, OLD))
    expected = {"ssh": ("OpenSSL 1.0.2zl", "1.0.2"), "openssl": ("OpenSSL 3.0.19", "3.0")}
    assert library_by_tool(reader) == expected
    for tool, (release, series) in expected.items():
        for query in (
            {"openssl": release.replace(" ", "-").lower()},
            {"openssl_series": series},
            {"openssl_series": series, "tool": tool},
        ):
            assert library_by_tool(reader, **query) == {tool: expected[tool]}
    assert library_by_tool(reader, openssl_series="3.0", tool="ssh") == {}


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
