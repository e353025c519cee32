import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from django.conf import settings

from tests.launch.tools import PROJECT
from tests.live_site import READY_WITHIN, web_server
from tests.sample_documents import run_document

NAME = "web-without-database"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    environment = {
        **settings_environment(),
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        "CIPHERMARK_PUBLIC": "1",
        "GUNICORN_CMD_ARGS": "--access-logfile -",
    }
    collect = (sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity=0")
    subprocess.run(collect, cwd=PROJECT, env=environment, check=True)
    with web_server(NAME, environment) as running:
        yield running


def settings_environment() -> dict[str, str]:
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "REDIS_URL": settings.REDIS_URL,
        "CIPHERMARK_DATA_DIR": str(settings.DATA_DIR),
    }


def refused(request: urllib.request.Request) -> tuple[int, str | None, str]:
    with pytest.raises(urllib.error.HTTPError) as answer:
        urllib.request.urlopen(request, timeout=READY_WITHIN)
    with answer.value as error:
        return error.code, error.headers["Retry-After"], error.read().decode()


def test_an_upload_is_told_to_come_back(url: str) -> None:
    request = urllib.request.Request(
        f"{url}/api/v1/runs/",
        json.dumps(run_document()).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer cmk_x"},
    )
    status, retry_after, body = refused(request)
    assert (status, retry_after) == (503, "10")
    assert json.loads(body)["errors"][0]["code"] == "unavailable"


@pytest.mark.parametrize("path", ("/api/v1/comparison/", "/", "/hosts/", "/runs/"))
def test_readers_are_told_to_come_back(url: str, path: str) -> None:
    status, retry_after, body = refused(urllib.request.Request(url + path))
    assert (status, retry_after) == (503, "10")
    assert "not reachable" in body
    assert path.startswith("/api/") or "/static/assets/main." in body
