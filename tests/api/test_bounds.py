from base64 import b64encode
from itertools import product
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.parameters import MAX_VALUES
from runs.filters import FILTERS
from tests.cases import each
from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import run_document

URL = "/api/v1/comparison/"


def said(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["errors"][0]["detail"]


# Expected status by invalid request body
BODIES = {
    b"[" * 100_000: 400,
    b'{"a":' * 5_000: 400,
    b'{"name": "a", "name": "b"}': 400,
    b'{"name": NaN}': 400,
    b'{"name": ' + b"1" * 5_000 + b"}": 400,
    b'{"name": "\\ud800"}': 400,
    b'{"name": "\\u0000"}': 400,
    b"\xff\xfe": 400,
    b'{"name": "' + b"a" * 3_000_000 + b'"}': 413,
}

WRITING = (
    ("patch", "runs/{run.run_id}/"),
    ("patch", "hosts/{run.host_id}/"),
    ("post", "hosts/{run.host_id}/merge/"),
    ("post", "shares/"),
)


def test_no_body_of_a_small_request_is_a_failure_of_the_server(
    administrator: Client, store_run: StoreRun
) -> None:
    run = store_run(run_document())
    administrator.raise_request_exception = False
    for (method, path), (body, status) in product(WRITING, BODIES.items()):
        address = f"/api/v1/{path.format(run=run)}"
        answer = administrator.generic(
            method.upper(), address, body, content_type="application/json"
        )
        assert answer.status_code == status, (address, body[:30], answer.content[:200])


@pytest.mark.django_db
@pytest.mark.parametrize(
    "kind", ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain")
)
def test_what_is_no_json_is_refused_unread(kind: str) -> None:
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("root"))
    client.cookies["csrftoken"] = "f" * 32
    answer = client.generic("POST", "/api/v1/shares/", b"a=" + b"b" * 3_000_000, content_type=kind)
    assert answer.status_code in (403, 415), answer.content[:200]
    assert answer.json()["errors"][0]["detail"]


@each("name", (*FILTERS, "cipher"))
def test_a_list_of_many_values_is_refused_with_the_limit(reader: ApiClient, name: str) -> None:
    status, detail = said(
        reader.get(URL, {name: [f"k:{number}" for number in range(MAX_VALUES + 1)]})
    )
    assert status == 400
    assert f"Use at most {MAX_VALUES} values" in detail


@pytest.mark.parametrize("position", ("abc", "9" * 30, "\x00", "2026", ""))
def test_a_cursor_made_by_hand_holds_no_place(
    reader: ApiClient, member: Client, position: str
) -> None:
    cursor = b64encode(urlencode({"p": position}).encode()).decode()
    for path in ("runs/", "notes/", "changes/", "hosts/"):
        assert reader.get(f"/api/v1/{path}", {"cursor": cursor}).status_code in (200, 404)
    for path in ("/runs/", "/hosts/"):
        assert member.get(path, {"cursor": cursor}).status_code == 200
