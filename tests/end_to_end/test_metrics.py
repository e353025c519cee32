import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.live_site import READY_WITHIN, LiveSite, web_server

PROJECT = Path(__file__).parent.parent.parent
ALERTS = PROJECT / "deploy" / "prometheus" / "alerts.yml"

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module")
def url(site: LiveSite) -> Iterator[str]:
    with web_server("web-measured", site.environment, "--workers", "2") as running:
        yield running


def get(url: str, path: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(url + path, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=READY_WITHIN) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def scrape(site: LiveSite, url: str) -> str:
    token = site.environment["CIPHERMARK_METRICS_TOKEN"]
    status, text = get(url, "/metrics", Authorization=f"Bearer {token}")
    assert status == 200, text
    return text


def samples(text: str) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float:
    return sum(
        number
        for (metric, has), number in found.items()
        if metric == name and labels.items() <= set(has)
    )


def test_it_is_there_for_its_own_token_alone(site: LiveSite, url: str) -> None:
    assert get(url, "/metrics")[0] == 401
    other = site.token("read")
    assert get(url, "/metrics", Authorization=f"Bearer {other}")[0] == 401
    without = {**site.environment, "CIPHERMARK_METRICS_TOKEN": ""}
    with web_server("web-unmeasured", without) as unmeasured:
        assert get(unmeasured, "/metrics", Authorization="Bearer ")[0] == 404


def test_requests_of_all_processes_of_a_server_are_counted(site: LiveSite, url: str) -> None:
    labels = {"method": "GET", "status": "200"}
    before = samples(scrape(site, url))
    for _ in range(40):
        assert get(url, "/api/v1/ciphers/")[0] == 200
    after = samples(scrape(site, url))
    for name, has in (
        ("ciphermark_http_requests_total", labels),
        ("ciphermark_http_request_duration_seconds_count", {}),
    ):
        assert value(after, name, **has) - value(before, name, **has) == 40


def test_what_waits_and_who_lives_is_in_it(site: LiveSite, url: str) -> None:
    site.manage("backup")
    found = samples(scrape(site, url))
    assert value(found, "ciphermark_up", part="database") == 1
    assert value(found, "ciphermark_runs_waiting") == 0
    assert value(found, "ciphermark_database_size_bytes") > 1_000_000
    seen = value(found, "ciphermark_last_seen_timestamp_seconds", part="worker")
    assert time.time() - seen < 30
    assert time.time() - value(found, "ciphermark_newest_backup_timestamp_seconds") < 600
    there = {name for name, _ in found}
    named = set(re.findall(r"\bciphermark_[a-z_]+", ALERTS.read_text()))
    assert len(named) > 5
    assert named <= there
    documented = (PROJECT / "docs" / "operations.md").read_text()
    for name in there:
        assert re.sub("_(bucket|count|sum|created)$", "", name) in documented, name


def test_prometheus_understands_the_rules() -> None:
    promtool = shutil.which("promtool")
    if promtool:
        subprocess.run([promtool, "check", "rules", ALERTS], check=True)
    for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert {"summary", "action"} == set(rule["annotations"])
