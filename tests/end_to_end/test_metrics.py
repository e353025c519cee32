"""/metrics of a whole site: several web processes, a worker, PostgreSQL and Redis."""

import json
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
from tests.sample_documents import run_document

PROJECT = Path(__file__).parent.parent.parent
ALERTS = PROJECT / "deploy" / "prometheus" / "alerts.yml"
DASHBOARD = PROJECT / "deploy" / "grafana" / "ciphermark.json"

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module")
def url(site: LiveSite) -> Iterator[str]:
    """A web server of two processes beside the site's own of one."""
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
    """Name and labels -> value, as Prometheus's own parser reads them."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float:
    """The one sample with at least these labels; 0 where there is none."""
    return sum(
        number for (one, has), number in found.items() if one == name and labels.items() <= set(has)
    )


def test_it_is_there_for_its_own_token_alone(site: LiveSite, url: str) -> None:
    assert get(url, "/metrics")[0] == 401
    other = site.token("read")
    assert get(url, "/metrics", Authorization=f"Bearer {other}")[0] == 401
    without = {**site.environment, "CIPHERMARK_METRICS_TOKEN": ""}
    with web_server("web-unmeasured", without) as unmeasured:
        assert get(unmeasured, "/metrics", Authorization="Bearer ")[0] == 404


def test_requests_of_all_processes_are_counted_once(site: LiveSite, url: str) -> None:
    labels = {"route": "/api/v1/ciphers/", "method": "GET", "status": "200"}
    before = value(samples(scrape(site, url)), "ciphermark_http_requests_total", **labels)
    for number in range(40):
        assert get((url, site.url)[number % 4 == 0], "/api/v1/ciphers/")[0] == 200
    time.sleep(5)  # longer than any process keeps a count to itself
    found = samples(scrape(site, url))
    assert value(found, "ciphermark_http_requests_total", **labels) - before == 40
    took = {"route": labels["route"], "le": "+Inf"}
    assert value(found, "ciphermark_http_request_duration_seconds_bucket", **took) == value(
        found, "ciphermark_http_requests_total", route=labels["route"]
    )


def test_unknown_addresses_make_no_labels(site: LiveSite, url: str) -> None:
    for number in range(3):
        assert get(url, f"/hosts/no-such-host-{number}/")[0] == 404
        assert get(url, f"/no-such-page-{number}")[0] == 404
    time.sleep(3)
    text = scrape(site, url)
    assert "no-such" not in text
    assert 'route="none",status="404"' in text
    assert 'route="/hosts/<str:' in text


def test_the_workers_figures_are_in_it(site: LiveSite, url: str) -> None:
    before = samples(scrape(site, url))
    document = run_document()
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {site.token('upload')}",
    }
    for _ in range(2):
        body = json.dumps(document).encode()
        request = urllib.request.Request(f"{url}/api/v1/runs/", body, headers)
        urllib.request.urlopen(request, timeout=READY_WITHIN).close()
    site.wait_until_ready(document["run_id"])
    time.sleep(5)
    after = samples(scrape(site, url))

    def grown(name: str, **labels: str) -> float:
        return value(after, name, **labels) - value(before, name, **labels)

    assert grown("ciphermark_uploads_total", source="agent", outcome="stored") == 1
    assert grown("ciphermark_uploads_total", source="agent", outcome="known") == 1
    assert grown("ciphermark_runs_processed_total", outcome="ready") == 1
    assert grown("ciphermark_run_processing_seconds_count") == 1
    assert 0 < grown("ciphermark_run_processing_seconds_sum") < 60
    assert value(after, "ciphermark_runs_waiting") == 0
    assert value(after, "ciphermark_database_size_bytes") > 1_000_000
    seen = value(after, "ciphermark_last_seen_timestamp_seconds", part="worker")
    assert time.time() - seen < 30


def test_alerts_and_dashboard_name_metrics_that_exist(site: LiveSite, url: str) -> None:
    site.manage("analytics", "--snapshot")
    folder = Path(site.environment["CIPHERMARK_DATA_DIR"]) / "backups"
    folder.mkdir(exist_ok=True)
    (folder / "ciphermark-20261121T023000Z.dump").touch()
    found = samples(scrape(site, url))
    for derived in ("analytics_snapshot", "speed_indices"):
        assert ("ciphermark_derived_lag_seconds", frozenset({("derived", derived)})) in found
    # A site with a replica has this one: test_replica.py.
    there = {name for name, _ in found} | {"ciphermark_replica_lag_seconds"}
    for path in (ALERTS, DASHBOARD):
        named = set(re.findall(r"\bciphermark_[a-z_]+", path.read_text()))
        assert len(named) > 5
        assert named <= there, path
    documented = (PROJECT / "docs" / "operations.md").read_text()
    for name in there:
        assert re.sub("_(bucket|count|sum)$", "", name) in documented, name


def test_prometheus_understands_the_rules() -> None:
    """By promtool where there is one; else each rule is looked at for what it must have."""
    promtool = shutil.which("promtool")
    if promtool:
        subprocess.run([promtool, "check", "rules", ALERTS], check=True)
    for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert {"summary", "action"} == set(rule["annotations"])
