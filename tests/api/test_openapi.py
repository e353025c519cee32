import re
from io import StringIO

from django.core.management import call_command
from django.test import Client

from cipherspeed.validation import run_schema
from tests.api.test_access_matrix import ROUTES
from tests.conftest import ApiClient


def test_the_openapi_document_is_made_without_a_warning() -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=StringIO())


def test_the_openapi_document_is_3_1_and_knows_every_address(reader: ApiClient) -> None:
    document = reader.get("/api/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    undescribed = ("api:openapi", "api:docs", "api:no-such-address")
    assert set(document["paths"]) == {
        re.sub(r"<\w+:(\w+)>", r"{\1}", route.pattern)
        for route in ROUTES
        if route.name.startswith("api:") and route.name not in undescribed
    }


def test_the_upload_takes_what_the_run_schema_says(reader: ApiClient) -> None:
    document = reader.get("/api/v1/openapi.json").json()
    body = document["paths"]["/api/v1/runs/"]["post"]["requestBody"]["content"]
    assert body["application/json"]["schema"]["required"] == run_schema()["required"]


def test_the_run_schema_is_served_as_it_is() -> None:
    response = Client().get("/api/v1/schema/run")
    assert response.json() == run_schema()


def test_the_documentation_page_asks_no_other_host(reader: ApiClient) -> None:
    page = reader.get("/api/docs/").content.decode()
    assert 'class="site-header"' in page
    assert "swagger-ui" in page
    assert "//cdn" not in page
    assert "https://" not in page


def test_lists_are_described_as_they_answer(reader: ApiClient) -> None:
    document = reader.get("/api/v1/openapi.json").json()
    for path in ("/api/v1/runs/", "/api/v1/hosts/", "/api/v1/reference-profiles/"):
        described = document["paths"][path]["get"]
        content = described["responses"]["200"]["content"]["application/json"]
        name = content["schema"]["$ref"].rsplit("/", 1)[1]
        members = document["components"]["schemas"][name]["properties"]
        assert set(members) == set(reader.get(path).json()) == {"next", "previous", "results"}
        for link in ("next", "previous"):
            assert members[link]["type"] == ["string", "null"]  # the form of OpenAPI 3.1


def test_nothing_is_said_in_the_words_of_openapi_3_0(reader: ApiClient) -> None:
    assert '"nullable"' not in reader.get("/api/v1/openapi.json").content.decode()


def test_parameters_are_those_that_the_address_reads(reader: ApiClient) -> None:
    paths = reader.get("/api/v1/openapi.json").json()["paths"]
    of = {
        path: {
            parameter["name"]: parameter["schema"]
            for parameter in paths[f"/api/v1/{path}"]["get"]["parameters"]
        }
        for path in ("comparison/", "exports/comparison.csv", "exports/comparison.xlsx", "runs/")
    }
    for_files = {"q", "top", "page", "scale"}
    assert of["exports/comparison.xlsx"].keys() - of["comparison/"].keys() == for_files
    assert of["exports/comparison.csv"].keys() - of["exports/comparison.xlsx"].keys() == {"excel"}
    moment = {"anyOf": [{"type": "string", "format": kind} for kind in ("date", "date-time")]}
    for path, name in ((path, name) for path in of for name in ("since", "until")):
        assert of[path][name] == moment
    assert of["runs/"]["status"]["items"]["enum"] == ["accepted", "ready", "rejected"]
