import copy
import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cipherspeed.validation import run_schema, validate_run_document
from runs.models import Run
from runs.processing import derive_run
from tests.conftest import ApiClient
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

Path = tuple[str | int, ...]


def paths(value: Any, prefix: Path = ()) -> list[Path]:
    found = [prefix] if prefix else []
    if isinstance(value, dict):
        for name, inner in value.items():
            found += paths(inner, (*prefix, name))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            found += paths(inner, (*prefix, position))
    return found


def complete_document() -> dict[str, Any]:
    ssh = ssh_measurement("3des-cbc", 2e7, negotiated={"cipher": "3des-cbc", "mac": "m"})
    ssh["samples"][0].update(client_cpu_seconds=1.5, server_cpu_seconds=0.5, foreign_cpu=0.1)
    return run_document(ssh, openssl_measurement("aes-128-gcm", 4e9, acceleration="masked"))


PLACES = paths(complete_document())

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, -1, 1e-320, 5e-324, 1e308, 2**63, 10**30, "", " ", "=1+1", "\u202e", "x"]),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
)


def changed(place: Path, value: Any) -> dict[str, Any]:
    document = copy.deepcopy(complete_document())
    target: Any = document
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    return document


SCHEMA = jsonschema_rs.validator_for(run_schema(), validate_formats=True)


@settings(max_examples=150, deadline=None)
@given(place=st.sampled_from(PLACES), value=ODD)
def test_a_document_has_faults_exactly_when_the_schema_refuses_it(place: Path, value: Any) -> None:
    document = changed(place, value)
    assert bool(validate_run_document(document)) != SCHEMA.is_valid(document)


@pytest.mark.django_db
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(place=st.sampled_from(PLACES), value=ODD)
def test_a_changed_document_is_taken_whole_or_refused_by_name(
    uploader: ApiClient, reader: ApiClient, place: Path, value: Any
) -> None:
    document = changed(place, value)
    response = uploader.upload(document)
    if response.status_code == 400:
        assert all(error["detail"] for error in response.json()["errors"])
        return
    assert response.status_code == 202, response.content
    run = Run.objects.latest("id")
    status = derive_run(run.pk).status
    answer = reader.get(f"/api/v1/runs/{run.run_id}/")
    assert answer.status_code == 200
    assert answer.json()["status"] == status
    assert bool(answer.json()["rejection"]) == (status == Run.Status.REJECTED)
    assert reader.get("/api/v1/comparison/").status_code == 200
    assert (
        reader.get(f"/api/v1/runs/{run.run_id}/document/").content == json.dumps(document).encode()
    )
