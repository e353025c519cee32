import json
import socket
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.live_site import READY_WITHIN, LiveSite
from tests.sample_documents import run_document


def lines(site: LiveSite, name: str) -> list[dict[str, Any]]:
    text = (Path(site.environment["CIPHERMARK_DATA_DIR"]) / f"{name}.log").read_text()
    parsed = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in parsed)
    return parsed


def upload(site: LiveSite, request_id: str) -> tuple[str, str]:
    """Upload a run. Return the run ID, and the request ID in the response."""
    document = run_document()
    request = urllib.request.Request(
        f"{site.url}/api/v1/runs/?n=1",
        json.dumps(document).encode(),
        {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {site.token('upload')}",
            "X-Forwarded-For": "198.51.100.1, 203.0.113.9",
            "X-Request-ID": request_id,
        },
    )
    with urllib.request.urlopen(request, timeout=READY_WITHIN) as answer:
        return document["run_id"], answer.headers["X-Request-ID"]


def test_a_run_is_followed_from_the_request_to_the_worker(site: LiveSite) -> None:
    run_id, answered = upload(site, "proxy-7f3a:1")
    assert answered == "proxy-7f3a:1"
    site.wait_until_ready(run_id)
    (request,) = [line for line in lines(site, "web") if line.get("request_id") == "proxy-7f3a:1"]
    assert (request["method"], request["path"], request["status"]) == (
        "POST",
        "/api/v1/runs/?n=1",
        202,
    )
    assert (request["client"], request["run_id"]) == ("203.0.113.9", run_id)
    processed = [line for line in lines(site, "worker") if line.get("run_id") == run_id]
    assert [line["logger"] for line in processed] == ["runs.tasks"]
    assert f"run {run_id} is ready after" in processed[0]["message"]
    assert processed[0]["task"] == "runs.tasks.process_run"


def test_a_broken_request_for_a_share_is_logged_without_its_secret(site: LiveSite) -> None:
    secret = "kq3_7Zr-9vB1xUeT5mNs0aWd"
    with socket.create_connection(("127.0.0.1", urlsplit(site.url).port or 0)) as connection:
        connection.sendall(f"GET /shares/{secret}/\r\nHost: here\r\n\r\n".encode())
        assert connection.recv(100)
    log = (Path(site.environment["CIPHERMARK_DATA_DIR"]) / "web.log").read_text()
    assert "GET /shares/[secret]" in log
    assert secret not in log
