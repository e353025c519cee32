import http.client
import json
import os
import signal
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

from core.probes import KEPT_SECONDS
from tests.live_site import READY_WITHIN, LiveSite, wait_for_answer, web_server
from tests.sample_documents import run_document, ssh_measurement


def post(site: LiveSite, document: dict[str, Any], token: str, url: str = "") -> Any:
    request = urllib.request.Request(
        f"{url or site.url}/api/v1/runs/",
        json.dumps(document).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
    )
    with urllib.request.urlopen(request, timeout=READY_WITHIN) as answer:
        return answer.status, json.load(answer)


def medians(site: LiveSite) -> dict[str, float]:
    answer = site.get("/api/v1/comparison/?group_by=host&cipher=aes128-ctr")
    return {group["label"]: group["values"]["aes128-ctr"]["median"] for group in answer["groups"]}


def test_an_uploaded_run_stands_beside_the_published_ones(site: LiveSite) -> None:
    document = run_document(ssh_measurement("aes128-ctr", 1e8, 3e8, 2e8))
    token = site.token("upload")
    status, answer = post(site, document, token)
    assert (status, answer["status"]) == (202, "accepted")
    assert site.wait_until_ready(document["run_id"])["status"] == "ready"
    status, answer = post(site, document, token)
    assert (status, answer["status"]) == (200, "ready")
    compared = medians(site)
    assert compared["nas"] == 2e8
    assert compared["Synology DS415+"] == pytest.approx(20971520000 / 313.44)


def test_a_chunked_body_is_taken_as_any_other(site: LiveSite) -> None:
    document = run_document()
    connection = http.client.HTTPConnection(site.url.removeprefix("http://"), timeout=READY_WITHIN)
    connection.request(
        "POST",
        "/api/v1/runs/",
        iter([json.dumps(document)[:100].encode(), json.dumps(document)[100:].encode()]),
        {"Content-Type": "application/json", "Authorization": f"Bearer {site.token('upload')}"},
        encode_chunked=True,
    )
    with connection.getresponse() as answer:
        assert answer.status == 202, answer.read()
    connection.close()


def test_a_run_uploaded_while_redis_is_down_is_found_by_the_worker(site: LiveSite) -> None:
    without_redis = {**site.environment, "REDIS_URL": "redis://127.0.0.1:1/0"}
    document = run_document()
    with web_server("web-without-redis", without_redis) as url:
        status, answer = post(site, document, site.token("upload"), url)
    assert (status, answer["status"]) == (202, "accepted")
    # No client requests it; the worker finds lost runs.
    assert site.wait_until_ready(document["run_id"])["status"] == "ready"


def test_the_site_says_when_its_worker_is_gone(site: LiveSite) -> None:
    wait_for_answer(f"{site.url}/readyz")  # a busy host's worker may miss one ping
    os.killpg(site.worker.pid, signal.SIGSTOP)
    time.sleep(KEPT_SECONDS)
    try:
        with pytest.raises(urllib.error.HTTPError) as refused:
            site.get("/readyz")
        assert refused.value.code == 503
        parts = json.load(refused.value)
        assert (parts["database"], parts["redis"], parts["worker"]) == ("ok", "ok", "unreachable")
        refused.value.close()
    finally:
        os.killpg(site.worker.pid, signal.SIGCONT)
