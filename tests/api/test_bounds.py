"""Questions of any size: an answer in bounded time, or a 400 that says the limit."""

import time
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import TextField
from django.db.models.functions import Cast, JSONObject
from django.test import Client

from api.comparison_json import comparison_json
from api.serializers import ComparisonSerializer
from questions.parameters import MAX_VALUES
from results.comparison.comparison import compare
from results.comparison.facets import MOST_OPTIONS, MOST_TAG_KEYS, facets
from results.selection import FILTERS, ComparisonQuery
from store.models import Run
from tests.cases import each
from tests.conftest import ApiClient, StoreRun
from tests.pages.test_many_runs import repeat
from tests.sample_documents import run_document, ssh_measurement

URL = "/api/v1/comparison/"
CTR = "aes128-ctr"
MANY = 15_000
SECONDS = 10.0
"""Of any of these answers on a busy machine; without an index each would take minutes."""


def said(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["errors"][0]["detail"]


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
"""What small requests may not say -> the answer."""

WRITING = (
    ("patch", "runs/{run.run_id}/"),
    ("patch", "hosts/{run.host_id}/"),
    ("post", "hosts/{run.host_id}/merge/"),
    ("post", "shares/"),
    ("post", "reference-profiles/"),
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
    status, detail = said(reader.get(URL, {name: [f"k:{one}" for one in range(MAX_VALUES + 1)]}))
    assert status == 400
    assert f"At most {MAX_VALUES} values" in detail


def test_thousands_of_parameters_are_refused_with_the_limit(reader: ApiClient) -> None:
    answer = reader.get(URL, {"tag": [f"k:{number}" for number in range(13_000)]})
    assert said(answer) == (400, "A request has at most 12000 parameters.")


def test_the_longest_lists_that_are_taken_are_answered(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(run_document())
    values = {name: [f"k:{number}" for number in range(80)] for name in FILTERS}
    values["disturbed"] = ["no", "yes"]
    assert reader.get(URL, values).json()["groups"] == []
    longest = reader.get(URL, {"host": [f"k{number}" for number in range(MAX_VALUES)]})
    assert longest.json()["groups"] == []


def test_dates_of_centuries_are_answered(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(run_document())
    for asked, groups in (
        ({"since": "0001-01-01", "until": "9999-12-31"}, 1),
        ({"until": "0001-01-01"}, 0),
        ({"since": "9999-12-31"}, 0),
    ):
        assert len(reader.get(URL, asked).json()["groups"]) == groups


def test_ten_thousand_tags_are_cut_to_what_can_be_read(store_run: StoreRun) -> None:
    keys = {f"key-{number:03}": "x" for number in range(MOST_TAG_KEYS + 5)}
    store_run(run_document(tags=keys))
    run = store_run(run_document(tags={"serial": "0"}, host={"name": "b"}))
    repeat(run, 10_000)
    copies = Run.objects.filter(host=run.host).exclude(pk=run.pk)
    copies.update(tags=JSONObject(serial=Cast("pk", TextField())))
    found = [one for one in facets(ComparisonQuery()) if one.tag]
    assert len(found) == MOST_TAG_KEYS
    (serial,) = (one for one in found if one.tag == "serial")
    assert (len(serial.options), serial.more) == (MOST_OPTIONS, 10_001 - MOST_OPTIONS)


def test_a_host_of_many_thousand_runs_is_answered(reader: ApiClient, store_run: StoreRun) -> None:
    run = store_run(run_document(ssh_measurement(CTR, 1e8), tags={"a": "b"}))
    repeat(run, MANY - 1)
    assert Run.objects.count() == MANY
    for address in (
        URL,
        f"{URL}?until=2026-06-01",
        f"{URL}?since=2020-01-01&host=nas",
        f"{URL}?group_by=tag:a&cpu=amd-epyc-9r14",
        "/api/v1/hosts/",
        f"/api/v1/hosts/{run.host_id}/",
        f"/api/v1/trends/?host=nas&tool=ssh&cipher={CTR}",
        "/api/v1/recommendation/?host=nas&until=2026-06-01",
        "/api/v1/runs/?host=nas",
    ):
        begun = time.monotonic()
        assert reader.get(address).status_code == 200
        took = time.monotonic() - begun
        assert took < SECONDS, f"{address}: {took:.1f} s"


@pytest.mark.usefixtures("published")
@each(
    "query",
    (
        {"metric": "throughput"},
        {"metric": "normalised"},
        {"group_by": "os", "split_by": "cpu", "relative_to": "fedora"},
        {"group_by": "os", "matched": True},
    ),
)
def test_the_answer_is_what_its_serializer_describes(
    reader: ApiClient, query: dict[str, Any]
) -> None:
    comparison = compare(ComparisonQuery(**query))
    described = {**ComparisonSerializer(comparison).data}
    answer = reader.get(URL, query)
    assert answer.json() == described
    assert answer.content == comparison_json(comparison)
